package robust_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"hudiscope/core/api"
	"hudiscope/core/explorer"
	"hudiscope/core/groupreader"
	"hudiscope/core/logfile"
	"hudiscope/core/logfile/logfiletest"
	"hudiscope/core/orcfile"
	"hudiscope/core/storage"
	"hudiscope/core/tabletest"
)

// at is the instant number n.
func at(n int) string { return fmt.Sprintf("202401010000%02d000", n) }

// done is when instant n completed, in tables whose names tell it.
func done(n int) string { return fmt.Sprintf("202401010000%02d500", n) }

const (
	metaFields = `{"name":"_hoodie_commit_time","type":["null","string"],"default":null},{"name":"_hoodie_commit_seqno","type":["null","string"],"default":null},` +
		`{"name":"_hoodie_record_key","type":["null","string"],"default":null},{"name":"_hoodie_partition_path","type":["null","string"],"default":null},{"name":"_hoodie_file_name","type":["null","string"],"default":null}`
	dataFields = `{"name":"id","type":["null","string"],"default":null},{"name":"ts","type":["null","long"],"default":null},{"name":"name","type":["null","string"],"default":null},{"name":"price","type":["null","double"],"default":null}`
	deletedFld = `{"name":"_hoodie_is_deleted","type":["null","boolean"],"default":null}`
)

func record(fields ...string) string {
	return `{"type":"record","name":"r","fields":[` + strings.Join(fields, ",") + `]}`
}

// The schemas of the table and of log blocks.
var (
	tableSchema = record(dataFields)
	blockSchema = record(metaFields, dataFields)
)

// meta are the meta columns of a base file.
type meta struct {
	Commit string `parquet:"_hoodie_commit_time,optional"`
	Seq    string `parquet:"_hoodie_commit_seqno,optional"`
	Key    string `parquet:"_hoodie_record_key,optional"`
	Part   string `parquet:"_hoodie_partition_path,optional"`
	File   string `parquet:"_hoodie_file_name,optional"`
}

// row is a row of the table that most tests use.
type row struct {
	meta
	ID    string   `parquet:"id,optional"`
	TS    int64    `parquet:"ts"`
	Name  string   `parquet:"name,optional"`
	Price *float64 `parquet:"price,optional"`
}

func rowOf(instant, id string, ts int64, name string, price float64) row {
	return row{meta{Commit: instant, Key: id}, id, ts, name, &price}
}

// rec is a record of a log block; nil fields are null.
func rec(instant, id string, ts, name, price any, more ...any) []byte {
	return logfiletest.Record(nil, append([]any{instant, nil, id, nil, nil, id, ts, name, price}, more...)...)
}

func logOf() *logfiletest.File { return &logfiletest.File{} }

// data appends a block of full records.
func data(f *logfiletest.File, instant string, recs ...[]byte) *logfiletest.File {
	return f.Data(instant, blockSchema, recs)
}

// deletes appends a delete block.
func deletes(f *logfiletest.File, instant string, ordering any, keys ...string) *logfiletest.File {
	var list []logfiletest.Del
	for _, k := range keys {
		list = append(list, logfiletest.Del{Key: k, Ordering: ordering})
	}
	return f.Deletes(instant, blockSchema, list)
}

func isPartial() logfiletest.Entry { return logfiletest.Entry{Key: logfile.IsPartial, Value: "true"} }

// built is a table made of bytes, in memory.
type built struct {
	*tabletest.Files
	t       testing.TB
	version int
	schema  string
	props   map[string]string
}

// build starts a merge-on-read table of a version, without partitions, whose records have the key
// id and the ordering field ts. props replace properties; an empty value removes one.
func build(t testing.TB, version int, props map[string]string) *built {
	b := &built{Files: tabletest.New("built"), t: t, version: version, schema: tableSchema, props: map[string]string{
		"hoodie.table.name": "t", "hoodie.table.type": "MERGE_ON_READ", "hoodie.table.version": fmt.Sprint(version), "hoodie.timeline.layout.version": "1",
		"hoodie.table.recordkey.fields": "id", "hoodie.table.base.file.format": "PARQUET", "hoodie.populate.meta.fields": "true",
		"hoodie.table.keygenerator.class": "org.apache.hudi.keygen.NonpartitionedKeyGenerator", "hoodie.archivelog.folder": "archived",
		"hoodie.table.precombine.field": "ts", "hoodie.compaction.payload.class": "org.apache.hudi.common.model.DefaultHoodieRecordPayload"}}
	if version >= 8 {
		for k, v := range map[string]string{"hoodie.timeline.layout.version": "2", "hoodie.timeline.path": "timeline", "hoodie.timeline.history.path": "history",
			"hoodie.record.merge.mode": "EVENT_TIME_ORDERING", "hoodie.compaction.payload.class": "", "hoodie.archivelog.folder": "history"} {
			b.props[k] = v
		}
	}
	if version >= 9 {
		b.props["hoodie.table.precombine.field"], b.props["hoodie.table.ordering.fields"] = "", "ts"
	}
	for k, v := range props {
		b.props[k] = v
	}
	var text strings.Builder
	for k, v := range b.props {
		if v != "" {
			fmt.Fprintf(&text, "%s=%s\n", k, v)
		}
	}
	b.Put(".hoodie/hoodie.properties", []byte(text.String()))
	b.Mkdir(b.timeline())
	return b
}

