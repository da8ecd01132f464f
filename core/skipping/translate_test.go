package skipping

import (
	"math"
	"math/big"
	"strings"
	"testing"

	"hudiscope/core/config"
	"hudiscope/core/metatable"
	"hudiscope/core/predicate"
	"hudiscope/core/release"
	"hudiscope/core/schema"
)

func nullable(k schema.Kind, l schema.Logical) *schema.Type {
	return &schema.Type{Kind: k, Logical: l, Nullable: true}
}

var testRows = &schema.Type{Kind: schema.Record, Name: "rows", Fields: []schema.Field{
	{Name: "i", Type: nullable(schema.Int, schema.None)}, {Name: "l", Type: nullable(schema.Long, schema.None)}, {Name: "s", Type: nullable(schema.String, schema.None)},
	{Name: "d", Type: nullable(schema.Double, schema.None)}, {Name: "f", Type: nullable(schema.Float, schema.None)}, {Name: "b", Type: nullable(schema.Boolean, schema.None)},
	{Name: "day", Type: nullable(schema.Int, schema.Date)}, {Name: "ts", Type: nullable(schema.Long, schema.TimestampMicros)}, {Name: "ms", Type: nullable(schema.Long, schema.TimestampMillis)},
	{Name: "dec", Type: &schema.Type{Kind: schema.Fixed, Logical: schema.Decimal, Precision: 10, Scale: 2, Size: 5, Nullable: true}}, {Name: "bin", Type: nullable(schema.Bytes, schema.None)}}}

// stat makes statistics; nil bounds are none.
func stat(w metatable.Wrapper, ordinal int, low, high any, nulls, values int64) *metatable.ColumnStats {
	bound := func(v any) metatable.Bound {
		b := metatable.Bound{Wrapper: w}
		switch v := v.(type) {
		case nil:
			return metatable.Bound{}
		case int:
			b.Int = int64(v)
		case bool:
			if v {
				b.Int = 1
			}
		case float64:
			b.Float = v
		case string:
			b.Bytes = []byte(v)
		case *big.Int:
			b.Bytes, _ = twos(v, 0)
		}
		return b
	}
	s := &metatable.ColumnStats{Min: bound(low), Max: bound(high), NullCount: &nulls, ValueCount: &values}
	if ordinal > 0 {
		s.ValueType = &metatable.ValueType{Ordinal: ordinal}
		if ordinal == 10 {
			s.ValueType.Info = "10,2"
		}
	}
	return s
}

