package commitmeta_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/linkedin/goavro/v2"

	"hudiscope/core/commitmeta"
	"hudiscope/core/corrupt"
	"hudiscope/core/tabletest"
)

var instantName = regexp.MustCompile(`^\.hoodie/(metadata/\.hoodie/)?(timeline/)?\d+(_\d+)?\.[a-z.]+$`)

// instants returns the paths of all instant files of a table.
func instants(f *tabletest.Files) []string {
	var out []string
	for _, p := range f.Paths() {
		if instantName.MatchString(p) {
			out = append(out, p)
		}
	}
	return out
}

// TestGold holds the metadata of every completed commit against Hudi's own toJsonString.
func TestGold(t *testing.T) {
	commits := 0
	for _, name := range tabletest.Names(t, "commits.json") {
		f := tabletest.Open(t, name)
		var want map[string]any
		tabletest.Gold(t, name, "commits.json", &want)
		for file, w := range want {
			data := f.Bytes(".hoodie/" + file)
			if data == nil {
				data = f.Bytes(".hoodie/timeline/" + file)
			}
			m, err := commitmeta.ParseCommit(data)
			if err != nil {
				t.Errorf("%s/%s: %v", name, file, err)
				continue
			}
			if d := tabletest.Subset(w, tabletest.Roundtrip(t, commitmeta.ToHudiJSON(m))); d != "" {
				t.Errorf("%s/%s: %s", name, file, d)
			}
			commits++
		}
	}
	t.Logf("%d commits", commits)
	if commits < 80 {
		t.Errorf("only %d commits", commits)
	}
}

// TestDecodeAll decodes every instant file of every table, and compares each Avro record
// with what an independent decoder says.
func TestDecodeAll(t *testing.T) {
	n := map[commitmeta.Encoding]int{}
	schemas := map[string]int{}
	for _, name := range tabletest.Names(t, "") {
		f := tabletest.Open(t, name)
		for _, p := range instants(f) {
			data := f.Bytes(p)
			d, err := commitmeta.Decode(data)
			if err != nil {
				t.Errorf("%s/%s: %v", name, p, err)
				continue
			}
			n[d.Encoding]++
			switch d.Encoding {
			case commitmeta.Empty:
				if d.JSON != nil || len(data) != 0 {
					t.Errorf("%s/%s: %d bytes said to be empty", name, p, len(data))
				}
			case commitmeta.JSON:
				compareJSON(t, name+"/"+p, data, d.JSON)
			case commitmeta.Avro:
				schemas[d.SchemaName]++
				compareJSON(t, name+"/"+p, oracle(t, data), d.JSON)
				if err := typed(path.Base(p), data); err != nil {
					t.Errorf("%s/%s: %v", name, p, err)
				}
			}
		}
	}
	t.Log(n, schemas)
	if n[commitmeta.Avro] < 100 || n[commitmeta.JSON] < 50 || n[commitmeta.Empty] < 50 || len(schemas) < 10 {
		t.Errorf("too few files: %v, schemas %v", n, schemas)
	}
}

// typed decodes a file with the type that its name asks for.
func typed(name string, data []byte) (err error) {
	_, ext, _ := strings.Cut(name, ".")
	switch ext {
	case "compaction.requested", "logcompaction.requested":
		_, err = commitmeta.ParseCompactionPlan(data)
	case "replacecommit.requested", "clustering.requested":
		_, err = commitmeta.ParseRequestedReplace(data)
	case "clean":
		_, err = commitmeta.ParseClean(data)
	case "clean.requested", "clean.inflight":
		_, err = commitmeta.ParseCleanerPlan(data)
	case "rollback":
		_, err = commitmeta.ParseRollback(data)
	case "rollback.requested":
		_, err = commitmeta.ParseRollbackPlan(data)
	case "restore":
		_, err = commitmeta.ParseRestore(data)
	case "restore.requested":
		_, err = commitmeta.ParseRestorePlan(data)
	case "savepoint":
		_, err = commitmeta.ParseSavepoint(data)
	case "indexing", "indexing.requested":
		_, err = commitmeta.ParseIndex(data)
	default:
		_, err = commitmeta.ParseCommit(data)
	}
	return err
}

