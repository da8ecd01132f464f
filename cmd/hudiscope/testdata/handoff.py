"""Runs code of hand-offs with the real engines. In: a file of JSON lines {name, engine, code};
out: JSON lines {name, rows} or {name, error}, values as hudiscope prints them."""
import base64
import datetime
import decimal
import json
import math
import os
import sys
import time


def value(v):
    if v is None or isinstance(v, (bool, str, int)):
        return v
    if isinstance(v, float):
        if math.isnan(v):
            return "NaN"
        if math.isinf(v):
            return "Infinity" if v > 0 else "-Infinity"
        return v
    if isinstance(v, decimal.Decimal):
        return format(v, "f")
    if isinstance(v, (bytes, bytearray)):
        return base64.b64encode(bytes(v)).decode()
    if isinstance(v, datetime.datetime):
        if v.tzinfo:
            v = v.astimezone(datetime.timezone.utc).replace(tzinfo=None)
        # strftime does not pad years.
        return "%04d-%02d-%02dT%02d:%02d:%02d.%06dZ" % (v.year, v.month, v.day, v.hour, v.minute, v.second, v.microsecond)
    if isinstance(v, datetime.date):
        return v.isoformat()
    if hasattr(v, "asDict"):
        return {k: value(x) for k, x in v.asDict().items()}
    if isinstance(v, dict):
        return {str(k): value(x) for k, x in v.items()}
    if isinstance(v, tuple):
        return [value(x) for x in v]
    if isinstance(v, list):
        return [value(x) for x in v]
    raise TypeError(type(v))


def arrow(v, t):
    import pyarrow as pa

    if v is None:
        return None
    if pa.types.is_map(t):
        return {k: arrow(x, t.item_type) for k, x in v}
    if pa.types.is_list(t) or pa.types.is_large_list(t):
        return [arrow(x, t.value_type) for x in v]
    if pa.types.is_struct(t):
        return {f.name: arrow(v[f.name], f.type) for f in t}
    return value(v)


def run(case, spark):
    if case["engine"] == "Spark SQL":
        # The code behind the last statement is comments.
        statements = case["code"].split("\n-- The same", 1)[0].split(";\n")
        for s in statements:
            if s.strip():
                rows = spark.sql(s)
        return [value(r) for r in rows.collect()]
    names = {"print": lambda *a: None, "__name__": "handoff"}
    code = case["code"].replace("rows.show(truncate=False)\n", "")
    exec(compile(code, case["name"], "exec"), names)
    rows = names["rows"]
    if case["engine"] == "PySpark":
        return [value(r) for r in rows.collect()]
    return [{f.name: arrow(r[f.name], f.type) for f in rows.schema} for r in rows.to_pylist()]


def main():
    with open(sys.argv[1]) as f:
        cases = [json.loads(line) for line in f]
    spark = None
    if any("Spark" in c["engine"] for c in cases):
        from pyspark.sql import SparkSession

        spark = (
            SparkSession.builder.master("local[2]")
            .config("spark.jars", os.environ["HANDOFF_SPARK_JAR"])
            .config("spark.serializer", "org.apache.spark.serializer.KryoSerializer")
            .config("spark.sql.extensions", "org.apache.spark.sql.hudi.HoodieSparkSessionExtension")
            .config("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.hudi.catalog.HoodieCatalog")
            .config("spark.sql.session.timeZone", "UTC")
            .config("spark.ui.enabled", "false")
            .config("spark.driver.memory", "2g")
            .getOrCreate()
        )
        spark.sparkContext.setLogLevel("OFF")
    with open(sys.argv[2], "w") as out:
        end = time.monotonic() + float(os.environ.get("HANDOFF_SECONDS", "1e9"))
        for c in cases:
            if time.monotonic() > end:
                break
            try:
                answer = {"name": c["name"], "rows": run(c, spark)}
            except BaseException as e:  # hudi-rs raises a PanicException, which is no Exception
                answer = {"name": c["name"], "error": "%s: %s" % (type(e).__name__, str(e)[:400])}
            out.write(json.dumps(answer, allow_nan=False) + "\n")
            out.flush()


main()
