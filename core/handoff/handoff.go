package handoff

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"hudiscope/core/api"
	"hudiscope/core/predicate"
	"hudiscope/core/schema"
)

// The engines.
const (
	SparkSQL = "Spark SQL"
	PySpark  = "PySpark"
	FlinkSQL = "Flink SQL"
	Trino    = "Trino"
	HudiRS   = "hudi-rs"
)

// Engines are all engines, in the order of the snippets.
func Engines() []string { return []string{SparkSQL, PySpark, FlinkSQL, Trino, HudiRS} }

// The meta columns that tell the partition and the file of a row, and the options that snippets set.
const (
	metaPartition = "_hoodie_partition_path"
	metaFile      = "_hoodie_file_name"

	optType     = "hoodie.datasource.query.type"
	optAsOf     = "as.of.instant"
	optBegin    = "hoodie.datasource.read.begin.instanttime"
	optEnd      = "hoodie.datasource.read.end.instanttime"
	optFormat   = "hoodie.datasource.query.incremental.format"
	flinkStart  = "read.start-commit"
	flinkEnd    = "read.end-commit"
	flinkStream = "read.streaming.enabled"
	// optHistory reads columns of older files by the table's schema history, optScan the whole table where
	// commits of a range are archived.
	optHistory = "hoodie.schema.on.read.enable"
	optScan    = "hoodie.datasource.read.incr.fallback.fulltablescan.enable"
	rustRO     = "hoodie.read.use.read_optimized.mode"
)

// Table is what hand-offs know of a table.
type Table struct {
	// Name is hoodie.table.name, Database hoodie.database.name.
	Name, Database string
	Address
	// Version is the table version; Release the Hudi release whose rules the rows follow, "" for the
	// right answer.
	Version      int
	Release      string
	MergeOnRead  bool
	BaseFormat   string
	MetaFields   bool
	Bootstrapped bool
	// Custom is true for a merge mode that only the table's own classes know.
	Custom       bool
	RecordKeys   []string
	Partitions   []string
	PlainKeys    bool // partition columns hold what the path says
	HasPathNames bool // the path is NAME=VALUE/…
	Ordering     []string
	// Timestamps is true where partition columns are made by a timestamp-based key generator, Dropped where
	// base files do not have partition columns.
	Timestamps, Dropped bool
	// Payload is the payload class that merges, without its package, "" for none; Filled is true where
	// markers of values that a source did not send are replaced by older values.
	Payload string
	Filled  bool
	// Compacting is true while a compaction is pending, Evolved where a schema history tells old columns.
	Compacting, Evolved bool
	// Schema is the record type of the rows.
	Schema *schema.Type
}

// Query is what is handed off.
type Query struct {
	// Type is snapshot, read_optimized or incremental, and CDC the format of the last.
	Type string
	CDC  bool
	// Options are the engine's own, Spark's or with Flink set Flink's, as they were given.
	Options map[string]string
	// AsOf is the instant to travel to, "" when the newest is read.
	AsOf string
	// Shown is the instant (requested time) up to which the rows were read, ShownCompleted the
	// completion time up to which Flink reads the same, "" when there is none.
	Shown, ShownCompleted string
	// Refusal is what Hudi says against travelling to Shown, "" for nothing.
	Refusal string
	// Last ends an incremental or Flink read that was given no end: the time of the last commit read,
	// as the engine compares it.
	Last string
	// Archived is true where commits of the range are archived, and their files were read all the same.
	Archived bool
	// ByRequestedTime is true where ranges are of requested times.
	ByRequestedTime bool
	// Flink is true for a query of Flink's, Batch for one that is no stream.
	Flink, Batch bool

	PartitionPaths []string
	// PartitionValues has the values of Table.Partitions for each of PartitionPaths that can be taken
	// apart; nil is the null partition.
	PartitionValues []map[string]*string
	FileID          string
	// Where is the condition, nil for none.
	Where   predicate.Expr
	Columns []string
	Limit   int
}

// refused is why an engine can't give the rows.
type refused string

func (r refused) Error() string { return string(r) }

// Make writes the snippets, one for each engine.
func Make(t *Table, q *Query) []api.Snippet {
	var out []api.Snippet
	for _, m := range []struct {
		engine, language string
		make             func(*Table, *Query, *api.Snippet) error
	}{{SparkSQL, "sql", sparkSQLSnippet}, {PySpark, "python", pysparkSnippet}, {FlinkSQL, "sql", flinkSnippet}, {Trino, "sql", trinoSnippet}, {HudiRS, "python", hudirsSnippet}} {
		s := api.Snippet{Engine: m.engine, Language: m.language}
		if err := m.make(t, q, &s); err != nil {
			s.Code, s.Options, s.Remarks, s.Refused = "", nil, nil, err.Error()
		} else if q.Limit > 0 {
			s.Remarks = append(s.Remarks, "Which rows a limit leaves is the engine's choice.")
		}
		out = append(out, s)
	}
	return out
}

