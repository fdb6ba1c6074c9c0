"""Slow hosts, hosts that drift, and what differs between cohorts: the statements in sql/ over a data set, and what they find in words."""

import math
import shlex

from . import dataset
from .words import cleaned, is_host

# In this order: each uses the tables of those before.
SCRIPTS = ("points", "levels", "slow", "drift", "between", "oddities")

# Of false ones among those that are told, at most this share is expected.
RATE = 0.05
# A cohort of fewer hosts has no middle.
FEWEST_HOSTS = 3
# What is usual among a cohort's points counts as much as so many degrees of freedom of a point's own.
PRIOR_FREEDOM = 4
# An amount of memory that a smaller share of a kind of machine has is a fault of the host.
RARE = 0.05

ENGINES = {
    "slurm": "fleet/slurm/measure {commas} RESULTS",
    "kubernetes": "fleet/kubernetes/measure IMAGE RESULTS {selector}",
    "ansible": 'ansible-playbook --inventory INVENTORY --limit {commas} fleet/ansible/fathom.yml --extra-vars "program=FATHOM results=RESULTS"',
}


def analysed(folder, margin=None, confirm=()):
    """A connection in which everything stands as tables: slow, drifting, between_cohorts, oddities, failing, cohorts, levels."""
    connection = dataset.opened(folder)
    connection.execute("CREATE TEMP TABLE settings (margin DOUBLE, rate DOUBLE, fewest_hosts INTEGER, prior_freedom DOUBLE, rare DOUBLE)")
    connection.execute("INSERT INTO settings VALUES (?, ?, ?, ?, ?)", [margin, RATE, FEWEST_HOSTS, PRIOR_FREEDOM, RARE])
    connection.execute("CREATE TEMP TABLE confirmed (host VARCHAR)")
    if confirm:
        connection.executemany("INSERT INTO confirmed VALUES (?)", [[host] for host in confirm])
    for name in SCRIPTS:
        connection.execute(dataset.script(name))
    return connection


def rows(connection, query):
    """The rows of a query, each by the names of its columns."""
    found = connection.execute(query)
    names = [column[0] for column in found.description]
    return [dict(zip(names, row)) for row in found.fetchall()]


def found(connection, dataset_name, engine=None):
    """Everything that was found, as JSON has it; ratios are of costs, so that 1.1 is ten per cent worse also of a rate."""
    cohorts = rows(
        connection,
        "SELECT cohort, count(DISTINCT host) AS hosts, count(DISTINCT run) AS runs, min(started)::VARCHAR AS first, max(started)::VARCHAR AS last "
        "FROM points GROUP BY cohort ORDER BY hosts DESC, cohort",
    )
    suspects = {}
    for kind, table in (("slow", "slow"), ("drifts", "drifting")):
        for row in rows(connection, f"SELECT * FROM {table} ORDER BY excess DESC, experiment, point"):
            host = suspects.setdefault((row["cohort"], row["host"]), {"evidence": [], "unlike_its_cohort": []})
            reach = 1.96 * row["deviation"]
            host["evidence"].append(
                {
                    "what": kind,
                    "experiment": row["experiment"],
                    "point": row["point"],
                    "ratio": multiple(row["excess"]),
                    "low": multiple(row["excess"] - reach),
                    "high": multiple(row["excess"] + reach),
                    "margin": row["margin"],
                    "runs": row["runs"],
                    "hosts_of_cohort": row["hosts"],
                    "false_share": row["false_share"],
                }
            )
    for row in rows(connection, "SELECT * FROM oddities ORDER BY cohort, host, what"):
        if (row["cohort"], row["host"]) in suspects:
            suspects[row["cohort"], row["host"]]["unlike_its_cohort"].append(f"{row['what']}: {row['seen']}")
    told = [{"host": host, "cohort": cohort, **what} for (cohort, host), what in suspects.items()]
    told.sort(key=lambda suspect: -max(one["ratio"] for one in suspect["evidence"]))
    suspected = sorted({suspect["host"] for suspect in told})
    hosts = nameable(suspected)
    return {
        "dataset": str(dataset_name),
        "cohorts": cohorts,
        "hosts": connection.execute("SELECT count(DISTINCT host) FROM points").fetchone()[0],
        "tests": connection.execute("SELECT count(*) FROM tests").fetchone()[0],
        "suspects": told,
        "unlike": [row for row in rows(connection, "SELECT * FROM oddities ORDER BY cohort, host, what")],
        "failing": rows(connection, "SELECT * FROM failing ORDER BY cohort, host, experiment, point"),
        "between_cohorts": [
            {
                "before": row["before"],
                "after": row["after"],
                "experiment": row["experiment"],
                "point": row["point"],
                "verdict": row["verdict"],
                "ratio": multiple(row["moved"]),
                "low": multiple(row["moved"] - row["reach"] * row["error"]),
                "high": multiple(row["moved"] + row["reach"] * row["error"]),
                "hosts": row["hosts"],
                "same_hosts": row["by_host"],
            }
            for row in rows(connection, "SELECT * FROM between_cohorts ORDER BY before, after, abs(moved) DESC, experiment, point")
        ],
        "not_named": len(suspected) - len(hosts),
        "measure_again": again(engine, hosts) if engine and hosts else None,
        "then": confirmation(dataset_name, hosts) if hosts else None,
    }


