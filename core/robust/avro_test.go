package robust_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"hudiscope/core/logfile"
	"hudiscope/core/logfile/logfiletest"
	"hudiscope/core/tabletest"
)

// The Avro schemas that releases write the metadata of instants with, by record name, out of the
// tables of testdata.
var metadataSchemas = sync.OnceValue(func() map[string]string {
	out := map[string]string{}
	for _, name := range []string{"archived_mor_h120", "replace_clustering_mor_h120", "pending_clustering_h0150", "mor_rollback_h120", "archived_mor_h0150"} {
		f, err := tabletest.OpenZip(tabletest.Dir()+"/tables/"+name+".zip", name)
		if err != nil {
			panic(err)
		}
		for _, p := range f.Paths() {
			if !strings.HasPrefix(p, ".hoodie/") {
				continue
			}
			text := containerSchema(f.Bytes(p))
			if strings.HasPrefix(p, ".hoodie/archived/.commits_.archive.") {
				for b, err := range logfiletest.Open(f.Bytes(p), p).Blocks(context.Background()) {
					if err == nil && b.Type == logfile.AvroDataBlock {
						text = b.SchemaText()
					}
				}
			}
			var s struct{ Name string }
			if json.Unmarshal([]byte(text), &s) == nil && s.Name != "" {
				out[s.Name] = text
			}
		}
	}
	return out
})

// containerSchema is the schema in the header of an Avro container, "" for other files.
func containerSchema(b []byte) string {
	if !bytes.HasPrefix(b, []byte("Obj\x01")) {
		return ""
	}
	i := bytes.Index(b, []byte("avro.schema"))
	if i < 0 {
		return ""
	}
	n, k := binary.Varint(b[i+len("avro.schema"):])
	at := i + len("avro.schema") + k
	if k <= 0 || n < 0 || at+int(n) > len(b) {
		return ""
	}
	return string(b[at : at+int(n)])
}

// container is an Avro container with one record of a schema of metadataSchemas.
func container(t testing.TB, name string, content any) []byte {
	t.Helper()
	text := metadataSchemas()[name]
	if text == "" {
		t.Fatalf("no schema %s in %q", name, slices.Sorted(maps.Keys(metadataSchemas())))
	}
	body := encodeAvro(t, text, content)
	out := logfiletest.Long([]byte("Obj\x01"), 2)
	out = avroText(avroText(out, "avro.schema"), text)
	out = avroText(avroText(out, "avro.codec"), "null")
	sync := []byte("0123456789abcdef")
	out = append(append(out, 0), sync...)
	out = logfiletest.Long(logfiletest.Long(out, 1), int64(len(body)))
	return append(append(out, body...), sync...)
}

// encodeAvro encodes a value, as encoding/json sees it, by a schema: fields that it lacks are null, or the
// zero of their type, and of a union the first branch that is not null counts.
func encodeAvro(t testing.TB, text string, content any) []byte {
	t.Helper()
	raw, err := json.Marshal(content)
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v, s any
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		t.Fatal(err)
	}
	return (&avroEncoder{t: t, named: map[string]any{}}).append(nil, s, v)
}

type avroEncoder struct {
	t     testing.TB
	named map[string]any
}

func (e *avroEncoder) append(dst []byte, s, v any) []byte {
	switch s := s.(type) {
	case []any:
		null, at := slices.Index(s, any("null")), 0
		if v == nil && null >= 0 {
			return logfiletest.Long(dst, int64(null))
		}
		if null == 0 && len(s) > 1 {
			at = 1
		}
		return e.append(logfiletest.Long(dst, int64(at)), s[at], v)
	case string:
		if named, ok := e.named[s]; ok {
			return e.append(dst, named, v)
		}
		if i := strings.LastIndexByte(s, '.'); i >= 0 {
			return e.append(dst, s[i+1:], v)
		}
		return e.primitive(dst, s, v)
	case map[string]any:
		switch typ, _ := s["type"].(string); typ {
		case "record":
			e.named[s["name"].(string)] = s
			m, _ := v.(map[string]any)
			known := map[string]bool{}
			for _, f := range s["fields"].([]any) {
				f := f.(map[string]any)
				known[f["name"].(string)] = true
				dst = e.append(dst, f["type"], m[f["name"].(string)])
			}
			for k := range m {
				if !known[k] {
					e.t.Fatalf("the schema %s has no field %s", s["name"], k)
				}
			}
			return dst
		case "array":
			list, _ := v.([]any)
			if len(list) > 0 {
				dst = logfiletest.Long(dst, int64(len(list)))
			}
			for _, x := range list {
				dst = e.append(dst, s["items"], x)
			}
			return append(dst, 0)
		case "map":
			m, _ := v.(map[string]any)
			if len(m) > 0 {
				dst = logfiletest.Long(dst, int64(len(m)))
			}
			for _, k := range slices.Sorted(maps.Keys(m)) {
				dst = e.append(avroText(dst, k), s["values"], m[k])
			}
			return append(dst, 0)
		default:
			return e.append(dst, s["type"], v)
		}
	}
	e.t.Fatalf("a schema %v", s)
	return nil
}

func (e *avroEncoder) primitive(dst []byte, typ string, v any) []byte {
	n, _ := v.(json.Number)
	switch typ {
	case "null":
		return dst
	case "boolean":
		if v == true {
			return append(dst, 1)
		}
		return append(dst, 0)
	case "int", "long":
		x, _ := n.Int64()
		return logfiletest.Long(dst, x)
	case "float":
		x, _ := n.Float64()
		return binary.LittleEndian.AppendUint32(dst, math.Float32bits(float32(x)))
	case "double":
		x, _ := n.Float64()
		return binary.LittleEndian.AppendUint64(dst, math.Float64bits(x))
	case "string", "bytes":
		x, _ := v.(string)
		return avroText(dst, x)
	}
	e.t.Fatalf("a type %s", typ)
	return nil
}
