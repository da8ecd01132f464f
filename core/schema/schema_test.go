package schema

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"hudiscope/core/corrupt"
)

// goldSchemas returns the schemas that Hudi answered for the tables in testdata.
func goldSchemas(t testing.TB) map[string]string {
	files, err := filepath.Glob(filepath.Join("..", "..", "testdata", "gold", "*", "schema.avsc"))
	if err != nil || len(files) < 10 {
		t.Fatalf("found %d schemas in testdata/gold (%v)", len(files), err)
	}
	out := map[string]string{}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		out[filepath.Base(filepath.Dir(f))] = string(b)
	}
	return out
}

// plain drops what a schema text may hold without meaning: empty docs and attributes Parse drops.
func plain(v any) any {
	switch x := v.(type) {
	case []any:
		for i := range x {
			x[i] = plain(x[i])
		}
	case map[string]any:
		if x["doc"] == "" {
			delete(x, "doc")
		}
		delete(x, "avro.java.string")
		for k := range x {
			if k != "default" {
				x[k] = plain(x[k])
			}
		}
		if len(x) == 1 {
			if s, ok := x["type"].(string); ok {
				return s
			}
		}
	}
	return v
}

func decode(t testing.TB, s string) any {
	var v any
	if err := json.Unmarshal([]byte(s), &v); err != nil {
		t.Fatalf("%v in %s", err, s)
	}
	return plain(v)
}

