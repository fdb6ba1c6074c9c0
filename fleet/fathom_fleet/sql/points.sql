-- From all rows that were ever added (`collected`) to one row for each point of each run, with the cohort of its host.
--
-- Settings: a table of one row, whose columns stand in place of the program's options:
--   settings(margin, rate, fewest_hosts, prior_freedom, rare)

-- A run that was collected, taken up again and collected again is there twice: what was there last holds.
CREATE TEMP VIEW runs_of_rows AS
SELECT *, row_number() OVER (PARTITION BY run, experiment, point ORDER BY ended DESC, content) AS place
FROM collected
WHERE build = 'release';

CREATE TEMP TABLE latest AS
SELECT * EXCLUDE (place)
FROM runs_of_rows
WHERE place = 1;

-- Machines of a kind, by what does not change while they run.
CREATE TEMP TABLE sizes AS
SELECT
    kind, gib, count(DISTINCT host) AS hosts,
    sum(count(DISTINCT host)) OVER (PARTITION BY kind) AS hosts_of_kind,
    row_number() OVER (PARTITION BY kind ORDER BY count(DISTINCT host) DESC, gib DESC) AS place
FROM (
    SELECT
        host,
        -- Half an octave: what firmware keeps differs from host to host.
        round(2 * log2(memory_bytes / 1073741824.0)) / 2 AS gib,
        concat_ws(', ', coalesce(cpu, 'unknown processor'), cpus || ' CPUs', vendor, product, hypervisor) AS kind
    FROM latest
    GROUP BY ALL
) AS machines
GROUP BY kind, gib;

-- A cohort: hosts of a kind with the same amount of memory, microcode and kernel. An amount that hardly any host of the kind has is a
-- fault to be found (a missing module) and no cohort: these hosts are judged among the others.
CREATE TEMP TABLE points AS
SELECT
    latest.*,
    sizes.kind,
    concat_ws(', ', sizes.kind, CAST(round(pow(2, CASE WHEN sizes.hosts < settings.rare * sizes.hosts_of_kind THEN usual.gib ELSE sizes.gib END)) AS INTEGER) || ' GiB',
        'microcode ' || microcode, 'Linux ' || kernel) AS cohort
FROM latest
CROSS JOIN settings
JOIN sizes
    ON sizes.kind = concat_ws(', ', coalesce(latest.cpu, 'unknown processor'), latest.cpus || ' CPUs', latest.vendor, latest.product, latest.hypervisor)
    AND sizes.gib = round(2 * log2(latest.memory_bytes / 1073741824.0)) / 2
JOIN sizes AS usual ON usual.kind = sizes.kind AND usual.place = 1;
