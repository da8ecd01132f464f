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
	b.instant(b.pendingAction(action, operation), action, n, m)
}

// pendingAction is the action of an instant before it completes as action: those of table services have
// their own, and clustering has one from version 8 on.
func (b *built) pendingAction(action, operation string) string {
	switch {
	case operation == "COMPACT":
		return "compaction"
	case operation == "CLUSTER" && b.version >= 8:
		return "clustering"
	}
	return action
}

// instant writes all files of a completed instant; pending is the action while it was not completed.
func (b *built) instant(pending, action string, n int, content any) {
	b.pending(pending, n, nil)
	b.Put(b.completed(action, n), b.encode(action, content))
}

// encode is the metadata of a completed instant, as releases write it: JSON for writes below version 8, and
// Avro containers otherwise; nil for none.
func (b *built) encode(action string, content any) []byte {
	name := map[string]string{"commit": "HoodieCommitMetadata", "deltacommit": "HoodieCommitMetadata", "replacecommit": "HoodieReplaceCommitMetadata", "rollback": "HoodieRollbackMetadata"}[action]
	switch {
	case content == nil:
		return nil
	case name == "":
		b.t.Fatalf("metadata of a %s", action)
	case b.version >= 8 || action == "rollback":
		return container(b.t, name, content)
	}
	text, err := json.Marshal(content)
	if err != nil {
		b.t.Fatal(err)
	}
	return text
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
		text = container(b.t, map[string]string{"compaction": "HoodieCompactionPlan", "replacecommit": "HoodieRequestedReplaceMetadata", "clustering": "HoodieRequestedReplaceMetadata"}[action], plan)
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

// ladder renders the versions of a key in the slice that a snapshot reads, in merge order, as
// "kind:outcome" and the slice's result, and returns the reasons beside it.
func ladder(t testing.TB, src storage.Source, key string) (text, whys string) {
	t.Helper()
	h, err := service(src).History(t.Context(), api.HistoryRequest{Table: here, Key: key})
	if err != nil {
		t.Fatal(err)
	}
	if len(h.Keys) != 1 || len(h.Keys[0].Copies) != 1 {
		t.Fatalf("history of %s: %+v", key, h.Keys)
	}
	for _, s := range h.Keys[0].Copies[0].Slices {
		if !s.Latest {
			continue
		}
		var out []string
		for _, v := range s.Versions {
			out = append(out, v.Kind+":"+v.Outcome)
			whys += v.Why + "\n"
		}
		text = strings.Join(out, ", ") + " = " + s.Result
	}
	return text, whys
}

// wantLadder checks the history of a key, and that some reason in it holds all the parts.
func wantLadder(t testing.TB, what string, src storage.Source, key, ladderText string, parts ...string) {
	t.Helper()
	got, whys := ladder(t, src, key)
	if got != ladderText || !holds(whys, parts...) {
		t.Errorf("%s, history of %s:\nwant %s\ngot  %s\nreasons (want %q): %s", what, key, ladderText, got, parts, whys)
	}
}

// filesOf are the partitions, groups and slices, by a listing.
func filesOf(t testing.TB, src storage.Source, asOf string) *api.Files {
	t.Helper()
	f, err := service(src).Files(t.Context(), api.FilesRequest{Table: here, AsOf: asOf, Storage: true})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// groupOf finds a file group of a view.
func groupOf(t testing.TB, f *api.Files, fileID string) *api.FileGroup {
	t.Helper()
	for i := range f.Partitions {
		for j := range f.Partitions[i].Groups {
			if g := &f.Partitions[i].Groups[j]; g.FileID == fileID {
				return g
			}
		}
	}
	t.Fatalf("no file group %s: %+v", fileID, f)
	return nil
}

// wantState checks what the view says of a file.
func wantState(t testing.TB, f *api.Files, path, state string, parts ...string) {
	t.Helper()
	for _, p := range f.Partitions {
		all := slices.Clone(p.Other)
		for _, g := range p.Groups {
			for _, s := range g.Slices {
				if s.Base != nil {
					all = append(all, *s.Base)
				}
				all = append(all, s.Logs...)
			}
		}
		for _, x := range all {
			if x.Path == path {
				if x.State != state || !holds(x.Why, parts...) {
					t.Errorf("%s is %s (%s), want %s (%q)", path, x.State, x.Why, state, parts)
				}
				return
			}
		}
	}
	t.Errorf("%s is not in the view: %+v", path, f)
}

// changes are the rows that differ between two instants, by merging whole slices: "kind key", with the
// values of columns after it.
func changes(t testing.TB, src storage.Source, from, to string, columns ...string) []string {
	t.Helper()
	c, err := service(src).Compare(t.Context(), api.CompareRequest{Table: here, From: from, To: to})
	if err != nil || c.Rows == nil {
		t.Fatalf("%+v, %v", c, err)
	}
	out := []string{}
	for _, r := range c.Rows.Rows {
		cells := r.After
		if cells == nil {
			cells = r.Before
		}
		out = append(out, r.Kind+" "+texts(&api.Rows{Columns: c.Rows.Columns, Rows: [][]json.RawMessage{cells}}, columns...)[0])
	}
	slices.Sort(out)
	return out
}

// archive moves completed instants from the active timeline to the archived one, as releases write it: one
// Parquet file of an LSM tree with its manifest from version 8 on, one log file below. action is that of all of them.
func (b *built) archive(action string, instants ...int) {
	dir := map[bool]string{false: ".hoodie/archived", true: ".hoodie/timeline/history"}[b.version >= 8]
	type lsm struct {
		Instant    string `parquet:"instantTime,optional"`
		Completion string `parquet:"completionTime,optional"`
		Action     string `parquet:"action,optional"`
		Metadata   []byte `parquet:"metadata,optional"`
		Plan       []byte `parquet:"plan,optional"`
		Version    int32  `parquet:"version"`
	}
	var rows []lsm
	var entries [][]byte
	entry := metadataSchemas()["HoodieArchivedMetaEntry"]
	for _, n := range instants {
		done, completion := "", done(n)
		var left []string
		for _, p := range b.Paths() {
			if path.Dir(p) == b.timeline() && strings.HasPrefix(path.Base(p), at(n)) {
				left = append(left, p)
				if strings.HasSuffix(p, "."+action) {
					done = p
				}
			}
		}
		if done == "" {
			b.t.Fatalf("no completed %s %s", action, at(n))
		}
		if b.version >= 8 {
			_, rest, _ := strings.Cut(path.Base(done), "_")
			completion, _, _ = strings.Cut(rest, ".")
			rows = append(rows, lsm{at(n), completion, action, b.Bytes(done), nil, 1})
		} else {
			var m map[string]any
			if err := json.Unmarshal(b.Bytes(done), &m); err != nil {
				b.t.Fatal(err)
			}
			delete(m, "compacted") // what the archive has no field for
			for _, list := range m["partitionToWriteStats"].(map[string]any) {
				for _, s := range list.([]any) {
					delete(s.(map[string]any), "logFiles")
					delete(s.(map[string]any), "baseFile")
				}
			}
			for _, state := range []string{"REQUESTED", "INFLIGHT", "COMPLETED"} {
				e := map[string]any{"commitTime": at(n), "actionType": action, "actionState": state, "stateTransitionTime": completion, "version": 1}
				if state == "COMPLETED" {
					e["hoodieCommitMetadata"] = m
				}
				entries = append(entries, encodeAvro(b.t, entry, e))
			}
		}
		for _, p := range left {
			b.Remove(p)
		}
	}
	if b.version < 8 {
		b.Put(dir+"/.commits_.archive.1_1-0-1", logOf().Data("", entry, entries).Bytes())
		return
	}
	name := at(instants[0]) + "_" + at(instants[len(instants)-1]) + "_0.parquet"
	file := parquetOf(b.t, rows)
	b.Put(dir+"/"+name, file)
	b.Put(dir+"/manifest_1", []byte(fmt.Sprintf("{\n  \"files\" : [ {\n    \"fileName\" : %q,\n    \"fileLen\" : %d\n  } ]\n}", name, len(file))))
	b.Put(dir+"/_version_", []byte("1"))
}