// release is the Hudi release that reads the table as it was read here.
func (t *Table) release() string {
	if t.Release != "" {
		return t.Release
	}
	if t.Version < 6 {
		return "0.15.0"
	}
	return "1.2.0"
}

// least is the first release that reads the table's version.
func (t *Table) least() string {
	switch {
	case t.Version >= 9:
		return "1.1.0"
	case t.Version >= 8:
		return "1.0.0"
	case t.Version >= 6:
		return "0.14.0"
	case t.Version == 5:
		return "0.12.0"
	}
	return "0.10.0"
}

func older(a, b string) bool {
	pa, pb := strings.Split(a, "."), strings.Split(b, ".")
	for i := range min(len(pa), len(pb)) {
		x, _ := strconv.Atoi(pa[i])
		y, _ := strconv.Atoi(pb[i])
		if x != y {
			return x < y
		}
	}
	return len(pa) < len(pb)
}

// reads refuses a release that can't read the table.
func (t *Table) reads() error {
	if r := t.release(); older(r, t.least()) {
		return refused(fmt.Sprintf("Hudi %s can't read table version %d: %s is the first that can.", r, t.Version, t.least()))
	}
	return nil
}

// versions says which releases a snippet of Spark or Flink is right for.
func (t *Table) versions(engine string) string {
	r := t.release()
	if t.Release != "" {
		return fmt.Sprintf("Hudi %s on %s", r, engine)
	}
	if t.Version < 6 {
		return fmt.Sprintf("Hudi %s to %s on %s", t.least(), r, engine)
	}
	return fmt.Sprintf("Hudi %s to %s on %s", t.least(), r, engine)
}

// sparkOptions are the options of a Spark read of the rows, without the path.
func (t *Table) sparkOptions(q *Query, s *api.Snippet) (map[string]string, error) {
	if err := t.reads(); err != nil {
		return nil, err
	}
	s.Versions = t.versions("Spark 3.5")
	if older(t.release(), "0.15.0") {
		s.Versions = t.versions("Spark 3.4")
	}
	out := map[string]string{}
	if q.Flink {
		if !q.Batch {
			return nil, refused("Spark has no counterpart of a stream whose rows have kinds (+I, -U, +U, -D). A query for change data shows what changed.")
		}
		if q.Type == "incremental" || q.CDC {
			return nil, refused("Flink's ranges of commits are closed at both ends, and its rows differ from those of Spark's incremental query. Hand over an incremental query of Spark's instead.")
		}
		s.Remarks = append(s.Remarks, "The column kind is Flink's: Spark's rows have none.")
		if q.Type != "snapshot" {
			out[optType] = q.Type
		}
	} else {
		maps.Copy(out, q.Options)
		for k := range out {
			if strings.HasPrefix(k, "hudiscope.") {
				return nil, refused("The option " + k + " is known here only: no engine reads the rows by it.")
			}
		}
	}
	if t.Evolved && out[optHistory] == "" {
		out[optHistory] = "true"
	}
	if t.Bootstrapped {
		s.Remarks = append(s.Remarks, "The files that the table was bootstrapped from must lie where hoodie.bootstrap.base.path says.")
	}
	if q.Type == "incremental" {
		if q.Archived && out[optScan] == "" {
			out[optScan] = "false"
		}
		if out[optEnd] == "" && q.Last != "" {
			out[optEnd] = q.Last
		}
		if !q.ByRequestedTime {
			switch {
			case t.Release == "":
				s.Versions = strings.Replace(s.Versions, "Hudi 1.0.0", "Hudi 1.1.0", 1)
				s.Remarks = append(s.Remarks, "The range is of completion times, its begin excluded. Hudi 1.0.x includes the begin.")
			default:
				s.Remarks = append(s.Remarks, "The range is of completion times.")
			}
		}
		return out, nil
	}
	if q.AsOf != "" {
		if q.Refusal != "" {
			return nil, refused("Hudi refuses this time travel: " + q.Refusal)
		}
		return out, nil
	}
	switch {
	case q.Shown == "":
	case q.Refusal != "":
		s.Remarks = append(s.Remarks, fmt.Sprintf("The instant is not fixed, since Hudi refuses to travel to it (%s): the rows are those of the moment when the code runs, which were up to %s here.", strings.TrimSuffix(q.Refusal, "."), q.Shown))
	default:
		out[optAsOf] = q.Shown
	}
	return out, nil
}

