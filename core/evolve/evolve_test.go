package evolve

import (
	"strings"
	"testing"

	"hudiscope/core/column"
	"hudiscope/core/schema"
)

func parse(t *testing.T, fields string) *Schema {
	t.Helper()
	s, err := Parse([]byte(`{"max_column_id":9,"version_id":20260101000000000,"type":"record","fields":[` + fields + `]}`))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const (
	id   = `{"id":0,"name":"id","optional":true,"type":"int"}`
	col2 = `{"id":1,"name":"col2","optional":true,"type":"string"}`
	col3 = `{"id":2,"name":"col3","optional":true,"type":"string"}`
)

// batch has one row of texts by the type of a schema.
func batch(t *schema.Type) *column.Batch {
	b := &column.Batch{Type: t, Len: 1}
	for _, f := range t.Fields {
		v := column.New(f.Type, 1)
		fill(v, f.Name)
		b.Columns = append(b.Columns, v)
	}
	return b
}

func fill(v *column.Vector, name string) {
	switch v.Type.Kind {
	case schema.String:
		v.AppendString("of " + name)
	case schema.Record:
		for i, f := range v.Type.Fields {
			fill(v.Children[i], f.Name)
		}
		v.CloseSlot()
	case schema.Array:
		fill(v.Children[0], "element")
		v.CloseSlot()
	case schema.Map:
		v.Children[0].AppendString("k")
		fill(v.Children[1], "value")
		v.CloseSlot()
	default:
		v.AppendInt(7)
	}
}

func show(t *testing.T, b *column.Batch, to *schema.Type) string {
	t.Helper()
	out, err := column.ConvertBatch(b, to, nil)
	if err != nil {
		t.Fatal(err)
	}
	var cells []string
	for i, v := range out.Columns {
		cells = append(cells, out.Type.Fields[i].Name+"="+string(v.AppendJSON(nil, 0)))
	}
	return strings.Join(cells, " ")
}

// TestDroppedAndRenamed: col3 is dropped and col2 renamed to col3; old files still hold an old col3.
func TestDroppedAndRenamed(t *testing.T) {
	file := parse(t, id+","+col2+","+col3)
	query := parse(t, id+`,{"id":1,"name":"col3","optional":true,"type":"string"}`)
	m := Map(file, query)
	if m == nil {
		t.Fatal("no mapping")
	}
	if got := show(t, m.Batch(batch(file.Type())), query.Type()); got != `id=7 col3="of col2"` {
		t.Error(got)
	}
	want := m.Want(func(f string) bool { return f == "col3" })
	if !want("col2") || want("col3") || want("id") {
		t.Error("the wrong columns of the file are read")
	}
}

// TestAddedAgain: a column that is dropped and added again under its name has no old values.
func TestAddedAgain(t *testing.T) {
	file := parse(t, id+","+col2)
	query := parse(t, id+`,{"id":5,"name":"col2","optional":true,"type":"string"}`)
	if got := show(t, Map(file, query).Batch(batch(file.Type())), query.Type()); got != `id=7 col2=null` {
		t.Error(got)
	}
}

// TestNested renames, drops and swaps fields below records, lists and maps.
func TestNested(t *testing.T) {
	rec := func(a, b string, ida, idb int) string {
		return strings.NewReplacer("$A", a, "$B", b, "$X", string(rune('0'+ida)), "$Y", string(rune('0'+idb))).Replace(
			`{"type":"record","fields":[{"id":$X,"name":"$A","optional":true,"type":"string"},{"id":$Y,"name":"$B","optional":true,"type":"string"}]}`)
	}
	field := func(typ string) string {
		return `{"id":0,"name":"r","optional":true,"type":` + typ + `},{"id":1,"name":"l","optional":true,"type":{"type":"array","element_id":2,"element_optional":true,"element":` + typ + `}},{"id":3,"name":"m","optional":true,"type":{"type":"map","key_id":4,"key":"string","value_id":6,"value_optional":true,"value":` + typ + `}}`
	}
	file := parse(t, field(rec("a", "b", 7, 8)))
	query := parse(t, field(rec("b", "c", 7, 9))) // a is b now, b was dropped, c is new
	got := show(t, Map(file, query).Batch(batch(file.Type())), query.Type())
	if want := `r={"b":"of a","c":null} l=[{"b":"of a","c":null}] m={"k":{"b":"of a","c":null}}`; got != want {
		t.Error(got)
	}
	if Map(file, parse(t, field(rec("a", "b", 7, 8)))) != nil {
		t.Error("the same names need no mapping")
	}
}

// TestUnnumbered: columns that the schemas do not number keep their names.
func TestUnnumbered(t *testing.T) {
	file, query := parse(t, id+","+col2), parse(t, `{"id":0,"name":"key","optional":true,"type":"int"},`+col2)
	typ := *file.Type()
	typ.Fields = append([]schema.Field{{Name: schema.OperationField, Type: &schema.Type{Kind: schema.String}}}, typ.Fields...)
	out := Map(file, query).Batch(batch(&typ))
	if out.Column(schema.OperationField) == nil || out.Column("key") == nil || out.Column("id") != nil {
		t.Errorf("%+v", out.Type.Fields)
	}
}

func TestTypes(t *testing.T) {
	for name, want := range map[string]string{
		"boolean": "boolean", "int": "int", "long": "long", "float": "float", "double": "double", "string": "string", "binary": "bytes", "uuid": "uuid",
		"date": "date", "time": "time(micros)", "time-millis": "time(millis)", "timestamp": "timestamp(micros)", "timestamp-millis": "timestamp(millis)",
		"local-timestamp-micros": "local-timestamp(micros)", "local_timestamp_millis": "local-timestamp(millis)",
		"fixed[12]": "fixed(12)", "decimal(10, 2)": "decimal(10,2)", "decimal_bytes(38, 18)": "decimal(38,18)", "decimal_fixed(5,0)[3]": "decimal(5,0)",
	} {
		typ, err := primitive(name)
		if err != nil || typ.Display() != want {
			t.Errorf("%s: %v, %v", name, typ, err)
		}
	}
	if typ, _ := primitive("decimal(10, 2)"); typ.Size != 5 {
		t.Errorf("decimal(10,2) takes %d bytes", typ.Size)
	}
	for _, bad := range []string{"", "int[3]x", "vector[3, FLOAT, LIST]", "decimal", "decimal(1,2)", "decimal(x,1)", "fixed[0]", "fixed[-1]"} {
		if _, err := primitive(bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

func TestHistory(t *testing.T) {
	h, err := ParseHistory([]byte(`{"schemas":[{"max_column_id":1,"version_id":30,"type":"record","fields":[]},{"max_column_id":1,"version_id":10,"type":"record","fields":[]},{"version_id":0,"type":"record","fields":[]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	for instant, want := range map[string]int64{"5": 0, "10": 10, "29": 10, "30": 30, "99": 30} {
		if s := h.At(instant); s == nil || s.Version != want {
			t.Errorf("at %s: %+v", instant, s)
		}
	}
	for name, want := range map[string]string{"20261129.schemacommit": "20261129", "1_2.schemacommit": "1", "1.schemacommit.inflight": "", "x.commit": ""} {
		if got := FileInstant(name); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
	for _, bad := range []string{"", "[]", `{"schemas":[{"type":"array"}]}`, `{"schemas":[{"type":"record","fields":[{"id":1,"name":"a","type":"int"},{"id":1,"name":"b","type":"int"}]}]}`} {
		if _, err := ParseHistory([]byte(bad)); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}
