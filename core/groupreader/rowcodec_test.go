package groupreader

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"testing"

	"hudiscope/core/column"
	"hudiscope/core/merge"
	"hudiscope/core/schema"
)

const codecSchema = `{"type":"record","name":"r","fields":[
 {"name":"b","type":["null","boolean"]},{"name":"i","type":"int"},{"name":"l","type":["null","long"]},
 {"name":"f","type":["null","float"]},{"name":"d","type":"double"},{"name":"s","type":["null","string"]},{"name":"y","type":["null","bytes"]},
 {"name":"x","type":{"type":"fixed","name":"x","size":3}},{"name":"e","type":["null",{"type":"enum","name":"e","symbols":["A","B","C"]}]},
 {"name":"dec","type":["null",{"type":"bytes","logicalType":"decimal","precision":20,"scale":3}]},
 {"name":"t","type":["null",{"type":"long","logicalType":"timestamp-micros"}]},
 {"name":"a","type":["null",{"type":"array","items":["null","string"]}]},
 {"name":"m","type":["null",{"type":"map","values":["null",{"type":"array","items":"double"}]}]},
 {"name":"n","type":["null",{"type":"record","name":"n","fields":[{"name":"p","type":["null","long"]},{"name":"q","type":{"type":"array","items":{"type":"record","name":"o","fields":[{"name":"z","type":["null","float"]}]}}}]}]},
 {"name":"u","type":["null","string","long",{"type":"array","items":"int"}]}]}`

// source makes values out of bytes; it gives zeros when they end.
type source struct{ p []byte }

func (s *source) byte() byte {
	if len(s.p) == 0 {
		return 0
	}
	b := s.p[0]
	s.p = s.p[1:]
	return b
}

func (s *source) int() int64 {
	var x int64
	for range s.byte() % 9 {
		x = x<<8 | int64(s.byte())
	}
	return x
}

func (s *source) float(single bool) float64 {
	switch s.byte() % 6 {
	case 0:
		return math.NaN()
	case 1:
		return math.Inf(1)
	case 2:
		return math.Copysign(0, -1)
	}
	if single {
		return float64(math.Float32frombits(uint32(s.int())))
	}
	return math.Float64frombits(uint64(s.int()))
}

func (s *source) bytes(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = s.byte()
	}
	return b
}

func (s *source) fill(v *column.Vector) {
	if v.Type.Nullable && s.byte()%4 == 0 {
		v.AppendNull()
		return
	}
	switch v.Type.Kind {
	case schema.Boolean:
		v.AppendBool(s.byte()%2 == 1)
	case schema.Int, schema.Long:
		v.AppendInt(s.int())
	case schema.Enum:
		v.AppendInt(int64(s.byte() % 3))
	case schema.Float, schema.Double:
		v.AppendFloat(s.float(v.Type.Kind == schema.Float))
	case schema.Bytes, schema.String:
		v.AppendBytes(s.bytes(int(s.byte() % 40)))
	case schema.Fixed:
		v.AppendBytes(s.bytes(v.Type.Size))
	case schema.Array, schema.Map:
		for range s.byte() % 5 {
			for _, c := range v.Children {
				s.fill(c)
			}
		}
		v.CloseSlot()
	case schema.Record:
		for _, c := range v.Children {
			s.fill(c)
		}
		v.CloseSlot()
	case schema.Union:
		b := s.byte() % byte(len(v.Type.Branches))
		if v.Type.Branches[b].Kind == schema.Null {
			v.AppendBranch(b, nil, 0)
			return
		}
		one := column.New(v.Type.Branches[b], 1)
		s.fill(one)
		v.AppendBranch(b, one, 0)
	}
}

func (s *source) ordering(depth int) (o merge.Ordering) {
	o.Class = merge.Class(s.byte() % byte(merge.Tuple+1))
	switch o.Class {
	case merge.Float, merge.Double:
		o.Float = s.float(o.Class == merge.Float)
	case merge.Bytes, merge.Text:
		o.Bytes = s.bytes(int(s.byte() % 20))
	case merge.DecimalNumber:
		o.Int, o.Bytes = int64(s.byte()), s.bytes(int(s.byte()%20))
	case merge.Tuple:
		for range s.byte() % 4 {
			if depth < maxTupleDepth-1 {
				o.Tuple = append(o.Tuple, s.ordering(depth+1))
			}
		}
	default:
		o.Int = s.int()
	}
	return o
}

// exact renders a slot with every bit of it.
func exact(v *column.Vector, i int) string {
	if v.IsNull(i) {
		return "null"
	}
	switch v.Type.Kind {
	case schema.Boolean:
		return fmt.Sprint(v.Bools[i])
	case schema.Int, schema.Long, schema.Enum:
		return fmt.Sprint(v.Ints[i])
	case schema.Float, schema.Double:
		return fmt.Sprintf("%x", math.Float64bits(v.Floats[i]))
	case schema.Bytes, schema.String, schema.Fixed:
		return fmt.Sprintf("%x", v.BytesAt(i))
	case schema.Array, schema.Map:
		s := "["
		for j := v.Offsets[i]; j < v.Offsets[i+1]; j++ {
			for _, c := range v.Children {
				s += exact(c, int(j)) + " "
			}
		}
		return s + "]"
	case schema.Record:
		s := "{"
		for _, c := range v.Children {
			s += exact(c, i) + " "
		}
		return s + "}"
	case schema.Union:
		return fmt.Sprintf("%d:%s", v.Tags[i], exact(v.Children[v.Tags[i]], i))
	}
	return "?"
}