// conditions are the limits of the rows as conditions of a dialect.
func (t *Table) conditions(q *Query, d *dialect) ([]string, error) {
	var out []string
	if q.CDC && (len(q.PartitionPaths) > 0 || q.FileID != "") {
		return nil, refused("Rows of change data have no column that tells the partition or the file group.")
	}
	if len(q.PartitionPaths) > 0 {
		c, err := t.partitionCondition(q, d)
		if err != nil {
			return nil, err
		}
		out = append(out, c...)
	}
	if q.FileID != "" {
		if !t.MetaFields {
			return nil, refused("The table has no meta fields, which would tell the file group of a row.")
		}
		like := strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`).Replace(q.FileID) + "%"
		c := d.name(metaFile) + " LIKE " + d.text(like)
		if !d.spark {
			c += ` ESCAPE ` + d.text(`\`)
		}
		out = append(out, c)
	}
	if q.Where != nil {
		with := *d
		with.record = t.Schema
		c, err := with.condition(q.Where)
		if err != nil {
			return nil, err
		}
		if strings.HasPrefix(c, "(") && strings.HasSuffix(c, ")") && len(out) == 0 && balanced(c[1:len(c)-1]) {
			c = c[1 : len(c)-1]
		}
		out = append(out, c)
	}
	return out, nil
}

// balanced reports whether no parenthesis of s closes one from outside; parentheses in quotes make it false.
func balanced(s string) bool {
	depth := 0
	for i := range len(s) {
		switch s[i] {
		case '\'', '"', '`':
			return false
		case '(':
			depth++
		case ')':
			if depth--; depth < 0 {
				return false
			}
		}
	}
	return depth == 0
}

// partitionCondition keeps the rows of partitions. The column _hoodie_partition_path tells them exactly;
// conditions on the partition columns let the engine leave whole partitions out.
func (t *Table) partitionCondition(q *Query, d *dialect) ([]string, error) {
	var out []string
	if t.MetaFields {
		list := make([]string, len(q.PartitionPaths))
		for i, p := range q.PartitionPaths {
			list[i] = d.text(p)
		}
		out = append(out, d.name(metaPartition)+" IN ("+strings.Join(list, ", ")+")")
	}
	if !t.PlainKeys || len(t.Partitions) == 0 || len(q.PartitionValues) != len(q.PartitionPaths) {
		if out == nil {
			return nil, refused("The table has no meta fields, and its partition columns do not tell the partition of a row.")
		}
		return out, nil
	}
	var any []string
	for _, values := range q.PartitionValues {
		var all []string
		for _, f := range t.Partitions {
			v, known := values[f]
			i := field(t.Schema, f)
			if !known || i < 0 || t.Schema.Fields[i].Type.Kind != schema.String && v != nil {
				// Only texts are compared as they stand in the path.
				if out == nil {
					return nil, refused("The table has no meta fields, and the values of its partition columns can't be taken from the path for sure.")
				}
				return out, nil
			}
			name := d.name(t.Schema.Fields[i].Name)
			if v == nil {
				all = append(all, name+" IS NULL")
			} else {
				all = append(all, name+" = "+d.text(*v))
			}
		}
		any = append(any, "("+strings.Join(all, " AND ")+")")
	}
	return append(out, "("+strings.Join(any, " OR ")+")"), nil
}

// selection is a SELECT of the rows from a table.
func (t *Table) selection(q *Query, d *dialect, from string) (string, error) {
	where, err := t.conditions(q, d)
	if err != nil {
		return "", err
	}
	columns := "*"
	if len(q.Columns) > 0 {
		names := make([]string, len(q.Columns))
		for i, c := range q.Columns {
			names[i] = d.name(c)
		}
		columns = strings.Join(names, ", ")
	}
	s := "SELECT " + columns + "\nFROM " + from
	for i, c := range where {
		s += "\n" + map[bool]string{true: "WHERE ", false: "  AND "}[i == 0] + c
	}
	if q.Limit > 0 {
		s += "\nLIMIT " + strconv.Itoa(q.Limit)
	}
	return s, nil
}

