-- Slow hosts: those that cost more than the middle of their cohort by more than the margin, more surely than chance makes it.
--
-- The probability is that of Student's test against the margin. Two approximations make it plain SQL: the normal deviate of Student's t
-- (Wallace 1959, Ann. Math. Stat. 30), good to some per cent of the probability, and an upper bound of the normal distribution's
-- tail (Sampford 1953, Ann. Math. Stat. 24), 4/(3z + sqrt(z² + 8)) times its density, less than one per cent too high from z = 1 on.

CREATE TEMP TABLE tests AS
SELECT
    levels.cohort, levels.host, levels.experiment, levels.method_version, levels.point, levels.unit, levels.worse, levels.margin, runs, hosts, middle,
    cost - middle AS excess,
    sqrt(square + square_of_middle + error * error) AS deviation,
    pow(square + square_of_middle + error * error, 2)
        / greatest(pow(square + square_of_middle, 2) / cohorts.freedom + pow(error, 4) / levels.freedom, 1e-300) AS freedom
FROM levels
JOIN cohorts USING (cohort, experiment, method_version, point)
CROSS JOIN settings
WHERE hosts >= fewest_hosts
    AND (levels.host IN (SELECT host FROM confirmed) OR NOT EXISTS (SELECT 1 FROM confirmed));

CREATE TEMP TABLE chances AS
SELECT
    *,
    CASE WHEN z <= 0 OR z IS NULL THEN 1.0 ELSE exp(-z * z / 2) / sqrt(2 * pi()) * 4 / (3 * z + sqrt(z * z + 8)) END AS chance
FROM (
    SELECT *, sign(t) * (8 * freedom + 1) / (8 * freedom + 3) * sqrt(freedom * ln(1 + t * t / freedom)) AS z
    FROM (SELECT *, (excess - ln(1 + margin)) / greatest(deviation, 1e-9) AS t FROM tests) AS with_t
) AS with_z;

-- False discoveries: Benjamini & Hochberg 1995, J. R. Stat. Soc. B 57, over all hosts and points. `false_share` is the least share of
-- false ones at which this one would still be told.
CREATE TEMP TABLE slow AS
SELECT *
FROM (
    SELECT
        *,
        min(chance * tested / place) OVER (ORDER BY place DESC ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS false_share
    FROM (SELECT *, row_number() OVER (ORDER BY chance, host, experiment, point) AS place, count(*) OVER () AS tested FROM chances) AS ranked
) AS judged
CROSS JOIN (SELECT rate FROM settings) AS settings
WHERE false_share <= rate;