def multiple(logarithm):
    """The ratio of a logarithm; a file can have figures whose ratio is beyond all numbers, which the largest stands for."""
    return math.exp(min(logarithm, 700))


def nameable(hosts):
    """Those of the hosts whose label is the name of a host: what else it is would be a pattern, a list or a file to an engine."""
    return [host for host in hosts if is_host(host)]


def again(engine, hosts):
    """The command that measures hosts again on their engine; capitals stand for what only its user knows."""
    selector = f"kubernetes.io/hostname in ({','.join(hosts)})"
    return ENGINES[engine].format(commas=shlex.quote(",".join(hosts)), selector=shlex.quote(selector))


def confirmation(dataset_name, hosts):
    """What to do with the new run files."""
    name = shlex.quote(str(dataset_name))
    return f"fathom-fleet collect --into {name} RESULTS && fathom-fleet find {name} --confirm {shlex.quote(','.join(hosts))}"


def text(told, most=20):
    """What was found, for a terminal: run files may come from anybody, and none of their strings commands it."""
    told = cleaned(told)
    lines = []
    for cohort in told["cohorts"]:
        lines.append(f"{counted(cohort['hosts'], 'host')}, {counted(cohort['runs'], 'run')}: {cohort['cohort']}")
    small = [cohort for cohort in told["cohorts"] if cohort["hosts"] < FEWEST_HOSTS]
    if small:
        lines.append(f"{counted(len(small), 'cohort')} of fewer than {FEWEST_HOSTS} hosts: nothing is like them, and they are not judged")
    suspects = told["suspects"]
    lines += ["", f"{counted(len(suspects), 'suspect')} in {told['tests']} tests; of these at most {RATE:.0%} are expected to be false"]
    for suspect in suspects[:most]:
        lines.append(f"  {suspect['host']}  ({suspect['cohort']})")
        for one in suspect["evidence"][:5]:
            word = {"slow": "", "drifts": "since its earlier runs, "}[one["what"]]
            lines.append(f"    {word}costs {one['ratio']:.2f}× ({one['low']:.2f}–{one['high']:.2f}): {one['experiment']} {one['point']}")
        if len(suspect["evidence"]) > 5:
            lines.append(f"    and {len(suspect['evidence']) - 5} more")
        lines += [f"    unlike its cohort in {odd}" for odd in suspect["unlike_its_cohort"]]
    if len(suspects) > most:
        lines.append(f"  and {len(suspects) - most} more: --json or --html FILE has them all")
    if told["failing"]:
        hosts = sorted({row["host"] for row in told["failing"]})
        lines += ["", f"points without a value where most of the cohort has one: on {', '.join(hosts[:most])}{' and others' if len(hosts) > most else ''}"]
        lines += [f"  {row['host']}: {row['experiment']} {row['point']}: {row['outcome']}: {row['reason']}" for row in told["failing"][:most]]
    lines += between_text(told["between_cohorts"], most)
    if told["not_named"]:
        lines += ["", f"No command names {counted(told['not_named'], 'suspect')} whose label `host` is not the name of a host"]
    if told["measure_again"]:
        lines += ["", "To confirm, measure them again and judge them by that alone:", f"  {told['measure_again']}"]
    if told["then"]:
        lines += [] if told["measure_again"] else ["", "To confirm, measure them again (--engine prints how), and judge them by that alone:"]
        lines.append(f"  {told['then']}")
    return "\n".join(lines)


def between_text(rows_of_pairs, most):
    """What differs between cohorts."""
    lines = []
    for before, after in dict.fromkeys((row["before"], row["after"]) for row in rows_of_pairs):
        rows_of_pair = [row for row in rows_of_pairs if (row["before"], row["after"]) == (before, after)]
        count = {verdict: sum(row["verdict"] == verdict for row in rows_of_pair) for verdict in ("worse", "better", "equivalent", "inconclusive")}
        lines += ["", f"from {before}", f"  to {after}:", "  " + ", ".join(f"{number} {verdict}" for verdict, number in count.items())]
        for row in [row for row in rows_of_pair if row["verdict"] in ("worse", "better")][:most]:
            lines.append(f"  {row['verdict']}: {row['ratio']:.2f}× ({row['low']:.2f}–{row['high']:.2f}): {row['experiment']} {row['point']}")
    return lines


def counted(number, thing):
    """1 host, 2 hosts."""
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"