// sparkSQLSnippet is a temporary view with the read options and a query of it: this needs no catalog,
// and writes nothing.
func sparkSQLSnippet(t *Table, q *Query, s *api.Snippet) error {
	options, err := t.sparkOptions(q, s)
	if err != nil {
		return err
	}
	s.Options = options
	view := backquoted(viewName(t.Name))
	body, err := t.selection(q, sparkSQL, view)
	if err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "CREATE OR REPLACE TEMPORARY VIEW %s USING hudi OPTIONS (\n  'path' %s", view, sparkString(t.Spark))
	for _, k := range slices.Sorted(maps.Keys(options)) {
		fmt.Fprintf(&b, ",\n  %s %s", sparkString(k), sparkString(options[k]))
	}
	b.WriteString("\n);\n" + body + ";\n")
	// What Hudi's session extension (HoodieSparkSessionExtension) offers instead of a view.
	switch {
	case q.Type == "incremental" && functionEnough(options):
		args := []string{sparkString(t.Spark), sparkString(cmp.Or(options[optFormat], "latest_state")), sparkString(options[optBegin])}
		if options[optEnd] != "" {
			args = append(args, sparkString(options[optEnd]))
		}
		alternative, err := t.selection(q, sparkSQL, "hudi_table_changes("+strings.Join(args, ", ")+")")
		if err != nil {
			return err
		}
		b.WriteString("\n-- The same with Hudi's session extension (0.14 and later), without a view:\n" + commented(alternative+";") + "\n")
	case q.Type == "snapshot" && options[optAsOf] != "" && len(without(options, optAsOf, optType)) == 0:
		alternative, err := t.selection(q, sparkSQL, view+" TIMESTAMP AS OF "+sparkString(options[optAsOf]))
		if err != nil {
			return err
		}
		b.WriteString("\n-- The same from a table of the catalog, with Hudi's session extension:\n" + commented(alternative+";") + "\n")
	}
	s.Code = b.String()
	return nil
}

// commented makes lines of code comments. Code has no line breaks but its own: quoting sees to that.
func commented(code string) string { return "-- " + strings.ReplaceAll(code, "\n", "\n-- ") }

// functionEnough reports whether hudi_table_changes takes all options.
func functionEnough(options map[string]string) bool {
	return options[optBegin] != "" && len(without(options, optType, optBegin, optEnd, optFormat)) == 0
}

func without(m map[string]string, keys ...string) map[string]string {
	out := maps.Clone(m)
	for _, k := range keys {
		delete(out, k)
	}
	return out
}

func pysparkSnippet(t *Table, q *Query, s *api.Snippet) error {
	options, err := t.sparkOptions(q, s)
	if err != nil {
		return err
	}
	s.Options = options
	where, err := t.conditions(q, sparkSQL)
	if err != nil {
		return err
	}
	bundle := "hudi-spark3.5-bundle_2.12"
	if older(t.release(), "0.15.0") {
		bundle = "hudi-spark3.4-bundle_2.12"
	}
	var b strings.Builder
	b.WriteString("from pyspark.sql import SparkSession\n\nspark = (\n    SparkSession.builder\n")
	fmt.Fprintf(&b, "    .config(\"spark.jars.packages\", %s)\n", python("org.apache.hudi:"+bundle+":"+t.release()))
	b.WriteString("    .config(\"spark.serializer\", \"org.apache.spark.serializer.KryoSerializer\")\n    .getOrCreate()\n)\nrows = (\n    spark.read.format(\"hudi\")\n")
	for _, k := range slices.Sorted(maps.Keys(options)) {
		fmt.Fprintf(&b, "    .option(%s, %s)\n", python(k), python(options[k]))
	}
	fmt.Fprintf(&b, "    .load(%s)\n", python(t.Spark))
	for _, c := range where {
		fmt.Fprintf(&b, "    .where(%s)\n", python(c))
	}
	if len(q.Columns) > 0 {
		names := make([]string, len(q.Columns))
		for i, c := range q.Columns {
			names[i] = python(backquoted(c))
		}
		fmt.Fprintf(&b, "    .select(%s)\n", strings.Join(names, ", "))
	}
	if q.Limit > 0 {
		fmt.Fprintf(&b, "    .limit(%d)\n", q.Limit)
	}
	b.WriteString(")\nrows.show(truncate=False)\n")
	s.Code = b.String()
	return nil
}