// TestTranslation holds the table of spec queries.md section 8 against made-up statistics of one file: what may be
// in it, and what the releases take to be in it.
func TestTranslation(t *testing.T) {
	ints := func(low, high int, nulls int64) *metatable.ColumnStats {
		return stat(metatable.IntWrapper, 0, low, high, nulls, 10)
	}
	texts := func(low, high string) *metatable.ColumnStats {
		return stat(metatable.StringWrapper, 7, low, high, 0, 10)
	}
	one, negative := big.NewInt(12345), big.NewInt(-500)
	const first, released = "", "0.12.0"
	for _, c := range []struct {
		where string
		stats *metatable.ColumnStats
		may   bool
		// release decides otherwise, "" for none.
		release string
	}{
		{"i = 5", ints(1, 9, 0), true, first},
		{"i = 5", ints(6, 9, 0), false, first},
		{"5 = i", ints(1, 4, 0), false, first},
		{"i <> 5", ints(5, 5, 0), false, first},
		{"i <> 5", ints(5, 6, 0), true, first},
		{"NOT i = 5", ints(5, 5, 3), false, first},
		{"i < 5", ints(5, 9, 0), false, first},
		{"i < 5", ints(4, 9, 0), true, first},
		{"5 > i", ints(5, 9, 0), false, first},
		{"i <= 5", ints(5, 9, 0), true, first},
		{"i > 9", ints(5, 9, 0), false, first},
		{"i >= 9", ints(5, 9, 0), true, first},
		{"NOT (i >= 9)", ints(9, 12, 0), false, first},
		{"i BETWEEN 3 AND 4", ints(5, 9, 0), false, first},
		{"i IS NULL", ints(1, 2, 0), false, first},
		{"i IS NULL", ints(1, 2, 1), true, first},
		{"i IS NOT NULL", ints(1, 2, 9), true, "0.11.0"},
		{"i IS NOT NULL", stat(metatable.IntWrapper, 0, nil, nil, 10, 10), false, first},
		{"NOT (i IS NULL)", stat(metatable.IntWrapper, 0, nil, nil, 10, 10), false, first},
		{"i <=> NULL", ints(1, 2, 1), true, released},
		{"i <=> 5", ints(6, 7, 0), false, first},
		{"NOT (i <=> 5)", ints(5, 5, 1), true, first},
		{"NOT (i <=> 5)", ints(5, 5, 0), false, first},
		{"i IN (1, 2, 30)", ints(3, 9, 0), false, first},
		{"i IN (1, 5, 30)", ints(3, 9, 0), true, first},
		{"i IN (1, NULL)", ints(3, 9, 0), false, first},
		{"i NOT IN (4, 5)", ints(5, 5, 0), false, first},
		{"i NOT IN (4, 6)", ints(5, 5, 0), true, first},
		{"i NOT IN (4, NULL)", ints(5, 5, 0), false, first},
		{"i = NULL", ints(1, 9, 5), false, first},
		{"i = 5 AND i = 6", ints(5, 6, 0), true, first},
		{"i = 5 OR i = 60", ints(5, 6, 0), true, first},
		{"i = 50 OR i = 60", ints(5, 6, 0), false, first},
		{"NOT (i = 5 OR i = 60)", ints(5, 5, 0), false, first},
		{"NOT (i = 5 AND i = 60)", ints(5, 5, 0), true, first},
		{"i + 1 = 7", ints(1, 5, 0), false, first},
		{"i + 1 = 6", ints(1, 5, 0), true, first},
		{"1 + i > 6", ints(1, 5, 0), false, first},
		{"i - 2 < 0", ints(2, 5, 0), false, first},
		// Near the end of the range a sum wraps around.
		{"i + 1 < 0", ints(5, math.MaxInt32, 0), true, first},
		{"i * 2 = 100", ints(1, 5, 0), true, first},
		{"abs(i) = 100", ints(1, 5, 0), true, first},
		{"i = 2.5", ints(3, 9, 0), false, first},
		{"i < 2.5", ints(2, 9, 0), true, first},
		{"i = '7'", ints(8, 9, 0), false, first},
		// Bounds that are none: all null, no values, unknown.
		{"i = 5", stat(metatable.IntWrapper, 0, nil, nil, 10, 10), false, first},
		{"i = 5", stat(metatable.IntWrapper, 0, nil, nil, 0, 0), false, first},
		{"i = 5", stat(metatable.IntWrapper, 0, nil, nil, 3, 10), true, first},
		{"i = 5", nil, true, first},
		{"i = 5", stat(metatable.StringWrapper, 7, "6", "7", 0, 10), true, first},
		{"i = 5", stat(metatable.IntWrapper, 0, 0, 0, -1, 10), true, first},
		// A column that was widened.
		{"l = 5", ints(6, 9, 0), false, first},
		{"d = 5", ints(6, 9, 0), false, first},
		{"d = 5", stat(metatable.FloatWrapper, 5, 6.0, 9.0, 0, 10), true, first},
		{"l > 2147483648", stat(metatable.LongWrapper, 4, 1, 5, 0, 10), false, first},
		// Zeros stand for bounds where there is a NaN.
		{"d = 5", stat(metatable.DoubleWrapper, 6, 0.0, 0.0, 0, 10), true, released},
		{"d = 5", stat(metatable.DoubleWrapper, 6, -1.0, 2.0, 0, 10), true, released},
		{"d = 5", stat(metatable.DoubleWrapper, 6, 1.0, 2.0, 0, 10), false, first},
		{"d = 5", stat(metatable.DoubleWrapper, 6, 1.0, math.NaN(), 0, 10), true, first},
		{"f = 1.5", stat(metatable.FloatWrapper, 5, 2.5, 3.5, 0, 10), false, first},
		{"b", stat(metatable.BooleanWrapper, 2, false, false, 0, 10), false, first},
		{"b", stat(metatable.BooleanWrapper, 2, false, true, 0, 10), true, first},
		{"NOT b", stat(metatable.BooleanWrapper, 2, true, true, 0, 10), false, first},
		{"b = true", stat(metatable.BooleanWrapper, 0, false, false, 0, 10), false, first},
		{"s = 'm'", texts("a", "f"), false, first},
		{"s = 'm'", texts("a", "z"), true, first},
		{"s LIKE 'pa%'", texts("pa1", "pb"), true, released},
		{"s LIKE 'p%'", texts("a", "o"), false, first},
		{"s LIKE 'p%'", texts("q", "z"), false, first},
		{"s LIKE 'p_x%'", texts("q", "z"), false, first},
		{"s LIKE '%x'", texts("q", "z"), true, first},
		{"s LIKE 'p'", texts("q", "z"), false, first},
		{`s LIKE 'p\%%'`, texts("p", "p$"), false, first},
		{`s LIKE 'p\%%'`, texts("p", "p%z"), true, first},
		{`s LIKE 'p\%%'`, texts("p%a", "p%z"), true, released},
		// A chunk of texts without statistics.
		{"s = 'm'", stat(metatable.StringWrapper, 7, nil, nil, 10, 10), true, released},
		{"s = 'm'", stat(metatable.StringWrapper, 7, nil, nil, 0, 0), false, first},
		{"s NOT LIKE 'p%'", texts("pa", "pz"), false, first},
		{"s NOT LIKE 'p%'", texts("pa", "q"), true, first},
		// Java orders texts above the surrogates otherwise.
		{"s = '\uFFFD'", texts("\U0001F600", "\U0001F601"), true, first},
		{"day = '2024-01-15'", stat(metatable.DateWrapper, 0, 19738, 19740, 0, 10), false, first},
		{"day = DATE '2024-01-17'", stat(metatable.IntWrapper, 12, 19738, 19740, 0, 10), true, first},
		{"day < TIMESTAMP '2024-01-01 00:00:00'", stat(metatable.IntWrapper, 12, 19738, 19740, 0, 10), false, first},
		{"ts < '2024-01-16'", stat(metatable.LongWrapper, 16, 1705392900000000, 1705392900000001, 0, 10), false, first},
		{"ts = '2024-01-16 08:15:00'", stat(metatable.LongWrapper, 16, 1705392900000000, 1705392900000001, 0, 10), true, first},
		// The first encoding does not tell the unit.
		{"ts < '2024-01-16'", stat(metatable.LongWrapper, 0, 1705392900000000, 1705392900000001, 0, 10), true, first},
		{"ms < '2024-01-16'", stat(metatable.LongWrapper, 15, 1705392900000, 1705392900001, 0, 10), false, first},
		{"ms < '2024-01-16'", stat(metatable.LongWrapper, 16, 1705392900000, 1705392900001, 0, 10), true, first},
		{"dec = 123.45", stat(metatable.BytesWrapper, 10, negative, one, 0, 10), true, first},
		{"dec > 123.45", stat(metatable.BytesWrapper, 10, negative, one, 0, 10), false, first},
		{"dec < -5", stat(metatable.BytesWrapper, 10, negative, one, 0, 10), false, first},
		{"dec > 1.5", stat(metatable.DecimalWrapper, 0, big.NewInt(1e15), big.NewInt(15e14), 0, 10), false, first},
		{"dec > 1.5", stat(metatable.DecimalWrapper, 0, big.NewInt(1e15), big.NewInt(15e14+1), 0, 10), true, first},
		{"bin > X'FF'", stat(metatable.BytesWrapper, 8, "a", "b", 0, 10), true, first},
		{"i > 9 AND false", ints(10, 11, 0), false, first},
		{"i > 9 OR true", ints(1, 2, 0), true, first},
		{"i = l", ints(1, 2, 0), true, first},
	} {
		where, err := predicate.New(c.where, testRows)
		if err != nil {
			t.Errorf("%s: %v", c.where, err)
			continue
		}
		tr := &translator{where: where, find: func(e predicate.Expr) *source {
			if col, ok := e.(*predicate.Column); ok {
				return &source{index: "column_stats", column: col.Path[0], typ: testRows.Fields[testRows.FieldIndex(col.Path[0])].Type}
			}
			return nil
		}}
		n := tr.node(where.Root, false)
		file := metatable.DataFile{Name: "x.parquet"}
		stats := map[metatable.DataFile]*metatable.ColumnStats{}
		if c.stats != nil {
			stats[file] = c.stats
		}
		for _, version := range []string{"", "0.11.0", "0.12.0", "1.2.0"} {
			rules, err := release.For(version)
			if err != nil {
				t.Fatal(err)
			}
			judged := map[*leaf]judged{}
			for _, l := range tr.leaves {
				judged[l] = judge(l, stats, nil, []metatable.DataFile{file}, &rules.Skipping, nil, nil)[0]
			}
			if may := holds(n, func(l *leaf) bool { return judged[l].may }); may != c.may {
				t.Errorf("%s: %s with %+v: may %v, want %v", version, c.where, c.stats, may, c.may)
			}
			want := c.may
			if c.release == version || c.release == "0.12.0" && version != "" {
				want = !want
			}
			if got := holds(n, func(l *leaf) bool { return judged[l].release }); got != want && version != "" {
				t.Errorf("%s takes it for %v: %s with %+v", version, got, c.where, c.stats)
			}
		}
	}
}