// commitTime are the properties of a table in which the later commit wins.
func commitTime(version int) map[string]string {
	if version < 8 {
		return map[string]string{"hoodie.compaction.payload.class": "org.apache.hudi.common.model.OverwriteWithLatestAvroPayload"}
	}
	return map[string]string{"hoodie.record.merge.mode": "COMMIT_TIME_ORDERING"}
}

func (b *built) timeline() string {
	if b.version >= 8 {
		return ".hoodie/timeline"
	}
	return ".hoodie"
}

// mark makes a directory a partition.
func (b *built) mark(partition string) { b.Put(join(partition, ".hoodie_partition_metadata"), nil) }

func join(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}

// parquetOf writes rows into a Parquet file.
func parquetOf[T any](t testing.TB, rows []T) []byte {
	t.Helper()
	var out bytes.Buffer
	w := parquet.NewGenericWriter[T](&out)
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// base writes a base file of rows and returns its path.
func (b *built) base(partition, fileID, instant string, rows ...row) string {
	for i := range rows {
		rows[i].Part = partition
	}
	return b.baseBytes(partition, fileID, "0-1-0", instant, parquetOf(b.t, rows))
}

func (b *built) baseBytes(partition, fileID, token, instant string, data []byte) string {
	b.mark(partition)
	p := join(partition, fmt.Sprintf("%s_%s_%s.parquet", fileID, token, instant))
	b.Put(p, data)
	return p
}

// log writes a log file and returns its path. instant is that of its name: the slice's base instant
// below version 8, the delta commit's from then on.
func (b *built) log(partition, fileID, instant string, n int, f *logfiletest.File) string {
	return b.logAs(partition, fmt.Sprintf(".%s_%s.log.%d_0-1-0", fileID, instant, n), f)
}

func (b *built) logAs(partition, name string, f *logfiletest.File) string {
	b.mark(partition)
	p := join(partition, name)
	b.Put(p, f.Bytes())
	return p
}

// commit writes the files of a completed instant: action "commit", "deltacommit" or "replacecommit".
// paths are the files that its write stats name.
func (b *built) commit(action string, n int, paths ...string) {
	b.commitOf(action, n, "UPSERT", nil, paths...)
}

func (b *built) commitOf(action string, n int, operation string, more map[string]any, paths ...string) {
	stats := map[string][]any{}
	for _, p := range paths {
		name, dir := path.Base(p), ""
		if i := strings.LastIndexByte(p, '/'); i >= 0 {
			dir = p[:i]
		}
		s := map[string]any{"path": p, "partitionPath": dir, "prevCommit": "null", "fileSizeInBytes": len(b.Bytes(p)), "numWrites": 1}
		if l, ok := logfile.ParseName(name); ok {
			s["fileId"], s["logFiles"], s["baseFile"] = l.FileID, []string{name}, ""
			for _, x := range b.Paths() { // the newest base file before the instant
				if dir, file := path.Split(x); strings.TrimSuffix(dir, "/") == s["partitionPath"] && strings.HasPrefix(file, l.FileID+"_") {
					if instant := strings.TrimSuffix(file[strings.LastIndexByte(file, '_')+1:], ".parquet"); instant < at(n) {
						s["baseFile"], s["prevCommit"] = file, instant
					}
				}
			}
		} else {
			s["fileId"], _, _ = strings.Cut(name, "_")
		}
		stats[dir] = append(stats[dir], s)
	}
	m := map[string]any{"partitionToWriteStats": stats, "compacted": false, "operationType": operation, "extraMetadata": map[string]string{"schema": b.schema}}
	for k, v := range more {
		m[k] = v
	}
	b.instant(action, action, n, m)
}

// instant writes all files of a completed instant; pending is the action while it was not completed.
func (b *built) instant(pending, action string, n int, content any) {
	b.pending(pending, n, nil)
	text, err := json.Marshal(content)
	if err != nil {
		b.t.Fatal(err)
	}
	if content == nil {
		text = nil
	}
	b.Put(b.completed(action, n), text)
}

// completed is the path of the completed instant's file.
func (b *built) completed(action string, n int) string {
	if b.version >= 8 {
		return b.timeline() + "/" + at(n) + "_" + done(n) + "." + action
	}
	return b.timeline() + "/" + at(n) + "." + action
}

// pending writes the files of an instant that began.
func (b *built) pending(action string, n int, plan any) {
	var text []byte
	if plan != nil {
		text, _ = json.Marshal(plan) // maps of strings always marshal
	}
	b.requested(action, n, text)
	name := "." + action + ".inflight"
	if action == "commit" {
		name = ".inflight"
	}
	b.Put(b.timeline()+"/"+at(n)+name, nil)
}

func (b *built) requested(action string, n int, plan []byte) {
	b.Put(b.timeline()+"/"+at(n)+"."+action+".requested", plan)
}

// service opens a service over a source, which every location leads to.
func service(src storage.Source) *explorer.Service {
	return explorer.New(func(context.Context, string) (storage.Source, error) { return src, nil }, explorer.Options{ORC: orc})
}

func orc(ctx context.Context, obj storage.Object, path string) (groupreader.BaseFile, error) {
	return orcfile.Open(ctx, obj, path)
}

var here = api.Table{Location: "x"}

// texts renders the named columns of rows, "null" for null, sorted.
func texts(r *api.Rows, columns ...string) []string {
	out := []string{}
	for _, cells := range r.Rows {
		var parts []string
		for _, c := range columns {
			text := "?"
			if i := slices.IndexFunc(r.Columns, func(x api.Column) bool { return x.Name == c }); i >= 0 {
				text = strings.TrimSuffix(strings.Trim(string(cells[i]), `"`), ".0")
			}
			parts = append(parts, text)
		}
		out = append(out, strings.Join(parts, "/"))
	}
	slices.Sort(out)
	return out
}

var std = []string{"id", "ts", "name", "price"}

func options(pairs ...string) map[string]string {
	m := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	return m
}

// read asks for all rows.
func read(t testing.TB, src storage.Source, opts ...string) *api.Rows {
	t.Helper()
	r, err := service(src).Rows(t.Context(), api.RowsRequest{Table: here, Options: options(opts...), Limit: 10000})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// want checks the standard columns of rows, in any order.
func want(t testing.TB, what string, r *api.Rows, rows ...string) {
	t.Helper()
	wantColumns(t, what, r, std, rows...)
}

func wantColumns(t testing.TB, what string, r *api.Rows, columns []string, rows ...string) {
	t.Helper()
	slices.Sort(rows)
	if got := texts(r, columns...); !slices.Equal(got, append([]string{}, rows...)) {
		t.Errorf("%s:\nwant %q\ngot  %q\nfindings %+v", what, rows, got, r.Findings)
	}
}

// says checks that some finding holds all the texts.
func says(t testing.TB, what string, list []api.Finding, parts ...string) {
	t.Helper()
	for _, f := range list {
		if holds(f.Title+" "+f.Detail+" "+f.File, parts...) {
			return
		}
	}
	t.Errorf("%s: no finding says %q: %+v", what, parts, list)
}

func holds(text string, parts ...string) bool {
	for _, p := range parts {
		if !strings.Contains(text, p) {
			return false
		}
	}
	return true
}

// ill checks that a health check found something whose text and evidence hold all the parts.
func ill(t testing.TB, src storage.Source, check string, parts ...string) {
	t.Helper()
	h, err := service(src).Health(t.Context(), api.HealthRequest{Table: here, Deep: check == "duplicate-keys"})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range h.Findings {
		text := f.Title + " " + f.Detail + " " + f.Hudi
		for _, e := range f.Evidence {
			text += fmt.Sprintf(" %s %s %s %s %s", e.Text, e.File, e.Instant, e.Partition, e.FileID)
		}
		if f.Check == check && holds(text, parts...) {
			return
		}
	}
	t.Errorf("the check %s does not say %q: %+v", check, parts, h.Findings)
}

// blocks lists the blocks of all log files.
func blocks(t testing.TB, src storage.Source) *api.Blocks {
	t.Helper()
	b, err := service(src).Blocks(t.Context(), api.BlocksRequest{Table: here, All: true})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// fates renders "TYPE:fate" of all blocks, in order.
func fates(b *api.Blocks) string {
	var out []string
	for _, f := range b.Files {
		for _, x := range f.Blocks {
			out = append(out, strings.TrimSuffix(x.Type, "_BLOCK")+":"+x.Fate)
		}
	}
	return strings.Join(out, ", ")
}
