package skipping

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"hudiscope/core/column"
	"hudiscope/core/filegroup"
	"hudiscope/core/predicate"
	"hudiscope/core/schema"
	"hudiscope/core/table"
)

// ByValues names the pruning by the values of partition columns.
const ByValues = "partition values"

// maxCombinations bounds the readings of one path that are tried.
const maxCombinations = 64

// partitions holds what is known of the values that paths stand for.
type partitions struct {
	t      *table.Table
	rows   *schema.Type
	fields []string
	// exact tells that the column's values in rows come from the path by the table's own reading of it.
	exact bool
	// whole tells that the column shows the path itself.
	whole bool
	// blind says why values can't be told from paths: by field, and "" for all of them.
	blind map[string]string
}

func newPartitions(t *table.Table, rows *schema.Type) *partitions {
	c := t.Config
	p := &partitions{t: t, rows: rows, fields: c.PartitionFields(), blind: map[string]string{}}
	kind := c.KeyGeneratorType()
	dated := strings.EqualFold(c.TimeBased("timestamp.type"), "DATE_STRING")
	switch {
	case c.DropPartitionColumns():
		p.exact = true
	case kind == "TIMESTAMP" && t.Rules.PathIsPartitionValue && !dated:
		p.whole = true
	case kind == "TIMESTAMP":
		p.blind[""] = "The key generator writes formatted times into the paths, from which the column's values can't be told."
	case kind == "USER_PROVIDED":
		p.blind[""] = fmt.Sprintf("The paths are made by the user's own key generator %s.", c.KeyGenerator())
	case kind == "" || kind == "HOODIE_TABLE_METADATA":
		p.blind[""] = "hoodie.properties does not tell the key generator: what the paths are made of is not certain."
	case kind == "CUSTOM":
		types := c.PartitionFieldTypes()
		for i, f := range p.fields {
			if i >= len(types) || types[i] != "SIMPLE" {
				p.blind[f] = "The key generator writes formatted times into the paths for " + f + "."
			}
		}
	}
	return p
}

// over reports whether a condition reads partition columns only.
func (p *partitions) over(b *predicate.Bound) bool {
	columns := b.Columns()
	if len(columns) == 0 {
		return false
	}
	for _, c := range columns {
		if !slices.Contains(p.fields, c) {
			return false
		}
	}
	return true
}

// values returns what the partition columns may be in rows of a partition: for each field the values that its
// part of the path may stand for, nil for null. why says why they can't be told, of all fields or of one.
func (p *partitions) values(path string, field string) (out []*string, why string) {
	if w := p.blind[""]; w != "" {
		return nil, w
	}
	if w := p.blind[field]; w != "" {
		return nil, w
	}
	if p.whole {
		return []*string{&path}, ""
	}
	read, ok := p.t.PartitionValues(path)
	if !ok {
		return nil, fmt.Sprintf("The values of %s can't be told from the path %q.", strings.Join(p.fields, ", "), path)
	}
	if p.exact {
		return []*string{read[field]}, ""
	}
	c := p.t.Config
	text := p.raw(path, field)
	add := func(s string) {
		if !slices.ContainsFunc(out, func(x *string) bool { return x != nil && *x == s }) {
			out = append(out, &s)
		}
	}
	if text == "__HIVE_DEFAULT_PARTITION__" || text == "default" {
		// What is null and what is empty is written alike; and the text itself may be a value.
		out = append(out, nil)
		add("")
		add(text)
		return out, ""
	}
	add(text)
	if !c.HiveStyle() && strings.Contains(path, field+"="+text) {
		add(field + "=" + text)
	}
	if u := filegroup.Unescape(text); u != text {
		if c.URLEncode() {
			out = nil
		}
		add(u)
	}
	if c.SlashSeparatedDates() {
		for _, v := range slices.Clone(out) {
			add(strings.ReplaceAll(*v, "/", "-"))
		}
	}
	return out, ""
}

// raw is the part of a path that belongs to a field, as it is written, without "field=" in front.
func (p *partitions) raw(path, field string) string {
	at := slices.Index(p.fields, field)
	parts := strings.Split(path, "/")
	strip := func(s string) string {
		if name, v, ok := strings.Cut(s, "="); ok && name == field {
			return v
		}
		return s
	}
	switch {
	case len(parts) == len(p.fields):
		return strip(parts[at])
	case len(p.fields) == 1:
		return strip(path)
	}
	// Fragments without a name go on with the value before them.
	i, out := -1, ""
	for _, x := range parts {
		name, v, named := strings.Cut(x, "=")
		if i+1 < len(p.fields) && named && name == p.fields[i+1] {
			i++
			if i == at {
				out = v
			}
		} else if i == at {
			out += "/" + x
		}
	}
	return out
}

// maxDay bounds days of the epoch: the year 9999 ends before.
const maxDay = 2932897

