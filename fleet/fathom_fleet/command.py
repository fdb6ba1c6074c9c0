"""The command line."""

import argparse
import subprocess
import sys
from pathlib import Path

import duckdb

from . import collect, dataset, find, page, simulate
from .words import as_json, clean


def main(arguments=None):
    """Does what is asked; the exit status is 0, 1 where `find` has found suspects, 2 where it could not be done."""
    asked = parser().parse_args(arguments)
    try:
        sys.exit(asked.do(asked))
    except (dataset.Missing, OSError, simulate.Unusable, subprocess.CalledProcessError, duckdb.Error) as error:
        print(f"fathom-fleet: {clean(error)}", file=sys.stderr)
        sys.exit(2)


def parser():
    """Every command and its options."""
    commands = argparse.ArgumentParser(prog="fathom-fleet", description="Run files of many machines in one data set, and the slow hosts among them.")
    kinds = commands.add_subparsers(required=True, metavar="COMMAND")

    one = kinds.add_parser("collect", help="add run files to a data set; what is there already is not added again")
    one.add_argument("sources", nargs="+", metavar="FILE|FOLDER", help="run files, and folders that are searched for *.jsonl")
    one.add_argument("--into", required=True, metavar="DATASET", help="the folder of the data set, which is made where there is none")
    one.add_argument("--fathom", default="fathom", metavar="PROGRAM", help="the program that reads run files (default: fathom)")
    one.add_argument("--trials", action="store_true", help="keep the median of every trial as well")
    one.set_defaults(do=do_collect)

    one = kinds.add_parser(
        "find",
        help="print slow hosts, hosts that drift, and what differs between cohorts",
        epilog="Exit status: 0 no suspect, 1 there are suspects, 2 it could not be done.",
    )
    one.add_argument("dataset", metavar="DATASET")
    one.add_argument("--json", action="store_true", help="print all of it as JSON")
    one.add_argument("--html", metavar="FILE", help="write a page as well")
    one.add_argument("--engine", choices=sorted(find.ENGINES), help="print the command that measures suspects again there")
    one.add_argument("--margin", type=share, metavar="SHARE", help="the largest difference that does not matter, such as 0.05, in place of those of fathom compare")
    one.add_argument("--confirm", type=lambda text: [host for host in text.split(",") if host], default=[], metavar="HOST,HOST",
                     help="judge these hosts alone, by their latest run alone: they were chosen for an earlier one")
    one.set_defaults(do=do_find)

    one = kinds.add_parser("page", help="write the page alone")
    one.add_argument("dataset", metavar="DATASET")
    one.add_argument("html", metavar="FILE")
    one.set_defaults(do=do_page)

    one = kinds.add_parser("simulate", help="make run files of a fleet that does not exist, from a run of one machine, with faults that are known")
    one.add_argument("seed_run", metavar="RUN", help="a run file: fathom run --set fleet")
    one.add_argument("--into", required=True, metavar="FOLDER")
    one.add_argument("--hosts", type=int, default=100, metavar="NUMBER")
    one.add_argument("--runs", type=int, default=1, metavar="NUMBER", help="runs of each host, a day apart (default: 1)")
    one.add_argument("--seed", type=int, default=1, metavar="NUMBER", help="the same seed makes the same files")
    one.add_argument("--fault", type=simulate.Planted.parse, action="append", default=[], metavar="NAME=SHARE",
                     help="a share of the hosts has this fault: " + ", ".join(simulate.FAULTS) + "; of upgrade, the whole fleet, at half-time")
    one.set_defaults(do=do_simulate)
    return commands


def share(text):
    """A share above 0."""
    number = float(text.rstrip("%")) / (100 if text.endswith("%") else 1)
    if not 0 < number < 10:
        raise argparse.ArgumentTypeError("a share above 0 is wanted, such as 0.05 or 5%")
    return number


def do_collect(asked):
    """Adds files, and names those that are none."""
    told = collect.collect(
        asked.into, asked.sources, asked.fathom, asked.trials,
        lambda file, reason: print(f"left out: {clean(file)}: {clean(reason)}", file=sys.stderr),
    )
    print(f"{find.counted(told.added, 'run')} added, {told.known} there already, {told.left_out} left out")
    return 0


def do_find(asked):
    """Prints what was found."""
    connection = find.analysed(asked.dataset, asked.margin, asked.confirm)
    told = find.found(connection, asked.dataset, asked.engine)
    if asked.html:
        Path(asked.html).write_text(page.page(connection, told), encoding="utf-8")
    print(as_json(told) if asked.json else find.text(told))
    return 1 if told["suspects"] else 0


def do_page(asked):
    """Writes the page."""
    connection = find.analysed(asked.dataset)
    Path(asked.html).write_text(page.page(connection, find.found(connection, asked.dataset)), encoding="utf-8")
    return 0


def do_simulate(asked):
    """Makes run files, and beside them what was planted."""
    simulate.simulate(asked.seed_run, asked.into, asked.hosts, asked.runs, asked.seed, asked.fault)
    return 0
