-- What differs between cohorts of one kind of machine that differ in their kernel or their microcode: each point's ratio with a 95 %
-- interval, and a verdict as `fathom compare` has it. Hosts that were in both cohorts, as before and after an upgrade, are compared
-- with themselves; others by the middles of their cohorts.

CREATE TEMP TABLE pairs AS
SELECT before.cohort AS before, after.cohort AS after
FROM (SELECT cohort, kind, max(started) AS began FROM points GROUP BY cohort, kind) AS before
JOIN (SELECT cohort, kind, max(started) AS began FROM points GROUP BY cohort, kind) AS after
    ON before.kind = after.kind AND before.cohort <> after.cohort
    AND (before.began < after.began OR (before.began = after.began AND before.cohort < after.cohort));

CREATE TEMP TABLE own_changes AS
SELECT before.cohort AS before, after.cohort AS after, before.experiment, before.method_version, before.point, after.cost - before.cost AS moved,
    after.error * after.error + before.error * before.error AS square
FROM pairs
JOIN levels AS before ON before.cohort = pairs.before
JOIN levels AS after
    ON after.cohort = pairs.after AND after.host = before.host AND after.experiment = before.experiment AND after.point = before.point
    AND after.method_version = before.method_version
-- Means of families are told from the middle of their own cohort.
WHERE before.method_version > 0;

CREATE TEMP TABLE changes AS
SELECT
    before, after, experiment, method_version, point, count(*) AS hosts, any_value(middle) AS moved, true AS by_host,
    sqrt(1.57 * greatest(pow(1.4826 * median(abs(moved - middle)), 2), median(square)) / count(*)) AS error,
    0.37 * (count(*) - 1) AS freedom
FROM own_changes
JOIN (SELECT before, after, experiment, method_version, point, median(moved) AS middle FROM own_changes GROUP BY ALL) AS middles
    USING (before, after, experiment, method_version, point)
GROUP BY before, after, experiment, method_version, point
HAVING count(*) >= 6
UNION ALL
SELECT
    before, after, one.experiment, one.method_version, one.point, least(one.hosts, other.hosts), other.middle - one.middle, false,
    sqrt(one.square_of_middle + other.square_of_middle),
    0.37 * (least(one.hosts, other.hosts) - 1)
FROM pairs
JOIN cohorts AS one ON one.cohort = pairs.before
JOIN cohorts AS other
    ON other.cohort = pairs.after AND other.experiment = one.experiment AND other.point = one.point AND other.method_version = one.method_version
WHERE least(one.hosts, other.hosts) >= 6 AND one.method_version > 0;

-- Student's quantile of 97.5 % to three digits from three degrees of freedom on (Cornish & Fisher 1937, Rev. Inst. Int. Stat. 5).
CREATE TEMP TABLE compared AS
SELECT
    *,
    1.96 + 2.3723 / freedom + 2.8225 / pow(freedom, 2) + 2.5558 / pow(freedom, 3) AS reach,
    CASE WHEN z <= 0 OR z IS NULL THEN 1.0 ELSE least(1.0, 2 * exp(-z * z / 2) / sqrt(2 * pi()) * 4 / (3 * z + sqrt(z * z + 8))) END AS chance
FROM (
    SELECT *, sign(t) * (8 * freedom + 1) / (8 * freedom + 3) * sqrt(freedom * ln(1 + t * t / freedom)) AS z
    FROM (
        SELECT *, (abs(moved) - ln(1 + margin)) / greatest(error, 1e-9) AS t
        FROM (
            SELECT *, row_number() OVER (PARTITION BY before, after, experiment, method_version, point ORDER BY by_host DESC) AS choice
            FROM changes
        ) AS chosen
        JOIN (SELECT experiment, point, max(margin) AS margin, max(worse) AS worse, any_value(unit) AS unit FROM levels GROUP BY ALL) AS margins
            USING (experiment, point)
        WHERE choice = 1
    ) AS with_t
) AS with_z;

CREATE TEMP TABLE between_cohorts AS
SELECT
    *,
    CASE
        WHEN false_share <= rate AND moved > 0 THEN 'worse'
        WHEN false_share <= rate THEN 'better'
        WHEN moved + reach * error <= ln(1 + margin) AND moved - reach * error >= -ln(1 + margin) THEN 'equivalent'
        ELSE 'inconclusive'
    END AS verdict
FROM (
    SELECT *, min(chance * tested / place) OVER (ORDER BY place DESC ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS false_share
    FROM (SELECT *, row_number() OVER (ORDER BY chance, before, after, experiment, point) AS place, count(*) OVER () AS tested FROM compared) AS ranked
) AS judged
CROSS JOIN (SELECT rate FROM settings) AS settings;
