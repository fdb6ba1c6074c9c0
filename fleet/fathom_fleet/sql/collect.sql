-- Lines of `fathom export --points` as rows of the data set: one a point of a run. DuckDB.
--
-- A run whose values do not fit is left out and named, and never stops those beside it: all are read as what JSON has, and then cast.

CREATE TEMP TABLE exported AS
SELECT * FROM read_json($exported, format = 'newline_delimited', maximum_object_size = 268435456, columns = {
    file: 'VARCHAR', left_out: 'VARCHAR', content: 'VARCHAR', run: 'VARCHAR', started: 'VARCHAR', ended: 'VARCHAR',
    took_s: 'DOUBLE', "set": 'VARCHAR', labels: 'MAP(VARCHAR, VARCHAR)', version: 'VARCHAR', build: 'VARCHAR',
    cpu: 'VARCHAR', microcode: 'VARCHAR', cpus: 'DOUBLE', memory_bytes: 'DOUBLE', kernel: 'VARCHAR', vendor: 'VARCHAR',
    product: 'VARCHAR', hypervisor: 'VARCHAR', governor: 'VARCHAR', boost: 'BOOLEAN', load: 'DOUBLE', core_shared: 'DOUBLE',
    steal_s: 'DOUBLE', throttled_s: 'DOUBLE',
    points: 'STRUCT(experiment VARCHAR, method_version DOUBLE, point VARCHAR, unit VARCHAR, worse DOUBLE, margin DOUBLE,
        outcome VARCHAR, reason VARCHAR, refuted BOOLEAN, "value" DOUBLE, low DOUBLE, high DOUBLE, log DOUBLE,
        log_below DOUBLE, log_above DOUBLE, freedom DOUBLE, trials DOUBLE, by_round DOUBLE[][])[]'
});

-- The file and, where it is left out, why: the program says so, or a value that every row needs cannot be cast.
CREATE TEMP TABLE judged AS
SELECT *, coalesce(left_out, CASE
    WHEN file IS NULL OR content IS NULL OR run IS NULL THEN 'the program did not tell what it is'
    WHEN NOT coalesce(isfinite(TRY_CAST(started AS TIMESTAMP)), false) THEN 'the time of its beginning is none'
    WHEN NOT coalesce(isfinite(TRY_CAST(ended AS TIMESTAMP)), false) THEN 'the time of its end is none'
    WHEN cpus IS NOT NULL AND TRY_CAST(cpus AS INTEGER) IS NULL THEN 'it has an impossible number of CPUs'
    WHEN memory_bytes IS NOT NULL AND TRY_CAST(memory_bytes AS BIGINT) IS NULL THEN 'its machine has an impossible amount of memory'
    WHEN len(list_filter(points, lambda one: TRY_CAST(one.method_version AS INTEGER) IS NULL OR TRY_CAST(one.worse AS TINYINT) IS NULL
        OR TRY_CAST(one.trials AS INTEGER) IS NULL)) > 0 THEN 'a point has impossible numbers'
END) AS unfit
FROM exported;

CREATE TEMP VIEW left_out AS SELECT file, unfit AS left_out FROM judged WHERE unfit IS NOT NULL;

CREATE TEMP TABLE rows AS
SELECT * REPLACE (
    CAST(method_version AS INTEGER) AS method_version, CAST(worse AS TINYINT) AS worse, CAST(trials AS INTEGER) AS trials)
FROM (
    SELECT
        CAST(TRY_CAST(started AS TIMESTAMP) AS DATE) AS day, run, content, file, TRY_CAST(started AS TIMESTAMP) AS started,
        TRY_CAST(ended AS TIMESTAMP) AS ended, took_s, "set",
        -- A run that tells no host is a host of its own.
        coalesce(labels['host'], 'unnamed-' || run[1:12]) AS host,
        labels, version, build, cpu, microcode, TRY_CAST(cpus AS INTEGER) AS cpus, TRY_CAST(memory_bytes AS BIGINT) AS memory_bytes, kernel,
        vendor, product, hypervisor, governor, boost, load, core_shared, steal_s, throttled_s, unnest(points, max_depth := 2)
    FROM judged
    WHERE unfit IS NULL
);
