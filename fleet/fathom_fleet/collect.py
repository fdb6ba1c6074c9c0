"""Run files into the data set. What a file tells is told by `fathom export --points`: nothing is estimated here."""

import hashlib
import os
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
    files = run_files(sources)
    while batch := list(islice(files, BATCH)):
        by_content = {}
        for file in batch:
            content = digest(file)
            # What cannot be read is told by the program, with its reason.
            by_content.setdefault(content or file, file)
        known = among(folder, by_content)
        told.known += len(batch) - len(by_content) + len(known)
        wanted = [file for content, file in by_content.items() if content not in known]
        if wanted:
            add(folder, wanted, fathom, trials, left_out, told)
    return told


def digest(file):
    """SHA-256 of a file; None where it cannot be read."""
    try:
        with open(file, "rb") as content:
            return hashlib.sha256(content.read()).hexdigest()
    except OSError:
        return None


def among(folder, contents):
    """Which of these contents the data set has."""
    if dataset.is_empty(folder):
        return set()
    wanted = ", ".join(map(dataset.quoted, contents))
    found = duckdb.sql(f"SELECT DISTINCT content FROM {dataset.rows(folder)} WHERE content IN ({wanted})")
    return {content for (content,) in found.fetchall()}


def add(folder, files, fathom, trials, left_out, told):
    """Adds a batch of files: all of it or, if this process is killed, those days of it that were done."""
    with dataset.incoming(folder) as place:
        exported = place / "runs.jsonl"
        with open(exported, "wb") as out:
            command = [fathom, "export", "--points", "--files-from", "-"] + (["--trials"] if trials else [])
            subprocess.run(command, input="\n".join(files).encode() + b"\n", stdout=out, check=True)
        connection = duckdb.connect()
        connection.execute(dataset.script("collect").replace("$exported", dataset.quoted(exported)))
        for file, reason in connection.execute("SELECT file, left_out FROM exported WHERE left_out IS NOT NULL").fetchall():
            told.left_out += 1
            left_out(file, reason)
        contents = connection.execute("SELECT content FROM exported WHERE left_out IS NULL ORDER BY content").fetchall()
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
