"""Reads every export of a run below the folder that is named, as users of pandas, DuckDB and Prometheus would; see check_exports.py."""

import json
import sys

import duckdb
import pandas
from prometheus_client.openmetrics.parser import text_string_to_metric_families

folder = sys.argv[1]
with open(folder + "/values.json", encoding="utf-8") as file:
    values = json.load(file)

# CSV: pandas and DuckDB find the same medians.
table = pandas.read_csv(folder + "/csv", float_precision="round_trip")
found = table[table["outcome"] == "value"]
assert len(found) == len(values), (len(found), len(values))
for row, value in zip(found.to_dict("records"), values):
    assert row["experiment"] == value["experiment"] and row["median"] == value["median"], (row, value)
    assert row["unit"] == value["unit"], (row, value)
total = duckdb.sql(f"select count(*), sum(median) from read_csv('{folder}/csv') where outcome = 'value'").fetchone()
assert total[0] == len(values) and abs(total[1] / sum(value["median"] for value in values) - 1) < 1e-9, total

sound = [value for value in values if value["sound"]]

# Bencher Metric Format: a figure is value, lower_value and upper_value below a measure.
with open(folder + "/bencher") as file:
    bencher = json.load(file)
assert len(bencher) == len(sound), (len(bencher), len(sound))
for measures in bencher.values():
    (metric,) = measures.values()
    assert metric["lower_value"] <= metric["value"] <= metric["upper_value"], metric

# Google Benchmark: as its users load it, into a data frame.
with open(folder + "/google-benchmark") as file:
    benchmark = json.load(file)
frame = pandas.DataFrame(benchmark["benchmarks"])
medians = frame[frame["aggregate_name"] == "median"]
times = [value for value in sound if value["unit"] == "nanoseconds"]
rates = [value for value in sound if value["unit"] == "bytes_per_second"]
assert len(medians) == len(times) + len(rates), (len(medians), len(times), len(rates))
of_times = medians[medians["bytes_per_second"].isna()]
assert sorted(of_times["real_time"]) == sorted(value["median"] for value in times)
# Every trial is a row, and an interval is made of four at least.
trials = frame[frame["run_type"] == "iteration"].groupby("run_name").size()
assert trials.to_dict() == medians.set_index("run_name")["repetitions"].to_dict()
assert (trials >= 4).all(), trials[trials < 4]

# OpenMetrics: the reference parser is strict about units, suffixes and the end.
with open(folder + "/open-metrics") as file:
    families = {family.name: family for family in text_string_to_metric_families(file.read())}
seconds = families["fathom_time_seconds"]
assert seconds.unit == "seconds" and len(seconds.samples) == len(times), (seconds.unit, len(seconds.samples))
for sample, value in zip(seconds.samples, times):
    assert abs(sample.value * 1e9 / value["median"] - 1) < 1e-12, (sample, value)
print(f"{len(values)} values read by pandas and DuckDB, {len(medians)} as Google Benchmark's, {len(families)} families of metrics")