func exactOrdering(o *merge.Ordering) string {
	s := fmt.Sprintf("%s %d %x %x", o.Class, o.Int, math.Float64bits(o.Float), o.Bytes)
	for i := range o.Tuple {
		s += "(" + exactOrdering(&o.Tuple[i]) + ")"
	}
	return s
}

// exactRecord renders all that a spilled record holds.
func exactRecord(s *spilled) string {
	r := &s.rec
	out := fmt.Sprintf("%q known %v saw %v delete %v at %d/%d ordering %s\n", s.key, s.known, s.sawPartials, r.Delete, r.Block, r.Index, exactOrdering(&r.Ord))
	if r.Partial != nil {
		out += fmt.Sprintln("has", r.Partial.Has)
	}
	if r.Row.Batch != nil {
		for i, c := range r.Row.Batch.Columns {
			if c == nil {
				out += fmt.Sprintln(i, "absent")
			} else {
				out += fmt.Sprintln(i, exact(c, r.Row.Index))
			}
		}
	}
	return out
}

func FuzzRowCodec(f *testing.F) {
	typ, err := schema.Parse([]byte(codecSchema))
	if err != nil {
		f.Fatal(err)
	}
	for n := range 8 {
		seed := make([]byte, 400)
		for i := range seed {
			seed[i] = byte((i*i*(n+3) + i*7 + n) >> (n % 3))
		}
		f.Add(seed)
	}
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, p []byte) {
		c := &codec{typ: typ}
		src := &source{p}
		// Any bytes at all are a record or an error, and what was read lines up.
		hostile := &decoder{c: &codec{typ: typ, layouts: []layout{{cols: []int{0, 1, 5, 11, 12, 13, 14}}, {}}}, batchRows: 8, batchBytes: 1 << 20}
		for rest := p; len(rest) > 0; {
			var s spilled
			var err error
			before := len(rest)
			if rest, err = hostile.read(rest, &s); err != nil {
				break
			}
			if len(rest) >= before {
				t.Fatal("no bytes were read")
			}
			_ = exactRecord(&s)
		}
		// What is written comes back, bit by bit.
		var recs []spilled
		var enc []byte
		for range 1 + src.byte()%6 {
			b := &column.Batch{Type: typ, Columns: make([]*column.Vector, len(typ.Fields))}
			absent := src.byte()
			for i := range typ.Fields {
				if absent%4 != 0 || (int(absent)+i)%3 != 0 {
					b.Columns[i] = column.New(typ.Fields[i].Type, 0)
				}
			}
			b.Len = 1 + int(src.byte()%3)
			for range b.Len {
				for _, v := range b.Columns {
					if v != nil {
						src.fill(v)
					}
				}
			}
			for i := range b.Len {
				flags := src.byte()
				s := spilled{key: src.bytes(int(src.byte() % 30)), known: flags&1 != 0, sawPartials: flags&2 != 0}
				s.rec = merge.Record{Ord: src.ordering(0), Delete: flags&4 != 0, Block: int32(src.int()), Index: int32(src.int())}
				if flags&8 == 0 {
					s.rec.Row = column.Row{Batch: b, Index: i}
				}
				if flags&16 != 0 {
					s.rec.Partial = &merge.Presence{Has: make([]bool, len(typ.Fields))}
					for k := range s.rec.Partial.Has {
						s.rec.Partial.Has[k] = src.byte()%2 == 1
					}
				}
				recs = append(recs, s)
				enc = c.append(enc, &s)
				// A copy is the same, too.
				if s.rec.Row.Batch != nil {
					to := c.newBatch(c.layoutOf(b))
					appendRow(to, s.rec.Row)
					copied := s
					copied.rec.Row = column.Row{Batch: to}
					if exactRecord(&copied) != exactRecord(&s) {
						t.Fatalf("copied:\n%s\nwant:\n%s", exactRecord(&copied), exactRecord(&s))
					}
				}
			}
		}
		whole := bytes.Clone(enc)
		d := &decoder{c: c, batchRows: 4, batchBytes: 1 << 20}
		var got []spilled
		for len(enc) > 0 {
			var s spilled
			var err error
			if enc, err = d.read(enc, &s); err != nil {
				t.Fatal(err)
			}
			s.key = slices.Clone(s.key)
			got = append(got, s)
		}
		if len(got) != len(recs) {
			t.Fatalf("%d records, want %d", len(got), len(recs))
		}
		// Compared after all have been read: rows must not change when others follow.
		for i := range recs {
			if exactRecord(&got[i]) != exactRecord(&recs[i]) {
				t.Fatalf("record %d:\n%s\nwant:\n%s", i, exactRecord(&got[i]), exactRecord(&recs[i]))
			}
		}
		// A record that is cut is an error.
		if n := len(whole); n > 0 {
			cut := whole[:n-1-int(src.byte())%min(n, 8)]
			d := &decoder{c: c, batchRows: 4, batchBytes: 1 << 20}
			for k := 0; ; k++ {
				if len(cut) == 0 {
					break
				}
				var s spilled
				var err error
				if cut, err = d.read(cut, &s); err != nil {
					break
				}
				if k >= len(recs)-1 {
					t.Fatal("a record that was cut was read")
				}
			}
		}
	})
}
