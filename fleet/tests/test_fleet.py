"""A simulated fleet from the real run in seed.jsonl.gz: collected, searched, and shown, with the program and the DuckDB that users have."""

import base64
import contextlib
import csv
import gzip
import hashlib
import io
import json
import os
import random
import shutil
import subprocess
import tempfile
import time
import unittest
from datetime import datetime
from pathlib import Path

import duckdb

from fathom_fleet import collect, command, dataset, find, page, simulate, words

HERE = Path(__file__).parent
FATHOM = os.environ.get("FATHOM", "fathom")
SLOW = ("memory", "channel", "governor", "disk", "neighbour", "cache", "hot")


def planted(share, names=SLOW):
    return [simulate.Planted(name, share) for name in names]


ODD = (None, 0, -1, 2**64 - 1, -(2**63), 1e308, -1e308, 5e-324, "", "\x1b[31m\u202e'; DROP TABLE rows; --", [], {}, True, "infinity", "2016-12-31T23:59:60Z")


def spoiling(seed):
    """An edit of `edited` by which one line in forty has an odd value somewhere, the first always."""
    chance = random.Random(seed)

    def edit(kind, line):
        if kind != "header" and chance.randrange(40):
            return
        place, step = line, chance.choice(list(line))
        while isinstance(place[step], (dict, list)) and place[step] and chance.randrange(8):
            place = place[step]
            step = chance.choice(list(place)) if isinstance(place, dict) else chance.randrange(len(place))
        place[step] = chance.choice(ODD)

    return edit


class Fleet(unittest.TestCase):
    """A folder for a test, with the seed run in it."""

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.seed = self.folder / "seed.jsonl"
        self.seed.write_bytes(gzip.decompress((HERE / "seed.jsonl.gz").read_bytes()))
        self.data = self.folder / "data"

    def simulated(self, name="fleet", hosts=10, runs=1, seed=1, faults=()):
        simulate.simulate(self.seed, self.folder / name, hosts, runs, seed, list(faults))
        return self.folder / name

    def collected(self, *sources, data=None, **more):
        return collect.collect(data or self.data, sources, FATHOM, **more)

    def found(self, data=None, **more):
        data = data or self.data
        return find.found(find.analysed(data, **more), data)

    @staticmethod
    def suspects(told):
        return {suspect["host"] for suspect in told["suspects"]}


