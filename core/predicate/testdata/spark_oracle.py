"""Records what Spark answers to the expressions of spark.txt over the rows of spark_rows.json.

Usage: python3 spark_oracle.py spark.txt spark_rows.json > spark_answers.json
Needs pyspark 3.5 and a Java runtime. A line of spark.txt is a condition, or behind "= " an expression whose
values are recorded as Spark casts them to string. Answers are one letter a row (t, f, n for null), a list of
texts, or "error".
"""
import json
import sys

from pyspark.sql import SparkSession

lines = [l.rstrip("\n") for l in open(sys.argv[1], encoding="utf-8")]
table = json.load(open(sys.argv[2], encoding="utf-8"))
spark = (SparkSession.builder.master("local[1]").config("spark.sql.session.timeZone", "UTC").config("spark.ui.enabled", "false")
         .config("spark.sql.ansi.enabled", "false").config("spark.sql.shuffle.partitions", "1").getOrCreate())
spark.sparkContext.setLogLevel("OFF")


def literal(value, typ):
    if value is None:
        return f"CAST(NULL AS {typ})"
    if typ == "binary":
        return f"X'{value}'"
    if typ == "string":
        return "decode(X'%s', 'UTF-8')" % value.encode("utf-8").hex()
    return f"CAST('{value}' AS {typ})"


names = [c["name"] for c in table]
rows = len(table[0]["values"])
selects = []
for r in range(rows):
    cells = [f"{r} AS row_number"]
    cells += [literal(c["values"][r], c["type"]) + f" AS {c['name']}" for c in table]
    cells.append(f"named_struct('a', {literal(table[1]['values'][r], table[1]['type'])}, 'B', {literal(table[7]['values'][r], 'string')}) AS st")
    # Arrays and maps, by the number of the row; spark_test.go builds the same.
    def i(k):
        return literal(table[1]["values"][k % rows], "int")

    def s(k):
        return literal(table[7]["values"][k % rows], "string")

    arr = "CAST(NULL AS array<int>)" if r % 5 == 4 else "CAST(array() AS array<int>)" if r % 5 == 3 else f"array({i(r)}, {i(r + 1)}, {i(r + 2) if r % 2 else 'CAST(NULL AS int)'})"
    sarr = "CAST(NULL AS array<string>)" if r % 4 == 3 else f"array({s(r)}, {s(r + 3)})"
    m = "CAST(NULL AS map<string,string>)" if r % 5 == 2 else "CAST(map() AS map<string,string>)" if r % 5 == 3 else f"map('k', {s(r)}, '1', {s(r + 1)})"
    ast = "CAST(NULL AS array<struct<a:int,B:string>>)" if r % 3 == 2 else f"array(named_struct('a', {i(r)}, 'B', {s(r)}), CAST(NULL AS struct<a:int,B:string>))"
    nest = f"map('x', {arr})"
    cells += [f"{arr} AS arr", f"{sarr} AS sarr", f"{m} AS m", f"{ast} AS ast", f"{nest} AS nest"]
    selects.append("SELECT " + ", ".join(cells))
df = spark.sql(" UNION ALL ".join(selects)).coalesce(1).cache()
df.count()
df.createOrReplaceTempView("t")
schema = spark.table("t").schema
empty = spark.createDataFrame([], schema)
empty.createOrReplaceTempView("nothing")
out, valid = {}, []
for line in lines:
    if not line or line.startswith("#"):
        continue
    value = line.startswith("= ")
    expr = f"CAST(({line[2:]}) AS STRING)" if value else f"({line}\n)"
    try:
        # The analyzer looks at one expression at a time; those that it takes are run together.
        typ = spark.sql(f"SELECT {expr} AS v FROM nothing").schema[0].dataType.typeName()
        if not value and typ not in ("boolean", "void"):
            raise ValueError("of type " + typ)
        out[line] = None
        valid.append((line, expr))
    except Exception as e:
        out[line] = "error"
        print(line, "->", str(e).split("\n")[0][:150], file=sys.stderr)


def run(part):
    """Collects the values of expressions, halving what Spark fails on until it is one expression."""
    try:
        got = sorted(spark.sql("SELECT row_number, " + ", ".join(f"{e} AS v{i}" for i, (_, e) in enumerate(part)) + " FROM t").collect())
    except Exception as e:
        if len(part) == 1:
            out[part[0][0]] = "error"
            print(part[0][0], "->", str(e).split("\n")[0][:150], file=sys.stderr)
            return
        run(part[:len(part) // 2])
        run(part[len(part) // 2:])
        return
    for i, (line, _) in enumerate(part):
        column = [r[f"v{i}"] for r in got]
        out[line] = column if line.startswith("= ") else "".join("n" if v is None else "t" if v else "f" for v in column)


for at in range(0, len(valid), 50):
    run(valid[at:at + 50])
json.dump(out, sys.stdout, indent=0, ensure_ascii=False)
sys.stdout.write("\n")
