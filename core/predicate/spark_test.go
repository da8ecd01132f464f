package predicate

import (
	"encoding/hex"
	"encoding/json"
	"math/big"
	"os"
	"os/exec"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"hudiscope/core/column"
	"hudiscope/core/schema"
)

// sparkColumn is a column of testdata/spark_rows.json, with values as Spark casts them from text.
type sparkColumn struct {
	Name, Type string
	Values     []*string
}

func load(t *testing.T, file string, into any) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, into); err != nil {
		t.Fatal(err)
	}
}

// sparkBatch builds the rows, by other means than the package's own casts.
func sparkBatch(t *testing.T) *column.Batch {
	t.Helper()
	var table []sparkColumn
	load(t, "testdata/spark_rows.json", &table)
	b := &column.Batch{Type: &schema.Type{Kind: schema.Record}}
	add := func(name string, typ *schema.Type, v *column.Vector) {
		b.Type.Fields = append(b.Type.Fields, schema.Field{Name: name, Type: typ})
		b.Columns = append(b.Columns, v)
		b.Len = v.Len
	}
	byName := map[string]*column.Vector{}
	for _, c := range table {
		typ := &schema.Type{Nullable: true}
		kind, args, _ := strings.Cut(strings.TrimSuffix(c.Type, ")"), "(")
		switch kind {
		case "boolean":
			typ.Kind = schema.Boolean
		case "int":
			typ.Kind = schema.Int
		case "bigint":
			typ.Kind = schema.Long
		case "float":
			typ.Kind = schema.Float
		case "double":
			typ.Kind = schema.Double
		case "string":
			typ.Kind = schema.String
		case "binary":
			typ.Kind = schema.Bytes
		case "date":
			typ.Kind, typ.Logical = schema.Int, schema.Date
		case "timestamp":
			typ.Kind, typ.Logical = schema.Long, schema.TimestampMicros
		case "timestamp_ntz":
			typ.Kind, typ.Logical = schema.Long, schema.LocalTimestampMicros
		case "decimal":
			typ.Kind, typ.Logical, typ.Size = schema.Fixed, schema.Decimal, 16
			p, s, _ := strings.Cut(args, ",")
			typ.Precision, _ = strconv.Atoi(p)
			typ.Scale, _ = strconv.Atoi(s)
		default:
			t.Fatalf("type %s", c.Type)
		}
		v := column.New(typ, len(c.Values))
		for _, x := range c.Values {
			if x == nil {
				v.AppendNull()
				continue
			}
			switch typ.Kind {
			case schema.Boolean:
				v.AppendBool(*x == "true")
			case schema.Float, schema.Double:
				bits := 64
				if typ.Kind == schema.Float {
					bits = 32
				}
				f, err := strconv.ParseFloat(*x, bits)
				if err != nil {
					t.Fatal(err)
				}
				v.AppendFloat(f)
			case schema.String:
				v.AppendString(*x)
			case schema.Bytes:
				raw, err := hex.DecodeString(*x)
				if err != nil {
					t.Fatal(err)
				}
				v.AppendBytes(raw)
			case schema.Fixed:
				r, ok := new(big.Rat).SetString(*x)
				if !ok {
					t.Fatal(*x)
				}
				r.Mul(r, new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(typ.Scale)), nil)))
				n := new(big.Int).Set(r.Num())
				if n.Sign() < 0 {
					n.Add(n, new(big.Int).Lsh(big.NewInt(1), 128))
				}
				v.AppendBytes(n.FillBytes(make([]byte, 16)))
			default:
				switch typ.Logical {
				case schema.Date:
					d, err := time.Parse("2006-01-02", *x)
					if err != nil {
						t.Fatal(err)
					}
					v.AppendInt(d.Unix() / 86400)
				case schema.TimestampMicros, schema.LocalTimestampMicros:
					d, err := time.Parse("2006-01-02 15:04:05", *x)
					if err != nil {
						t.Fatal(err)
					}
					v.AppendInt(d.UnixMicro())
				default:
					i, err := strconv.ParseInt(*x, 10, 64)
					if err != nil {
						t.Fatal(err)
					}
					v.AppendInt(i)
				}
			}
		}
		byName[c.Name] = v
		add(c.Name, typ, v)
	}
	st := &schema.Type{Kind: schema.Record, Fields: []schema.Field{{Name: "a", Type: byName["i"].Type}, {Name: "B", Type: byName["s"].Type}}}
	add("st", st, &column.Vector{Type: st, Len: b.Len, Children: []*column.Vector{byName["i"], byName["s"]}})
	// Arrays and maps as spark_oracle.py has them.
	ints, texts, rows := byName["i"], byName["s"], b.Len
	st = &schema.Type{Kind: schema.Record, Nullable: true, Fields: st.Fields}
	arrType := &schema.Type{Kind: schema.Array, Nullable: true, Elem: ints.Type}
	arr := column.New(arrType, rows)
	sarr := column.New(&schema.Type{Kind: schema.Array, Nullable: true, Elem: texts.Type}, rows)
	m := column.New(&schema.Type{Kind: schema.Map, Nullable: true, Elem: texts.Type}, rows)
	ast := column.New(&schema.Type{Kind: schema.Array, Nullable: true, Elem: st}, rows)
	nest := column.New(&schema.Type{Kind: schema.Map, Nullable: true, Elem: arrType}, rows)
	for r := range rows {
		switch r % 5 {
		case 4:
			arr.AppendNull()
		case 3:
			arr.CloseSlot()
		default:
			arr.Children[0].AppendFrom(ints, r)
			arr.Children[0].AppendFrom(ints, (r+1)%rows)
			if r%2 == 1 {
				arr.Children[0].AppendFrom(ints, (r+2)%rows)
			} else {
				arr.Children[0].AppendNull()
			}
			arr.CloseSlot()
		}
		if r%4 == 3 {
			sarr.AppendNull()
		} else {
			sarr.Children[0].AppendFrom(texts, r)
			sarr.Children[0].AppendFrom(texts, (r+3)%rows)
			sarr.CloseSlot()
		}
		switch r % 5 {
		case 2:
			m.AppendNull()
		case 3:
			m.CloseSlot()
		default:
			for k, key := range []string{"k", "1"} {
				m.Children[0].AppendString(key)
				m.Children[1].AppendFrom(texts, (r+k)%rows)
			}
			m.CloseSlot()
		}
		if r%3 == 2 {
			ast.AppendNull()
		} else {
			e := ast.Children[0]
			e.Children[0].AppendFrom(ints, r)
			e.Children[1].AppendFrom(texts, r)
			e.CloseSlot()
			e.AppendNull()
			ast.CloseSlot()
		}
		nest.Children[0].AppendString("x")
		nest.Children[1].AppendFrom(arr, r)
		nest.CloseSlot()
	}
	for name, v := range map[string]*column.Vector{"arr": arr, "sarr": sarr, "m": m, "ast": ast, "nest": nest} {
		add(name, v.Type, v)
	}
	return b
}

