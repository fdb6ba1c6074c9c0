#!/usr/bin/env python3
"""Tests of check_dependencies.py: each complaint is seen, on planted libraries and days. Needs cargo, and no network."""

import datetime
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import check_dependencies as checks  # noqa: E402

TODAY = datetime.date(2026, 11, 23)
CARGO = '[package]\nname = "{name}"\nversion = "1.0.0"\nedition = "2021"\ndescription = "planted"\nlicense = "MIT"\n'


def planted(folder, name, dependencies=""):
    root = Path(folder, name)
    (root / "src").mkdir(parents=True)
    (root / "src/lib.rs").write_text("")
    (root / "Cargo.toml").write_text(CARGO.format(name=name) + dependencies)
    return root


def cargo(*arguments, at):
    subprocess.run(["cargo", *arguments], cwd=at, check=True, capture_output=True)


class Yanked(unittest.TestCase):
    def test_a_yanked_version_in_the_lock_file_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            library = planted(folder, "planted-library")
            cargo("package", "--no-verify", "--allow-dirty", "--offline", at=library)
            packed = (library / "target/package/planted-library-1.0.0.crate").read_bytes()
            registry = Path(folder, "registry")
            index = registry / "index/pl/an/planted-library"
            index.parent.mkdir(parents=True)
            (registry / "planted-library-1.0.0.crate").write_bytes(packed)
            entry = {"name": "planted-library", "vers": "1.0.0", "deps": [], "features": {}, "yanked": False}
            entry["cksum"] = hashlib.sha256(packed).hexdigest()
            index.write_text(json.dumps(entry))
            program = planted(folder, "planted-program", '[dependencies]\nplanted-library = "1"\n')
            (program / ".cargo").mkdir()
            source = '[source.crates-io]\nreplace-with = "planted"\n[source.planted]\n'
            (program / ".cargo/config.toml").write_text(source + f'local-registry = "{registry}"\n')
            cargo("generate-lockfile", at=program)
            before = os.getcwd()
            os.chdir(program)
            try:
                self.assertEqual(checks.yanked(), ([], None))
                index.write_text(json.dumps({**entry, "yanked": True}))
                self.assertEqual(checks.yanked(), (["planted-library v1.0.0"], None))
                # Where cargo cannot ask, nothing is concluded.
                (registry / "planted-library-1.0.0.crate").unlink()
                index.unlink()
                found, unknown = checks.yanked()
                self.assertEqual(found, [])
                self.assertIsNotNone(unknown)
            finally:
                os.chdir(before)


class Advisories(unittest.TestCase):
    CHECKED = {"checked": TODAY, "version": "0.1.0", "database": "of 2026-11-20"}

    def test_the_grace_ends_with_its_days_and_with_the_next_version(self):
        over = checks.grace_is_over
        self.assertIsNone(over(self.CHECKED, "0.1.0", TODAY + datetime.timedelta(days=checks.GRACE)))
        self.assertIn("grace", over(self.CHECKED, "0.1.0", TODAY + datetime.timedelta(days=checks.GRACE + 1)))
        self.assertIn("version", over(self.CHECKED, "0.2.0", TODAY))
        # A day in the future is no check either.
        self.assertIsNotNone(over(self.CHECKED, "0.1.0", TODAY - datetime.timedelta(days=1)))

    def test_no_database_an_old_one_and_one_of_unknown_age_are_no_check(self):
        self.assertIn("no database", checks.stale(None, "no network", TODAY))
        with tempfile.TemporaryDirectory() as folder:
            self.assertIn("how old", checks.stale(folder, None, TODAY))
            git = ["git", "-c", "user.name=x", "-c", "user.email=x@localhost", "-C", folder]
            days = {**os.environ, "GIT_COMMITTER_DATE": "2026-11-20T12:00:00Z", "GIT_AUTHOR_DATE": "2026-11-20T12:00:00Z"}
            subprocess.run(["git", "init", "--quiet", folder], check=True)
            subprocess.run([*git, "commit", "--quiet", "--allow-empty", "-m", "x"], check=True, env=days)
            self.assertIsNone(checks.stale(folder, None, TODAY))
            self.assertIn("older", checks.stale(folder, None, TODAY + datetime.timedelta(days=checks.GRACE)))

    def test_an_affected_version_is_named_and_a_mended_one_is_not(self):
        with tempfile.TemporaryDirectory() as folder:
            said = Path(folder, "crates/planted/RUSTSEC-2026-0001.md")
            said.parent.mkdir(parents=True)
            said.write_text('```toml\n[advisory]\nid = "RUSTSEC-2026-0001"\n[versions]\npatched = [">= 1.2"]\n```\n')
            found = lambda version: list(checks.advisories(folder, {"name": "planted", "version": version}))  # noqa: E731
            self.assertEqual(found("1.1.9"), ["RUSTSEC-2026-0001 (a vulnerability)"])
            self.assertEqual(found("1.2.0"), [])


if __name__ == "__main__":
    unittest.main()