class Collecting(Fleet):
    def test_the_same_file_twice_is_one_and_files_are_only_added(self):
        fleet = self.simulated(hosts=4, runs=2)
        first = sorted(fleet.glob("*-000.jsonl"))
        told = self.collected(*first, first[0])
        self.assertEqual((told.added, told.known), (4, 1))
        before = {path: hashlib.sha256(path.read_bytes()).digest() for path in self.data.rglob("*.parquet")}
        self.assertEqual([path.parent.name for path in before], ["day=2026-01-01"])
        shutil.copy(first[0], fleet / "copy.jsonl")
        told = self.collected(fleet)
        self.assertEqual((told.added, told.known, told.left_out), (4, 5, 0))
        for path, digest in before.items():
            self.assertEqual(hashlib.sha256(path.read_bytes()).digest(), digest)
        points = len(json.loads(first[0].read_text().splitlines()[0])["plan"])
        count = duckdb.sql(f"SELECT count(*), count(DISTINCT run), count(DISTINCT host) FROM {dataset.rows(self.data)}").fetchone()
        self.assertEqual(count, (8 * points, 8, 4))
        self.assertEqual([path.name for path in self.data.iterdir() if path.name.startswith(".")], [])

    def test_a_run_that_went_on_takes_the_place_of_its_earlier_part(self):
        fleet = self.simulated(hosts=1)
        (file,) = fleet.glob("*.jsonl")
        self.collected(file)
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        lines[-1]["at"] = "2026-01-01T09:00:00Z"
        file.write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines))
        self.assertEqual(self.collected(file).added, 1)
        rows = find.rows(find.analysed(self.data), "SELECT DISTINCT ended FROM points")
        self.assertEqual(rows, [{"ended": datetime(2026, 1, 1, 9)}])

    def test_torn_and_foreign_files_are_named_and_left_out(self):
        fleet = self.simulated(hosts=2)
        files = sorted(fleet.glob("*.jsonl"))
        text = files[1].read_text()
        (fleet / "torn.jsonl").write_text(text[:-20])
        (fleet / "killed.jsonl").write_text("".join(text.splitlines(keepends=True)[:-1]))
        (fleet / "foreign.jsonl").write_text('{"hello": "world"}\n')
        left_out = {}
        told = self.collected(fleet, fleet / "missing.jsonl", left_out=lambda file, reason: left_out.update({Path(file).name: reason}))
        self.assertEqual((told.added, told.left_out), (2, 4))
        for name, said in {"torn": "incomplete", "killed": "has not ended", "foreign": "damaged", "missing": "cannot read"}.items():
            self.assertIn(said, left_out[f"{name}.jsonl"])

    def test_trials_are_kept_on_request_and_both_kinds_of_rows_are_read_together(self):
        fleet = self.simulated(hosts=2)
        one, other = sorted(fleet.glob("*.jsonl"))
        self.collected(one)
        self.collected(other, trials=True)
        rows = duckdb.sql(f"SELECT host, max(len(by_round)) FROM {dataset.rows(self.data)} GROUP BY host ORDER BY host").fetchall()
        self.assertEqual([trials for _, trials in rows], [None, simulate.TRIALS])

    def test_no_more_than_a_batch_is_read_at_a_time(self):
        fleet = self.simulated(hosts=7)
        usual, collect.BATCH = collect.BATCH, 3
        try:
            self.assertEqual(self.collected(fleet).added, 7)
        finally:
            collect.BATCH = usual
        self.assertEqual(len(list(self.data.rglob("*.parquet"))), 3)


    def edited(self, source, name, edit):
        """A copy of a run file whose lines somebody has edited: `edit` takes the kind of a line and the line."""
        lines = [json.loads(line) for line in source.read_text().splitlines()]
        for line in lines:
            edit(line["line"], line)
        file = source.with_name(name)
        file.write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines))
        return file

    @staticmethod
    def misfits():
        """Values that no run has, by the line and the place they stand at."""
        point = ("plan", 0)
        return {
            "beginning-no-time": ("header", ("started",), "not a time"),
            "beginning-empty": ("header", ("started",), ""),
            "beginning-infinite": ("header", ("started",), "infinity"),
            "beginning-leap-second": ("header", ("started",), "2016-12-31T23:59:60Z"),
            "beginning-far": ("header", ("started",), "292278-01-01T00:00:00Z"),
            "beginning-before-christ": ("header", ("started",), "0044-03-15 (BC) 00:00:00"),
            "beginning-a-path": ("header", ("started",), "../../../x"),
            "end-no-time": ("closing", ("at",), "tomorrow"),
            "took-negative": ("closing", ("took_s",), -1.0),
            "took-huge": ("closing", ("took_s",), 1e300),
            "version-huge": ("header", (*point, "method_version"), 4294967295),
            "version-negative": ("header", (*point, "method_version"), -1),
            "memory-huge": ("header", ("machine", "memory", "total_bytes", "value"), 18446744073709551615),
            "memory-text": ("header", ("machine", "memory", "total_bytes", "value"), "much"),
            "cpu-number": ("header", ("machine", "processor", "model_name", "value"), 7),
            "unit-foreign": ("header", (*point, "unit"), "furlong"),
            "label-number": ("header", ("settings", "labels", "host"), 17),
            "label-zero": ("header", ("settings", "labels", "host"), "a\0b"),
            "label-long": ("header", ("settings", "labels", "rack"), "x" * 1_000_000),
            "label-half-a-letter": ("header", ("settings", "labels", "host"), "\ud800"),
            "load-huge": ("header", ("machine", "conditions", "load_average", "value"), [1e308, -1e308, 0]),
            "steal-huge": ("closing", ("conditions", "steal_ns"), 18446744073709551615),
            "experiment-foreign": ("header", (*point, "experiment"), "'; DROP TABLE rows; --"),
        }

    def misfit(self, source, name):
        """One of them."""
        kind, place, value = self.misfits()[name]

        def edit(of, line):
            if of == kind:
                for step in place[:-1]:
                    line = line[step]
                line[place[-1]] = value

        return self.edited(source, f"misfit-{name}.jsonl", edit)

    def test_a_file_that_does_not_fit_never_keeps_out_others(self):
        good = sorted(self.simulated(hosts=2).glob("*.jsonl"))
        for name in self.misfits():
            with self.subTest(name):
                bad, left_out = self.misfit(good[0], name), {}
                data = self.folder / f"data-{name}"
                told = self.collected(*good, bad, data=data, left_out=left_out.__setitem__)
                # Some only look odd: those are added as they are.
                self.assertEqual(told.added + told.left_out, 3)
                self.assertIn(set(left_out), (set(), {str(bad)}))
                self.assertEqual(self.collected(*good, data=data).known, 2)
                find.text(self.found(data))

    def test_five_hundred_good_ones_are_added_beside_every_bad_one(self):
        good = sorted(self.simulated(hosts=500).glob("*.jsonl"))
        bad = [self.misfit(good[0], name) for name in self.misfits()]
        left_out = []
        told = self.collected(*good, *bad, left_out=lambda file, reason: left_out.append((file, reason)))
        self.assertEqual(told.added + told.left_out, len(good) + len(bad))
        self.assertGreaterEqual(len(left_out), 15)
        self.assertLessEqual({file for file, _ in left_out}, {str(file) for file in bad})
        self.assertTrue(all(reason for _, reason in left_out))
        hosts = duckdb.sql(f"SELECT count(DISTINCT host) FROM {dataset.rows(self.data)} WHERE host LIKE 'node-%'").fetchone()
        self.assertEqual(hosts, (500,))

    def test_files_that_are_spoilt_at_random_never_keep_out_others(self):
        """For FATHOM_FUZZ_SECONDS, 3 if it is not set, from FATHOM_FUZZ_SEED on."""
        good = sorted(self.simulated(hosts=2).glob("*.jsonl"))
        seed, until = int(os.environ.get("FATHOM_FUZZ_SEED", 0)), time.monotonic() + float(os.environ.get("FATHOM_FUZZ_SECONDS", 3))
        while seed == int(os.environ.get("FATHOM_FUZZ_SEED", 0)) or time.monotonic() < until:
            with self.subTest(seed=seed):
                bad = [self.edited(good[0], f"bad-{number}.jsonl", spoiling(f"{seed} {number}")) for number in range(20)]
                data = self.folder / f"data-{seed}"
                told = self.collected(*good, *bad, data=data)
                self.assertEqual(told.added + told.known + told.left_out, 22)
                self.assertEqual(self.collected(*good, data=data).known, 2)
                find.text(self.found(data))
                shutil.rmtree(data)
            seed += 1

    def test_lines_of_another_program_that_do_not_fit_are_named_and_the_others_are_added(self):
        (good,) = self.simulated(hosts=1).glob("*.jsonl")
        lines = ['{"file":"torn","content":', '[1]', '{"file":"odd","content":"c","run":"r","started":{},"points":7}', '{"file":"new","started":"2026-01-01T00:00:00Z","boost":"maybe","points":[]}']
        stand_in = self.folder / "stand-in"
        stand_in.write_text(f"#!/bin/sh\n'{shutil.which(FATHOM) or FATHOM}' \"$@\" || exit\ncat <<'END'\n" + "\n".join(lines) + "\nEND\n")
        stand_in.chmod(0o755)
        left_out = []
        told = collect.collect(self.data, [good], stand_in, left_out=lambda file, reason: left_out.append(file))
        self.assertEqual((told.added, told.left_out), (1, 4))
        self.assertEqual(left_out, ["a line that is no JSON", "a line that is no JSON", "odd", "new"])

    def test_pipes_and_names_of_two_lines_are_named_and_not_waited_for(self):
        fleet = self.simulated(hosts=2)
        one, other = sorted(fleet.glob("*.jsonl"))
        os.mkfifo(fleet / "pipe.jsonl")
        # The second line would be another file.
        shutil.copy(one, fleet / f"x\n{other.name}")
        shutil.copy(one, os.fsencode(fleet) + b"/\xff\xfe.jsonl")
        left_out = {}
        told = self.collected(fleet, left_out=left_out.__setitem__)
        self.assertEqual((told.added, told.known), (2, 1))
        self.assertEqual({Path(file).name for file in left_out}, {"pipe.jsonl", f"x\n{other.name}"})

    def test_what_duckdb_cannot_do_is_told_without_a_traceback(self):
        (self.data / "day=2026-01-01").mkdir(parents=True)
        (self.data / "day=2026-01-01" / "x.parquet").write_text("no Parquet")
        for arguments in (["find", str(self.data)], ["collect", "--fathom", FATHOM, "--into", str(self.data), str(self.seed)]):
            with contextlib.redirect_stderr(io.StringIO()) as told, self.assertRaises(SystemExit) as ended:
                command.main(arguments)
            self.assertEqual(ended.exception.code, 2)
            self.assertTrue(told.getvalue().startswith("fathom-fleet: "), told.getvalue())


