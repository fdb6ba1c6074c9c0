-- In what a host is unlike its cohort besides its figures, as its latest run tells: what may be the reason. And points that have failed
-- where most of the cohort has a value.

CREATE TEMP TABLE machines AS
SELECT cohort, host, started, memory_bytes, governor, boost, core_shared, throttled_s / took_s AS throttled, steal_s / took_s / cpus AS stolen
FROM (
    SELECT *, row_number() OVER (PARTITION BY cohort, host ORDER BY started DESC, run, experiment, point) AS place FROM points
) AS placed
WHERE place = 1;

CREATE TEMP TABLE oddities AS
SELECT cohort, host, 'memory' AS what, format('{:.1f} GiB, its cohort {:.1f}', memory_bytes / 1073741824.0, usual_memory / 1073741824.0) AS seen
FROM machines JOIN (SELECT cohort, median(memory_bytes) AS usual_memory FROM machines GROUP BY cohort) AS usual USING (cohort)
WHERE abs(memory_bytes / usual_memory - 1) > 0.05
UNION ALL
SELECT cohort, host, 'governor', format('{}, its cohort {}', governor, usual)
FROM machines JOIN (SELECT cohort, mode(governor) AS usual FROM machines GROUP BY cohort) AS usual USING (cohort)
WHERE governor <> usual
UNION ALL
SELECT cohort, host, 'boost', format('{}, its cohort {}', boost, usual)
FROM machines JOIN (SELECT cohort, mode(boost) AS usual FROM machines GROUP BY cohort) AS usual USING (cohort)
WHERE boost <> usual
UNION ALL
SELECT cohort, host, 'core shared', format('{:.0f} % of the time, its cohort {:.0f} %', 100 * core_shared, 100 * usual)
FROM machines JOIN (SELECT cohort, median(core_shared) AS usual FROM machines GROUP BY cohort) AS usual USING (cohort)
WHERE core_shared > usual + 0.2
UNION ALL
SELECT cohort, host, 'quota', format('held back for {:.0f} % of the run, its cohort for {:.0f} %', 100 * throttled, 100 * coalesce(usual, 0))
FROM machines JOIN (SELECT cohort, median(throttled) AS usual FROM machines GROUP BY cohort) AS usual USING (cohort)
WHERE throttled > coalesce(usual, 0) + 0.02
UNION ALL
SELECT cohort, host, 'steal', format('{:.0f} % of its time went to other guests, its cohort {:.0f} %', 100 * stolen, 100 * coalesce(usual, 0))
FROM machines JOIN (SELECT cohort, median(stolen) AS usual FROM machines GROUP BY cohort) AS usual USING (cohort)
WHERE stolen > coalesce(usual, 0) + 0.05;

CREATE TEMP TABLE failing AS
SELECT cohort, host, experiment, point, outcome, reason
FROM (
    SELECT
        *, avg(CASE WHEN outcome = 'value' THEN 1.0 ELSE 0.0 END) OVER (PARTITION BY cohort, experiment, point) AS share,
        row_number() OVER (PARTITION BY cohort, host, experiment, point ORDER BY started DESC, run) AS place
    FROM points
) AS placed
WHERE place = 1 AND share >= 0.9 AND outcome IN ('failed', 'timed_out', 'implausible', 'skipped');
