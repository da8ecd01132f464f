package predicate

import (
	"errors"
	"os"
	"strings"
	"testing"

	"hudiscope/core/column"
	"hudiscope/core/schema"
)

func record(fields ...schema.Field) *schema.Type {
	return &schema.Type{Kind: schema.Record, Fields: fields}
}

func field(name string, k schema.Kind) schema.Field {
	return schema.Field{Name: name, Type: &schema.Type{Kind: k, Nullable: true}}
}

var trips = record(field("uuid", schema.String), field("fare", schema.Double), field("rider", schema.String), field("n", schema.Int), field("l", schema.Long),
	field("a.b", schema.Int), schema.Field{Name: "day", Type: &schema.Type{Kind: schema.Int, Logical: schema.Date}},
	schema.Field{Name: "price", Type: &schema.Type{Kind: schema.Bytes, Logical: schema.Decimal, Precision: 10, Scale: 2}},
	schema.Field{Name: "tip", Type: record(field("amount", schema.Double), field("Currency", schema.String))},
	schema.Field{Name: "tags", Type: &schema.Type{Kind: schema.Array, Elem: &schema.Type{Kind: schema.String}}},
	field("Twice", schema.Int), field("tWICE", schema.Int))

// TestBound holds what conditions become: the casts that Spark makes are seen.
func TestBound(t *testing.T) {
	for in, want := range map[string]string{
		"fare > 10":                            "fare > CAST(10 AS double)",
		"FARE > 1.5 and rider='a'":             "fare > CAST(1.5 AS double) AND rider = 'a'",
		"rider = 5":                            "CAST(rider AS int) = 5",
		"rider IN (5, 'x')":                    "rider IN (CAST(5 AS string), 'x')",
		"n = '5'":                              "n = CAST('5' AS int)",
		"n = 2147483648":                       "CAST(n AS bigint) = 2147483648",
		"n IN ('5')":                           "CAST(n AS string) IN ('5')",
		"price >= 1":                           "price >= CAST(1 AS decimal(10,2))",
		"price = 1.005":                        "CAST(price AS decimal(11,3)) = CAST(1.005 AS decimal(11,3))",
		"price = '1'":                          "CAST(price AS double) = CAST('1' AS double)",
		"price = fare":                         "CAST(price AS double) = fare",
		"day = '2024-01-01'":                   "day = CAST('2024-01-01' AS date)",
		"day < TIMESTAMP '2024-01-01 1:2:3'":   "CAST(day AS timestamp) < TIMESTAMP '2024-01-01 1:2:3'",
		"n between 1 and 3 or not l is null":   "n >= 1 AND n <= 3 OR NOT l IS NULL",
		"n not in (1,null)":                    "NOT n IN (1, NULL)",
		"Tip.CURRENCY like '%\\_x' ESCAPE '!'": "tip.Currency LIKE '%\\_x' ESCAPE '!'",
		"`a.b` <=> null":                       "`a.b` <=> NULL",
		"n / 2 > 1":                            "CAST(n AS double) / CAST(2 AS double) > CAST(1 AS double)",
		"- n = -(3)":                           "- n = - (3)",
		"(n + 1) * 2 % 3 = 1 - (2 - 3)":        "(n + 1) * 2 % 3 = 1 - (2 - 3)",
		"NOT (n = 1 OR l = 1) AND uuid = 'a'":  "NOT (n = 1 OR l = CAST(1 AS bigint)) AND uuid = 'a'",
		"(n = 1) = true":                       "n = 1 = TRUE",
		"n is distinct from 3":                 "NOT n <=> 3",
		"lower(rider) = 'a\\'b\\\\c\\n'":       "lower(rider) = 'a\\'b\\\\c\\n'",
		"year(day) = 2024":                     "year(day) = 2024",
		"length(n) > 1":                        "length(CAST(n AS string)) > 1",
		"coalesce(n, l, 0) = 1":                "coalesce(CAST(n AS bigint), l, CAST(0 AS bigint)) = CAST(1 AS bigint)",
		"null":                                 "NULL",
	} {
		b, err := New(in, trips)
		if err != nil {
			t.Errorf("%s: %v", in, err)
			continue
		}
		if got := b.String(); got != want {
			t.Errorf("%s:\n got %s\nwant %s", in, got, want)
		}
		again, err := New(b.String(), trips)
		if err != nil || again.String() != b.String() {
			t.Errorf("%s: its text %s is read as %v, %v", in, b, again, err)
		}
	}
}

