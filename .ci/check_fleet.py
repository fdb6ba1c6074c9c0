"""Runs of a fleet, collected and searched as its users would: the package is installed with the DuckDB of the Python package index.

Usage: check_fleet.py FATHOM. A real run of the set goes into a data set of its own; then come the package's own tests. Everything is in a
folder that is removed afterwards.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

FLEET = Path(__file__).parents[1] / "fleet"


def main(fathom):
    fathom = str(Path(fathom).resolve())
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder + "/env", with_pip=True)
        # Building a package leaves files beside its sources.
        source = shutil.copytree(FLEET, folder + "/fleet")
        subprocess.run([folder + "/env/bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", source], check=True)
        command = folder + "/env/bin/fathom-fleet"

        measured = subprocess.run(
            [fathom, "run", "--set", "fleet", "--budget", "20s", "--progress", "quiet", "--label", "rack=7", "-o", folder + "/{host}-{set}.jsonl"],
            stdout=subprocess.DEVNULL,
        )
        assert measured.returncode in (0, 4), measured.returncode  # a busy machine may spoil a figure
        subprocess.run([command, "collect", "--into", folder + "/data", "--fathom", fathom, folder], check=True)
        # One host has no like, so nothing can be a suspect.
        subprocess.run([command, "find", folder + "/data", "--html", folder + "/page.html"], check=True)
        assert Path(folder + "/page.html").read_text().startswith("<!doctype html>")

        environment = os.environ | {"FATHOM": fathom}
        subprocess.run([folder + "/env/bin/python", "-m", "unittest", "discover", "-s", "tests", "-t", "."], cwd=source, env=environment, check=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
