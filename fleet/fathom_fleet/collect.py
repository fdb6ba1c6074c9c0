"""Run files into the data set. What a file tells is told by `fathom export --points`: nothing is estimated here."""

import hashlib
import json
import os
import stat
import subprocess
from itertools import islice
from pathlib import Path

import duckdb

from . import dataset

# Run files that are read at a time: what is held in memory, however many there are.
BATCH = 500


class Collected:
    """What became of the files: how many were added and how many were there, and which were left out for which reason."""

    def __init__(self):
        self.added = 0
        self.known = 0
        self.left_out = 0


def run_files(sources):
    """Every run file that is named, or stands in a folder that is, in an order that is always the same."""
    for source in sources:
        if not os.path.isdir(source):
            yield os.fspath(source)
            continue
        for folder, folders, names in os.walk(source):
            folders.sort()
            yield from (os.path.join(folder, name) for name in sorted(names) if name.endswith(".jsonl"))


def collect(folder, sources, fathom="fathom", trials=False, left_out=lambda file, reason: None):
    """Adds run files to the data set in `folder`. `left_out` is told each file that is none, with the reason."""
    told = Collected()

    def leave_out(file, reason):
        told.left_out += 1
        left_out(file, reason)

    files = run_files(sources)
    while batch := list(islice(files, BATCH)):
        by_content = {}
        for file in batch:
            # The program reads a list of names, one a line.
            if "\n" in file or "\r" in file:
                leave_out(file, "its name has a line feed")
                continue
            content = digest(file)
            # What cannot be read is told by the program, with its reason.
            if (content or file) in by_content:
                told.known += 1
            else:
                by_content[content or file] = file
        known = among(folder, by_content)
        told.known += len(known)
        wanted = [file for content, file in by_content.items() if content not in known]
        if wanted:
            add(folder, wanted, fathom, trials, leave_out, told)
    return told


def digest(file):
    """SHA-256 of a file; None where it cannot be read, or is none: anybody can put a pipe without end into a shared folder."""
    try:
        with open(os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as content:
            if not stat.S_ISREG(os.fstat(content.fileno()).st_mode):
                return None
            told = hashlib.sha256()
            while part := content.read(1 << 20):
                told.update(part)
            return told.hexdigest()
    except (OSError, ValueError):
        return None


def among(folder, contents):
    """Which of these contents the data set has."""
    if dataset.is_empty(folder):
        return set()
    wanted = ", ".join(map(dataset.quoted, contents))
    found = duckdb.sql(f"SELECT DISTINCT content FROM {dataset.rows(folder)} WHERE content IN ({wanted})")
    return {content for (content,) in found.fetchall()}


def add(folder, files, fathom, trials, leave_out, told):
    """Adds a batch of files: all of it or, if this process is killed, those days of it that were done."""
    with dataset.incoming(folder) as place:
        exported = place / "runs.jsonl"
        with open(exported, "wb") as out:
            command = [fathom, "export", "--points", "--files-from", "-"] + (["--trials"] if trials else [])
            subprocess.run(command, input=b"".join(os.fsencode(file) + b"\n" for file in files), stdout=out, check=True)
        connection, unfit = read(exported)
        for file, reason in unfit + connection.execute("SELECT file, left_out FROM left_out ORDER BY file").fetchall():
            leave_out(file, reason)
        contents = connection.execute("SELECT DISTINCT content FROM rows ORDER BY content").fetchall()
        if not contents:
            return
        # The name follows from the content, so that two who add the same files at a time add the same file.
        name = hashlib.sha256("".join(content for (content,) in contents).encode()).hexdigest()[:32]
        connection.execute(
            f"COPY (SELECT * FROM rows ORDER BY experiment, point, host) TO {dataset.quoted(place / 'days')} "
            f"(FORMAT parquet, COMPRESSION zstd, PARTITION_BY (day), FILENAME_PATTERN {dataset.quoted(name)})"
        )
        for part in sorted((place / "days").glob("day=*/*.parquet")):
            day = Path(folder) / part.parent.name
            day.mkdir(exist_ok=True)
            os.replace(part, day / f"{name}.parquet")
        told.added += len(contents)


def read(exported):
    """A connection with the rows of the exported lines, and the files whose lines are unfit, with the reason. One such line, of a file that
    somebody edited or of another version of the program, must not keep out the others of its batch."""
    try:
        return opened(exported), []
    except duckdb.Error:
        pass
    fit, unfit = exported.with_name("fit.jsonl"), []
    alone = exported.with_name("line.jsonl")
    with open(exported, "rb") as lines, open(fit, "wb") as out:
        for line in lines:
            alone.write_bytes(line)
            try:
                opened(alone).close()
                out.write(line)
            except duckdb.Error as error:
                unfit.append((named(line), f"its figures do not fit the data set: {str(error).splitlines()[0]}"))
    return opened(fit), unfit


def opened(exported):
    """A connection with the tables of sql/collect.sql, all of whose values were converted."""
    connection = dataset.connected()
    connection.execute(dataset.script("collect").replace("$exported", dataset.quoted(exported)))
    return connection


def named(line):
    """The file that a line is of."""
    try:
        return str(json.loads(line)["file"])
    except (ValueError, KeyError, TypeError):
        return "a line that is no JSON"