// TestErrors holds where conditions go wrong, and what is said.
func TestErrors(t *testing.T) {
	for _, c := range []struct {
		text string
		pos  int
		says string
	}{
		{"", 0, "is empty"},
		{"fare > ", 7, "ends where a value is expected"},
		{"fare >> 1", 6, "A value is expected here, not >"},
		{"fre > 1", 0, "Did you mean fare?"},
		{"fare > 1 AND ridr = 'x'", 13, "Did you mean rider?"},
		{"rider = \"x", 8, "does not end"},
		{"(fare > 1", 9, ") is expected here to close the parenthesis at byte 0"},
		{"fare > 1)", 8, "was not opened"},
		{"fare > 1 ORDER BY fare", 9, "ORDER is no part of a condition"},
		{"fare > 1; DROP", 8, "no end mark"},
		{"fare = 1 rider = 2", 9, "rider is not expected here"},
		{"tags = 'x'", 5, "Values of type array can't be compared"},
		{"tags.x = 1", 0, "tags is an array"},
		{"tip = 1", 4, "Values of type struct can't be compared"},
		{"tip.amont = 1", 0, "Did you mean amount?"},
		{"a.b = 1", 0, "in backquotes: `a.b`"},
		{"twice = 1", 0, "ambiguous"},
		{"fare", 0, "of type double"},
		{"fare AND n = 1", 0, "AND takes conditions"},
		{"nosuch(n) = 1", 0, "The function nosuch can't be used"},
		{"n = 1 AND substring(rider) = 'x'", 10, "takes 2 to 3 arguments"},
		{"rider RLIKE 'a(?=b)'", 12, "(? of a regular expression can only be (?: here"},
		{"rider LIKE 'a!x' ESCAPE '!'", 11, "stands in front of x"},
		{"rider LIKE uuid", 11, "constant text"},
		{"rider = 'it''s'", 11, `Write \'`},
		{"n IN (SELECT 1)", 6, "A query inside of IN"},
		{"day = 1", 4, "A date and a int can't be compared"},
		{"day + 1 = day", 4, "can't be computed"},
		{"CAST(n AS varchar) = 'x'", 10, "varchar is no type"},
		{"CAST(day AS int) = 1", 0, "A date can't be cast to int"},
		{"DATE '2024-13-01' = day", 0, "is no date"},
		{"n = 1e999", 4, "out of range"},
		{"n = 300Y", 4, "out of the range of tinyint"},
		{"n ≥ 1", 2, "means nothing here"},
		{"x = 1 /* no end", 6, "comment"},
		{strings.Repeat("(", 1000) + "n" + strings.Repeat(")", 1000), 200, "nested more than"},
	} {
		_, err := New(c.text, trips)
		var pe *Error
		if !errors.As(err, &pe) {
			t.Errorf("%.60s: %v", c.text, err)
			continue
		}
		if pe.Pos != c.pos || !strings.Contains(pe.Error(), c.says) {
			t.Errorf("%.60s: at %d: %s; want at %d: %s", c.text, pe.Pos, pe, c.pos, c.says)
		}
	}
}

// TestLong: a chain of conditions is no deep tree.
func TestLong(t *testing.T) {
	b, err := New(strings.TrimSuffix(strings.Repeat("n = 1 OR ", 5000), " OR "), trips)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(b.Conjuncts()); n != 1 {
		t.Errorf("%d conjuncts", n)
	}
}

// one is a row of the columns n, l, fare, rider.
func ranges(low, high int64) func(string) Range {
	at := func(x int64) *column.Vector {
		v := column.New(trips.Fields[3].Type, 1)
		v.AppendInt(x)
		return v
	}
	return func(string) Range { return Range{Low: at(low), High: at(high)} }
}

func TestMayMatch(t *testing.T) {
	for text, want := range map[string]bool{
		"n = 4": false, "n = 5": true, "n = 10": true, "n = 11": false, "n < 5": false, "n <= 5": true, "n > 10": false, "n >= 10": true, "4 = n": false, "11 > n": true, "5 > n": false,
		"n <> 7": true, "NOT n >= 5": false, "NOT n < 11": false, "NOT (n < 5 OR n > 10)": true, "n IN (1, 2, 11)": false, "n IN (1, 7)": true, "n NOT IN (7)": true,
		"n = 7.5": true, "n > 10.5": false, "n = NULL": false, "n <=> NULL": true, "n = 4 OR n = 5": true, "n > 6 AND n < 4": false, "n = '4'": false, "n + 1 = 4": true,
		"l > 4": true, "CAST(n AS string) = '4'": true, "n BETWEEN 1 AND 4": false, "n BETWEEN 11 AND 12 OR false": false, "n IS NULL": true, "NOT n <> 4": true,
	} {
		if text == "NOT n <> 4" {
			want = false
		}
		b, err := New(text, trips)
		if err != nil {
			t.Fatal(err)
		}
		if got := b.MayMatch(ranges(5, 10)); got != want {
			t.Errorf("%s in [5, 10]: %v", text, got)
		}
	}
	words := func(low, high string) func(string) Range {
		at := func(s string) *column.Vector {
			v := column.New(trips.Fields[2].Type, 1)
			v.AppendString(s)
			return v
		}
		return func(string) Range { return Range{Low: at(low), High: at(high)} }
	}
	for text, want := range map[string]bool{"rider LIKE 'b%'": true, "rider LIKE 'ba%'": true, "rider LIKE 'a%'": false, "rider LIKE 'd%'": false, "rider LIKE 'ca%x'": true, "rider LIKE '%a'": true,
		"rider = 'bb'": true, "rider = 'a'": false, "rider NOT LIKE 'd%'": true, "rider LIKE 'cb%'": false, "rider > 'ca'": false, "rider = 5": true} {
		b, err := New(text, trips)
		if err != nil {
			t.Fatal(err)
		}
		if got := b.MayMatch(words("bar", "ca")); got != want {
			t.Errorf("%s in [bar, ca]: %v", text, got)
		}
	}
}

