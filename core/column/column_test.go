package column

import (
	"encoding/json"
	"math"
	"math/big"
	"testing"

	"hudiscope/core/schema"
)

func typ(k schema.Kind, l schema.Logical) *schema.Type { return &schema.Type{Kind: k, Logical: l} }

func ints(t *schema.Type, xs ...int64) *Vector {
	v := New(t, len(xs))
	for _, x := range xs {
		v.AppendInt(x)
	}
	return v
}

func texts(t *schema.Type, xs ...string) *Vector {
	v := New(t, len(xs))
	for _, x := range xs {
		v.AppendString(x)
	}
	return v
}

func floats(t *schema.Type, xs ...float64) *Vector {
	v := New(t, len(xs))
	for _, x := range xs {
		v.AppendFloat(x)
	}
	return v
}

func TestAppendJSON(t *testing.T) {
	dec := func(scale int, b ...byte) *Vector {
		v := New(&schema.Type{Kind: schema.Bytes, Logical: schema.Decimal, Scale: scale}, 1)
		v.AppendBytes(b)
		return v
	}
	for _, c := range []struct {
		v    *Vector
		want string
	}{
		{ints(typ(schema.Long, 0), math.MinInt64), "-9223372036854775808"},
		{ints(typ(schema.Int, schema.Date), -25567), `"1900-01-01"`},
		{ints(typ(schema.Int, schema.Date), 0), `"1970-01-01"`},
		{ints(typ(schema.Int, schema.Date), -719163), `"0000-12-31"`},
		{ints(typ(schema.Int, schema.Date), 2932896), `"9999-12-31"`},
		{ints(typ(schema.Int, schema.Date), 11016), `"2000-02-29"`},
		{ints(typ(schema.Long, schema.TimestampMicros), -2208988799999999), `"1900-01-01T00:00:00.000001Z"`},
		{ints(typ(schema.Long, schema.TimestampMillis), 1700000000123), `"2023-11-14T22:13:20.123000Z"`},
		{ints(typ(schema.Long, schema.LocalTimestampMicros), 0), `"1970-01-01T00:00:00.000000"`},
		{floats(typ(schema.Double, 0), math.NaN()), `"NaN"`},
		{floats(typ(schema.Double, 0), math.Inf(-1)), `"-Infinity"`},
		{floats(typ(schema.Double, 0), 3), "3.0"},
		{floats(typ(schema.Double, 0), 1e300), "1e+300"},
		{floats(typ(schema.Float, 0), float64(float32(0.1))), "0.10000000149011612"},
		{texts(typ(schema.String, 0), "a\"\\\n\x01é\xff"), `"a\"\\\n\u0001é` + "\ufffd" + `"`},
		{texts(typ(schema.Bytes, 0), "\x00\x01"), `"AAE="`},
		{dec(2, 0xff), `"-0.01"`},
		{dec(2, 0x30, 0x39), `"123.45"`},
		{dec(0, 0x7f), `"127"`},
		{dec(3), `"0.000"`},
	} {
		got := string(c.v.AppendJSON(nil, 0))
		if got != c.want {
			t.Errorf("want %s, got %s", c.want, got)
		}
		if !json.Valid([]byte(got)) {
			t.Errorf("%s is no JSON", got)
		}
	}
}

func TestNullsLineUp(t *testing.T) {
	rec := &schema.Type{Kind: schema.Record, Fields: []schema.Field{
		{Name: "a", Type: &schema.Type{Kind: schema.Array, Nullable: true, Elem: typ(schema.Int, 0)}},
		{Name: "m", Type: &schema.Type{Kind: schema.Map, Nullable: true, Elem: typ(schema.String, 0)}},
	}}
	v := New(rec, 0)
	v.AppendNull()
	v.Children[0].Children[0].AppendInt(7)
	v.Children[0].CloseSlot()
	v.Children[1].AppendNull()
	v.CloseSlot()
	v.AppendNull()
	for i, want := range []string{"null", `{"a":[7],"m":null}`, "null"} {
		if got := string(v.AppendJSON(nil, i)); got != want {
			t.Errorf("slot %d: want %s, got %s", i, want, got)
		}
	}
	cp := New(rec, 0)
	for i := range v.Len {
		cp.AppendFrom(v, i)
	}
	for i := range v.Len {
		if a, b := string(v.AppendJSON(nil, i)), string(cp.AppendJSON(nil, i)); a != b {
			t.Errorf("copy of slot %d: want %s, got %s", i, a, b)
		}
	}
}