func compareJSON(t *testing.T, what string, want, got []byte) {
	t.Helper()
	w, g := tabletest.Roundtrip(t, json.RawMessage(want)), tabletest.Roundtrip(t, json.RawMessage(got))
	if d := tabletest.Subset(w, g); d != "" {
		t.Errorf("%s: %s", what, d)
	}
	if d := tabletest.Subset(g, w); d != "" {
		t.Errorf("%s, reversed: %s", what, d)
	}
}

// oracle decodes a container with goavro and flattens its unions.
func oracle(t *testing.T, data []byte) []byte {
	t.Helper()
	r, err := goavro.NewOCFReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if !r.Scan() {
		t.Fatal("no record", r.Err())
	}
	v, err := r.Read()
	if err != nil {
		t.Fatal(err)
	}
	var s any
	if err := json.Unmarshal([]byte(r.Codec().Schema()), &s); err != nil {
		t.Fatal(err)
	}
	f := flattener{named: map[string]any{}}
	b, err := json.Marshal(f.flat(s, v))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

type flattener struct{ named map[string]any }

func (f flattener) flat(s, v any) any {
	switch s := s.(type) {
	case string:
		if d, ok := f.named[s[strings.LastIndexByte(s, '.')+1:]]; ok {
			return f.flat(d, v)
		}
		return v
	case []any:
		if len(s) == 2 { // define the names even where the value is null
			f.define(s[0])
			f.define(s[1])
		}
		m, ok := v.(map[string]any)
		if v == nil || !ok {
			return v
		}
		for name, x := range m {
			for _, b := range s {
				if typeName(b) == name[strings.LastIndexByte(name, '.')+1:] {
					return f.flat(b, x)
				}
			}
		}
		return v
	case map[string]any:
		f.define(s)
		switch s["type"] {
		case "record":
			out := map[string]any{}
			for _, x := range s["fields"].([]any) {
				field := x.(map[string]any)
				name := field["name"].(string)
				out[name] = f.flat(field["type"], v.(map[string]any)[name])
			}
			return out
		case "array":
			out := []any{}
			for _, x := range v.([]any) {
				out = append(out, f.flat(s["items"], x))
			}
			return out
		case "map":
			out := map[string]any{}
			for k, x := range v.(map[string]any) {
				out[k] = f.flat(s["values"], x)
			}
			return out
		}
		return f.flat(s["type"], v)
	}
	return v
}

func (f flattener) define(s any) {
	m, ok := s.(map[string]any)
	if !ok {
		return
	}
	if n, ok := m["name"].(string); ok && m["type"] == "record" {
		f.named[n] = m
		for _, x := range m["fields"].([]any) {
			f.define(x.(map[string]any)["type"])
		}
		return
	}
	f.define(m["items"])
	f.define(m["values"])
}

func typeName(s any) string {
	switch s := s.(type) {
	case string:
		return s[strings.LastIndexByte(s, '.')+1:]
	case map[string]any:
		if n, ok := s["name"].(string); ok {
			return n
		}
		return typeName(s["type"])
	}
	return ""
}

func TestTyped(t *testing.T) {
	f := tabletest.Open(t, "pending_compaction_requested_h120")
	plans := 0
	for _, p := range instants(f) {
		if !strings.HasSuffix(p, ".compaction.requested") || strings.Contains(p, "metadata") {
			continue
		}
		plan, err := commitmeta.ParseCompactionPlan(f.Bytes(p))
		if err != nil {
			t.Fatal(err)
		}
		plans++
		if len(plan.Operations) == 0 {
			t.Fatal("a plan without operations")
		}
		for _, o := range plan.Operations {
			if o.FileID == "" || o.Partition == "" || o.BaseInstant == "" || len(o.DeltaFiles()) == 0 || strings.Contains(o.DataFile(), "/") || !strings.HasPrefix(o.DataFile(), o.FileID) {
				t.Errorf("operation %+v", o)
			}
		}
	}
	if plans != 1 {
		t.Errorf("%d plans", plans)
	}

	f = tabletest.Open(t, "replace_clustering_mor_h120")
	groups := 0
	for _, p := range instants(f) {
		if strings.HasSuffix(p, ".clustering.requested") {
			r, err := commitmeta.ParseRequestedReplace(f.Bytes(p))
			if err != nil || !r.IsClustering() {
				t.Fatal(r, err)
			}
			groups += len(r.Clustering.Groups)
		}
	}
	if groups == 0 {
		t.Error("no clustering group")
	}

	f = tabletest.Open(t, "mor_rollback_h120")
	targets := 0
	for _, p := range instants(f) {
		switch {
		case strings.HasSuffix(p, ".rollback.requested"):
			plan, err := commitmeta.ParseRollbackPlan(f.Bytes(p))
			if err != nil || plan.Target == nil || plan.Target.Time() == "" || plan.Target.Action != "deltacommit" {
				t.Error(plan, err)
			}
		case strings.HasSuffix(p, ".rollback"):
			m, err := commitmeta.ParseRollback(f.Bytes(p))
			if err != nil || len(m.Targets()) != 1 {
				t.Error(m, err)
			}
			targets++
		}
	}
	if targets == 0 {
		t.Error("no rollback")
	}

	f = tabletest.Open(t, "savepoint_restore_h120")
	saved := 0
	for _, p := range instants(f) {
		if strings.HasSuffix(p, ".savepoint") {
			m, err := commitmeta.ParseSavepoint(f.Bytes(p))
			if err != nil || m.AtMs == 0 {
				t.Fatal(m, err)
			}
			for _, sp := range m.Partitions {
				saved += len(sp.Files)
			}
		}
	}
	if saved == 0 {
		t.Error("no saved file")
	}
}

func TestCommitForms(t *testing.T) {
	m, err := commitmeta.ParseCommit(nil)
	if err != nil || m.Operation != commitmeta.OpUnknown || len(m.Partitions) != 0 {
		t.Errorf("empty file: %+v, %v", m, err)
	}
	m, err = commitmeta.ParseCommit([]byte(`{"partitionToWriteStats":{"b":[{"path":"b/x","cdcStats":"b/.x.cdc","unheardOf":{"a":[1]}}],"a":[]},
		"extraMetadata":{"k":null,"schema":"s"},"operationType":null,"partitionToReplaceFileIds":{}}`))
	if err != nil {
		t.Fatal(err)
	}
	if m.Partitions[0].Partition != "a" || m.Partitions[1].Stats[0].CDCStats["b/.x.cdc"] != 0 || len(m.Partitions[1].Stats[0].CDCStats) != 1 {
		t.Errorf("%+v", m)
	}
	if len(m.Extra) != 1 || m.Extra["schema"] != "s" || m.Operation != commitmeta.OpUnknown || !m.IsReplace {
		t.Errorf("%+v", m)
	}
	if _, err := commitmeta.ParseCompactionPlan(nil); !errors.Is(err, commitmeta.ErrEmpty) {
		t.Errorf("empty plan: %v", err)
	}
}

// avroFile writes one record with goavro.
func avroFile(t testing.TB, codec string) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := goavro.NewOCFWriter(goavro.OCFConfig{W: &b, CompressionName: codec, Schema: `{"type":"record","name":"HoodieRollbackPlan","namespace":"org.apache.hudi.avro.model","fields":[
		{"name":"instantToRollback","type":["null",{"type":"record","name":"I","fields":[{"name":"commitTime","type":"string"},{"name":"action","type":"string"}]}]},
		{"name":"RollbackRequests","type":["null",{"type":"array","items":"string"}]},
		{"name":"raw","type":"bytes"},{"name":"version","type":["int","null"]},{"name":"pad","type":"string"}]}`})
	if err != nil {
		t.Fatal(err)
	}
	err = w.Append([]any{map[string]any{
		"instantToRollback": goavro.Union("org.apache.hudi.avro.model.I", map[string]any{"commitTime": "001", "action": "commit"}),
		"RollbackRequests":  nil, "raw": []byte{1, 2, 255}, "version": goavro.Union("int", 7), "pad": strings.Repeat("x", 5000)}})
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestCodecs(t *testing.T) {
	for _, codec := range []string{"null", "deflate", "snappy"} {
		data := avroFile(t, codec)
		if codec != "null" && len(data) > 4000 {
			t.Fatalf("%s: %d bytes are not compressed", codec, len(data))
		}
		p, err := commitmeta.ParseRollbackPlan(data)
		if err != nil || p.Target.Time() != "001" || *p.Version != 7 {
			t.Errorf("%s: %+v, %v", codec, p, err)
		}
		d, err := commitmeta.Decode(data)
		if err != nil || !strings.HasPrefix(string(d.JSON), `{"instantToRollback":{"commitTime":"001","action":"commit"},"RollbackRequests":null,"raw":"AQL/","version":7,"pad":"xx`) {
			t.Errorf("%s: %.200s, %v", codec, d.JSON, err)
		}
	}
}

func TestDamage(t *testing.T) {
	good := avroFile(t, "null")
	header := bytes.Index(good, []byte("avro.codec"))
	record := bytes.Index(good, []byte("\x02\x06001")) // union branch 1, "001"
	if header < 0 || record < 0 {
		t.Fatal("the container is not as expected")
	}
	edit := func(at int, with ...byte) []byte {
		b := bytes.Clone(good)
		copy(b[at:], with)
		return b
	}
	for _, tt := range []struct {
		name   string
		data   []byte
		offset int64
		part   string
	}{
		{"text", []byte("hello"), 0, "metadata file"},
		{"magic only", []byte("Obj\x01"), 4, "metadata count"},
		{"huge count", []byte("Obj\x01\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01"), 4, "metadata count"},
		{"smallest count", []byte("Obj\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), 4, "metadata count"},
		{"endless number", []byte("Obj\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), 4, "metadata count"},
		{"huge key", []byte("Obj\x01\x02\xfe\xff\xff\xff\x0f"), 5, "metadata key length"},
		{"no schema", append([]byte("Obj\x01\x00"), make([]byte, 20)...), 4, "avro.schema"},
		{"header only", good[:record-3], int64(record - 3), "one record"},
		{"two records", edit(record-3, 4), int64(record - 3), "record count"},
		{"block too long", edit(record-2, 0xfe, 0xff), int64(record - 2), "block size"},
		{"cut", good[:len(good)-1], int64(record - 2), "block size"},
		{"sync", edit(len(good)-1, good[len(good)-1]^1), int64(len(good) - 16), "sync marker"},
		{"more after the record", append(bytes.Clone(good), 0), int64(len(good)), "the end of the file"},
		{"union branch", edit(record, 8), int64(record), "instantToRollback"},
		{"string too long", edit(record+1, 0xfe, 0xff, 0xff, 0x0f), int64(record + 1), "instantToRollback"},
		{"codec", bytes.Replace(good, []byte("\x08null"), []byte("\x08zstd"), 1), 4, "avro.codec"},
		{"cut JSON", []byte(`{"partitionToWriteStats":{"a":[`), 31, "JSON"},
		{"bad JSON", []byte(`{"a":1,}`), 7, "JSON"},
		{"deep JSON", []byte(`{"a":` + strings.Repeat("[", 500)), 204, "JSON"},
		{"wrong type", []byte(`{"partitionToWriteStats":[1]}`), corrupt.Unknown, "partitionToWriteStats"},
		{"wrong record", good, 4, "record name"},
	} {
		_, err := commitmeta.ParseCommit(tt.data)
		var e *corrupt.Error
		if !errors.As(err, &e) || e.Offset != tt.offset || !strings.Contains(e.Error(), tt.part) {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	// A block that unfolds without end.
	bomb := avroFile(t, "snappy")
	at := bytes.Index(bomb, bomb[len(bomb)-16:]) + 16 // behind the header's sync marker
	bad := append(append(bytes.Clone(bomb[:at]), 2, 20, 0xff, 0xff, 0xff, 0x7f, 0, 0, 0, 0, 0, 0), bomb[at-16:at]...)
	if _, err := commitmeta.Decode(bad); !corrupt.Is(err) || !strings.Contains(err.Error(), "snappy") {
		t.Errorf("snappy bomb: %v", err)
	}
}

// FuzzDecode: no input may panic, and every error tells that the bytes are wrong.
func FuzzDecode(f *testing.F) {
	for _, codec := range []string{"null", "deflate", "snappy"} {
		f.Add(avroFile(f, codec))
	}
	f.Add([]byte(`{"partitionToWriteStats":{"a":[{"fileId":"x"}]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := commitmeta.Decode(data)
		if err != nil {
			if !corrupt.Is(err) {
				t.Fatal(err)
			}
			return
		}
		if d.JSON != nil && !json.Valid(d.JSON) {
			t.Fatalf("not JSON: %q", d.JSON)
		}
		if _, err := commitmeta.ParseCommit(data); err != nil && !corrupt.Is(err) {
			t.Fatal(err)
		}
	})
}