// TestLikePrefix takes patterns apart.
func TestLikePrefix(t *testing.T) {
	for _, c := range []struct {
		pattern      string
		escape       rune
		prefix, rest string
	}{
		{"abc%", 0, "abc", "%"}, {"a_c%", 0, "a", "_c%"}, {`a\%b%`, 0, "a%b", "%"}, {`a\_b`, 0, "a_b", ""}, {"a!%b%x", '!', "a%b", "%x"}, {`a\\%`, 0, `a\`, "%"}, {"", 0, "", ""}, {"é%", 0, "é", "%"},
	} {
		if p, r := likePrefix(c.pattern, c.escape); p != c.prefix || r != c.rest {
			t.Errorf("%q: %q, %q", c.pattern, p, r)
		}
	}
}

// TestBuckets holds bucket numbers against those of tables that Spark and Flink wrote.
func TestBuckets(t *testing.T) {
	for key, want := range map[string]int{"trip-001": 0, "trip-013": 0, "trip-010": 0, "trip-005": 1, "trip-011": 1, "trip-008": 1, "id2": 1, "id6": 2, "id3": 2, "id4": 0,
		// Flink 1.2 writes the key of one column with its name.
		"uuid:id2": 0, "uuid:id6": 1, "uuid:id3": 1, "uuid:id8": 0, "uuid:id4": 2} {
		if got := bucket([]string{key}, 3); got != want {
			t.Errorf("%s: bucket %d, want %d", key, got, want)
		}
	}
	for id, want := range map[string]int{"00000003-5a00-4c6e-9658-513185f44583-0": 3, "00000012-0000-0000-0000-000000000000-0": 12, "8ef291a3-58a9-30b0-b899-0938eb6e5a45-0": -1, "0000000": -1} {
		got, ok := bucketOf(id)
		if !ok {
			got = -1
		}
		if got != want {
			t.Errorf("%s: %d, want %d", id, got, want)
		}
	}
}

// TestKeys finds the record keys of conditions.
func TestKeys(t *testing.T) {
	load := func(text string) *config.Config {
		c, err := config.Parse([]byte("hoodie.table.name=t\nhoodie.table.version=8\nhoodie.table.type=COPY_ON_WRITE\n"+text), "hoodie.properties")
		if c == nil {
			t.Fatal(err)
		}
		return c
	}
	one := load("hoodie.table.recordkey.fields=s\nhoodie.table.keygenerator.type=SIMPLE\n")
	two := load("hoodie.table.recordkey.fields=s,i\nhoodie.table.keygenerator.type=COMPLEX\n")
	own := load("hoodie.table.recordkey.fields=s\nhoodie.table.keygenerator.class=com.example.Keys\n")
	rows := *testRows
	rows.Fields = append(append([]schema.Field(nil), rows.Fields...), schema.Field{Name: keyMeta, Type: nullable(schema.String, schema.None)})
	for _, c := range []struct {
		c     *config.Config
		where string
		want  string
	}{
		{one, "s = 'a'", "a s:a"}, {one, "'a' = s AND i > 3", "a s:a"}, {one, "s IN ('a', 'b')", "a s:a b s:b"}, {one, "s = 'a' OR i = 3", ""}, {one, "s > 'a'", ""},
		{one, "lower(s) = 'a'", ""}, {one, "s = ''", ""}, {one, "_hoodie_record_key = 'x:y'", "x:y"}, {two, "s = 'a' AND i = 7", "s:a,i:7"}, {two, "s = '' AND i IN (1, -2)", "s:__empty__,i:1 s:__empty__,i:-2"},
		{two, "s = 'a'", ""}, {two, "s = 'a' AND i = 7.5", ""}, {own, "s = 'a'", ""}, {own, "_hoodie_record_key = 'a'", "a"},
	} {
		where, err := predicate.New(c.where, &rows)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if k := keysOf(c.c, &rows, where.Conjuncts()); k != nil {
			got = strings.Join(k.texts, " ")
		}
		if got != c.want {
			t.Errorf("%s: keys %q, want %q", c.where, got, c.want)
		}
	}
}
