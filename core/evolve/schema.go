// Package evolve reads tables whose columns were renamed, dropped, added again, moved or given other
// types (Hudi's schema on read): its internal schemas, in which every column has a number that stays
// with it, their history, and the mapping of a file's columns to those of a query by these numbers.
//
// Source of the rules: spec queries.md section 3.1, record-merging.md section 10.2.
package evolve

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sort"
	"strconv"
	"strings"

	"hudiscope/core/schema"
)

// Schema is an internal schema.
type Schema struct {
	// Version is the instant that made it, as a number; 0 for the schema before the first change.
	Version int64
	// MaxID is the greatest column number ever given.
	MaxID int
	// Root is the record.
	Root *Node
}

// Node is a type with the numbers of its columns.
type Node struct {
	Type *schema.Type
	// ID is the number of the column, of the element of an array, or of the value of a map.
	ID int
	// Kids are the fields of a record, the element of an array, or the value of a map.
	Kids []*Node
}

// Type is the record type.
func (s *Schema) Type() *schema.Type { return s.Root.Type }

// byID returns the position of a field by its number, or -1.
func (n *Node) byID(id int) int {
	for i, k := range n.Kids {
		if k.ID == id {
			return i
		}
	}
	return -1
}

type jsonRecord struct {
	Type      string          `json:"type"`
	MaxID     *int            `json:"max_column_id"`
	Version   *int64          `json:"version_id"`
	Fields    []jsonField     `json:"fields"`
	ElementID int             `json:"element_id"`
	Element   json.RawMessage `json:"element"`
	ElemOpt   bool            `json:"element_optional"`
	KeyID     int             `json:"key_id"`
	Key       json.RawMessage `json:"key"`
	ValueID   int             `json:"value_id"`
	Value     json.RawMessage `json:"value"`
	ValueOpt  bool            `json:"value_optional"`
}

type jsonField struct {
	ID       int             `json:"id"`
	Name     string          `json:"name"`
	Optional bool            `json:"optional"`
	Type     json.RawMessage `json:"type"`
	Doc      *string         `json:"doc"`
}

// Parse reads an internal schema: the latest_schema of commit metadata, or one of a history.
func Parse(text []byte) (*Schema, error) {
	var r jsonRecord
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, fmt.Errorf("internal schema: %w", err)
	}
	if r.Type != "record" {
		return nil, fmt.Errorf("internal schema: want a record, got %q", r.Type)
	}
	s := &Schema{}
	if r.Version != nil {
		s.Version = *r.Version
	}
	if r.MaxID != nil {
		s.MaxID = *r.MaxID
	}
	var err error
	s.Root, err = record(&r, "", 0)
	if err != nil {
		return nil, fmt.Errorf("internal schema: %w", err)
	}
	return s, nil
}

// maxDepth bounds nesting.
const maxDepth = 64

func record(r *jsonRecord, path string, depth int) (*Node, error) {
	n := &Node{Type: &schema.Type{Kind: schema.Record}}
	seen, names := map[int]bool{}, map[string]bool{}
	for i := range r.Fields {
		f := &r.Fields[i]
		sub := f.Name
		if path != "" {
			sub = path + "." + f.Name
		}
		if f.Name == "" || names[f.Name] || seen[f.ID] {
			return nil, fmt.Errorf("field %d of %q: the name %q or the id %d is empty or there twice", i, path, f.Name, f.ID)
		}
		names[f.Name], seen[f.ID] = true, true
		k, err := node(f.Type, f.ID, f.Optional, sub, depth+1)
		if err != nil {
			return nil, err
		}
		n.Kids = append(n.Kids, k)
		sf := schema.Field{Name: f.Name, Type: k.Type, HasDefault: f.Optional, Default: "null"}
		if f.Doc != nil {
			sf.HasDoc, sf.Doc = true, *f.Doc
		}
		if !f.Optional {
			sf.Default = ""
		}
		n.Type.Fields = append(n.Type.Fields, sf)
	}
	return n, nil
}

// node reads a type: a name, or an object.
func node(text json.RawMessage, id int, optional bool, path string, depth int) (*Node, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("%s: nested deeper than %d levels", path, maxDepth)
	}
	n := &Node{}
	text = bytes.TrimSpace(text)
	if len(text) > 0 && text[0] == '"' {
		var name string
		if err := json.Unmarshal(text, &name); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		t, err := primitive(name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		n.Type = t
	} else {
		var r jsonRecord
		if err := json.Unmarshal(text, &r); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		switch r.Type {
		case "record":
			var err error
			if n, err = record(&r, path, depth); err != nil {
				return nil, err
			}
			n.Type.Name = path[strings.LastIndexByte(path, '.')+1:]
		case "array":
			k, err := node(r.Element, r.ElementID, r.ElemOpt, path+".element", depth+1)
			if err != nil {
				return nil, err
			}
			n.Type, n.Kids = &schema.Type{Kind: schema.Array, Elem: k.Type}, []*Node{k}
		case "map":
			k, err := node(r.Value, r.ValueID, r.ValueOpt, path+".value", depth+1)
			if err != nil {
				return nil, err
			}
			n.Type, n.Kids = &schema.Type{Kind: schema.Map, Elem: k.Type}, []*Node{k}
		default:
			return nil, fmt.Errorf("%s: type %q is not known", path, r.Type)
		}
	}
	n.ID = id
	n.Type.Nullable, n.Type.NullFirst = optional, optional
	return n, nil
}