// values evaluates an expression of any type and casts it to string.
func values(text string, b *column.Batch) ([]*string, error) {
	e, err := Parse(text)
	if err != nil {
		return nil, err
	}
	bind := &binder{rows: b.Type, types: map[Expr]Type{}}
	x, err := bind.bind(e)
	if err != nil {
		return nil, err
	}
	x = bind.cast(x, Type{Kind: String})
	got := (&Bound{Root: x, rows: b.Type, types: bind.types}).compile(x).run(b, 0, b.Len)
	out := make([]*string, b.Len)
	for i := range out {
		if got.nulls == nil || !got.nulls[i] {
			s := string(got.texts[i])
			out[i] = &s
		}
	}
	return out, nil
}

// refused are expressions that Spark evaluates and that are refused here, by a part of what is said.
func refused(line, says string) bool {
	for _, r := range []struct{ line, says string }{
		// Null whatever the date is.
		{"= CAST(dt AS ", "A date can't be cast to "},
		// The bytes of the number.
		{"= CAST(i AS binary)", "can't be cast"}, {"= CAST(l AS binary)", "can't be cast"},
		{"st = st", "can't be compared"}, {"arr = arr", "can't be compared"},
		{"s RLIKE ", "regular expression"}, {"s ILIKE ANY", "ILIKE ANY can't be used"},
		{"= size(NULL)", "takes an array or a map"}, {"arr[i] = 1", "is a constant here"},
	} {
		if strings.HasPrefix(line, r.line) && strings.Contains(says, r.says) {
			return true
		}
	}
	return false
}

