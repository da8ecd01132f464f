package schema

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// FullName is the namespace and the name of a named type, "" for others.
func (t *Type) FullName() string {
	if t.Namespace == "" || t.Name == "" {
		return t.Name
	}
	return t.Namespace + "." + t.Name
}

// JSON returns the schema as Avro JSON. See [Type.AppendJSON].
func (t *Type) JSON() string { return string(t.AppendJSON(nil)) }

// AppendJSON appends the schema as Avro JSON in one fixed form: attributes in the order
// Avro's own writer uses, namespaces only where they differ from the enclosing one, a
// named type defined where it first occurs and referred to by name after that.
func (t *Type) AppendJSON(dst []byte) []byte {
	w := writer{dst: dst, seen: map[string]bool{}}
	w.typ(t, "")
	return w.dst
}

type writer struct {
	dst  []byte
	seen map[string]bool
}

func (w *writer) raw(s string) { w.dst = append(w.dst, s...) }

func (w *writer) quote(s string) {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string always encodes
	w.raw(strings.TrimSuffix(b.String(), "\n"))
}

func (w *writer) key(k, v string) {
	w.raw(`,"` + k + `":`)
	w.quote(v)
}

func (w *writer) typ(t *Type, space string) {
	if t.Nullable {
		if t.NullFirst {
			w.raw(`["null",`)
		} else {
			w.raw(`[`)
		}
		inner := *t
		inner.Nullable, inner.NullFirst = false, false
		w.typ(&inner, space)
		if !t.NullFirst {
			w.raw(`,"null"`)
		}
		w.raw(`]`)
		return
	}
	switch t.Kind {
	case Union:
		w.raw(`[`)
		for i, b := range t.Branches {
			if i > 0 {
				w.raw(`,`)
			}
			w.typ(b, space)
		}
		w.raw(`]`)
		return
	case Record, Enum, Fixed:
		if full := t.FullName(); w.seen[full] {
			if t.Namespace == space {
				full = t.Name
			}
			w.quote(full)
			return
		} else {
			w.seen[full] = true
		}
	default:
		if t.LogicalName == "" && t.Kind != Array && t.Kind != Map {
			w.quote(t.Kind.String())
			return
		}
	}
	w.raw(`{"type":"` + t.Kind.String() + `"`)
	inner := space
	if t.Name != "" {
		w.key("name", t.Name)
		if t.Namespace != space {
			w.key("namespace", t.Namespace)
		}
		inner = t.Namespace
		if t.Doc != "" {
			w.key("doc", t.Doc)
		}
	}
	switch t.Kind {
	case Record:
		w.raw(`,"fields":[`)
		for i := range t.Fields {
			f := &t.Fields[i]
			if i > 0 {
				w.raw(`,`)
			}
			w.raw(`{"name":`)
			w.quote(f.Name)
			w.raw(`,"type":`)
			w.typ(f.Type, inner)
			if f.HasDoc {
				w.key("doc", f.Doc)
			}
			if f.HasDefault {
				w.raw(`,"default":` + f.Default)
			}
			w.raw(`}`)
		}
		w.raw(`]`)
	case Enum:
		w.raw(`,"symbols":[`)
		for i, s := range t.Symbols {
			if i > 0 {
				w.raw(`,`)
			}
			w.quote(s)
		}
		w.raw(`]`)
	case Fixed:
		w.raw(`,"size":` + strconv.Itoa(t.Size))
	case Array:
		w.raw(`,"items":`)
		w.typ(t.Elem, space)
	case Map:
		w.raw(`,"values":`)
		w.typ(t.Elem, space)
	}
	if t.LogicalName != "" {
		w.key("logicalType", t.LogicalName)
		if t.Logical == Decimal {
			w.raw(`,"precision":` + strconv.Itoa(t.Precision) + `,"scale":` + strconv.Itoa(t.Scale))
		}
	}
	w.raw(`}`)
}

// Display names the type for people: "string", "decimal(10,2)", "timestamp(micros)",
// "array<string>", "map<string,long>", "struct<a:int,b:string>", "enum<A,B>",
// "union<int,string>". It does not tell whether the type is nullable.
func (t *Type) Display() string {
	var b strings.Builder
	t.display(&b)
	return b.String()
}

var logicalNames = map[Logical]string{
	Date: "date", TimeMillis: "time(millis)", TimeMicros: "time(micros)",
	TimestampMillis: "timestamp(millis)", TimestampMicros: "timestamp(micros)", TimestampNanos: "timestamp(nanos)",
	LocalTimestampMillis: "local-timestamp(millis)", LocalTimestampMicros: "local-timestamp(micros)", LocalTimestampNanos: "local-timestamp(nanos)",
	UUID: "uuid",
}

func (t *Type) display(b *strings.Builder) {
	if t.Logical == Decimal {
		fmt.Fprintf(b, "decimal(%d,%d)", t.Precision, t.Scale)
		return
	}
	if s := logicalNames[t.Logical]; s != "" {
		b.WriteString(s)
		return
	}
	list := func(name string, n int, item func(int)) {
		b.WriteString(name + "<")
		for i := range n {
			if i > 0 {
				b.WriteByte(',')
			}
			item(i)
		}
		b.WriteByte('>')
	}
	switch t.Kind {
	case Record:
		list("struct", len(t.Fields), func(i int) {
			b.WriteString(t.Fields[i].Name + ":")
			t.Fields[i].Type.display(b)
		})
	case Array:
		list("array", 1, func(int) { t.Elem.display(b) })
	case Map:
		b.WriteString("map<string,")
		t.Elem.display(b)
		b.WriteByte('>')
	case Union:
		list("union", len(t.Branches), func(i int) { t.Branches[i].display(b) })
	case Enum:
		list("enum", len(t.Symbols), func(i int) { b.WriteString(t.Symbols[i]) })
	case Fixed:
		fmt.Fprintf(b, "fixed(%d)", t.Size)
	default:
		b.WriteString(t.Kind.String())
	}
	if t.LogicalName != "" {
		b.WriteString("(" + t.LogicalName + ")")
	}
}
