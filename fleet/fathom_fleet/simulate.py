"""Run files of a fleet that does not exist, from a real run of one machine, with faults that are known.

Each file has the seed run's header, predictions and trials by the run file's schema: trials are drawn from the seed run's, so that they
have its real spread, and their observations multiplied by what the host, the run and the trial make of them:

    host   1 % (deviation of the logarithm) at each point, 0.5 % at all points of the processor together
    run    0.5 % at each point
    trial  0.5 %

Points of the device differ by 2 % from host to host, and noise by 20 %. A fault multiplies what points cost; docs/fleet.md has the list.
"""

import csv
import json
import math
import multiprocessing
import os
import random
from datetime import datetime, timedelta
from pathlib import Path

# Trials of each point that a file has: what a run of a minute gives most of them.
TRIALS = 8

KIB = 1 << 10
MIB = 1 << 20


class Unusable(Exception):
    """The seed run is none that a fleet can be made of."""


def at(experiment, **settings):
    """Whether a point is of this experiment and has these settings."""
    return lambda name, point: name == experiment and all(point.get(key) == value for key, value in settings.items())


def of(family):
    """Whether a point is of this family or experiment."""
    return lambda name, point: name == family or name.startswith(family + "/")


def latency(least, most):
    """Whether a point is a load from a set of so many bytes."""
    return lambda name, point: name == "memory/load_latency" and least <= point.get("size", 0) <= most


IN_MEMORY = latency(64 * MIB, 1 << 40)
ONE_CORE = of("memory/bandwidth")
ALL_CORES = of("memory/parallel_bandwidth")

# What a fault multiplies the cost of points by; the first that fits holds. A factor may follow the share of the run that is over.
FAULTS = {
    # A module of a lower speed grade.
    "memory": [(IN_MEMORY, 1.10), (ONE_CORE, 1.10), (ALL_CORES, 1.10), (latency(16 * MIB, 64 * MIB), 1.07)],
    # One channel of four has no module.
    "channel": [(ALL_CORES, 1.33), (ONE_CORE, 1.15), (IN_MEMORY, 1.03)],
    # `powersave` where the others have `performance`.
    "governor": [(of("cpu/noise"), 1.0), (of("cpu"), 1.25), (latency(0, 2 * MIB), 1.25), (of("network"), 1.2), (of("memory/minor_fault"), 1.2), (ONE_CORE, 1.08)],
    # A limit on the device's operations and bytes.
    "disk": [(of("filesystem"), 1.6)],
    # Another guest that uses the last cache, memory and time.
    "neighbour": [(latency(4 * MIB, 64 * MIB), 1.25), (IN_MEMORY, 1.12), (ONE_CORE, 1.2), (ALL_CORES, 1.35), (of("cpu/noise"), 2.5), (of("cpu/arithmetic"), 1.0), (of("cpu"), 1.04)],
    # A part of the last cache is switched off, or belongs to somebody else.
    "cache": [(latency(4 * MIB, 8 * MIB), 1.35), (latency(16 * MIB, 64 * MIB), 1.2)],
    # The clock falls while the run goes on, because the processor gets hot.
    "hot": [(of("cpu/noise"), 1.0), (of("cpu"), lambda over: 1 + 0.25 * over), (latency(0, 2 * MIB), lambda over: 1 + 0.25 * over)],
    # From half of the runs on, another kernel, on every host.
    "upgrade": [(of("cpu/system_call"), 1.12), (of("cpu/context_switch"), 1.08), (of("memory/minor_fault"), 0.9)],
    # A fan that dies: from half of the runs on, the clock of this host is lower.
    "drift": [(of("cpu/noise"), 1.0), (of("cpu"), 1.15), (latency(0, 2 * MIB), 1.15)],
}

# Faults that only show over several runs.
FROM_HALF_TIME = ("upgrade", "drift")


class Planted:
    """A fault that a share of the hosts has."""

    def __init__(self, name, share):
        self.name, self.share = name, share

    @staticmethod
    def parse(text):
        name, _, share = text.partition("=")
        if name not in FAULTS:
            raise ValueError(f"there is no fault {name}")
        return Planted(name, float(share) if share else 1.0)