// primitive reads the name of a type that is not nested. Writers use hyphens, the forms with
// underscores are accepted too.
func primitive(name string) (*schema.Type, error) {
	logical := func(k schema.Kind, l schema.Logical, text string) (*schema.Type, error) {
		return &schema.Type{Kind: k, Logical: l, LogicalName: text}, nil
	}
	base, args, size := name, []int(nil), 0
	bad := fmt.Errorf("type %q is not known", name)
	if i := strings.IndexByte(base, '['); i >= 0 {
		n, err := strconv.Atoi(strings.TrimSuffix(base[i+1:], "]"))
		if err != nil || n <= 0 || n > 1<<20 {
			return nil, bad
		}
		base, size = base[:i], n
	}
	if i := strings.IndexByte(base, '('); i >= 0 {
		for a := range strings.SplitSeq(strings.TrimSuffix(base[i+1:], ")"), ",") {
			n, err := strconv.Atoi(strings.TrimSpace(a))
			if err != nil {
				return nil, bad
			}
			args = append(args, n)
		}
		base = base[:i]
	}
	switch strings.ReplaceAll(base, "-", "_") {
	case "boolean":
		return &schema.Type{Kind: schema.Boolean}, nil
	case "int":
		return &schema.Type{Kind: schema.Int}, nil
	case "long":
		return &schema.Type{Kind: schema.Long}, nil
	case "float":
		return &schema.Type{Kind: schema.Float}, nil
	case "double":
		return &schema.Type{Kind: schema.Double}, nil
	case "string":
		return &schema.Type{Kind: schema.String}, nil
	case "binary":
		return &schema.Type{Kind: schema.Bytes}, nil
	case "uuid":
		return logical(schema.String, schema.UUID, "uuid")
	case "date":
		return logical(schema.Int, schema.Date, "date")
	case "time":
		return logical(schema.Long, schema.TimeMicros, "time-micros")
	case "time_millis":
		return logical(schema.Int, schema.TimeMillis, "time-millis")
	case "timestamp":
		return logical(schema.Long, schema.TimestampMicros, "timestamp-micros")
	case "timestamp_millis":
		return logical(schema.Long, schema.TimestampMillis, "timestamp-millis")
	case "local_timestamp_micros":
		return logical(schema.Long, schema.LocalTimestampMicros, "local-timestamp-micros")
	case "local_timestamp_millis":
		return logical(schema.Long, schema.LocalTimestampMillis, "local-timestamp-millis")
	case "fixed":
		if size > 0 {
			return &schema.Type{Kind: schema.Fixed, Size: size, Name: "fixed"}, nil
		}
	case "decimal", "decimal_bytes", "decimal_fixed":
		if len(args) != 2 || args[0] <= 0 || args[0] > 1000 || args[1] < 0 || args[1] > args[0] {
			return nil, bad
		}
		t := &schema.Type{Kind: schema.Fixed, Name: "fixed", Size: size, Logical: schema.Decimal, LogicalName: "decimal", Precision: args[0], Scale: args[1]}
		switch {
		case strings.HasSuffix(base, "bytes"):
			t.Kind, t.Name, t.Size = schema.Bytes, "", 0
		case size == 0:
			t.Size = decimalBytes(args[0])
		}
		return t, nil
	}
	return nil, bad
}

// decimalBytes is the number of bytes that hold every decimal of a precision.
func decimalBytes(precision int) int {
	// log2(10) is a little below 3.3219281; one bit is the sign.
	bits := int(float64(precision)*3.3219280948873626) + 2
	return (bits + 7) / 8
}

// History is the internal schemas of a table, oldest first.
type History struct {
	// File is where the history was read, for people.
	File    string
	Schemas []*Schema
}

// ParseHistory reads a file of .hoodie/.schema.
func ParseHistory(data []byte) (*History, error) {
	var h struct {
		Schemas []json.RawMessage `json:"schemas"`
	}
	if err := json.Unmarshal(data, &h); err != nil {
		return nil, fmt.Errorf("schema history: %w", err)
	}
	out := &History{}
	for i, text := range h.Schemas {
		s, err := Parse(text)
		if err != nil {
			return nil, fmt.Errorf("schema history, schema %d: %w", i, err)
		}
		out.Schemas = append(out.Schemas, s)
	}
	sort.SliceStable(out.Schemas, func(i, j int) bool { return out.Schemas[i].Version < out.Schemas[j].Version })
	return out, nil
}

// At returns the schema that files of an instant have: that of the instant, else the last one
// before it; nil when there is none.
func (h *History) At(instant string) *Schema {
	if h == nil {
		return nil
	}
	v, err := strconv.ParseInt(instant, 10, 64)
	if err != nil {
		return nil
	}
	var out *Schema
	for _, s := range h.Schemas {
		if s.Version <= v {
			out = s
		}
	}
	return out
}

// FileInstant returns the instant of the name of a history file, "" for other files.
func FileInstant(name string) string {
	if !strings.HasSuffix(name, "schemacommit") {
		return ""
	}
	if i := strings.IndexAny(name, "_."); i > 0 {
		return name[:i]
	}
	return ""
}
