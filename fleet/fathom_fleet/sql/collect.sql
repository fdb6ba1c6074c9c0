-- Lines of `fathom export --points` as rows of the data set: one a point of a run. DuckDB.

CREATE TEMP TABLE exported AS
SELECT * FROM read_json($exported, format = 'newline_delimited', maximum_object_size = 268435456, columns = {
    file: 'VARCHAR', left_out: 'VARCHAR', content: 'VARCHAR', run: 'VARCHAR', started: 'TIMESTAMP', ended: 'TIMESTAMP',
    took_s: 'DOUBLE', "set": 'VARCHAR', labels: 'MAP(VARCHAR, VARCHAR)', version: 'VARCHAR', build: 'VARCHAR',
    cpu: 'VARCHAR', microcode: 'VARCHAR', cpus: 'INTEGER', memory_bytes: 'BIGINT', kernel: 'VARCHAR', vendor: 'VARCHAR',
    product: 'VARCHAR', hypervisor: 'VARCHAR', governor: 'VARCHAR', boost: 'BOOLEAN', load: 'DOUBLE', core_shared: 'DOUBLE',
    steal_s: 'DOUBLE', throttled_s: 'DOUBLE',
    points: 'STRUCT(experiment VARCHAR, method_version INTEGER, point VARCHAR, unit VARCHAR, worse TINYINT, margin DOUBLE,
        outcome VARCHAR, reason VARCHAR, refuted BOOLEAN, "value" DOUBLE, low DOUBLE, high DOUBLE, log DOUBLE,
        log_below DOUBLE, log_above DOUBLE, freedom DOUBLE, trials INTEGER, by_round DOUBLE[][])[]'
});

CREATE TEMP VIEW rows AS
SELECT
    CAST(started AS DATE) AS day, run, content, file, started, ended, took_s, "set",
    -- A run that tells no host is a host of its own.
    coalesce(labels['host'], 'unnamed-' || run[1:12]) AS host,
    labels, version, build, cpu, microcode, cpus, memory_bytes, kernel, vendor, product, hypervisor, governor, boost, load,
    core_shared, steal_s, throttled_s, unnest(points, max_depth := 2)
FROM exported
WHERE left_out IS NULL;