class Template:
    """A run file, taken apart so that many can be made of it."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            lines = [json.loads(line) for line in file]
        if not lines or lines[0].get("line") != "header" or lines[-1].get("line") != "closing":
            raise Unusable(f"{path} is no whole run file: `fathom run --set fleet -o {path}` makes one")
        self.header, self.closing = lines[0], lines[-1]
        self.others = [json.dumps(line, separators=(",", ":")) for line in lines if line["line"] in ("prediction", "settled")]
        self.points = {}
        for line in lines:
            if line["line"] == "trial" and line["outcome"].get("sample"):
                key = json.dumps([line["experiment"], line["point"]], sort_keys=True)
                self.points.setdefault(key, (line["experiment"], line["point"], []))[2].append(Trial(line, self.header["clock"]["ticks_per_second"]))
        if not self.points:
            raise Unusable(f"{path} has no trial that observed anything")
        rates = {json.dumps([planned["experiment"], planned["point"]], sort_keys=True) for planned in self.header["plan"] if planned["unit"] == "bytes_per_second"}
        self.points = [(key in rates, *self.points[key]) for key in sorted(self.points)]


class Trial:
    """The text of a trial with holes for its round and its observations."""

    def __init__(self, line, ticks_per_second):
        observed = line["outcome"]["sample"]["observations"]
        self.ticks = observed["form"] == "ticks"
        # What was waited for on purpose costs no more than was asked.
        self.asked = observed.get("beyond_ns", 0) * ticks_per_second / 1e9
        names = ("operation", "baseline") if self.ticks else ("values",)
        self.observations = [observed[name] for name in names]
        observed.update({name: f"@{name}@" for name in names})
        line["round"] = "@round@"
        text = json.dumps(line, separators=(",", ":"))
        self.parts = []
        for hole in ("round", *names):
            before, text = text.split(f'"@{hole}@"', 1) if f'"@{hole}@"' in text else (None, text)
            self.parts.append(before)
        self.parts.append(text)

    def text(self, number, cost, rate):
        """The line, with observations that cost so many times as much."""
        if self.ticks:
            lists = [[int((ticks - self.asked) * cost + self.asked + 0.5) for ticks in some] for some in self.observations]
        else:
            factor = 1 / cost if rate else cost
            lists = [[value * factor for value in some] for some in self.observations]
        filled = [str(number), *("[" + ",".join(map(repr, some)) + "]" for some in lists)]
        return "".join(part + value for part, value in zip(self.parts, filled)) + self.parts[-1]


def factor(fault, name, point, over):
    """What a fault makes a point cost at this share of the run."""
    for fits, times in FAULTS.get(fault, ()):
        if fits(name, point):
            return times(over) if callable(times) else times
    return 1.0


def spread(name):
    """By how much a point differs from host to host."""
    return 0.2 if name == "cpu/noise" else 0.02 if name.startswith("filesystem/") else 0.01


def header_of(template, host, number, runs, fault, upgraded, chance):
    """The header of a run of a host."""
    header = json.loads(template)
    began = datetime(2026, 1, 1, 3) + timedelta(days=number, seconds=chance.randrange(3600))
    header["started"] = began.isoformat() + "Z"
    header["settings"].update(seed=chance.randrange(1 << 53), labels={"host": host, "fleet": "simulated"})
    machine = header["machine"]

    def fact(value):
        return {"value": value, "source": "simulated"}

    machine["conditions"]["governors"] = fact(["powersave" if fault == "governor" else "performance"])
    memory = machine["memory"]["total_bytes"]["value"]
    # What firmware keeps differs a little.
    machine["memory"]["total_bytes"] = fact(int(memory * (0.75 if fault == "channel" else 1.0)) - chance.randrange(16) * MIB)
    machine["kernel"]["release"] = fact("6.12.9-simulated" if upgraded else "6.12.1-simulated")
    return header, began


def run_text(template, host, number, runs, fault, upgrade, seed):
    """The text of a run file, and when the run began."""
    of_host = random.Random(f"{seed} {host}")
    chance = random.Random(f"{seed} {host} {number}")
    half_over = runs > 1 and 2 * number >= runs
    upgraded = upgrade and half_over
    now = fault if fault not in FROM_HALF_TIME or half_over else None
    header, began = header_of(template.header_text, host, number, runs, now, upgraded, chance)
    lines = [json.dumps(header, separators=(",", ":")), *template.others]
    processor = of_host.gauss(0, 0.005)
    for rate, name, point, trials in template.points:
        shift = of_host.gauss(0, spread(name)) + chance.gauss(0, 0.005) + (processor if name.startswith("cpu/") else 0)
        drawn = chance.sample(trials, min(TRIALS, len(trials)))
        for place, trial in enumerate(drawn):
            over = place / max(1, len(drawn) - 1)
            cost = math.exp(shift + chance.gauss(0, 0.005)) * factor(now, name, point, over)
            if upgraded:
                cost *= factor("upgrade", name, point, over)
            lines.append(trial.text(place + 1, cost, rate))
    closing = dict(template.closing, at=(began + timedelta(seconds=60)).isoformat() + "Z")
    lines.append(json.dumps(closing, separators=(",", ":")))
    return "\n".join(lines) + "\n"


def faults_of(hosts, planted, seed):
    """The fault of each host, or none; of each fault exactly its share."""
    order = list(range(hosts))
    random.Random(f"{seed} faults").shuffle(order)
    found = {}
    for fault in planted:
        if fault.name != "upgrade":
            for _ in range(round(fault.share * hosts)):
                found[order.pop()] = fault.name
    return found


def work(number):
    """Makes all files of a host; in a process of a pool."""
    template, folder, runs, seed, faults, upgrade = work.shared
    host = f"node-{number:05}"
    for run in range(runs):
        text = run_text(template, host, run, runs, faults.get(number), upgrade, seed)
        (folder / f"{host}-{run:03}.jsonl").write_text(text, encoding="utf-8")


def share_with_work(*shared):
    """What every host is made of."""
    work.shared = shared


def simulate(seed_run, into, hosts, runs, seed, planted):
    """Makes the run files, and `truth.csv` beside them, which names the fault of each host that has one."""
    if sum(fault.share for fault in planted if fault.name != "upgrade") > 1:
        raise Unusable("more hosts would have faults than there are: the shares add up to more than 1")
    template = Template(seed_run)
    template.header_text = json.dumps(template.header)
    folder = Path(into)
    folder.mkdir(parents=True, exist_ok=True)
    faults = faults_of(hosts, planted, seed)
    upgrade = any(fault.name == "upgrade" for fault in planted)
    shared = (template, folder, runs, seed, faults, upgrade)
    with multiprocessing.get_context("fork").Pool(os.cpu_count(), share_with_work, shared) as pool:
        pool.map(work, range(hosts), chunksize=16)
    with open(folder / "truth.csv", "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["host", "fault"])
        writer.writerows((f"node-{number:05}", faults[number]) for number in sorted(faults))
