//go:build !js

package robust_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"hudiscope/core/api"
	"hudiscope/core/explorer"
	"hudiscope/core/logfile"
	"hudiscope/core/logfile/logfiletest"
	"hudiscope/core/schema"
	"hudiscope/core/tabletest"
	"hudiscope/fsadapter/zipfs"
)

// bounded runs a request in a few seconds and within some memory, and returns its fault.
func bounded(t *testing.T, what string, f func(ctx context.Context) error) *api.Fault {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err := f(ctx)
	runtime.ReadMemStats(&after)
	if ctx.Err() != nil {
		t.Errorf("%s: it took too long", what)
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > 256<<20 {
		t.Errorf("%s: %d MiB were allocated", what, n>>20)
	}
	return explorer.ToFault(err)
}

// damaged expects a fault that is not the program's.
func damaged(t *testing.T, what string, f *api.Fault, parts ...string) {
	t.Helper()
	if f == nil {
		t.Errorf("%s: no fault", what)
		return
	}
	if f.Kind == "internal" || !holds(f.Error()+" "+f.File, parts...) {
		t.Errorf("%s: %+v", what, *f)
	}
}

// nested is JSON of a depth.
func nested(open, inner, shut string, n int) string {
	return strings.Repeat(open, n) + inner + strings.Repeat(shut, n)
}

// TestDeepSchemas: schemas that nest without end, refer to themselves or unfold are refused.
func TestDeepSchemas(t *testing.T) {
	deep := nested(`{"type":"array","items":`, `"int"`, `}`, 100_000)
	for name, text := range map[string]string{
		"arrays":            record(`{"name":"a","type":` + deep + `}`),
		"records":           nested(`{"type":"record","name":"r","fields":[{"name":"a","type":`, `"int"`, `}]}`, 10_000),
		"itself":            `{"type":"record","name":"r","fields":[{"name":"a","type":["null","r"]}]}`,
		"each other":        `{"type":"record","name":"r","fields":[{"name":"a","type":{"type":"record","name":"s","fields":[{"name":"b","type":["null","r"]}]}}]}`,
		"doubling":          doubling(60),
		"brackets":          nested("[", "", "]", 1_000_000),
		"a name that never": record(`{"name":"a","type":"never.defined"}`),
		"a huge fixed":      record(`{"name":"a","type":{"type":"fixed","name":"f","size":99999999999999}}`),
	} {
		f := bounded(t, name, func(context.Context) error { _, err := schema.Parse(text); return err })
		damaged(t, name, f)

		// The same in a commit and in a log block.
		b := one(t, 9, nil, []row{rowOf(at(1), "k", 1, "x", 1)})
		b.schema = text
		b.commit("deltacommit", 2)
		f = bounded(t, name+" in a commit", func(ctx context.Context) error { return allOf(ctx, service(b)) })
		damaged(t, name+" in a commit", f, at(2))

		b = one(t, 9, nil, []row{rowOf(at(1), "k", 1, "x", 1)}, logOf().Data(at(2), text, [][]byte{rec(at(2), "k", 2, "y", 2.0)}))
		f = bounded(t, name+" in a block", func(ctx context.Context) error { return allOf(ctx, service(b)) })
		damaged(t, name+" in a block", f, ".log.1_")
	}
}

func allOf(ctx context.Context, s *explorer.Service) error {
	_, err := s.Rows(ctx, api.RowsRequest{Table: here})
	return err
}

// doubling is a schema of n records, each with two fields of the next.
func doubling(n int) string {
	text := `{"type":"record","name":"r0","fields":[{"name":"x","type":"int"}]}`
	for i := 1; i < n; i++ {
		text = fmt.Sprintf(`{"type":"record","name":"r%d","fields":[{"name":"a","type":%s},{"name":"b","type":"r%d"}]}`, i, text, i-1)
	}
	return text
}

// TestDeepCommits: metadata of instants that nests without end is damage of that instant.
func TestDeepCommits(t *testing.T) {
	for name, text := range map[string]string{
		"arrays":  `{"partitionToWriteStats":` + nested("[", "", "]", 1_000_000) + `}`,
		"objects": nested(`{"a":`, "1", "}", 1_000_000),
		"open":    strings.Repeat(`{"a":`, 1_000_000),
		"a text":  `{"extraMetadata":{"schema":"` + strings.Repeat("x", 10<<20) + `"}}`,
	} {
		b := one(t, 6, nil, []row{rowOf(at(1), "k", 1, "x", 1)})
		b.pending("deltacommit", 2, nil)
		b.Put(b.completed("deltacommit", 2), []byte(text))
		s := service(b)
		_ = bounded(t, name, func(ctx context.Context) error { return allOf(ctx, s) })
		f := bounded(t, name, func(ctx context.Context) error {
			d, err := s.Instant(ctx, api.InstantRequest{Table: here, Requested: at(2)})
			if err != nil {
				return err
			}
			for _, p := range d.Parts {
				if p.Fault != nil {
					return p.Fault
				}
			}
			return nil
		})
		if name != "a text" {
			damaged(t, name, f, at(2))
			ill(t, b, "damaged-instants", at(2))
		}
	}
}

// TestHugeLengths: a length in a block is a claim. Whatever it says, no memory is taken for it.
func TestHugeLengths(t *testing.T) {
	whole := data(logOf(), at(2), rec(at(2), "k", 2, "y", 2.0)).Bytes()
	s := spans(whole)[0]
	// Every four bytes of the block in turn become a huge number.
	for i := s.start + 6; i+4 <= len(whole); i += 4 {
		for _, x := range []uint32{0x7fffffff, 0xffffffff, 0x10000000} {
			p := bytes.Clone(whole)
			binary.BigEndian.PutUint32(p[i:], x)
			b := one(t, 9, nil, []row{rowOf(at(1), "k", 1, "x", 1)}, logOf().Raw(p...))
			if f := bounded(t, fmt.Sprintf("%x at %d", x, i), func(ctx context.Context) error { return allOf(ctx, service(b)) }); f != nil && f.Kind == "internal" {
				t.Errorf("%x at byte %d: %+v", x, i, *f)
			}
		}
	}
	// Counts inside Avro: an array and a text of 2^62.
	long := logfiletest.Long(nil, 1<<62)
	for name, content := range map[string][]byte{
		"text":    logfiletest.DataContent(append([]byte{2}, long...)),
		"deletes": append([]byte{0, 0, 0, 3, 0, 0, 0, byte(len(long))}, long...),
	} {
		typ := logfile.AvroDataBlock
		if name == "deletes" {
			typ = logfile.DeleteBlock
		}
		f := logOf().Block(typ, []logfiletest.Entry{{Key: logfile.InstantTime, Value: at(2)}, {Key: logfile.Schema, Value: blockSchema}}, content)
		b := one(t, 9, nil, []row{rowOf(at(1), "k", 1, "x", 1)}, f)
		damaged(t, name, bounded(t, name, func(ctx context.Context) error { return allOf(ctx, service(b)) }), ".log.1_", "byte")
	}
}

// TestMarkupIsText: what looks like a program of a page is a text like others, wherever it stands: the
// answers hold it as it is, and JSON carries it without characters that end a script element.
func TestMarkupIsText(t *testing.T) {
	const evil = `<img src=x onerror="alert(1)"></script><script>alert(2)</script>&amp;`
	each(t, func(t *testing.T, version int) {
		b := build(t, version, map[string]string{"hoodie.table.name": evil, "hoodie.table.partition.fields": "name"})
		part := strings.ReplaceAll(evil, "/", "%2F")
		path := b.base(part, "f", at(1), rowOf(at(1), evil, 1, evil, 1))
		b.schema = record(dataFields, `{"name":"evil","type":["null","string"],"default":null,"doc":"<script>"}`)
		b.commitOf("deltacommit", 1, evil, map[string]any{"extraMetadata": map[string]string{"schema": b.schema, evil: evil}}, path)
		b.Put(b.timeline()+"/"+evil+".commit", []byte(evil))
		s := service(b)
		r := read(t, b)
		sent, err := json.Marshal(r)
		if err != nil || bytes.ContainsAny(sent, "<>&") || len(r.Rows) != 1 {
			t.Errorf("not escaped: %s, %v", sent, err)
		}
		for _, op := range []api.Op{api.OpOverview, api.OpTimeline, api.OpFiles, api.OpPartitions, api.OpHealth, api.OpHousekeeping, api.OpConfig, api.OpSchema, api.OpSlices} {
			if _, err := s.Do(t.Context(), op, []byte(`{"table":"x"}`), nil); err != nil {
				t.Errorf("%s: %v", op, err)
			}
		}
		_, err = s.Bytes(t.Context(), api.BytesRequest{Table: here, File: evil, Length: 10})
		if f := explorer.ToFault(err); f == nil || f.Kind != "not found" && f.Kind != "invalid request" {
			t.Errorf("a file of that name: %+v", f)
		}
	})
}

// TestHostileZips: names that leave the table, sizes that are lies, and a bomb.
func TestHostileZips(t *testing.T) {
	slip := zipOf(t, map[string][]byte{"../../etc/passwd": []byte("x"), "/abs": []byte("x"), "t/../../up": []byte("x"), `t\..\..\win`: []byte("x"), "t/.hoodie/hoodie.properties": []byte("hoodie.table.name=t\nhoodie.table.type=COPY_ON_WRITE\nhoodie.table.version=6\n")})
	src, err := zipfs.New(t.Context(), logfiletest.NewObject(slip), "slip.zip", zipfs.Options{})
	if err == nil {
		for _, dir := range []string{"..", "../..", "/", "etc"} {
			if _, err := src.List(t.Context(), dir); err == nil {
				t.Errorf("%q can be listed", dir)
			}
		}
		for _, p := range []string{"../../etc/passwd", "../up", "/abs", "../etc/passwd"} {
			if o, err := src.Open(t.Context(), p); err == nil {
				o.Close()
				t.Errorf("%q can be opened", p)
			}
		}
	}
	// Ten thousand to one: reading the properties takes no more than what properties may have.
	bomb := zipOf(t, map[string][]byte{"t/.hoodie/hoodie.properties": bytes.Repeat([]byte("#\n"), 64<<20)})
	f := bounded(t, "bomb", func(ctx context.Context) error {
		src, err := zipfs.New(ctx, logfiletest.NewObject(bomb), "bomb.zip", zipfs.Options{})
		if err != nil {
			return err
		}
		_, err = service(src).Overview(ctx, api.OverviewRequest{Table: here})
		return err
	})
	damaged(t, "bomb", f)
}

func zipOf(t *testing.T, files map[string][]byte) []byte {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for name, b := range files {
		w, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(b); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestManyNames: a listing of very many odd names is one answer, in time.
func TestManyNames(t *testing.T) {
	f := tabletest.New("many")
	f.Put(".hoodie/hoodie.properties", []byte("hoodie.table.name=t\nhoodie.table.type=COPY_ON_WRITE\nhoodie.table.version=6\n"))
	for i := range 20_000 {
		f.Put(fmt.Sprintf(".hoodie/%d.nothing", i), nil)
		f.Put(fmt.Sprintf("x%d.parquet", i), nil)
	}
	f.Put(".hoodie_partition_metadata", nil)
	if x := bounded(t, "names", func(ctx context.Context) error {
		_, err := service(f).Files(ctx, api.FilesRequest{Table: here})
		return err
	}); x != nil {
		t.Errorf("%+v", *x)
	}
}