// flinkType is the type of a column in Flink SQL, as Hudi's own conversion has it.
func flinkType(t *schema.Type) (string, error) {
	s := ""
	switch t.Kind {
	case schema.Boolean:
		s = "BOOLEAN"
	case schema.Int:
		switch t.Logical {
		case schema.None:
			s = "INT"
		case schema.Date:
			s = "DATE"
		case schema.TimeMillis:
			s = "TIME(3)"
		}
	case schema.Long:
		s = map[schema.Logical]string{schema.None: "BIGINT", schema.TimestampMillis: "TIMESTAMP(3)", schema.TimestampMicros: "TIMESTAMP(6)",
			schema.LocalTimestampMillis: "TIMESTAMP_LTZ(3)", schema.LocalTimestampMicros: "TIMESTAMP_LTZ(6)"}[t.Logical]
	case schema.Float:
		s = "FLOAT"
	case schema.Double:
		s = "DOUBLE"
	case schema.String, schema.Enum:
		s = "STRING"
	case schema.Bytes, schema.Fixed:
		s = "BYTES"
		if t.Logical == schema.Decimal {
			s = fmt.Sprintf("DECIMAL(%d, %d)", t.Precision, t.Scale)
		}
	case schema.Array:
		e, err := flinkType(t.Elem)
		if err != nil {
			return "", err
		}
		s = "ARRAY<" + e + ">"
	case schema.Map:
		e, err := flinkType(t.Elem)
		if err != nil {
			return "", err
		}
		s = "MAP<STRING, " + e + ">"
	case schema.Record:
		fields := make([]string, len(t.Fields))
		for i := range t.Fields {
			f, err := flinkType(t.Fields[i].Type)
			if err != nil {
				return "", err
			}
			fields[i] = backquoted(t.Fields[i].Name) + " " + f
		}
		s = "ROW<" + strings.Join(fields, ", ") + ">"
	}
	if s == "" {
		return "", refused("Flink has no type for a column of type " + visible(t.Display()) + ".")
	}
	if !t.Nullable {
		s += " NOT NULL"
	}
	return s, nil
}

func flinkSnippet(t *Table, q *Query, s *api.Snippet) error {
	if err := t.reads(); err != nil {
		return err
	}
	hints, err := t.flinkOptions(q, s)
	if err != nil {
		return err
	}
	if t.BaseFormat != "PARQUET" {
		return refused("Hudi's Flink reader reads Parquet base files only, and this table's are " + t.BaseFormat + ".")
	}
	if t.Timestamps {
		return refused("Hudi's Flink reader does not show the column behind a timestamp-based key generator as Spark does.")
	}
	if t.Bootstrapped {
		return refused("Hudi's Flink reader does not read the source files of a bootstrapped table.")
	}
	// Requested times are compared up to 0.15, completion times later.
	s.Versions = t.versions("Flink 1.17 to 1.20")
	if t.Release == "" && t.Version < 8 {
		s.Versions = "Hudi 0.14.0 to 0.15.0 on Flink 1.15 to 1.18"
		if t.Version < 6 {
			s.Versions = fmt.Sprintf("Hudi %s to 0.15.0 on Flink 1.13 to 1.18", t.least())
		}
	}
	s.Options = hints
	name := backquoted(viewName(t.Name))
	var b strings.Builder
	fmt.Fprintf(&b, "CREATE TEMPORARY TABLE %s (\n", name)
	if t.Schema == nil {
		return refused("The schema of the table is not known.")
	}
	for i := range t.Schema.Fields {
		f := &t.Schema.Fields[i]
		typ, err := flinkType(f.Type)
		if err != nil {
			return err
		}
		if i > 0 {
			b.WriteString(",\n")
		}
		fmt.Fprintf(&b, "  %s %s", backquoted(f.Name), typ)
	}
	keys := []string{}
	for _, k := range t.RecordKeys {
		if field(t.Schema, k) < 0 {
			keys = nil
			break
		}
		keys = append(keys, backquoted(k))
	}
	if len(keys) > 0 {
		fmt.Fprintf(&b, ",\n  PRIMARY KEY (%s) NOT ENFORCED", strings.Join(keys, ", "))
	}
	b.WriteString("\n)")
	if len(t.Partitions) > 0 {
		parts := make([]string, len(t.Partitions))
		for i, p := range t.Partitions {
			if field(t.Schema, p) < 0 {
				return refused("The partition column " + visible(p) + " is not in the rows, and Flink needs it to read partitions.")
			}
			parts[i] = backquoted(p)
		}
		fmt.Fprintf(&b, " PARTITIONED BY (%s)", strings.Join(parts, ", "))
	}
	kind := "COPY_ON_WRITE"
	if t.MergeOnRead {
		kind = "MERGE_ON_READ"
	}
	with := map[string]string{"table.type": kind}
	if len(t.Ordering) > 0 {
		with["precombine.field"] = strings.Join(t.Ordering, ",")
	}
	if t.HasPathNames {
		with["hoodie.datasource.write.hive_style_partitioning"] = "true"
	}
	fmt.Fprintf(&b, " WITH (\n  'connector' = 'hudi',\n  'path' = %s", standardString(t.Spark))
	for _, k := range slices.Sorted(maps.Keys(with)) {
		fmt.Fprintf(&b, ",\n  %s = %s", standardString(k), standardString(with[k]))
	}
	b.WriteString("\n);\n")
	from := name
	if len(hints) > 0 {
		var list []string
		for _, k := range slices.Sorted(maps.Keys(hints)) {
			if strings.ContainsAny(hints[k], "\n\r") || visible(hints[k]) != hints[k] || visible(k) != k {
				// A hint takes plain literals only.
				return refused("An option has a value that a hint of Flink's can't hold.")
			}
			list = append(list, standardString(k)+" = "+standardString(hints[k]))
		}
		from += " /*+ OPTIONS(" + strings.Join(list, ", ") + ") */"
	}
	if strings.Contains(from[len(name):], "*/") && strings.Count(from[len(name):], "*/") > 1 {
		return refused("An option has a value that a hint of Flink's can't hold.")
	}
	mode := "batch"
	if hints[flinkStream] == "true" {
		mode = "streaming"
	}
	body, err := t.selection(q, flinkSQL, from)
	if err != nil {
		return err
	}
	s.Code = "SET 'execution.runtime-mode' = '" + mode + "';\n" + b.String() + body + ";\n"
	return nil
}