class Finding(Fleet):
    def test_planted_slow_hosts_are_found_and_hardly_any_other(self):
        fleet = self.simulated(hosts=280, seed=11, faults=planted(0.02))
        self.collected(fleet)
        told = self.found()
        with open(fleet / "truth.csv", encoding="utf-8", newline="") as file:
            truth = {row["host"]: row["fault"] for row in csv.DictReader(file)}
        found = self.suspects(told)
        hits = len(found & truth.keys())
        self.assertEqual(len(truth), 42)
        self.assertGreaterEqual(hits / len(found), 0.95, found - truth.keys())
        self.assertGreaterEqual(hits / len(truth), 0.95, {host: truth[host] for host in truth.keys() - found})
        # A missing module and a governor are told beside the figures; the host with less memory is judged among its like.
        self.assertEqual(len(told["cohorts"]), 1)
        unlike = {row["host"]: row["what"] for row in told["unlike"]}
        self.assertEqual({host for host, what in unlike.items() if what == "memory"}, {host for host, fault in truth.items() if fault == "channel"})
        self.assertEqual({host for host, what in unlike.items() if what == "governor"}, {host for host, fault in truth.items() if fault == "governor"})

    def test_nothing_is_found_in_a_fleet_without_faults_in_19_of_20_draws(self):
        draws_with_suspects = 0
        for seed in range(20):
            data = self.folder / f"data-{seed}"
            fleet = self.simulated(f"fleet-{seed}", hosts=40, seed=1000 + seed)
            self.collected(fleet, data=data)
            draws_with_suspects += bool(self.found(data)["suspects"])
            shutil.rmtree(fleet)
        self.assertLessEqual(draws_with_suspects, 1)

    def test_an_upgrade_is_a_difference_between_cohorts_and_no_host_is_blamed(self):
        self.collected(self.simulated(hosts=24, runs=4, faults=planted(1.0, ["upgrade"])))
        told = self.found()
        self.assertEqual(told["suspects"], [])
        self.assertEqual(len(told["cohorts"]), 2)
        verdicts = {(row["experiment"], row["point"]): row for row in told["between_cohorts"]}
        of = lambda experiment, verdict: [row["verdict"] == verdict for (name, _), row in verdicts.items() if name == experiment]
        self.assertTrue(all(of("cpu/system_call", "worse")) and of("cpu/system_call", "worse"))
        self.assertTrue(all(of("cpu/arithmetic", "equivalent")))
        self.assertTrue(all(of("memory/minor_fault", "better")))
        call = next(row for (name, _), row in verdicts.items() if name == "cpu/system_call")
        self.assertTrue(call["low"] <= 1.12 <= call["high"] and call["same_hosts"], call)

    def test_a_host_that_drifts_is_found_by_its_own_earlier_runs(self):
        fleet = self.simulated(hosts=24, runs=8, faults=planted(2 / 24, ["drift"]))
        self.collected(fleet)
        told = self.found()
        drifting = {suspect["host"] for suspect in told["suspects"] if any(one["what"] == "drifts" for one in suspect["evidence"])}
        with open(fleet / "truth.csv", encoding="utf-8", newline="") as file:
            self.assertEqual(drifting, {row["host"] for row in csv.DictReader(file)})

    def test_a_suspect_is_confirmed_or_cleared_by_its_latest_run_alone(self):
        # Of the second runs one host is slow again, and the other is not.
        fleet = self.simulated(hosts=40, runs=1, seed=3, faults=planted(2 / 40, ["disk"]))
        self.collected(fleet)
        suspects = sorted(self.suspects(self.found()))
        self.assertEqual(len(suspects), 2)
        again = self.simulated("again", hosts=40, runs=2, seed=3)
        for number, host in enumerate(suspects):
            source = fleet / f"{host}-000.jsonl" if number == 0 else again / f"{host}-001.jsonl"
            lines = source.read_text().splitlines()
            header = json.loads(lines[0])
            header["started"] = "2026-01-09T00:00:00Z"
            (self.folder / f"{host}.jsonl").write_text("\n".join([json.dumps(header), *lines[1:]]) + "\n")
            self.collected(self.folder / f"{host}.jsonl")
        told = self.found(confirm=suspects)
        self.assertEqual(self.suspects(told), {suspects[0]})
        self.assertEqual({one["runs"] for one in told["suspects"][0]["evidence"]}, {1})
        # No other host is judged.
        self.assertLess(told["tests"], 80)

    def test_a_fleet_of_another_margin_is_judged_by_it(self):
        self.collected(self.simulated(hosts=60, seed=5, faults=planted(1 / 60, ["memory"])))
        self.assertEqual(len(self.suspects(self.found(margin=0.05))), 1)
        self.assertEqual(self.suspects(self.found(margin=0.2)), set())

    def test_the_statements_run_in_a_duckdb_without_this_program(self):
        self.collected(self.simulated(hosts=60, seed=5, faults=planted(2 / 60, ["governor"])))
        plain = duckdb.connect()
        plain.execute(f"CREATE VIEW collected AS SELECT * FROM '{self.data}/day=*/*.parquet'")
        plain.execute("CREATE TABLE settings AS SELECT NULL::DOUBLE AS margin, 0.05 AS rate, 3 AS fewest_hosts, 4.0 AS prior_freedom, 0.05 AS rare")
        plain.execute("CREATE TABLE confirmed (host VARCHAR)")
        for name in find.SCRIPTS:
            plain.execute((HERE.parent / "fathom_fleet/sql" / f"{name}.sql").read_text(encoding="utf-8"))
        hosts = {host for (host,) in plain.execute("SELECT DISTINCT host FROM slow").fetchall()}
        self.assertEqual(len(hosts), 2)
        self.assertEqual(hosts, self.suspects(self.found()))


