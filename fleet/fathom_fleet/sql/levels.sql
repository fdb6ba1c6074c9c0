-- The level of each host in each cohort it was in, over all its runs there: the natural logarithm of what a point costs, more being
-- worse (of a rate, of its inverse). What evidence speaks against, and sizes, of which none is better, are left out.
--
-- A host that is to be confirmed is judged by its latest run alone, because it was chosen for an earlier one.

CREATE TEMP TABLE levels_of_runs AS
SELECT
    cohort, host, run, started, experiment, method_version, point, unit, "value", worse,
    coalesce(settings.margin, points.margin) AS margin,
    worse * log AS cost,
    -- A standard error has the direction in which it would make the host as good as others.
    CASE WHEN worse > 0 THEN log_below ELSE log_above END AS error,
    freedom
FROM points
CROSS JOIN settings
WHERE outcome = 'value' AND NOT refuted AND log IS NOT NULL AND worse <> 0;

-- What slows a part of the machine slows many points by a little: the mean of what all points of a chapter (the first part of an
-- experiment's name) cost more than the middle of their cohort is a level as well, better known than each of them. Points whose margin is wider, because they move by nature, are no
-- part of it.
CREATE TEMP TABLE usual AS
SELECT cohort, experiment, method_version, point, median(cost) AS middle
FROM levels_of_runs
WHERE margin = (SELECT min(margin) FROM levels_of_runs)
GROUP BY cohort, experiment, method_version, point;

INSERT INTO levels_of_runs
SELECT
    cohort, host, run, any_value(started), split_part(experiment, '/', 1), 0, 'mean of its points', NULL, NULL, 1, any_value(margin),
    avg(cost - middle), sqrt(sum(error * error)) / count(*), sum(freedom)
FROM levels_of_runs
JOIN usual USING (cohort, experiment, method_version, point)
GROUP BY cohort, host, run, split_part(experiment, '/', 1)
HAVING count(*) > 1;

CREATE TEMP TABLE wanted AS
SELECT levels_of_runs.*
FROM levels_of_runs
LEFT JOIN confirmed ON confirmed.host = levels_of_runs.host
LEFT JOIN (SELECT host, max(started) AS started FROM levels_of_runs GROUP BY host) AS last ON last.host = levels_of_runs.host
WHERE confirmed.host IS NULL OR levels_of_runs.started = last.started;

CREATE TEMP TABLE levels AS
SELECT
    cohort, host, experiment, method_version, point, unit, worse, margin,
    count(*) AS runs,
    avg(cost) AS cost,
    -- What the runs say of themselves, or what they differ by if that is more.
    greatest(sqrt(sum(error * error)) / count(*), coalesce(stddev_samp(cost), 0) / sqrt(count(*))) AS error,
    sum(freedom) AS freedom
FROM wanted
GROUP BY cohort, host, experiment, method_version, point, unit, worse, margin;

-- The middle of each cohort, and how much its hosts differ: median and median absolute deviation, which half of the hosts may spoil
-- without moving them far (Huber 1981, Robust Statistics).
CREATE TEMP TABLE middles AS
SELECT cohort, experiment, method_version, point, count(*) AS hosts, median(cost) AS middle, median(error * error) AS own
FROM levels
GROUP BY cohort, experiment, method_version, point;

-- 1.4826: the deviation of a normal distribution over its median absolute deviation. What hosts differ by holds what their runs are
-- uncertain by, which is taken off, because each host's own is put in its place.
CREATE TEMP TABLE spreads AS
SELECT
    cohort, experiment, method_version, point, any_value(hosts) AS hosts, any_value(middle) AS middle,
    pow(1.4826 * median(abs(cost - middle)), 2) AS all_of_it,
    greatest(pow(1.4826 * median(abs(cost - middle)), 2) - any_value(own), 0) AS between_hosts
FROM levels
JOIN middles USING (cohort, experiment, method_version, point)
GROUP BY cohort, experiment, method_version, point;

-- Of few hosts their spread says little, and what is usual among the cohort's points stands in for part of it, as in moderated
-- statistics (Smyth 2004, Stat. Appl. Genet. Mol. Biol. 3), but never makes it less. The median absolute deviation has 37 % of the
-- efficiency of the standard deviation, and so that share of its degrees of freedom.
CREATE TEMP TABLE cohorts AS
SELECT
    spreads.*,
    0.37 * (hosts - 1) + prior_freedom AS freedom,
    greatest(between_hosts, (prior_freedom * usual + 0.37 * (hosts - 1) * between_hosts) / (prior_freedom + 0.37 * (hosts - 1))) AS square,
    -- The error of a median.
    1.57 * all_of_it / hosts AS square_of_middle
FROM spreads
JOIN (SELECT cohort, median(between_hosts) AS usual FROM spreads GROUP BY cohort) AS usual USING (cohort)
CROSS JOIN settings;
