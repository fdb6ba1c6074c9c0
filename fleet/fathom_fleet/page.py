"""A page that needs nothing but itself: cohorts, suspects with their evidence, how hosts are distributed, what differs between cohorts."""

import base64
import hashlib
import math
from html import escape as escape_markup

from .find import FEWEST_HOSTS, RATE, confirmation, counted, multiple, nameable, rows
from .words import clean

# Ratios that a distribution is drawn for; what is beyond stands at its end.
LOWEST, HIGHEST, BINS = math.log(0.8), math.log(1.6), 70
WIDTH, HEIGHT, FOOT = 560, 64, 16

# No more suspects, and cohorts whose distributions are drawn, than a person reads; the JSON has them all.
MOST_SUSPECTS, MOST_COHORTS = 200, 4

STYLE = """
:root { color-scheme: light dark; --ink: #1b1b1b; --faint: #6a6a6a; --line: #d8d8d8; --paper: #fff; --bar: #5b84b1; --bad: #b3261e; --good: #2e7d32; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e6e6; --faint: #9c9c9c; --line: #3c3c3c; --paper: #161616; --bar: #7aa3d1; --bad: #ff8a80; --good: #81c784; } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 68rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.25rem; margin-top: 2.5rem; } h3 { font-size: 1rem; margin: 1.5rem 0 .25rem; overflow-wrap: anywhere; }
p.faint, td.faint, figcaption { color: var(--faint); }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .9rem; } th, td { text-align: left; padding: .2rem .8rem .2rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.figures { display: grid; grid-template-columns: repeat(auto-fill, minmax(20rem, 1fr)); gap: .5rem 1.5rem; }
figure { margin: 0; } figcaption { font-size: .8rem; overflow-wrap: anywhere; } svg { width: 100%; height: auto; }
code { font-size: .85rem; overflow-wrap: anywhere; } .worse { color: var(--bad); } .better { color: var(--good); }
"""


# Nothing is loaded, sent or executed, whatever a string of a run file should become; only the style above applies.
POLICY = f"default-src 'none'; style-src 'sha256-{base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()}'; base-uri 'none'; form-action 'none'"


def escape(text):
    """Text for HTML, without what controls a terminal or turns letters."""
    return escape_markup(clean(text))


def page(connection, told):
    """The page of what was found, with the distributions that are in the tables of the connection."""
    parts = [
        "<!doctype html>\n<html lang=en>\n<head>\n<meta charset=utf-8>\n<meta name=viewport content='width=device-width, initial-scale=1'>",
        f'<meta http-equiv=Content-Security-Policy content="{POLICY}">',
        f"<title>Hosts of {escape(told['dataset'])}</title>\n<style>{STYLE}</style>\n</head>\n<body>",
        f"<h1>Hosts of {escape(told['dataset'])}</h1>",
        summary(told),
        cohorts(told["cohorts"]),
        suspects(told),
        distributions(connection, told),
        between(told["between_cohorts"]),
        failing(told["failing"]),
        "</body>\n</html>\n",
    ]
    return "\n".join(part for part in parts if part)


def summary(told):
    """What was found, in a paragraph."""
    return (
        f"<p>{counted(len(told['suspects']), 'suspect')} among {counted(told['hosts'], 'host')} in {counted(len(told['cohorts']), 'cohort')}, by "
        f"{told['tests']} tests. Of the evidence that is told at most {RATE:.0%} is expected to be false. A suspect is a reason to measure again, and no verdict.</p>"
    )


def table(columns, lines, numbers=()):
    """A table; `numbers` are the columns that are aligned as such. Cells are HTML."""
    def cell(tag, place, text):
        return f"<{tag}{' class=number' if place in numbers else ''}>{text}</{tag}>"

    head = "".join(cell("th", place, text) for place, text in enumerate(columns))
    body = "\n".join("<tr>" + "".join(cell("td", place, text) for place, text in enumerate(line)) + "</tr>" for line in lines)
    return f"<div class=wide><table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>"


def cohorts(found):
    """The cohorts, with those that are too small to be judged."""
    lines = [
        (escape(one["cohort"]), one["hosts"], one["runs"], escape(f"{one['first'][:10]} to {one['last'][:10]}"), "" if one["hosts"] >= FEWEST_HOSTS else "not judged: nothing is like it")
        for one in found
    ]
    return "<h2>Cohorts</h2>\n" + table(("cohort", "hosts", "runs", "began", ""), lines, numbers=(1, 2))


def ratio(one):
    """A ratio with its interval."""
    return f"{one['ratio']:.2f}× <span class=faint>({one['low']:.2f}–{one['high']:.2f})</span>"


def suspects(told):
    """Each suspect with its evidence, the worst first."""
    found = told["suspects"]
    if not found:
        return "<h2>Suspects</h2>\n<p>No host costs more than its cohort by more than the margin.</p>"
    said = ["<h2>Suspects</h2>", "<p>A ratio is what a point costs there, over the middle of the cohort; of a rate it is the inverse.</p>"]
    for one in found[:MOST_SUSPECTS]:
        said.append(f"<h3>{escape(one['host'])} <span class=faint>in {escape(one['cohort'])}</span></h3>")
        said += [f"<p class=worse>unlike its cohort in {escape(odd)}</p>" for odd in one["unlike_its_cohort"]]
        lines = [
            (ratio(each), escape(f"{each['experiment']} {each['point']}"), {"slow": "slower than its cohort", "drifts": "later runs against earlier"}[each["what"]], f"{each['false_share']:.1g}")
            for each in one["evidence"]
        ]
        said.append(table(("cost", "point", "", "share of false ones"), lines, numbers=(0, 3)))
    if len(found) > MOST_SUSPECTS:
        said.append(f"<p>And {len(found) - MOST_SUSPECTS} more, which <code>fathom-fleet find --json</code> tells.</p>")
    hosts = nameable(sorted({one["host"] for one in found}))[:MOST_SUSPECTS]
    command = told["measure_again"]
    if hosts:
        said.append("<p>To confirm, measure them again" + (f": <code>{escape(command)}</code>" if command else "") + ", and judge them by that alone: "
                    f"<code>{escape(confirmation(told['dataset'], hosts))}</code></p>")
    return "\n".join(said)