// appendText adds the value that a text of a path stands for in a column; false where that is not certain.
func appendText(v *column.Vector, text *string) bool {
	if text == nil {
		v.AppendNull()
		return true
	}
	t, s := v.Type, *text
	switch {
	case t.Kind == schema.String && t.Logical == schema.None:
		v.AppendString(s)
	case t.Kind == schema.Boolean:
		if s != "true" && s != "false" {
			return false
		}
		v.AppendBool(s == "true")
	case t.Kind == schema.Int && t.Logical == schema.Date:
		if n, err := strconv.ParseInt(s, 10, 32); err == nil && n > -maxDay && n < maxDay {
			v.AppendInt(n) // the day of the epoch
			return true
		}
		x, err := column.ParseText(t, s)
		if err != nil {
			return false
		}
		v.AppendInt(x.Ints[0])
	case (t.Kind == schema.Int || t.Kind == schema.Long) && t.Logical == schema.None:
		bits := 64
		if t.Kind == schema.Int {
			bits = 32
		}
		n, err := strconv.ParseInt(s, 10, bits)
		if err != nil || strconv.FormatInt(n, 10) != s {
			return false
		}
		v.AppendInt(n)
	default:
		// Times have many forms in paths, and fractions too.
		return false
	}
	return true
}

// verdict decides a partition by a condition over partition columns. nulls tells that they may be null, too.
func (p *partitions) verdict(path string, nulls bool, part *predicate.Bound, eval *predicate.Evaluator) (kept bool, why string) {
	columns := part.Columns()
	rows := [][]*string{nil}
	var shown []string
	for _, c := range columns {
		all, why := p.values(path, c)
		if why != "" {
			return true, "Kept: " + why
		}
		if nulls && !slices.Contains(all, nil) {
			all = append(all, nil)
		}
		// A reading that is no value of the column can't be the right one.
		var values []*string
		t := p.rows.Fields[p.rows.FieldIndex(c)].Type
		for _, v := range all {
			if appendText(column.New(t, 1), v) {
				values = append(values, v)
			}
		}
		if len(values) == 0 || nulls && len(values) == 1 && values[0] == nil {
			return true, fmt.Sprintf("Kept: %q is not surely a value of %s.", p.raw(path, c), c)
		}
		if len(rows)*len(values) > maxCombinations {
			return true, "Kept: the path can be read in too many ways."
		}
		var next [][]*string
		for _, r := range rows {
			for _, v := range values {
				next = append(next, append(slices.Clone(r), v))
			}
		}
		rows = next
		var texts []string
		for _, v := range values {
			if v == nil {
				texts = append(texts, "null")
			} else {
				texts = append(texts, *v)
			}
		}
		shown = append(shown, c+" = "+strings.Join(texts, " or "))
	}
	b := &column.Batch{Type: p.rows, Len: len(rows), Columns: make([]*column.Vector, len(p.rows.Fields))}
	for i, c := range columns {
		at := p.rows.FieldIndex(c)
		v := column.New(p.rows.Fields[at].Type, len(rows))
		for _, r := range rows {
			appendText(v, r[i])
		}
		b.Columns[at] = v
	}
	text := strings.Join(shown, ", ")
	for _, truth := range eval.Eval(b, 0, b.Len) {
		if truth == predicate.True {
			return true, fmt.Sprintf("Kept: its rows have %s, which meets %s.", text, part)
		}
	}
	return false, fmt.Sprintf("Left out: its rows have %s, which does not meet %s.", text, part)
}

// prefix is the folder below which Hudi lists, where the leading partition columns are bound to constants; ""
// for none.
func (p *partitions) prefix(conjuncts []*predicate.Bound) string {
	if len(p.blind) > 0 || p.whole || p.exact && len(p.fields) == 0 {
		return ""
	}
	var out []string
	for _, f := range p.fields {
		text, found := "", false
		for _, b := range conjuncts {
			if c, v, ok := equality(b.Root); ok && c == f {
				text, found = v, true
			}
		}
		if !found {
			break
		}
		if p.t.Config.URLEncode() {
			text = escapePath(text)
		}
		if p.t.Config.HiveStyle() {
			text = f + "=" + text
		}
		out = append(out, text)
	}
	return strings.Join(out, "/")
}

// equality takes "column = text or whole number" apart; the value as text.
func equality(e predicate.Expr) (name, text string, ok bool) {
	b, is := e.(*predicate.Binary)
	if !is || b.Op != predicate.Eq {
		return "", "", false
	}
	c, v := b.Left, b.Right
	if _, is := c.(*predicate.Column); !is {
		c, v = v, c
	}
	col, is := c.(*predicate.Column)
	if !is || len(col.Path) != 1 {
		return "", "", false
	}
	text, ok = literalText(v)
	return col.Path[0], text, ok
}

// literalText is a constant as Java writes it: texts and whole numbers.
func literalText(e predicate.Expr) (string, bool) {
	if c, ok := e.(*predicate.Cast); ok && c.Implied {
		// A whole number beside a wider column.
		switch c.Type {
		case "int", "bigint":
			if l, ok := c.X.(*predicate.Literal); ok && l.Kind == "number" {
				return literalText(l)
			}
		}
		return "", false
	}
	l, ok := e.(*predicate.Literal)
	if !ok {
		return "", false
	}
	switch l.Kind {
	case "string":
		s, ok := l.Value.(string)
		return s, ok
	case "number":
		if r, ok := l.Value.(*big.Rat); ok && r.IsInt() && !strings.ContainsAny(strings.ToUpper(l.Text), ".EDF") {
			return r.Num().String(), true
		}
	}
	return "", false
}

// escapePath escapes a partition value for a path (spec file-view.md section 9.1).
func escapePath(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < 0x20 || c == 0x7F || strings.IndexByte("\"#%'*/:=?\\{[]^", c) >= 0 {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}
