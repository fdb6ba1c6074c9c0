#!/usr/bin/env python3
"""Checks the tables of replicated reports: every row has figures or says why not, and no method broke.

What a machine cannot resolve is an outcome: a row may say "below resolution" or "below nothing" if its figures bear it
out. What cannot be (a rate of nothing, a time as far below nothing as Fathom finds it above), what is unexplained, and what broke are complaints.

Usage: check_replications.py TABLE.json…
"""

import json
import sys


def may_be_nothing(row):
    """Whether one of the two is a time that chance can have brought to nothing: its own interval, if any, must reach it."""
    if row["unit"] != "nanoseconds":
        return False
    for column in ("replicated", "fathom"):
        cell = row[column]
        if cell["value"] is None:
            continue
        if cell["low"] is None and cell["value"] <= 0:
            return True
        # One interval in twenty misses its truth; none misses it by more than its own width.
        if cell["low"] is not None and cell["low"] <= 0 < 2 * cell["high"] - cell["low"]:
            return True
    return False


def is_below_nothing(row):
    """Whether one time is surely below nothing; Fathom's by less than half of what the other is, where that is something."""
    if row["unit"] != "nanoseconds":
        return False
    theirs, ours = row["replicated"], row["fathom"]
    if theirs["high"] is not None and theirs["high"] < 0:
        return True
    is_unresolved = theirs["low"] is None or theirs["low"] <= 0
    return ours["high"] is not None and ours["high"] < 0 and (is_unresolved or -ours["value"] < theirs["value"] / 2)


# What may stand in the place of a ratio, and what the figures must then be.
LOST = {"below_resolution": may_be_nothing, "below_nothing": is_below_nothing}


def of_ratio(row):
    """What is wrong with two figures and their ratio; None where nothing is."""
    if row["verdict"] == "impossible":
        return f"something is broken: {row['no_ratio']}"
    if row["replicated"]["value"] is None or row["fathom"]["value"] is None or row["ratio"] is not None:
        return None
    if row["verdict"] not in LOST or not row["no_ratio"]:
        return "two figures, no ratio, and no reason"
    if not LOST[row["verdict"]](row):
        return f"said to be {row['verdict']}, and its figures are not"
    return None


def complaints(table):
    """What is wrong with one table."""
    for row in table["rows"]:
        name = f"report {table['report']}, {row['operation']}"
        theirs = row["theirs"]
        if theirs["printed"] is None and not theirs["reason"]:
            yield f"{name}: neither their figure nor why there is none"
        for column in ("replicated", "fathom"):
            cell = row[column]
            if cell["value"] is None and not cell["reason"]:
                yield f"{name}: {column} has neither a value nor a reason"
        if wrong := of_ratio(row):
            yield f"{name}: {wrong}"
    for method, outcome in table["broken"].items():
        yield f"report {table['report']}, method {method}: {outcome}"


def main(paths):
    wrong = 0
    for path in paths:
        with open(path, encoding="utf-8") as file:
            table = json.load(file)
        measured = sum(row["replicated"]["value"] is not None for row in table["rows"])
        lost = sum(row["verdict"] in LOST for row in table["rows"])
        of_all = f"{measured} of {len(table['rows'])} rows measured by its methods"
        print(f"report {table['report']}: {of_all}, {lost} below resolution or below nothing here")
        for complaint in complaints(table):
            wrong += 1
            print(f"  {complaint}")
        if measured * 2 < len(table["rows"]):
            wrong += 1
            print("  fewer than half of its rows are measured")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
