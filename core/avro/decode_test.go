package avro_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/linkedin/goavro/v2"

	"hudiscope/core/avro"
	"hudiscope/core/column"
	"hudiscope/core/corrupt"
	"hudiscope/core/logfile"
	"hudiscope/core/logfile/logfiletest"
	"hudiscope/core/schema"
)

// plainSchema is the schema text without logical types, which the oracle would turn into
// values of its own.
func plainSchema(t testing.TB, text string) string {
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	var strip func(any)
	strip = func(v any) {
		switch x := v.(type) {
		case []any:
			for _, e := range x {
				strip(e)
			}
		case map[string]any:
			delete(x, "logicalType")
			for _, e := range x {
				strip(e)
			}
		}
	}
	strip(v)
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// branchName is the name the oracle gives a union branch.
func branchName(t *schema.Type) string {
	if t.Name != "" {
		return t.FullName()
	}
	return t.Kind.String()
}

// same compares slot i of a vector with a value of the oracle; "" means equal.
func same(v *column.Vector, i int, want any) string {
	if v.Type.Nullable {
		if (want == nil) != v.IsNull(i) {
			return fmt.Sprintf("null %v, want %v", v.IsNull(i), want)
		}
		if want == nil {
			return ""
		}
		m, ok := want.(map[string]any)
		if !ok || len(m) != 1 {
			return fmt.Sprintf("oracle gave %T", want)
		}
		want, ok = m[branchName(v.Type)]
		if !ok {
			return fmt.Sprintf("oracle's branch is %v, not %s", m, branchName(v.Type))
		}
	}
	if v.IsNull(i) != (v.Type.Kind == schema.Null) {
		return "null"
	}
	bad := func(got any) string { return fmt.Sprintf("%v, want %v (%T)", got, want, want) }
	switch v.Type.Kind {
	case schema.Null:
		if want != nil {
			return bad(nil)
		}
	case schema.Boolean:
		if v.Bools[i] != want.(bool) {
			return bad(v.Bools[i])
		}
	case schema.Int:
		if v.Ints[i] != int64(want.(int32)) {
			return bad(v.Ints[i])
		}
	case schema.Long:
		if v.Ints[i] != want.(int64) {
			return bad(v.Ints[i])
		}
	case schema.Float:
		if w := want.(float32); v.Floats[i] != float64(w) && w == w {
			return bad(v.Floats[i])
		}
	case schema.Double:
		if w := want.(float64); math.Float64bits(v.Floats[i]) != math.Float64bits(w) {
			return bad(v.Floats[i])
		}
	case schema.Bytes, schema.Fixed:
		if !bytes.Equal(v.BytesAt(i), want.([]byte)) {
			return bad(v.BytesAt(i))
		}
	case schema.String:
		if string(v.BytesAt(i)) != want.(string) {
			return bad(string(v.BytesAt(i)))
		}
	case schema.Enum:
		if s := v.Type.Symbols[v.Ints[i]]; s != want.(string) {
			return bad(s)
		}
	case schema.Record:
		m := want.(map[string]any)
		for k, c := range v.Children {
			if s := same(c, i, m[v.Type.Fields[k].Name]); s != "" {
				return v.Type.Fields[k].Name + "." + s
			}
		}
	case schema.Array:
		list := want.([]any)
		from, to := int(v.Offsets[i]), int(v.Offsets[i+1])
		if to-from != len(list) {
			return bad(to - from)
		}
		for k := range list {
			if s := same(v.Children[0], from+k, list[k]); s != "" {
				return fmt.Sprintf("[%d].%s", k, s)
			}
		}
	case schema.Map:
		m := want.(map[string]any)
		from, to := int(v.Offsets[i]), int(v.Offsets[i+1])
		if to-from != len(m) {
			return bad(to - from)
		}
		for k := from; k < to; k++ {
			key := string(v.Children[0].BytesAt(k))
			if s := same(v.Children[1], k, m[key]); s != "" {
				return fmt.Sprintf("[%s].%s", key, s)
			}
		}
	case schema.Union:
		b := v.Type.Branches[v.Tags[i]]
		if want != nil {
			m := want.(map[string]any)
			w, ok := m[branchName(b)]
			if !ok {
				return bad(branchName(b))
			}
			want = w
		}
		return same(v.Children[v.Tags[i]], i, want)
	}
	return ""
}

// lined checks that all parts of a vector have the lengths its Len asks for.
func lined(t testing.TB, v *column.Vector, n int) {
	t.Helper()
	bad := v.Len != n || v.Nulls != nil && len(v.Nulls) != n
	inner := n
	switch v.Type.Kind {
	case schema.Boolean:
		bad = bad || len(v.Bools) != n
	case schema.Int, schema.Long, schema.Enum:
		bad = bad || len(v.Ints) != n
	case schema.Float, schema.Double:
		bad = bad || len(v.Floats) != n
	case schema.Bytes, schema.String, schema.Fixed:
		bad = bad || len(v.Offsets) != n+1 || len(v.Data) != int(v.Offsets[n])
	case schema.Array, schema.Map:
		bad = bad || len(v.Offsets) != n+1
		inner = int(v.Offsets[n])
	case schema.Union:
		bad = bad || len(v.Tags) != n
	}
	if bad {
		t.Fatalf("vector of %s is out of line at %d: %+v", v.Type.Display(), n, v)
	}
	for _, c := range v.Children {
		lined(t, c, inner)
	}
}

// blocks calls f with every Avro and CDC block of the tables in testdata, and of those in
// $HUDISCOPE_CORPUS/tables.
func blocks(t testing.TB, f func(where, schemaText string, records [][]byte)) {
	zips, _ := filepath.Glob(filepath.Join(logfiletest.Testdata(t), "tables", "*.zip"))
	if dir := os.Getenv("HUDISCOPE_CORPUS"); dir != "" {
		more, _ := filepath.Glob(filepath.Join(dir, "tables", "*.zip"))
		zips = append(zips, more...)
	}
	for _, zip := range zips {
		for _, l := range logfiletest.ZipLogFiles(t, zip, true) {
			r := logfiletest.Open(l.Data, l.Path)
			for b, err := range r.Blocks(t.Context()) {
				if err != nil {
					break
				}
				if b.Type != logfile.AvroDataBlock && b.Type != logfile.CDCDataBlock {
					continue
				}
				content, err := r.Content(t.Context(), b)
				if err != nil {
					t.Fatal(err)
				}
				var records [][]byte
				for rec, err := range logfile.DataRecords(content, b.ContentOffset) {
					if err != nil {
						t.Fatal(err)
					}
					records = append(records, rec.Data)
				}
				f(fmt.Sprintf("%s %s block %d", filepath.Base(zip), l.Path, b.Index), b.SchemaText(), records)
			}
		}
	}
}

func compile(t testing.TB, text string, want func(string) bool) *avro.Decoder {
	t.Helper()
	typ, err := schema.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	d, err := avro.Compile(typ, want)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestOracle decodes every real Avro block with goavro too.
func TestOracle(t *testing.T) {
	nBlocks, nRecords := 0, 0
	codecs := map[string]*goavro.Codec{}
	blocks(t, func(where, text string, records [][]byte) {
		codec := codecs[text]
		if codec == nil {
			var err error
			if codec, err = goavro.NewCodec(plainSchema(t, text)); err != nil {
				t.Fatalf("%s: %v", where, err)
			}
			codecs[text] = codec
		}
		d := compile(t, text, nil)
		batch := d.NewBatch(0)
		odd := compile(t, text, func(f string) bool { return len(f)%2 == 1 })
		oddBatch := odd.NewBatch(len(records))
		for i, rec := range records {
			native, rest, err := codec.NativeFromBinary(rec)
			if err != nil || len(rest) > 0 {
				t.Fatalf("%s record %d: oracle: %v, %d bytes left", where, i, err, len(rest))
			}
			for _, x := range []struct {
				d *avro.Decoder
				b *column.Batch
			}{{d, batch}, {odd, oddBatch}} {
				if err := x.d.Append(x.b, rec); err != nil {
					t.Fatalf("%s record %d: %v", where, i, err)
				}
				for k, v := range x.b.Columns {
					if v == nil {
						continue
					}
					if s := same(v, i, native.(map[string]any)[d.Type().Fields[k].Name]); s != "" {
						t.Fatalf("%s record %d field %s: %s", where, i, d.Type().Fields[k].Name, s)
					}
				}
			}
		}
		for k, v := range batch.Columns {
			lined(t, v, len(records))
			if want := len(d.Type().Fields[k].Name)%2 == 1; (oddBatch.Columns[k] != nil) != want {
				t.Fatalf("%s: field %s wanted %v", where, d.Type().Fields[k].Name, want)
			}
		}
		nBlocks++
		nRecords += len(records)
	})
	t.Logf("%d records of %d blocks and %d schemas decoded as by goavro", nRecords, nBlocks, len(codecs))
	if nBlocks < 50 {
		t.Errorf("only %d blocks", nBlocks)
	}
}

// everything has each Avro type at least once, nullable and not.
const everything = `{"type":"record","name":"n.All","fields":[
	{"name":"z","type":"null"},{"name":"b","type":"boolean"},{"name":"i","type":"int"},{"name":"l","type":"long"},
	{"name":"f","type":"float"},{"name":"d","type":"double"},{"name":"y","type":"bytes"},{"name":"s","type":"string"},
	{"name":"x","type":{"type":"fixed","name":"X","size":3}},{"name":"e","type":{"type":"enum","name":"E","symbols":["A","B","C"]}},
	{"name":"ni","type":["null","int"]},{"name":"sn","type":["string","null"]},{"name":"nx","type":["null","X"]},
	{"name":"u","type":["null","string","long",{"type":"record","name":"U","fields":[{"name":"p","type":["null","E"]}]}]},
	{"name":"a","type":{"type":"array","items":["null","string"]}},
	{"name":"m","type":{"type":"map","values":{"type":"array","items":"U"}}},
	{"name":"r","type":["null",{"type":"record","name":"R","fields":[{"name":"q","type":"double"},{"name":"w","type":["null",{"type":"array","items":{"type":"map","values":"bytes"}}]}]}]}]}`

// random makes a value for the oracle's encoder.
func random(r *rand.Rand, t *schema.Type) any {
	if t.Nullable {
		if r.IntN(3) == 0 {
			return nil
		}
		c := *t
		c.Nullable = false
		return map[string]any{branchName(t): random(r, &c)}
	}
	text := func() []byte { return bytes.Repeat([]byte("añ"), r.IntN(40)) }
	switch t.Kind {
	case schema.Boolean:
		return r.IntN(2) == 1
	case schema.Int:
		return int32(r.Uint32()) >> r.IntN(32)
	case schema.Long:
		return int64(r.Uint64()) >> r.IntN(64)
	case schema.Float:
		return math.Float32frombits(r.Uint32())
	case schema.Double:
		return math.Float64frombits(r.Uint64())
	case schema.Bytes:
		return text()
	case schema.String:
		return string(text())
	case schema.Fixed:
		return bytes.Repeat([]byte{byte(r.Uint32())}, t.Size)
	case schema.Enum:
		return t.Symbols[r.IntN(len(t.Symbols))]
	case schema.Array:
		out := []any{}
		for range r.IntN(4) {
			out = append(out, random(r, t.Elem))
		}
		return out
	case schema.Map:
		out := map[string]any{}
		for range r.IntN(4) {
			out[string(text())] = random(r, t.Elem)
		}
		return out
	case schema.Record:
		out := map[string]any{}
		for _, f := range t.Fields {
			out[f.Name] = random(r, f.Type)
		}
		return out
	case schema.Union:
		b := t.Branches[r.IntN(len(t.Branches))]
		if b.Kind == schema.Null {
			return nil
		}
		return map[string]any{branchName(b): random(r, b)}
	}
	return nil
}

func TestOracleRandom(t *testing.T) {
	codec, err := goavro.NewCodec(everything)
	if err != nil {
		t.Fatal(err)
	}
	d := compile(t, everything, nil)
	batch := d.NewBatch(4)
	rnd := rand.New(rand.NewPCG(7, 8))
	var natives []any
	refused := 0
	for n := range 400 {
		native := random(rnd, d.Type())
		rec, err := codec.BinaryFromNative(nil, native)
		if err != nil {
			t.Fatal(err)
		}
		// A cut or lengthened record is refused and leaves no trace.
		for _, p := range [][]byte{rec[:rnd.IntN(len(rec))], append(bytes.Clone(rec), 0)} {
			var e *corrupt.Error
			if err := d.Append(batch, p); !errors.As(err, &e) || e.Offset < 0 || e.Offset > int64(len(p)) {
				t.Fatalf("record %d cut to %d of %d bytes: %v", n, len(p), len(rec), err)
			}
		}
		// A changed one is decoded or refused, and never out of line.
		q := bytes.Clone(rec)
		q[rnd.IntN(len(q))] = byte(rnd.Uint32())
		extra := d.NewBatch(0)
		if err := d.Append(extra, q); err != nil {
			refused++
		}
		for _, v := range extra.Columns {
			lined(t, v, extra.Len)
		}
		if err := d.Append(batch, rec); err != nil {
			t.Fatalf("record %d: %v", n, err)
		}
		natives = append(natives, native)
	}
	for k, v := range batch.Columns {
		lined(t, v, len(natives))
		for i := range natives {
			if s := same(v, i, natives[i].(map[string]any)[d.Type().Fields[k].Name]); s != "" {
				t.Fatalf("record %d field %s: %s", i, d.Type().Fields[k].Name, s)
			}
		}
	}
	if refused == 0 {
		t.Error("no changed record was refused")
	}
	d.Reset(batch)
	for _, v := range batch.Columns {
		lined(t, v, 0)
	}
}

func TestBytes(t *testing.T) {
	for _, c := range []struct {
		schema, in string // type of the one field f; bytes
		want       string // the value as JSON, or an error that begins with "!" and names offset and part
	}{
		{`"long"`, "\x01", "-1"},
		{`"long"`, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "-9223372036854775808"},
		{`"long"`, "\x82\x80\x00", "1"},
		{`"long"`, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", "!0 more than 64 bits"},
		{`"long"`, "\x80", "!0 field f: "},
		{`"int"`, "\xfe\xff\xff\xff\x0f", "2147483647"},
		{`"int"`, "\x80\x80\x80\x80\x10", "!0 32 bits"},
		{`"boolean"`, "\x02", "!0 boolean"},
		{`"string"`, "\x06abc", `"abc"`},
		{`"string"`, "\x08abc", "!0 bytes left"},
		{`"string"`, "\x05abc", "!0 bytes left"},
		{`"string"`, "\x06abcd", "!4 end of the record"},
		{`["null","string"]`, "\x00", "null"},
		{`["null","string"]`, "\x80\x00", "null"},
		{`["null","string"]`, "\x04", "!0 union branch"},
		{`["string","null"]`, "\x02", "null"},
		{`["string","null"]`, "\x00\x02x", `"x"`},
		{`["string","null"]`, "\x80\x00\x02x", `"x"`},
		{`["null","int","string"]`, "\x06", "!0 below 3"},
		{`{"type":"enum","name":"E","symbols":["A"]}`, "\x02", "!0 below 1"},
		{`{"type":"array","items":"int"}`, "\x04\x02\x04\x02\x06\x00", "[1,2,3]"},
		{`{"type":"array","items":"int"}`, "\x03\x04\x02\x04\x00", "[1,2]"},
		{`{"type":"array","items":"int"}`, "\x03\x02\x02\x04\x00", "!0 as the block says"},
		{`{"type":"array","items":"int"}`, "\x03\x7e\x02\x04\x00", "!1 bytes left"},
		{`{"type":"array","items":"int"}`, "\x0e\x02", "!0 item count"},
		{`{"type":"array","items":"int"}`, "\x02\x80", "!1 field f.element"},
		{`{"type":"array","items":"null"}`, "\x06\x00", "[null,null,null]"},
		{`{"type":"array","items":"null"}`, "\xfe\xff\xff\xff\x0f\x00", "!0 size"},
		{`{"type":"array","items":"null"}`, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00", "!0 item count"},
		{`{"type":"map","values":"int"}`, "\x02\x02k\x0e\x00", `{"k":7}`},
		{`{"type":"map","values":"int"}`, "\x02\x02k\xff", "!3 field f.value"},
		{`{"type":"record","name":"S","fields":[{"name":"g","type":{"type":"array","items":["null","boolean"]}}]}`, "\x02\x02\x07", "!2 field f.g.element"},
	} {
		text := `{"type":"record","name":"T","fields":[{"name":"f","type":` + c.schema + `}]}`
		for _, want := range []func(string) bool{nil, func(string) bool { return false }} {
			d := compile(t, text, want)
			b := d.NewBatch(0)
			err := d.Append(b, []byte(c.in))
			if strings.HasPrefix(c.want, "!") {
				off, part, _ := strings.Cut(c.want[1:], " ")
				var e *corrupt.Error
				skipped := want != nil && (part == "boolean" || strings.HasSuffix(part, "32 bits") || strings.HasSuffix(part, "element") || part == "as the block says") // not looked at when skipped
				if skipped && (err == nil || b.Len == 0) {
					continue
				}
				if !errors.As(err, &e) || fmt.Sprint(e.Offset) != off || !strings.Contains(err.Error(), part) || b.Len != 0 {
					t.Errorf("%s % x: %v, want %s", c.schema, c.in, err, c.want)
				}
				continue
			}
			if err != nil || b.Len != 1 {
				t.Errorf("%s % x: %v", c.schema, c.in, err)
				continue
			}
			if want == nil {
				if got := string(b.Columns[0].AppendJSON(nil, 0)); got != c.want {
					t.Errorf("%s % x: %s, want %s", c.schema, c.in, got, c.want)
				}
			}
		}
	}
}

func TestCompileRefuses(t *testing.T) {
	typ, err := schema.Parse(`"long"`)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := avro.Compile(typ, nil); err == nil {
		t.Error("a long was compiled as a record")
	}
	if _, err := avro.Compile(nil, nil); err == nil {
		t.Error("nothing was compiled")
	}
	loop := &schema.Type{Kind: schema.Record, Name: "R"}
	loop.Fields = []schema.Field{{Name: "r", Type: loop}}
	if _, err := avro.Compile(loop, nil); err == nil {
		t.Error("a type that contains itself was compiled")
	}
}

// TestAllocations: a flat record costs no allocation once the batch has its size.
func TestAllocations(t *testing.T) {
	text, recs := flat(1000)
	d := compile(t, text, nil)
	b := d.NewBatch(len(recs))
	fill := func() {
		d.Reset(b)
		for _, r := range recs {
			if err := d.Append(b, r); err != nil {
				t.Fatal(err)
			}
		}
	}
	fill()
	if n := testing.AllocsPerRun(5, fill); n != 0 {
		t.Errorf("%v allocations for %d records", n, len(recs))
	}
}

// flat makes n records like those of a data block: meta fields and ten of the table's own.
func flat(n int) (string, [][]byte) {
	var fields []string
	for _, f := range schema.MetaFields() {
		fields = append(fields, fmt.Sprintf(`{"name":%q,"type":["null","string"],"default":null}`, f))
	}
	for i, typ := range []string{"string", "long", "string", "string", "double", "int", "string", "boolean", "long", "float"} {
		fields = append(fields, fmt.Sprintf(`{"name":"f%d","type":["null",%q],"default":null}`, i, typ))
	}
	recs := make([][]byte, n)
	for i := range recs {
		recs[i] = logfiletest.Record(nil, "20251220210123755", fmt.Sprintf("20251220210123755_0_%d", i), fmt.Sprintf("key-%08d", i), "city=chennai", "6e1d5cc4-0ac2-4d8b-8a6d-3f1f9c0f8f3c-0",
			fmt.Sprintf("trip-%d", i), int64(1700000000000+i), "rider-ABC", nil, float64(i)*1.25, i%7, "sao_paulo", i%2 == 0, int64(i), float32(i)/3)
	}
	return `{"type":"record","name":"T","fields":[` + strings.Join(fields, ",") + `]}`, recs
}

func BenchmarkDecodeColumnar(b *testing.B) {
	text, recs := flat(10_000)
	for _, c := range []struct {
		name string
		want func(string) bool
	}{{"all", nil}, {"two", func(f string) bool { return f == "_hoodie_record_key" || f == "f1" }}} {
		b.Run(c.name, func(b *testing.B) {
			d := compile(b, text, c.want)
			batch := d.NewBatch(len(recs))
			size := 0
			for _, r := range recs {
				size += len(r)
			}
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				d.Reset(batch)
				for _, r := range recs {
					if err := d.Append(batch, r); err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(recs)), "ns/record")
		})
	}
}

func BenchmarkDecodeGoavro(b *testing.B) {
	text, recs := flat(10_000)
	codec, err := goavro.NewCodec(text)
	if err != nil {
		b.Fatal(err)
	}
	size := 0
	for _, r := range recs {
		size += len(r)
	}
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		for _, r := range recs {
			if _, _, err := codec.NativeFromBinary(r); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(recs)), "ns/record")
}

func FuzzAppend(f *testing.F) {
	codec, err := goavro.NewCodec(everything)
	if err != nil {
		f.Fatal(err)
	}
	d := compile(f, everything, nil)
	rnd := rand.New(rand.NewPCG(9, 10))
	for range 20 {
		rec, err := codec.BinaryFromNative(nil, random(rnd, d.Type()))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(rec)
	}
	f.Add(binary.AppendUvarint(nil, math.MaxUint64))
	skip := compile(f, everything, func(string) bool { return false })
	f.Fuzz(func(t *testing.T, p []byte) {
		b := d.NewBatch(0)
		err := d.Append(b, p)
		for _, v := range b.Columns {
			lined(t, v, b.Len)
		}
		if err != nil {
			if !corrupt.Is(err) || b.Len != 0 {
				t.Fatal(err, b.Len)
			}
			return
		}
		if err := skip.Append(skip.NewBatch(0), p); err != nil {
			t.Fatalf("decodes, but can't be skipped: %v", err)
		}
		// What decodes must decode to the oracle's values, where the oracle takes it.
		native, rest, err := codec.NativeFromBinary(p)
		if err != nil || len(rest) > 0 {
			return
		}
		for k, v := range b.Columns {
			if v.Type.Kind == schema.Map {
				continue // a repeated key is one entry for the oracle
			}
			if s := same(v, 0, native.(map[string]any)[d.Type().Fields[k].Name]); s != "" && !strings.Contains(s, "want") {
				t.Fatalf("field %s: %s", d.Type().Fields[k].Name, s)
			}
		}
	})
}