func FuzzParse(f *testing.F) {
	source, err := os.ReadFile("testdata/spark.txt")
	if err != nil {
		f.Fatal(err)
	}
	for i, line := range strings.Split(string(source), "\n") {
		if i%23 == 0 || i > 2600 {
			f.Add(strings.TrimPrefix(line, "= "))
		}
	}
	f.Add(strings.Repeat("NOT ", 300) + "n = 1")
	f.Add(strings.Repeat("- ", 300) + "1 = n")
	f.Add("n = 1e400000 or n in (x'ab', R'\\', `a``b`)")
	batch := &column.Batch{Type: trips, Len: 2}
	for _, fl := range trips.Fields {
		batch.Columns = append(batch.Columns, column.Nulls(fl.Type, 2))
	}
	f.Fuzz(func(t *testing.T, text string) {
		e, err := Parse(text)
		if err != nil {
			var pe *Error
			if !errors.As(err, &pe) || pe.Pos < 0 || pe.Pos > len(text) || pe.Message == "" {
				t.Fatalf("%q: %#v", text, err)
			}
			return
		}
		again, err := Parse(Format(e))
		if err != nil {
			t.Fatalf("%q is written as %q, which is refused: %v", text, Format(e), err)
		}
		if Format(again) != Format(e) {
			t.Fatalf("%q is written as %q and then as %q", text, Format(e), Format(again))
		}
		b, err := Bind(e, trips)
		if err != nil {
			return
		}
		if got := b.Evaluator().Eval(batch, 0, 2); len(got) != 2 || got[0] != got[1] {
			t.Fatalf("%q of two equal rows: %v", text, got)
		}
		b.MayMatch(func(string) Range { return Range{} })
	})
}

// benchBatch has rows like those of a trips table.
func benchBatch(n int) *column.Batch {
	b := &column.Batch{Type: trips, Len: n}
	for i := range trips.Fields {
		v := column.New(trips.Fields[i].Type, n)
		for j := range n {
			switch {
			case j%17 == 3:
				v.AppendNull()
			case v.Type.Kind == schema.Double:
				v.AppendFloat(float64(j%1000) / 10)
			case v.Type.Kind == schema.String:
				v.AppendString([]string{"rider-A", "driver-K", "abcdef"}[j%3])
			case v.Type.Logical == schema.Decimal:
				v.AppendBytes([]byte{byte(j >> 8 & 0x7F), byte(j)})
			case v.Type.Kind == schema.Int || v.Type.Kind == schema.Long:
				v.AppendInt(int64(j % 1000))
			default:
				v.AppendNull()
			}
		}
		b.Columns = append(b.Columns, v)
	}
	return b
}

// TestNoAllocations: rows cost no memory once an evaluator is warm.
func TestNoAllocations(t *testing.T) {
	b := benchBatch(1024)
	for _, text := range []string{"fare > 10 AND rider LIKE 'rid%'", "n IN (1, 2, 3) OR l BETWEEN 5 AND 100", "price >= 12.5", "CAST(n AS string) = '17'", "rider = 5 OR uuid IS NULL",
		"lower(rider) = 'rider-a'", "substring(rider, 1, 3) = 'rid'", "n * 2 + 1 > l", "price * 2 > 7.001", "year(day) = 1970", "date_format(day, 'yyyyMM') = '197001'", "coalesce(n, 0) = 0"} {
		bound, err := New(text, trips)
		if err != nil {
			t.Fatal(err)
		}
		v := bound.Evaluator()
		v.Eval(b, 0, b.Len)
		if got := testing.AllocsPerRun(20, func() { v.Eval(b, 0, b.Len) }); got > 2 {
			t.Errorf("%s: %v allocations for %d rows", text, got, b.Len)
		}
	}
}

func BenchmarkEval(b *testing.B) {
	batch := benchBatch(4096)
	for _, text := range []string{"fare > 10", "rider LIKE 'rid%'", "fare > 10 AND rider = 'rider-A' OR n IN (1, 2, 3)", "price >= 12.5", "rider = 5"} {
		bound, err := New(text, trips)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(text, func(b *testing.B) {
			v := bound.Evaluator()
			b.ReportAllocs()
			for b.Loop() {
				v.Eval(batch, 0, batch.Len)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*batch.Len), "ns/row")
		})
	}
}