// flinkOptions are the options of Flink's reader that give the rows.
func (t *Table) flinkOptions(q *Query, s *api.Snippet) (map[string]string, error) {
	out := map[string]string{}
	if q.Flink {
		for k, v := range q.Options {
			// Those are of the table's definition.
			if k != "connector" && k != "path" && k != "table.type" {
				out[k] = v
			}
		}
		out[flinkStream] = strconv.FormatBool(!q.Batch)
		if q.Batch && out[flinkStart] == "" && out[flinkEnd] == "" {
			s.Remarks = append(s.Remarks, newest(q))
			return out, nil
		}
		if out[flinkEnd] == "" && q.Last != "" {
			out[flinkEnd] = q.Last
			if !q.Batch {
				s.Remarks = append(s.Remarks, "The stream ends with the last commit that was there. Leave read.end-commit out, and it goes on with every new one.")
			}
		}
		if !q.Batch && q.ByRequestedTime {
			s.Remarks = append(s.Remarks, "Hudi up to 0.15 heeds read.end-commit in the first look at the table only, and goes on with newer commits after it.")
		}
		return out, nil
	}
	if q.CDC {
		return nil, refused("Flink reads change data as rows with kinds (+I, -U, +U, -D), and not as the columns op, ts_ms, before and after.")
	}
	for k := range q.Options {
		switch k {
		case optType, optAsOf, optBegin, optEnd, optFormat, "hoodie.datasource.view.type":
		case "hoodie.datasource.merge.type":
			out[k] = q.Options[k]
		default:
			return nil, refused("Flink's reader does not know the option " + visible(k) + ".")
		}
	}
	switch q.Type {
	case "incremental":
		start, err := next(q.Options[optBegin])
		if err != nil {
			return nil, err
		}
		// Flink's range is closed at both ends, Spark's open at its begin.
		out[flinkStart] = start
		if end := cmp.Or(q.Options[optEnd], q.Last); end != "" {
			out[flinkEnd] = end
		}
		out[flinkStream] = "false"
		return out, nil
	case "read_optimized":
		if q.AsOf != "" {
			return nil, refused("Flink has no time travel for read-optimized rows.")
		}
		out[optType] = q.Type
		s.Remarks = append(s.Remarks, newest(q))
		return out, nil
	}
	if q.AsOf != "" && t.Evolved {
		return nil, refused("Flink reads older slices with the newest schema, and the table's columns have changed.")
	}
	// A batch read from the earliest commit to one lists all files, and takes the slices as of that commit.
	if q.ShownCompleted != "" && t.MetaFields {
		out[flinkStart], out[flinkEnd] = "earliest", q.ShownCompleted
		return out, nil
	}
	if q.AsOf != "" {
		if !t.MetaFields {
			return nil, refused("Flink takes the rows of a range of commits by their meta fields, and the table has none.")
		}
		return nil, refused("Flink chooses commits by their completion: no completion time separates the commits up to this instant from the later ones.")
	}
	if q.Shown != "" {
		s.Remarks = append(s.Remarks, newest(q))
	}
	return out, nil
}

// newest is the remark of code that can't fix an instant.
func newest(q *Query) string {
	s := "The instant is not fixed: the rows are those of the moment when the code runs"
	if q.Shown != "" {
		s += ", which were up to " + q.Shown + " here"
	}
	return s + "."
}

