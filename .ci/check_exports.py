"""Every format of `fathom export` is read by a consumer of that format which nobody here wrote.

Usage: check_exports.py FATHOM RUN. DuckDB, pandas and the Prometheus client come from the Python package index, into an environment
that is removed afterwards.
"""

import json
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

CONSUMERS = ["duckdb==1.4.*", "pandas==2.*", "prometheus-client==0.*"]


def main(fathom, run):
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder + "/env", with_pip=True)
        python = folder + "/env/bin/python"
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *CONSUMERS], check=True)
        for form in ("csv", "bencher", "google-benchmark", "open-metrics"):
            subprocess.run([fathom, "export", run, "--format", form, "-o", f"{folder}/{form}"], check=True)
        told = subprocess.run([fathom, "report", run, "--format", "json"], check=True, capture_output=True, text=True).stdout
        points = [point for point in json.loads(told)["points"] if point["outcome"] == "value"]
        values = [
            {key: point[key] for key in ("experiment", "median", "unit")} | {"sound": all(check["holds"] for check in point["evidence"])}
            for point in points
        ]
        with open(folder + "/values.json", "w", encoding="utf-8") as file:
            json.dump(values, file)
        subprocess.run([python, f"{Path(__file__).parent}/read_exports.py", folder], check=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
