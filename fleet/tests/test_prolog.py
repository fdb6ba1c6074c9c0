"""The prolog of Slurm with programs that stand in for fathom, pgrep and logger: neither Slurm nor a measurement is needed."""

import os
import re
import shutil
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

PROLOG = Path(__file__).parents[1] / "slurm" / "prolog"
REGRESSED = "Regressed: 2 points got worse by more than the margin."


class Prolog(unittest.TestCase):
    """A node with a baseline, on which nothing else runs."""

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        (self.folder / "bin").mkdir()
        self.state = self.folder / "state"
        self.settings = self.folder / "settings"
        self.set()
        self.stands_in("pgrep", "exit 1")
        self.stands_in("logger", f'echo "${{@: -1}}" >>{self.folder}/told')
        self.stands_in("fathom", "exit 0")

    def set(self, more="", **settings):
        settings = {"FATHOM": self.folder / "bin/fathom", "BASELINE": "/sound", "STATE": self.state} | settings
        lines = [f"PATH={self.folder}/bin:$PATH", *(f"{name}={value}" for name, value in settings.items()), more]
        self.settings.write_text("\n".join(lines) + "\n")

    def stands_in(self, name, body):
        program = self.folder / "bin" / name
        program.write_text(f'#!/bin/bash\necho "$@" >>{self.folder}/{name}-asked\n{body}\n')
        program.chmod(0o755)

    def ends(self, status, said):
        self.stands_in("fathom", f"echo '{said}'\nexit {status}")

    def prolog(self, **environment):
        """Its exit status, in the environment that slurmd gives: without PATH."""
        environment = {"SETTINGS": str(self.settings), "SLURM_JOB_ID": "42"} | environment
        return subprocess.run([PROLOG], env=environment, timeout=30, stdin=subprocess.DEVNULL, capture_output=True).returncode

    def asked(self, program="fathom"):
        asked = self.folder / f"{program}-asked"
        return asked.read_text().splitlines() if asked.exists() else []

    def told(self):
        told = self.folder / "told"
        return told.read_text() if told.exists() else ""

    def left(self):
        return sorted(path.name for path in self.state.iterdir()) if self.state.is_dir() else []


class Verdicts(Prolog):
    def test_only_a_report_of_a_regression_drains_the_node(self):
        for status in [*range(6), 101, 124, 127, 137, 143]:
            for said in (REGRESSED, "Passed.", "version `GLIBC_9.9` not found", ""):
                with self.subTest(status=status, said=said):
                    shutil.rmtree(self.state, ignore_errors=True)
                    (self.folder / "told").write_text("")
                    self.ends(status, said)
                    drains = (status, said) == (1, REGRESSED)
                    self.assertEqual(self.prolog(), 1 if drains else 0)
                    self.assertEqual(self.left(), ["slower"] if drains else ["judged"] if status in (0, 3) else [])
                    self.assertIn(said if drains else "" if status in (0, 3) else f"not judged: status {status}: {said}", self.told())
        self.assertRegex(self.asked()[0], f"^gate .*--baseline /sound --budget 20s --output {self.state}/[^ ]*/run.jsonl$")

    def test_the_report_of_a_slow_node_is_kept_and_takes_the_place_of_an_earlier_one(self):
        for times in ("twice", "three times"):
            self.ends(1, f"{REGRESSED}\n{times} as slow")
            self.assertEqual(self.prolog(), 1)
            self.assertEqual((self.state / "slower/report.txt").read_text(), f"{REGRESSED}\n{times} as slow\n")

    def test_a_program_that_is_none_or_dies_lets_the_job_start(self):
        self.stands_in("fathom", "kill -SEGV $$")
        self.assertEqual(self.prolog(), 0)
        for program in ("/no/such/program", self.folder, self.settings):
            self.set(FATHOM=program)
            self.assertEqual(self.prolog(), 0)
        self.assertEqual(self.told().count("not judged: status"), 4)

    def test_a_node_is_measured_once_in_its_hours_and_again_if_it_was_not_judged(self):
        for _ in range(2):
            self.assertEqual(self.prolog(), 0)
        self.assertEqual(len(self.asked()), 1)
        before = time.time() - 25 * 3600
        os.utime(self.state / "judged", (before, before))
        self.ends(2, "the disk is full")
        for _ in range(2):
            self.assertEqual(self.prolog(), 0)
        self.assertEqual(len(self.asked()), 3)

    def test_a_program_that_does_not_end_is_ended_before_slurm_gives_the_job_up(self):
        patience = int(re.search(r"BatchStartTimeout=(\d+)", PROLOG.read_text()).group(1))
        self.stands_in("timeout", 'exec /usr/bin/timeout --kill-after=0.2 0.2 "${@:3}"')
        self.stands_in("fathom", "trap '' TERM; exec sleep 60")
        began = time.monotonic()
        self.assertEqual(self.prolog(), 0)
        self.assertLess(time.monotonic() - began, 20)
        kill_after, limit = re.match(r"--kill-after=(\d+) (\d+) ", self.asked("timeout")[0]).groups()
        self.assertLess(int(kill_after) + int(limit), patience)
        self.assertEqual(self.left(), [])


