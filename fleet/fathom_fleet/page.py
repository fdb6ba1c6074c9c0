"""A page."""


def page(connection, told):
    """The page."""
    return ""
