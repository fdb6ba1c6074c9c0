"""Strings of run files, which anybody can write, in words for a terminal, a page, and a command."""

import json
import re

# What controls a terminal: control characters (also of C1, and line ends), and the marks that turn the direction of letters. The same as
# `clean` of the program's reports.
UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")

# The name of a host as every engine takes it, and as nothing else: no list, range, pattern, file (@) or option of Slurm, Kubernetes or Ansible.
HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,251}[A-Za-z0-9])?")

# What Ansible takes for other hosts than one, or for the one that it runs on.
GROUPS = ("all", "ungrouped", "localhost")


def clean(text):
    """The text without what controls a terminal."""
    return UNSAFE.sub("\ufffd", str(text))


def cleaned(told):
    """All that is told, with each of its strings clean."""
    if isinstance(told, str):
        return clean(told)
    if isinstance(told, dict):
        return {cleaned(key): cleaned(value) for key, value in told.items()}
    if isinstance(told, (list, tuple)):
        return [cleaned(one) for one in told]
    return told


def is_host(name):
    """Whether a label is the name of a host and no more, so that it can stand in a command."""
    return HOST.fullmatch(name) is not None and name.lower() not in GROUPS


def as_json(told):
    """All that is told, for programs: what a terminal would obey is escaped, DEL too, which JSON lets through."""
    return json.dumps(told, indent=2, default=str).replace("\x7f", "\\u007f")
