#!/usr/bin/env python3
"""Checks the tables of replicated reports: every row has figures or says why not, and no method broke.

Usage: check_replications.py TABLE.json…
"""

import json
import sys


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
        if row["ratio"] is None and row["replicated"]["value"] and row["fathom"]["value"]:
            yield f"{name}: two figures and no ratio"
    for method, outcome in table["broken"].items():
        yield f"report {table['report']}, method {method}: {outcome}"


def main(paths):
    wrong = 0
    for path in paths:
        with open(path, encoding="utf-8") as file:
            table = json.load(file)
        measured = sum(row["replicated"]["value"] is not None for row in table["rows"])
        print(f"report {table['report']}: {measured} of {len(table['rows'])} rows measured by its methods")
        for complaint in complaints(table):
            wrong += 1
            print(f"  {complaint}")
        if measured * 2 < len(table["rows"]):
            wrong += 1
            print("  fewer than half of its rows are measured")
    return 1 if wrong else 0


sys.exit(main(sys.argv[1:]))
