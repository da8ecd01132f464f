"""Reads a table with another reader and prints how many rows (or slices, or bytes) it gave."""
import glob
import sys

reader, what, table, columns, where = (sys.argv[1:] + ["", ""])[:5]
columns = columns.split(",") if columns else None
where = tuple(where.split()) if where else None

if reader == "pyarrow":
    import pyarrow.parquet as pq

    files = [f for f in glob.glob(table + "/**/*.parquet", recursive=True)]
    filters = [(where[0], where[1], int(where[2]))] if where else None
    print(sum(pq.read_table(f, columns=columns, filters=filters, use_threads=False).num_rows for f in files))
elif reader == "hudi-rs":
    from hudi import HudiReadOptions, HudiTableBuilder

    t = HudiTableBuilder.from_base_uri(table).build()
    if what == "slices":
        t.get_timeline().get_completed_commits()
        print(len(t.get_file_slices()))
    else:
        options = HudiReadOptions(filters=[where] if where else None, projection=columns)
        print(sum(b.num_rows for b in t.read(options)))
elif reader == "bytes":
    total = 0
    for name in glob.glob(table + "/**/.*log*", recursive=True):
        with open(name, "rb") as f:
            while b := f.read(1 << 20):
                total += len(b)
    print(total)
