"""A real run must be complete: every point measured or skipped with its reason, every piece of evidence judged."""

import json
import sys

report = json.load(open(sys.argv[1], encoding="utf-8"))
failures = []
for point in report["points"]:
    name = f"{point['experiment']} {point['parameters']}"
    outcome = point["outcome"]
    if outcome in ("failed", "timed_out", "implausible"):
        failures.append(f"{name}: {outcome}: {point['reason']}")
    if outcome == "skipped" and not point["reason"]:
        failures.append(f"{name}: skipped without a reason")
    if outcome == "value" and point["low"] is not None and not point["low"] <= point["median"] <= point["high"]:
        failures.append(f"{name}: a value outside its interval")
    if outcome == "value" and point["predicted"] is None and not point["unpredicted"]:
        failures.append(f"{name}: neither predicted nor told why not")

measured = [point for point in report["points"] if point["outcome"] in ("value", "below_resolution")]
doubtful = [point for point in measured if any(not check["holds"] for check in point["evidence"])]
for point in doubtful:
    print("evidence does not hold:", point["experiment"], point["parameters"], point["evidence"])
# A noisy machine may lose one or two in a hundred; more means that something is not what it is called.
if len(doubtful) > max(3, 0.02 * len(measured)):
    failures.append(f"the evidence of {len(doubtful)} points does not hold")

# What does not fit into the time of a run is skipped with its price; every value has its interval.
for point in measured:
    if point["outcome"] == "value" and point["low"] is None:
        failures.append(f"{point['experiment']} {point['parameters']}: a value without an interval")

for line in open(sys.argv[2], encoding="utf-8"):
    json.loads(line)

print(f"{len(measured)} points measured, {len(report['points']) - len(measured)} others, {len(failures)} complaints")
print("\n".join(failures))
sys.exit(bool(failures))
