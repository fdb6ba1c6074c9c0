"""The data set: Parquet files below one folder, a subfolder for each day on which runs began. Files are added and never changed."""

import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path

import duckdb

SQL = Path(__file__).parent / "sql"

# A day's files. What is being written stands in a folder whose name begins with a dot, and is not among them.
FILES = "day=*/*.parquet"


class Missing(Exception):
    """There is no data set in the folder."""


def script(name):
    """The statements of sql/NAME.sql."""
    return (SQL / f"{name}.sql").read_text(encoding="utf-8")


def quoted(text):
    """A literal of SQL."""
    return "'" + str(text).replace("'", "''") + "'"


def is_empty(folder):
    """Whether nothing was collected into the folder yet."""
    return next(Path(folder).glob(FILES), None) is None


def rows(folder):
    """The table function that reads the data set. Files of later versions of this program may have more columns."""
    return f"read_parquet({quoted(Path(folder) / FILES)}, hive_partitioning = true, union_by_name = true)"


def connected():
    """A connection that loads nothing from a network."""
    return duckdb.connect(config={"autoinstall_known_extensions": False})


def opened(folder):
    """A connection with the view `collected` of all rows that were ever added."""
    if is_empty(folder):
        raise Missing(f"there is no data set in {folder}: `fathom-fleet collect --into {folder} RUN-FILES` makes one")
    connection = connected()
    connection.execute(f"CREATE VIEW collected AS SELECT * FROM {rows(folder)}")
    return connection


@contextmanager
def incoming(folder):
    """A folder inside the data set that no reader looks into, and that goes afterwards."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    place = Path(tempfile.mkdtemp(prefix=".incoming-", dir=folder))
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)