def distributions(connection, told):
    """Of the largest cohorts, how the hosts are distributed at each point."""
    said = ["<h2>Distributions</h2>", "<p>Hosts by what a point costs there over the middle of their cohort. A red mark is a suspect at that point; what lies beyond an end stands there.</p>"]
    judged = [one["cohort"] for one in told["cohorts"] if one["hosts"] >= FEWEST_HOSTS]
    bins = rows(
        connection,
        f"SELECT cohort, experiment, point, least(greatest(floor((cost - middle - ({LOWEST})) / ({HIGHEST - LOWEST}) * {BINS}), 0), {BINS - 1})::INTEGER AS bin, count(*) AS hosts "
        "FROM levels JOIN cohorts USING (cohort, experiment, method_version, point) GROUP BY ALL",
    )
    marks = rows(connection, "SELECT cohort, experiment, point, host, excess FROM slow ORDER BY host")
    for cohort in judged[:MOST_COHORTS]:
        mine = [row for row in bins if row["cohort"] == cohort]
        said.append(f"<h3>{escape(cohort)}</h3>\n<div class=figures>")
        for experiment, point in sorted({(row["experiment"], row["point"]) for row in mine}):
            def here(row):
                return (row["cohort"], row["experiment"], row["point"]) == (cohort, experiment, point)

            said.append(histogram(f"{experiment} {point}", {row["bin"]: row["hosts"] for row in mine if here(row)}, [row for row in marks if here(row)]))
        said.append("</div>")
    if len(judged) > MOST_COHORTS:
        said.append(f"<p>{counted(len(judged) - MOST_COHORTS, 'smaller cohort')} not drawn.</p>")
    return "\n".join(said)


def across(log):
    """The place of a ratio's logarithm along the axis."""
    return (min(max(log, LOWEST), HIGHEST) - LOWEST) / (HIGHEST - LOWEST) * WIDTH


def histogram(name, hosts_of_bin, marks):
    """Hosts by their ratio, on a scale of square roots so that a single one is seen beside thousands."""
    most = max(hosts_of_bin.values())
    width = WIDTH / BINS
    bars = "".join(
        f"<rect x={place * width:.1f} y={HEIGHT - tall:.1f} width={width - 1:.1f} height={tall:.1f} fill='var(--bar)'/>"
        for place, hosts in sorted(hosts_of_bin.items())
        for tall in [max(2, HEIGHT * math.sqrt(hosts / most))]
    )
    suspects_here = "".join(
        f"<path d='M{across(mark['excess']):.1f} {HEIGHT} l-4 -12 h8 z' fill='var(--bad)'><title>{escape(mark['host'])}: {multiple(mark['excess']):.2f}×</title></path>" for mark in marks[:MOST_SUSPECTS]
    )
    ticks = "".join(
        f"<text x={across(math.log(at)):.1f} y={HEIGHT + FOOT - 3} font-size=12 text-anchor={anchor} fill='var(--faint)'>{at:g}×</text>"
        for at, anchor in ((0.8, "start"), (1, "middle"), (1.2, "middle"), (1.6, "end"))
    )
    hosts = sum(hosts_of_bin.values())
    told = f"{name}: {counted(hosts, 'host')}, {counted(len(marks), 'suspect')}"
    return (
        f"<figure><svg viewBox='0 0 {WIDTH} {HEIGHT + FOOT}' role=img><title>{escape(told)}</title>"
        f"<line x1=0 y1={HEIGHT} x2={WIDTH} y2={HEIGHT} stroke='var(--line)'/>{bars}{suspects_here}{ticks}</svg><figcaption>{escape(told)}</figcaption></figure>"
    )


def between(found):
    """What differs between cohorts."""
    if not found:
        return ""
    said = ["<h2>Between cohorts</h2>", "<p>What a point costs in the later cohort over what it costs in the earlier, with a 95 % interval.</p>"]
    for before, after in dict.fromkeys((row["before"], row["after"]) for row in found):
        mine = [row for row in found if (row["before"], row["after"]) == (before, after)]
        said.append(f"<h3>From {escape(before)}<br>to {escape(after)}</h3>")
        same = "the same hosts before and after" if all(row["same_hosts"] for row in mine) else "different hosts"
        said.append(f"<p class=faint>By {same}, {min(row['hosts'] for row in mine)} and more.</p>")
        lines = [(f"<span class={row['verdict']}>{row['verdict']}</span>", ratio(row), escape(f"{row['experiment']} {row['point']}")) for row in mine]
        said.append(table(("verdict", "cost", "point"), lines, numbers=(1,)))
    return "\n".join(said)


def failing(found):
    """Points without a value where most of the cohort has one."""
    if not found:
        return ""
    lines = [(escape(row["host"]), escape(f"{row['experiment']} {row['point']}"), escape(row["outcome"]), escape(row["reason"] or "")) for row in found[:MOST_SUSPECTS]]
    return "<h2>Points that failed where most of the cohort has a value</h2>\n" + table(("host", "point", "outcome", "reason"), lines)