class Surroundings(Prolog):
    def test_beside_the_steps_of_another_job_nothing_is_measured(self):
        def steps(*jobs):
            self.stands_in("pgrep", "\n".join(f"echo '9 slurmstepd: [{job}.batch]'" for job in jobs))

        # More of them than a pipe holds.
        for jobs in ([41], [42, 421], [142], range(100, 3000)):
            steps(*jobs)
            self.assertEqual(self.prolog(), 0)
        self.assertEqual((self.asked(), self.told().count("another job")), ([], 4))
        steps(42, 42)
        self.assertEqual(self.prolog(), 0)
        self.assertEqual(len(self.asked()), 1)
        # What others call theirs keeps no node from being judged.
        questions = (self.folder / "pgrep-asked").read_text().splitlines()
        self.assertEqual({question.split(" --full")[0] for question in questions}, {f"--uid {os.geteuid()}"})

    def test_settings_that_are_wrong_and_a_folder_that_cannot_be_written_let_the_job_start(self):
        self.ends(3, "Inconclusive.")
        for more in ('BASELINE=""', "BASELINE=$NOWHERE/sound", "if", "exit 1", "set -e; false", "HOURS=0.5", "HOURS=day", "STATE=/proc/fathom"):
            with self.subTest(more):
                self.set(more)
                self.assertEqual(self.prolog(), 0)
        self.assertEqual(self.prolog(SETTINGS="/no/such/file"), 0)
        self.set()
        for tool in ("touch", "mkdir", "mktemp", "mv"):
            with self.subTest(tool):
                self.stands_in(tool, "exit 1")
                self.assertEqual(self.prolog(), 0)
                (self.folder / "bin" / tool).unlink()

    def test_nothing_of_a_hostile_environment_is_run_removed_or_believed(self):
        theirs, hurt = self.folder / "theirs", self.folder / "hurt"
        (theirs / "bin").mkdir(parents=True)
        hurts = f"#!/bin/sh\necho $0 >>{hurt}\n"
        tools = ("fathom", "find", "grep", "id", "logger", "mkdir", "mktemp", "mv", "pgrep", "rm", "tail", "timeout", "touch")
        for tool in tools:
            (theirs / "bin" / tool).write_text(hurts)
            (theirs / "bin" / tool).chmod(0o755)
        (theirs / "start").write_text(hurts)
        functions = {f"BASH_FUNC_{tool}%%": f"() {{ echo {tool} >>{hurt}; }}" for tool in tools}
        variables = {name: str(theirs) for name in ("STATE", "BASELINE", "folder", "others", "TMPDIR")}
        variables |= {"FATHOM": str(theirs / "bin/fathom"), "HOURS": "0", "BUDGET": "9h", "status": "1", "drained": "1", "verdict": REGRESSED}
        variables |= {"PATH": f"{theirs}/bin", "BASH_ENV": str(theirs / "start"), "SHELLOPTS": "errexit", "CDPATH": str(theirs)}
        self.assertEqual(self.prolog(**functions, **variables), 0)
        self.assertFalse(hurt.exists() and hurt.read_text())
        self.assertEqual(len(list(theirs.rglob("*"))), len(tools) + 2)
        self.assertRegex(self.asked()[0], "--baseline /sound --budget 20s ")
        self.assertEqual(self.left(), ["judged"])


if __name__ == "__main__":
    unittest.main()