// next is the millisecond behind an instant, for ranges that include their start.
func next(instant string) (string, error) {
	const layout = "20060102150405"
	if instant == "earliest" || strings.Trim(instant, "0") == "" {
		// Before every commit; "earliest" would be another read.
		return "19700101000000000", nil
	}
	digits := instant
	if len(digits) == 14 {
		// Releases with instants of seconds compare texts: what is longer comes behind.
		return instant + "001", nil
	}
	if len(digits) == 17 {
		if at, err := time.Parse(layout, digits[:14]); err == nil {
			if ms, err := strconv.Atoi(digits[14:]); err == nil {
				at = at.Add(time.Duration(ms+1) * time.Millisecond)
				return at.Format(layout) + fmt.Sprintf("%03d", at.Nanosecond()/1e6), nil
			}
		}
	}
	return "", refused("Flink's range includes its start, and the instant behind " + visible(instant) + " can't be told.")
}

func trinoSnippet(t *Table, q *Query, s *api.Snippet) error {
	s.Versions = "Trino's Hudi connector, over a Hive metastore that the table is synced to"
	switch {
	case q.Flink && !q.Batch:
		return refused("Trino reads no streams of changes.")
	case q.Type == "incremental" || q.CDC:
		return refused("Trino's Hudi connector has no incremental queries and reads no change data.")
	case q.AsOf != "":
		return refused("Trino's Hudi connector has no time travel.")
	case t.BaseFormat != "PARQUET":
		return refused("Trino's Hudi connector reads Parquet files only, and this table's are " + t.BaseFormat + ".")
	case t.Bootstrapped:
		return refused("Trino's Hudi connector does not read the source files of a bootstrapped table.")
	case t.MergeOnRead && q.Type == "snapshot":
		return refused("Trino's Hudi connector reads merge-on-read tables read-optimized only: what is in log files would be missing.")
	}
	for k, v := range q.Options {
		if k != optType && k != "hoodie.datasource.view.type" && v != "" && !q.Flink {
			return refused("Trino's Hudi connector does not know the option " + visible(k) + ".")
		}
	}
	name := strings.ToLower(t.Name)
	if t.MergeOnRead {
		name += "_ro"
		s.Remarks = append(s.Remarks, "Syncing registers the read-optimized rows as NAME_ro, unless it was told otherwise.")
	}
	body, err := t.selection(q, trinoSQL, "hudi."+doublequoted(cmp.Or(strings.ToLower(t.Database), "default"))+"."+doublequoted(name))
	if err != nil {
		return err
	}
	s.Code = body + ";\n"
	s.Remarks = append(s.Remarks, newest(q), "hudi is the name of the catalog in Trino: put yours in its place.")
	if t.Version >= 8 {
		s.Remarks = append(s.Remarks, fmt.Sprintf("Table version %d is read by releases of Trino that were built with a Hudi that knows it.", t.Version))
	}
	return nil
}

// rustMerges reports whether hudi-rs merges by a payload class.
func rustMerges(payload string) bool {
	switch payload {
	case "", "OverwriteWithLatestAvroPayload", "DefaultHoodieRecordPayload", "EventTimeAvroPayload":
		return true
	}
	return false
}

// namedInStruct reports whether a struct has a field of another named Avro type: a struct or a fixed.
func namedInStruct(t *schema.Type) bool {
	var below func(t *schema.Type, inside bool) bool
	below = func(t *schema.Type, inside bool) bool {
		if t == nil {
			return false
		}
		switch t.Kind {
		case schema.Fixed:
			return inside
		case schema.Record:
			for i := range t.Fields {
				if inside || below(t.Fields[i].Type, true) {
					return true
				}
			}
		case schema.Array, schema.Map:
			return below(t.Elem, inside)
		}
		return false
	}
	for i := range t.Fields {
		if below(t.Fields[i].Type, false) {
			return true
		}
	}
	return false
}