func TestRoundTripGold(t *testing.T) {
	n := 0
	for name, text := range goldSchemas(t) {
		if strings.TrimSpace(text) == "" || strings.TrimSpace(text)[0] != '{' {
			t.Logf("%s: no schema: %.60s", name, text)
			continue
		}
		typ, err := Parse(text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		out := typ.JSON()
		if !reflect.DeepEqual(decode(t, text), decode(t, out)) {
			t.Errorf("%s: schema changed\n in: %s\nout: %s", name, text, out)
		}
		again, err := Parse(out)
		if err != nil || again.JSON() != out {
			t.Errorf("%s: written form does not parse to itself: %v", name, err)
		}
		n++
	}
	if n < 10 {
		t.Fatalf("only %d schemas compared", n)
	}
}

func TestParse(t *testing.T) {
	for _, c := range []struct{ in, display, json string }{
		{`"long"`, "long", ""},
		{`{"type":"long"}`, "long", `"long"`},
		{`["null","string"]`, "string", ""},
		{`["string","null"]`, "string", ""},
		{`["null","string","int"]`, "union<null,string,int>", ""},
		{`["string"]`, "union<string>", ""},
		{`["null"]`, "union<null>", ""},
		{`{"type":["null","int"]}`, "int", `["null","int"]`},
		{`{"type":"string","avro.java.string":"String"}`, "string", `"string"`},
		{`{"type":"int","logicalType":"date"}`, "date", ""},
		{`{"type":"string","logicalType":"date"}`, "string(date)", ""},
		{`{"type":"long","logicalType":"timestamp-micros"}`, "timestamp(micros)", ""},
		{`{"type":"long","logicalType":"local-timestamp-millis"}`, "local-timestamp(millis)", ""},
		{`{"type":"long","logicalType":"geo-cell"}`, "long(geo-cell)", ""},
		{`{"type":"bytes","logicalType":"decimal","precision":10,"scale":2}`, "decimal(10,2)", ""},
		{`{"type":"bytes","logicalType":"decimal","precision":10}`, "decimal(10,0)", `{"type":"bytes","logicalType":"decimal","precision":10,"scale":0}`},
		{`{"type":"bytes","logicalType":"decimal","precision":2,"scale":3}`, "bytes(decimal)", `{"type":"bytes","logicalType":"decimal"}`},
		{`{"type":"fixed","name":"f","size":5,"logicalType":"decimal","precision":10,"scale":2}`, "decimal(10,2)", ""},
		{`{"type":"fixed","name":"f","size":2,"logicalType":"decimal","precision":10,"scale":2}`, "fixed(2)(decimal)", `{"type":"fixed","name":"f","size":2,"logicalType":"decimal"}`},
		{`{"type":"array","items":["null","string"]}`, "array<string>", ""},
		{`{"type":"map","values":{"type":"array","items":"int"}}`, "map<string,array<int>>", ""},
		{`{"type":"enum","name":"n.E","symbols":["A","B"]}`, "enum<A,B>", `{"type":"enum","name":"E","namespace":"n","symbols":["A","B"]}`},
		{`{"type":"record","name":"R","fields":[{"name":"a","type":"int","default":-1},{"name":"b","type":["null","string"],"default":null,"doc":"d"}]}`, "struct<a:int,b:string>", ""},
		// A namespace is inherited, a reference may be short or full, a used name may be nullable elsewhere.
		{`{"type":"record","name":"R","namespace":"n","fields":[{"name":"a","type":{"type":"fixed","name":"F","size":3}},{"name":"b","type":["null","F"]},{"name":"c","type":"n.F"}]}`,
			"struct<a:fixed(3),b:fixed(3),c:fixed(3)>",
			`{"type":"record","name":"R","namespace":"n","fields":[{"name":"a","type":{"type":"fixed","name":"F","size":3}},{"name":"b","type":["null","F"]},{"name":"c","type":"F"}]}`},
		{`{"type":"record","name":"R","namespace":"n","fields":[{"name":"a","type":{"type":"record","name":"S","namespace":"m","fields":[{"name":"x","type":{"type":"enum","name":"E","symbols":[]}}]}},{"name":"b","type":"m.E"}]}`,
			"struct<a:struct<x:enum<>>,b:enum<>>", ""},
		{`{"type":"record","name":"R","fields":[{"name":"d","type":"string","default":"<&>é"},{"name":"e","type":{"type":"map","values":"int"},"default":{ "k" : 1 }}]}`, "struct<d:string,e:map<string,int>>", ""},
	} {
		typ, err := Parse(c.in)
		if err != nil {
			t.Errorf("%s: %v", c.in, err)
			continue
		}
		if got := typ.Display(); got != c.display {
			t.Errorf("%s: display %q, want %q", c.in, got, c.display)
		}
		want := c.json
		if want == "" {
			want = c.in
		}
		if !reflect.DeepEqual(decode(t, typ.JSON()), decode(t, want)) {
			t.Errorf("%s: written as %s", c.in, typ.JSON())
		}
	}
}

func TestParseNullable(t *testing.T) {
	typ, err := Parse([]byte(`{"type":"record","name":"R","fields":[{"name":"a","type":["null","int"]},{"name":"b","type":["int","null"]},{"name":"c","type":"int"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range [][2]bool{{true, true}, {true, false}, {false, false}} {
		if f := typ.Fields[i].Type; f.Kind != Int || f.Nullable != want[0] || f.NullFirst != want[1] {
			t.Errorf("field %s: %+v", typ.Fields[i].Name, f)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	deep := strings.Repeat(`{"type":"array","items":`, 100) + `"int"` + strings.Repeat("}", 100)
	// 2^20 leaves from a short text of nested named types.
	bomb := `{"type":"record","name":"R0","fields":[{"name":"v","type":"int"}]}`
	for i := 1; i <= 20; i++ {
		n := string(rune('a' + i))
		bomb = `{"type":"record","name":"R` + n + `","fields":[{"name":"x","type":` + bomb + `},{"name":"y","type":"R` + map[bool]string{true: "0", false: string(rune('a' + i - 1))}[i == 1] + `"}]}`
	}
	for _, c := range []struct{ in, want string }{
		{``, "unexpected EOF"},
		{`{"type":`, "unexpected EOF"},
		{`"long" 1`, "after the end"},
		{`"strng"`, `type "strng" is not defined`},
		{`1`, "a type must be"},
		{`{}`, `without "type"`},
		{`["null",["null","int"]]`, "directly"},
		{`["int","int"]`, "twice"},
		{`{"type":"record","name":"R","fields":[{"name":"a","type":"R"}]}`, "type R contains itself"},
		{`{"type":"record","name":"R","fields":[{"name":"a","type":["null",{"type":"array","items":"R"}]}]}`, "schema field a.element: type R contains itself"},
		{`{"type":"record","name":"R","fields":[{"name":"a","type":"int"},{"name":"a","type":"int"}]}`, "two fields"},
		{`{"type":"record","name":"R"}`, `"fields"`},
		{`{"type":"record","fields":[]}`, "without a name"},
		{`{"type":"fixed","name":"F","size":-1}`, `"size"`},
		{`{"type":"fixed","name":"F","size":1e3}`, `"size"`},
		{`{"type":"record","name":"R","fields":[{"name":"a","type":{"type":"fixed","name":"F","size":1}},{"name":"b","type":{"type":"fixed","name":"F","size":2}}]}`, "defined twice"},
		{deep, "nested more than"},
		{bomb, "unfolds to more than"},
		{strings.Repeat("[", 100000), "nested more than"},
	} {
		typ, err := Parse(c.in)
		var e *corrupt.Error
		if err == nil || !errors.As(err, &e) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.80s: got %v, %v; want an error with %q", c.in, typ, err, c.want)
		} else if e.Offset < 0 || e.Offset > int64(len(c.in)) {
			t.Errorf("%.80s: offset %d", c.in, e.Offset)
		}
	}
}

func TestMetaFieldsAndProjection(t *testing.T) {
	typ, err := Parse(`{"type":"record","name":"R","fields":[{"name":"a","type":"int"},{"name":"_hoodie_record_key","type":"string"},{"name":"b","type":"int"}]}`)
	if err != nil {
		t.Fatal(err)
	}
	if got := typ.WithMetaFields(true).Display(); got != "struct<_hoodie_commit_time:string,_hoodie_commit_seqno:string,_hoodie_record_key:string,_hoodie_partition_path:string,_hoodie_file_name:string,_hoodie_operation:string,a:int,b:int>" {
		t.Error(got)
	}
	if got := typ.Project(func(f string) bool { return !IsMetaField(f) }).Display(); got != "struct<a:int,b:int>" {
		t.Error(got)
	}
	sel, err := typ.Select("b", "a")
	if err != nil || sel.Display() != "struct<b:int,a:int>" {
		t.Error(sel, err)
	}
	if _, err := typ.Select("c"); err == nil {
		t.Error("unknown field selected")
	}
	if len(typ.Fields) != 3 {
		t.Error("the type was changed")
	}
}

func TestParseCache(t *testing.T) {
	a, _ := Parse(`{"type":"map","values":"long"}`)
	b, _ := Parse([]byte(`{"type":"map","values":"long"}`))
	if a != b {
		t.Error("equal texts gave two types")
	}
	for i := range 3 * cacheMax {
		if _, err := Parse(`{"type":"fixed","name":"f` + strings.Repeat("x", i) + `","size":1}`); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(cache.types); n > cacheMax {
		t.Errorf("the cache holds %d types", n)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range goldSchemas(f) {
		f.Add(s)
	}
	f.Add(`{"type":"record","name":"n.R","fields":[{"name":"a","type":["null",{"type":"enum","name":"E","symbols":["A"]}],"default":null},{"name":"b","type":"E"}]}`)
	f.Add(`["int",{"type":"fixed","name":"F","namespace":"","size":4,"logicalType":"decimal","precision":3}]`)
	f.Fuzz(func(t *testing.T, s string) {
		typ, err := parse([]byte(s))
		if err != nil {
			if !corrupt.Is(err) {
				t.Fatalf("%v is not a corrupt.Error", err)
			}
			return
		}
		typ.Display()
		out := typ.JSON()
		again, err := parse([]byte(out))
		if err != nil {
			t.Fatalf("%s was written as %s: %v", s, out, err)
		}
		if out2 := again.JSON(); out2 != out {
			t.Fatalf("written as %s, then as %s", out, out2)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	text := []byte(goldSchemas(b)["all_types_mor_h120"])
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := parse(text); err != nil {
			b.Fatal(err)
		}
	}
}