class Statistics(unittest.TestCase):
    """The approximations in plain SQL against tables."""

    def chance(self, t, freedom):
        connection = duckdb.connect()
        connection.execute(f"CREATE TABLE tests AS SELECT {t}::DOUBLE AS excess, 0.0 AS margin, 1.0 AS deviation, {freedom}::DOUBLE AS freedom")
        statement = next(one for one in dataset.script("slow").split(";") if "CREATE TEMP TABLE chances" in one)
        connection.execute(statement)
        return connection.execute("SELECT chance FROM chances").fetchone()[0]

    def test_chances_are_those_of_students_table(self):
        # One-sided probabilities: Abramowitz & Stegun 1964, table 26.10, and exact values of the same function.
        for t, freedom, chance in ((1.833, 9, 0.05), (4.0, 9, 0.001555), (3.365, 5, 0.01), (4.781, 9, 0.0005), (5.0, 30, 1.15e-5), (6.0, 1e9, 9.87e-10)):
            self.assertAlmostEqual(self.chance(t, freedom) / chance, 1, delta=0.06, msg=(t, freedom))
        self.assertEqual(self.chance(-1, 9), 1)

    def test_false_discoveries_are_those_of_the_source(self):
        # The fifteen probabilities of Neuhaus et al. 1992 in Benjamini & Hochberg 1995, section 4.1: four rejections.
        chances = (0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0)
        connection = duckdb.connect()
        connection.execute("CREATE TABLE settings AS SELECT 0.05 AS rate")
        connection.execute("CREATE TABLE chances (chance DOUBLE, host VARCHAR, experiment VARCHAR, point VARCHAR)")
        connection.executemany("INSERT INTO chances VALUES (?, ?, 'e', 'p')", [[chance, f"h{place}"] for place, chance in enumerate(chances)])
        connection.execute(next(one for one in dataset.script("slow").split(";") if "CREATE TEMP TABLE slow" in one))
        self.assertEqual(connection.execute("SELECT count(*) FROM slow").fetchone()[0], 4)