func hudirsSnippet(t *Table, q *Query, s *api.Snippet) error {
	s.Versions = "hudi 0.5.0 (PyPI); table versions 6, 8 and 9"
	// What merging can't do is no matter where nothing is merged.
	merging := t.MergeOnRead && q.Type != "read_optimized"
	switch {
	case t.Version != 6 && t.Version != 8 && t.Version != 9:
		return refused(fmt.Sprintf("hudi-rs reads table versions 6, 8 and 9, and this one is %d.", t.Version))
	case q.Flink && !q.Batch, q.Flink && q.Type == "incremental":
		return refused("hudi-rs has no reads of Flink's kind.")
	case q.CDC:
		return refused("hudi-rs reads no change data.")
	case t.BaseFormat != "PARQUET" && t.BaseFormat != "LANCE":
		return refused("hudi-rs reads no base files of format " + t.BaseFormat + ".")
	case t.Bootstrapped:
		return refused("hudi-rs does not read the source files of a bootstrapped table.")
	case t.Timestamps && t.Version < 8:
		return refused("hudi-rs shows the column behind the timestamp-based key generator as it is stored, where Hudi shows a text.")
	case t.Dropped:
		return refused("hudi-rs refuses tables whose base files do not have the partition columns.")
	case t.Evolved:
		return refused("hudi-rs does not read the table's schema history: renamed columns of older files would be empty.")
	case t.Schema != nil && t.Schema.FieldIndex("_hoodie_operation") >= 0:
		return refused("hudi-rs does not heed _hoodie_operation: rows that were deleted in a change log would be shown.")
	case !merging:
	case t.Custom:
		return refused("hudi-rs refuses tables with a merge mode of their own.")
	case t.Filled:
		return refused("hudi-rs does not replace the markers of values that the source did not send.")
	case !rustMerges(t.Payload):
		return refused("hudi-rs does not merge by " + visible(t.Payload) + ".")
	case t.Compacting && t.Version < 8:
		return refused("hudi-rs loses log files of tables below version 8 while a compaction is pending.")
	case t.Schema != nil && namedInStruct(t.Schema):
		return refused("hudi-rs fails at structs of structs, or of decimals, in log files.")
	}
	switch {
	case q.FileID != "" && !t.MetaFields:
		return refused("The table has no meta fields, which would tell the file group of a row.")
	case len(q.PartitionPaths) > 0 && !t.MetaFields:
		return refused("The table has no meta fields, which would tell the partition of a row.")
	}
	s.Options = map[string]string{}
	var build []string
	set := func(call, option, value string) {
		s.Options[option] = value
		build = append(build, fmt.Sprintf("    .%s(%s)\n", call, python(value)))
	}
	for k := range q.Options {
		switch k {
		case optType, optAsOf, optBegin, optEnd, optFormat, "hoodie.datasource.view.type":
		default:
			if !q.Flink {
				return refused("hudi-rs does not know the option " + visible(k) + ".")
			}
		}
	}
	switch q.Type {
	case "incremental":
		build = append(build, "    .with_query_type(HudiQueryType.Incremental)\n")
		s.Options[optType] = q.Type
		set("with_start_timestamp", "hoodie.read.start.timestamp", q.Options[optBegin])
		if end := cmp.Or(q.Options[optEnd], q.Last); end != "" {
			set("with_end_timestamp", "hoodie.read.end.timestamp", end)
		}
	default:
		if q.Type == "read_optimized" {
			s.Options[rustRO] = "true"
			build = append(build, fmt.Sprintf("    .with_hudi_option(%s, \"true\")\n", python(rustRO)))
		}
		if at := cmp.Or(q.AsOf, q.Shown); at != "" {
			set("with_as_of_timestamp", optAsOf, at)
		}
	}
	if t.MergeOnRead && q.Type != "read_optimized" {
		s.Remarks = append(s.Remarks, "hudi-rs fails at some damaged log blocks, and leaves others out without a word: the rows may then be older ones.")
	}
	var filters []string
	arrowError := error(nil)
	if len(q.PartitionPaths) > 0 {
		filters = append(filters, fmt.Sprintf("pc.field(%s).isin(%s)", python(metaPartition), pythonList(q.PartitionPaths)))
	}
	if q.FileID != "" {
		filters = append(filters, fmt.Sprintf("pc.starts_with(pc.field(%s), %s)", python(metaFile), python(q.FileID)))
	}
	if q.Where != nil {
		f, err := arrow(q.Where, t.Schema)
		arrowError = err
		filters = append(filters, f)
	}
	if arrowError != nil {
		return arrowError
	}
	imports := "from hudi import HudiReadOptions, HudiTableBuilder\n"
	if q.Type == "incremental" {
		imports = "from hudi import HudiQueryType, HudiReadOptions, HudiTableBuilder\n"
	}
	var b strings.Builder
	b.WriteString(imports + "import pyarrow as pa\n")
	if len(filters) > 0 {
		b.WriteString("import pyarrow.compute as pc\n")
	}
	fmt.Fprintf(&b, "\ntable = HudiTableBuilder.from_base_uri(%s).build()\noptions = (\n    HudiReadOptions()\n%s)\n", python(t.Rust), strings.Join(build, ""))
	b.WriteString("batches = table.read(options)\nrows = pa.Table.from_batches(batches) if batches else table.get_schema_with_meta_fields().empty_table()\n")
	for _, f := range filters {
		fmt.Fprintf(&b, "rows = rows.filter(%s)\n", f)
	}
	if len(q.Columns) > 0 {
		fmt.Fprintf(&b, "rows = rows.select(%s)\n", pythonList(q.Columns))
	}
	if q.Limit > 0 {
		fmt.Fprintf(&b, "rows = rows.slice(0, %d)\n", q.Limit)
	}
	b.WriteString("print(rows)\n")
	s.Code = b.String()
	return nil
}