// TestConvert walks the rewrite rules of spec record-merging.md section 10.3.
func TestConvert(t *testing.T) {
	decimal := func(kind schema.Kind, size, precision, scale int) *schema.Type {
		return &schema.Type{Kind: kind, Size: size, Logical: schema.Decimal, LogicalName: "decimal", Precision: precision, Scale: scale}
	}
	dec := func(tt *schema.Type, unscaled int64) *Vector {
		b, ok := twos(big.NewInt(unscaled), tt)
		if !ok {
			t.Fatal("does not fit")
		}
		v := New(tt, 1)
		v.AppendBytes(b)
		return v
	}
	for _, c := range []struct {
		name string
		from *Vector
		to   *schema.Type
		want string // "" = refused
	}{
		{"int to long", ints(typ(schema.Int, 0), -5), typ(schema.Long, 0), "-5"},
		{"long to int", ints(typ(schema.Long, 0), 5), typ(schema.Int, 0), ""},
		{"long to double", ints(typ(schema.Long, 0), 5), typ(schema.Double, 0), "5.0"},
		{"float to double by text", floats(typ(schema.Float, 0), float64(float32(3.1))), typ(schema.Double, 0), "3.1"},
		{"double to float", floats(typ(schema.Double, 0), 3.1), typ(schema.Float, 0), ""},
		{"float to string", floats(typ(schema.Float, 0), float64(float32(1e10))), typ(schema.String, 0), `"1.0E10"`},
		{"double to string", floats(typ(schema.Double, 0), 0.5), typ(schema.String, 0), `"0.5"`},
		{"date to string", ints(typ(schema.Int, schema.Date), 0), typ(schema.String, 0), `"1970-01-01"`},
		{"string to bytes", texts(typ(schema.String, 0), "ab"), typ(schema.Bytes, 0), `"YWI="`},
		{"bytes to string", texts(typ(schema.Bytes, 0), "ab"), typ(schema.String, 0), `"ab"`},
		{"string to long", texts(typ(schema.String, 0), "12"), typ(schema.Long, 0), ""},
		{"string to boolean", texts(typ(schema.String, 0), "true"), typ(schema.Boolean, 0), ""},
		{"millis to micros", ints(typ(schema.Long, schema.TimestampMillis), 12), typ(schema.Long, schema.TimestampMicros), `"1970-01-01T00:00:00.012000Z"`},
		{"micros to millis", ints(typ(schema.Long, schema.TimestampMicros), -1), typ(schema.Long, schema.TimestampMillis), `"1969-12-31T23:59:59.999000Z"`},
		{"plain long to micros keeps the number", ints(typ(schema.Long, 0), 12), typ(schema.Long, schema.TimestampMicros), `"1970-01-01T00:00:00.000012Z"`},
		{"timestamp to local timestamp", ints(typ(schema.Long, schema.TimestampMicros), 12), typ(schema.Long, schema.LocalTimestampMicros), ""},
		{"decimal scale up", dec(decimal(schema.Bytes, 0, 10, 1), 125), decimal(schema.Fixed, 8, 18, 3), `"12.500"`},
		{"decimal scale down half up", dec(decimal(schema.Bytes, 0, 10, 2), -1235), decimal(schema.Fixed, 8, 18, 1), `"-12.4"`},
		{"double to decimal", floats(typ(schema.Double, 0), 1.25), decimal(schema.Fixed, 8, 18, 1), `"1.3"`},
		{"string to decimal", texts(typ(schema.String, 0), "-7.5"), decimal(schema.Bytes, 0, 18, 2), `"-7.50"`},
		{"string that is no decimal", texts(typ(schema.String, 0), "x"), decimal(schema.Bytes, 0, 18, 2), ""},
		{"decimal to string", dec(decimal(schema.Fixed, 8, 10, 2), 5), typ(schema.String, 0), `"0.05"`},
		{"too large a decimal", dec(decimal(schema.Bytes, 0, 20, 0), 1<<40), decimal(schema.Fixed, 4, 9, 0), ""},
	} {
		got, err := Convert(c.from, c.to)
		if c.want == "" {
			if err == nil {
				t.Errorf("%s: taken, %s", c.name, got.AppendJSON(nil, 0))
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if s := string(got.AppendJSON(nil, 0)); s != c.want {
			t.Errorf("%s: want %s, got %s", c.name, c.want, s)
		}
	}
}

func TestConvertRecord(t *testing.T) {
	opt := func(k schema.Kind) *schema.Type { return &schema.Type{Kind: k, Nullable: true, NullFirst: true} }
	from := &schema.Type{Kind: schema.Record, Fields: []schema.Field{{Name: "gone", Type: opt(schema.Int)}, {Name: "b", Type: opt(schema.Int)}}}
	b := &Batch{Type: from, Len: 2, Columns: []*Vector{ints(opt(schema.Int), 1, 2), ints(opt(schema.Int), 3, 4)}}
	to := &schema.Type{Kind: schema.Record, Fields: []schema.Field{
		{Name: "b", Type: opt(schema.Long)}, {Name: "added", Type: opt(schema.String)},
		{Name: "filled", Type: typ(schema.Long, 0), HasDefault: true, Default: "9"},
	}}
	out, err := ConvertBatch(b, to, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, _ := json.Marshal(out.RowJSON(1))
	if string(got) != "[4,null,9]" {
		t.Errorf("got %s", got)
	}
	to.Fields = append(to.Fields, schema.Field{Name: "must", Type: typ(schema.Int, 0)})
	if _, err := ConvertBatch(b, to, nil); err == nil {
		t.Error("a missing required field without default was taken")
	}
}

func TestJavaFloat(t *testing.T) {
	for _, c := range []struct {
		x    float64
		bits int
		want string
	}{{1, 64, "1.0"}, {1e7, 64, "1.0E7"}, {123456.7, 64, "123456.7"}, {0.001, 64, "0.001"}, {0.0001, 64, "1.0E-4"}, {math.Copysign(0, -1), 64, "-0.0"}, {1.5e-7, 64, "1.5E-7"}, {math.Inf(1), 64, "Infinity"}} {
		if got := JavaFloat(c.x, c.bits); got != c.want {
			t.Errorf("%v: want %s, got %s", c.x, c.want, got)
		}
	}
}