// differs are the expressions that have other values here, and why.
var differs = map[string]string{
	"b = 0.000000000000000001": "Spark's optimizer fails on it.",
	// It takes the comparison for true or false where the number is null: WHERE passes rows that have none.
	"i < 9223372036854775808":                     "Spark has no null here.",
	"i >= 9223372036854775808":                    "Spark has no null here.",
	"l < 9223372036854775808":                     "Spark has no null here.",
	"l >= 9223372036854775808":                    "Spark has no null here.",
	"i < 99999999999999999999999999999999999999":  "Spark has no null here.",
	"i >= 99999999999999999999999999999999999999": "Spark has no null here.",
	"l < 99999999999999999999999999999999999999":  "Spark has no null here.",
	"l >= 99999999999999999999999999999999999999": "Spark has no null here.",
	"s LIKE '🙂_'":                                 "Spark's regular expression takes a character of two UTF-16 units apart.",
	"= CAST(i AS float)":                          "Java before 19 writes more digits of some floats than tell them apart.",
	"= CAST(l AS float)":                          "Java before 19 writes more digits of some floats than tell them apart.",
	"= CAST(d AS float)":                          "Java before 19 writes more digits of some floats than tell them apart.",
	"= CAST(n AS float)":                          "Java before 19 writes more digits of some floats than tell them apart.",
	"= CAST(ts AS float)":                         "Java before 19 writes more digits of some floats than tell them apart.",
}

// TestSpark compares with what Spark 3.5.3 answered (testdata/spark_oracle.py, which HUDISCOPE_SPARK=python
// with pyspark runs again).
func TestSpark(t *testing.T) {
	answers := map[string]any{}
	if python := os.Getenv("HUDISCOPE_SPARK"); python != "" {
		out, err := exec.Command(python, "testdata/spark_oracle.py", "testdata/spark.txt", "testdata/spark_rows.json").Output()
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(out, &answers); err != nil {
			t.Fatal(err)
		}
	} else {
		load(t, "testdata/spark_answers.json", &answers)
	}
	b := sparkBatch(t)
	source, err := os.ReadFile("testdata/spark.txt")
	if err != nil {
		t.Fatal(err)
	}
	compared, refusals := 0, 0
	for line := range strings.SplitSeq(string(source), "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		want, ok := answers[line]
		if !ok {
			t.Errorf("%s: no answer is recorded", line)
			continue
		}
		text, isValue := strings.CutPrefix(line, "= ")
		var got any
		var fault error
		if isValue {
			list, err := values(text, b)
			fault = err
			var all []any
			for _, s := range list {
				if s == nil {
					all = append(all, nil)
				} else {
					all = append(all, *s)
				}
			}
			got = all
		} else {
			bound, err := New(text, b.Type)
			fault = err
			if err == nil {
				var s strings.Builder
				for _, truth := range bound.Evaluator().Eval(b, 0, b.Len) {
					s.WriteByte("ftn"[truth])
				}
				got = s.String()
			}
		}
		if fault != nil {
			refusals++
			if want != "error" && !refused(line, fault.Error()) {
				t.Errorf("%s: refused (%v); Spark answers %v", line, fault, want)
			}
			continue
		}
		compared++
		g, _ := json.Marshal(got)
		var again any
		if err := json.Unmarshal(g, &again); err != nil {
			t.Fatal(err)
		}
		if same := reflect.DeepEqual(again, want); same == (differs[line] != "") {
			w, _ := json.Marshal(want)
			t.Errorf("%s: (%s)\n got %s\nwant %s", line, differs[line], g, w)
		}
	}
	if compared < 2000 || refusals < 500 {
		t.Errorf("only %d expressions compared, %d refused", compared, refusals)
	}
	t.Logf("%d expressions give Spark's answers, %d are refused", compared, refusals)
}
