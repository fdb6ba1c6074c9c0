-- Hosts that drift: the later half of their runs costs more than the earlier half, by more than the margin and by more than the later
-- half of their cohort's runs does. A change that the whole cohort has made is no host's fault; it is seen between cohorts.

CREATE TEMP TABLE halves AS
SELECT
    cohort, host, experiment, method_version, point, unit, margin, count(*) AS runs,
    avg(cost) FILTER (WHERE 2 * place > runs_of_host) - avg(cost) FILTER (WHERE 2 * place <= runs_of_host) AS moved,
    -- What the means of both halves are uncertain by: what runs say of themselves, or differ by within a half.
    sqrt(greatest(var_samp(cost) FILTER (WHERE 2 * place > runs_of_host), avg(error * error)) / count(*) FILTER (WHERE 2 * place > runs_of_host)
        + greatest(var_samp(cost) FILTER (WHERE 2 * place <= runs_of_host), avg(error * error)) / count(*) FILTER (WHERE 2 * place <= runs_of_host)) AS error
FROM (
    SELECT
        *,
        row_number() OVER (PARTITION BY cohort, host, experiment, method_version, point ORDER BY started, run) AS place,
        count(*) OVER (PARTITION BY cohort, host, experiment, method_version, point) AS runs_of_host
    FROM levels_of_runs
) AS placed
WHERE runs_of_host >= 4
GROUP BY cohort, host, experiment, method_version, point, unit, margin;

CREATE TEMP TABLE drifts AS
SELECT
    halves.*, hosts, middle, spread, moved - middle AS excess, sqrt(spread * spread + error * error) AS deviation,
    -- Two halves of the host's own runs, and the spread of all hosts.
    pow(spread * spread + error * error, 2) / greatest(pow(spread, 4) / (0.37 * (hosts - 1) + prior_freedom) + pow(error, 4) / (runs - 2), 1e-300) AS freedom
FROM halves
JOIN (
    SELECT
        cohort, experiment, method_version, point, count(*) AS hosts, any_value(middle) AS middle,
        1.4826 * median(abs(moved - middle)) AS spread
    FROM halves
    JOIN (SELECT cohort, experiment, method_version, point, median(moved) AS middle FROM halves GROUP BY ALL) AS middles
        USING (cohort, experiment, method_version, point)
    GROUP BY cohort, experiment, method_version, point
) AS of_cohort USING (cohort, experiment, method_version, point)
CROSS JOIN settings
WHERE hosts >= fewest_hosts;

CREATE TEMP TABLE drifting AS
SELECT *
FROM (
    SELECT *, min(chance * tested / place) OVER (ORDER BY place DESC ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS false_share
    FROM (
        SELECT *, row_number() OVER (ORDER BY chance, host, experiment, point) AS place, count(*) OVER () AS tested
        FROM (
            SELECT *, CASE WHEN z <= 0 OR z IS NULL THEN 1.0 ELSE exp(-z * z / 2) / sqrt(2 * pi()) * 4 / (3 * z + sqrt(z * z + 8)) END AS chance
            FROM (
                SELECT *, sign(t) * (8 * freedom + 1) / (8 * freedom + 3) * sqrt(freedom * ln(1 + t * t / freedom)) AS z
                FROM (SELECT *, (excess - ln(1 + margin)) / greatest(deviation, 1e-9) AS t FROM drifts) AS with_t
            ) AS with_z
        ) AS chances
    ) AS ranked
) AS judged
CROSS JOIN (SELECT rate FROM settings) AS settings
WHERE false_share <= rate;