class Showing(Fleet):
    HOSTILE = "<script>alert(1)</script>"

    # What controls a terminal or turns letters: ESC, BEL, a line end, CSI of C1, and marks of direction.
    CONTROL = "\x1b]0;owned\x07\x1b[8m\n\x9b31m\u202e\u2066\u2028"

    def hostile(self, host=HOSTILE, edit=lambda text: text):
        """A data set with a suspect of this name."""
        fleet = self.simulated(hosts=40, seed=5, faults=planted(1 / 40, ["governor"]))
        with open(fleet / "truth.csv", encoding="utf-8", newline="") as file:
            (slow,) = (row["host"] for row in csv.DictReader(file))
        file = fleet / f"{slow}-000.jsonl"
        file.write_text(file.read_text().replace(f'"host":"{slow}"', f'"host":{json.dumps(host)}'))
        for file in fleet.glob("*.jsonl"):
            file.write_text(edit(file.read_text()))
        self.collected(fleet)

    def test_the_command_line_tells_suspects_with_evidence_and_the_command_that_measures_them_again(self):
        self.hostile("rack7-n3.example")

        def said(*arguments):
            with contextlib.redirect_stdout(io.StringIO()) as out, self.assertRaises(SystemExit) as ended:
                command.main(["find", str(self.data), *arguments])
            return ended.exception.code, out.getvalue()

        status, text = said("--engine", "slurm")
        self.assertEqual(status, 1)
        self.assertIn("1 suspect in", text)
        self.assertIn("governor: powersave, its cohort performance", text)
        self.assertIn("fleet/slurm/measure rack7-n3.example RESULTS", text)
        self.assertIn("--confirm", text)
        told = json.loads(said("--json", "--engine", "ansible")[1])
        self.assertTrue(told["measure_again"].startswith("ansible-playbook"))
        self.assertEqual(told["suspects"][0]["host"], "rack7-n3.example")
        self.assertIn("kubernetes.io/hostname in (", said("--engine", "kubernetes")[1])

    def test_a_label_that_is_no_name_of_a_host_stands_in_no_command(self):
        names = ["x),kubernetes.io/os in (linux", "@/etc/passwd", "n[1-9999]", "a,b", "all:!n1", "all", "Ungrouped", "localhost", "~.*", "*", "--all", "", "n1\n", "n1;id", self.HOSTILE, self.CONTROL]
        self.assertEqual([name for name in names if words.is_host(name)], [])
        self.assertEqual([name for name in ("n1", "node-7.rack3.example", "N_1") if not words.is_host(name)], [])
        self.hostile(names[0])
        told = find.found(find.analysed(self.data), self.data, "kubernetes")
        self.assertEqual([suspect["host"] for suspect in told["suspects"]], [names[0]])
        self.assertEqual((told["measure_again"], told["then"], told["not_named"]), (None, None, 1))
        self.assertIn("No command names 1 suspect", find.text(told))

    def test_no_string_of_a_run_file_controls_a_terminal(self):
        quoted = json.dumps(self.CONTROL)[1:-1]

        def edit(text):
            lines = [json.loads(line) for line in text.splitlines()]
            lines[0]["machine"]["processor"]["model_name"] = {"value": f"EPYC{self.CONTROL}", "source": "x"}
            lines[0]["machine"]["kernel"]["release"] = {"value": f"6.1{self.CONTROL}", "source": "x"}
            return "".join(json.dumps(line) + "\n" for line in lines).replace("performance", f"per{quoted}formance")

        self.hostile(f"n3{self.CONTROL}", edit)
        connection = find.analysed(self.data)
        told = find.found(connection, self.data)
        self.assertIn("\x1b", told["suspects"][0]["host"], "it did come through to here")
        shown = {"text": find.text(told), "page": page.page(connection, told), "json": words.as_json(told | {"DEL": "\x7f"})}
        for name, text in shown.items():
            with self.subTest(name):
                self.assertEqual([letter for letter in text.replace("\n", "") if words.UNSAFE.match(letter)], [])
        self.assertEqual(len([line for line in shown["text"].splitlines() if "n3" in line and "costs" not in line]), 1)
        shutil.copy(self.seed, self.folder / f"x{self.CONTROL}.jsonl")
        (self.folder / "y\x1b[8m.jsonl").write_text("{}\n")
        with contextlib.redirect_stderr(io.StringIO()) as told, contextlib.redirect_stdout(io.StringIO()), self.assertRaises(SystemExit):
            command.main(["collect", "--fathom", FATHOM, "--into", str(self.folder / "other"), str(self.folder)])
        self.assertIn("y\ufffd[8m.jsonl", told.getvalue())
        self.assertEqual([letter for letter in told.getvalue().replace("\n", "") if words.UNSAFE.match(letter)], [])

    def test_without_a_data_set_it_says_how_to_make_one(self):
        with contextlib.redirect_stderr(io.StringIO()) as told, self.assertRaises(SystemExit) as ended:
            command.main(["find", str(self.folder / "nothing")])
        self.assertEqual(ended.exception.code, 2)
        self.assertIn("fathom-fleet collect", told.getvalue())

    def test_the_page_shows_cohorts_suspects_and_distributions_and_names_are_no_markup(self):
        self.hostile()
        connection = find.analysed(self.data)
        text = page.page(connection, find.found(connection, self.data))
        self.assertNotIn("<script", text)
        self.assertIn("&lt;script&gt;", text)
        self.assertIn("1 suspect among 40 hosts in 1 cohort", text)
        style = text.split("<style>")[1].split("</style>")[0]
        digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
        self.assertIn(f"content=\"default-src 'none'; style-src 'sha256-{digest}';", text.split("<style>")[0])
        self.assertNotIn("style=", text)
        self.assertGreater(text.count("<svg"), 15)
        browser = shutil.which("chromium")
        if browser:
            self.opened(browser, text)

    def opened(self, browser, text):
        """In a browser: no error, nothing fetched, no wider than a telephone."""
        probe = "<script>addEventListener('load',()=>{document.title='PROBE '+(document.documentElement.scrollWidth<=innerWidth)+' '+performance.getEntriesByType('resource').length})</script>"
        file = self.folder / "page.html"
        # The page itself allows no script.
        allowed = text.replace("default-src 'none';", "default-src 'none'; script-src 'unsafe-inline';")
        self.assertNotEqual(allowed, text)
        file.write_text(allowed.replace("</body>", probe + "</body>"), encoding="utf-8")
        shown = subprocess.run(
            [browser, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", f"--user-data-dir={self.folder}/profile", "--window-size=500,900", "--enable-logging=stderr", "--dump-dom", file.as_uri()],
            capture_output=True, text=True, timeout=60, check=True,
        )
        self.assertNotIn("CONSOLE", shown.stderr)
        self.assertIn("PROBE true 0", shown.stdout)


class Simulating(Fleet):
    def test_the_same_seed_makes_the_same_files_and_the_program_reads_them(self):
        faults = planted(0.5, ["memory", "hot"])
        one, other, third = (self.simulated(name, hosts=4, seed=seed, faults=faults) for name, seed in (("a", 7), ("b", 7), ("c", 8)))
        content = lambda folder: {path.name: path.read_bytes() for path in folder.iterdir()}
        self.assertEqual(content(one), content(other))
        self.assertNotEqual(content(one), content(third))
        told = subprocess.run([FATHOM, "report", "--format", "json", one / "node-00000-000.jsonl"], capture_output=True, text=True, check=True).stdout
        values = [point for point in json.loads(told)["points"] if point["outcome"] == "value"]
        self.assertGreater(len(values), 20)

    def test_what_is_no_whole_run_makes_no_fleet(self):
        self.seed.write_text("".join(self.seed.read_text().splitlines(keepends=True)[:-1]))
        with self.assertRaises(simulate.Unusable):
            self.simulated()


if __name__ == "__main__":
    unittest.main()
