package model

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"hudiscope/core/api"
)

// GridColumns is how the columns of a grid are shown: which stay at the left edge, which are hidden, in which order,
// and how wide. Columns are known by their names; names that a table lacks are passed over.
type GridColumns struct {
	Pinned, Hidden []string
	// Order are the columns that come first, in this order; the others follow as they come.
	Order  []string
	Widths map[string]int
}

// MaxPinned is how many columns stay at the left edge, at most.
const MaxPinned = 6

// The widths of a column, in pixels.
const (
	MinColumn, MaxColumn = 40, 1200
)

// ParseGridColumns is the inverse of String. What is not understood is left out.
func ParseGridColumns(text string) GridColumns {
	var g GridColumns
	for _, x := range SplitList(text) {
		kind, name, _ := strings.Cut(x, ":")
		if name == "" {
			continue
		}
		switch {
		case kind == "p":
			g.Pin(name, true)
		case kind == "h":
			g.Hide(name, true)
		case kind == "o":
			if !slices.Contains(g.Order, name) {
				g.Order = append(g.Order, name)
			}
		case strings.HasPrefix(kind, "w"):
			if n, ok := atoi(kind[1:]); ok {
				g.Resize(name, float64(min(n, MaxColumn)))
			}
		}
	}
	return g
}

// String writes the columns for the address; "" where all is as it comes.
func (g GridColumns) String() string {
	var out []string
	for _, n := range g.Pinned {
		out = append(out, "p:"+n)
	}
	for _, n := range g.Hidden {
		out = append(out, "h:"+n)
	}
	for _, n := range g.Order {
		out = append(out, "o:"+n)
	}
	names := make([]string, 0, len(g.Widths))
	for n := range g.Widths {
		names = append(names, n)
	}
	slices.Sort(names)
	for _, n := range names {
		out = append(out, "w"+strconv.Itoa(g.Widths[n])+":"+n)
	}
	return JoinList(out)
}

// Pin keeps a column at the left edge, or lets it go. A pinned column is shown; false tells that there is no room
// for one more.
func (g *GridColumns) Pin(name string, on bool) bool {
	g.Pinned = without(g.Pinned, name)
	if !on {
		return true
	}
	if len(g.Pinned) == MaxPinned {
		return false
	}
	g.Hidden = without(g.Hidden, name)
	g.Pinned = append(g.Pinned, name)
	return true
}

// Hide hides a column, or shows it again. A hidden one is not pinned.
func (g *GridColumns) Hide(name string, on bool) {
	g.Hidden = without(g.Hidden, name)
	if on {
		g.Pinned = without(g.Pinned, name)
		g.Hidden = append(g.Hidden, name)
	}
}

// Resize sets the width of a column in pixels, within bounds; 0 leaves it to what the column holds.
func (g *GridColumns) Resize(name string, width float64) {
	widths := map[string]int{}
	for n, w := range g.Widths {
		if n != name {
			widths[n] = w
		}
	}
	if width > 0 {
		widths[name] = int(min(max(width, MinColumn), MaxColumn))
	}
	g.Widths = widths
}

func without(list []string, name string) []string {
	out := make([]string, 0, len(list))
	for _, x := range list {
		if x != name {
			out = append(out, x)
		}
	}
	return out
}

// Layout are the columns that are shown, as positions in columns, the pinned ones first; pinned is how many those
// are. hideMeta hides the columns that Hudi adds, unless they are pinned.
func (g GridColumns) Layout(columns []api.Column, hideMeta bool) (shown []int, pinned int) {
	at := make(map[string]int, len(columns))
	for i, c := range columns {
		at[c.Name] = i
	}
	used := make([]bool, len(columns))
	add := func(name string) {
		if i, ok := at[name]; ok && !used[i] {
			used[i] = true
			shown = append(shown, i)
		}
	}
	for _, n := range g.Pinned {
		add(n)
	}
	pinned = len(shown)
	for _, n := range g.Hidden {
		if i, ok := at[n]; ok {
			used[i] = true
		}
	}
	if hideMeta {
		for i, c := range columns {
			used[i] = used[i] || c.Meta
		}
	}
	for _, n := range g.Order {
		add(n)
	}
	for _, c := range columns {
		add(c.Name)
	}
	return shown, pinned
}

// Move moves a column by some places among the shown ones, the pinned among themselves. It tells whether it moved.
func (g *GridColumns) Move(columns []api.Column, hideMeta bool, name string, by int) bool {
	shown, pinned := g.Layout(columns, hideMeta)
	names := make([]string, len(shown))
	for i, c := range shown {
		names[i] = columns[c].Name
	}
	from := slices.Index(names, name)
	lo, hi := pinned, len(names)-1
	if from < pinned {
		lo, hi = 0, pinned-1
	}
	if from < 0 || lo > hi {
		return false
	}
	to := min(max(from+by, lo), hi)
	if to == from {
		return false
	}
	names = slices.Insert(slices.Delete(names, from, from+1), to, name)
	if from < pinned {
		g.Pinned = slices.Clone(names[:pinned])
		return true
	}
	// Only as many are named as are needed: those after them come by themselves in the order that is wanted.
	rest := names[pinned:]
	for n := 0; ; n++ {
		try := *g
		try.Order = slices.Clone(rest[:n])
		now, _ := try.Layout(columns, hideMeta)
		if slices.EqualFunc(now, names, func(c int, name string) bool { return columns[c].Name == name }) {
			g.Order = try.Order
			return true
		}
		if n == len(rest) {
			return false
		}
	}
}

// JoinOrder writes the columns that rows are ordered by, for the address.
func JoinOrder(keys []api.SortKey) string {
	var out []string
	for _, k := range keys {
		dir := "a"
		if k.Desc {
			dir = "d"
		}
		if k.Nulls != "" {
			dir += k.Nulls[:1]
		}
		out = append(out, dir+":"+k.Column)
	}
	return JoinList(out)
}

// SplitOrder is the inverse of [JoinOrder]. What is not understood is left out.
func SplitOrder(text string) []api.SortKey {
	var out []api.SortKey
	for _, x := range SplitList(text) {
		dir, name, _ := strings.Cut(x, ":")
		k := api.SortKey{Column: name}
		switch {
		case name == "", dir == "":
			continue
		case dir[0] == 'd':
			k.Desc = true
		case dir[0] != 'a':
			continue
		}
		switch dir[1:] {
		case "f":
			k.Nulls = "first"
		case "l":
			k.Nulls = "last"
		case "":
		default:
			continue
		}
		out = append(out, k)
	}
	return out
}

// NextOrder is the order after a column was chosen once more: ascending, then descending, then not at all. add keeps
// the other columns, and puts a new one behind them.
func NextOrder(keys []api.SortKey, column string, add bool) []api.SortKey {
	var out []api.SortKey
	found := false
	for _, k := range keys {
		switch {
		case k.Column != column:
			if add {
				out = append(out, k)
			}
		case !k.Desc:
			found = true
			out = append(out, api.SortKey{Column: column, Desc: true})
		default:
			found = true
		}
	}
	if !found {
		out = append(out, api.SortKey{Column: column})
	}
	return out
}

// OrderOf is the place of a column in an order from 1, 0 when it is not there.
func OrderOf(keys []api.SortKey, column string) (place int, desc bool) {
	for i, k := range keys {
		if k.Column == column {
			return i + 1, k.Desc
		}
	}
	return 0, false
}

// QuoteColumn writes a column's name in SQL.
func QuoteColumn(name string) string {
	return "`" + strings.ReplaceAll(name, "`", "``") + "`"
}

// columnWord writes a name without quotes where it is a plain word.
func columnWord(name string) string {
	plain := name != ""
	for i, r := range name {
		if r != '_' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (i == 0 || r < '0' || r > '9') {
			plain = false
		}
	}
	if !plain || reserved[strings.ToLower(name)] {
		return QuoteColumn(name)
	}
	return name
}

// reserved are words that mean something else in a condition.
var reserved = map[string]bool{"and": true, "or": true, "not": true, "is": true, "null": true, "true": true, "false": true, "in": true, "like": true, "between": true,
	"case": true, "when": true, "then": true, "else": true, "end": true, "cast": true, "as": true, "date": true, "timestamp": true, "timestamp_ltz": true, "timestamp_ntz": true,
	"interval": true, "exists": true, "x": true, "r": true, "div": true, "ilike": true, "rlike": true, "regexp": true, "escape": true, "distinct": true, "from": true}

// QuoteText writes a text constant in SQL, as Spark reads it.
func QuoteText(s string) string {
	var b strings.Builder
	b.WriteByte('\'')
	for i := range len(s) {
		switch c := s[i]; c {
		case '\'', '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case '\n':
			b.WriteString(`\n`)
		case '\r':
			b.WriteString(`\r`)
		case '\t':
			b.WriteString(`\t`)
		case 0:
			b.WriteString(`\0`)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('\'')
	return b.String()
}

// Literal writes a value of a column's type, given as JSON, as an SQL constant; false where there is none, as for
// nested values.
func Literal(typ string, value json.RawMessage) (string, bool) {
	cell := Cell(value)
	var s string
	if cell.Kind == StringNode && json.Unmarshal(value, &s) != nil {
		return "", false
	}
	switch cell.Kind {
	case NullNode, ObjectNode, ArrayNode:
		return "", false
	case BoolNode:
		return cell.Text, true
	}
	base, _, _ := strings.Cut(typ, "(")
	switch base {
	case "int", "long":
		return cell.Text, cell.Kind == NumberNode
	case "float", "double":
		if cell.Kind == StringNode {
			s = `'` + s + `'` // NaN and infinities
		} else {
			s = `'` + cell.Text + `'`
		}
		return "CAST(" + s + " AS " + strings.ToUpper(base) + ")", true
	case "decimal":
		if cell.Kind == StringNode {
			return s, true
		}
		return cell.Text, cell.Kind == NumberNode
	case "string", "enum", "uuid":
		return QuoteText(s), cell.Kind == StringNode
	case "date":
		return "DATE " + QuoteText(s), cell.Kind == StringNode
	case "timestamp":
		return "TIMESTAMP " + QuoteText(s), cell.Kind == StringNode
	case "local-timestamp":
		return "TIMESTAMP_NTZ " + QuoteText(strings.TrimSuffix(s, "Z")), cell.Kind == StringNode
	}
	return "", false
}

// Equals is the condition that a column has a value; false where no condition says so.
func Equals(column, typ string, value json.RawMessage) (string, bool) {
	if Cell(value).Kind == NullNode {
		return columnWord(column) + " IS NULL", true
	}
	l, ok := Literal(typ, value)
	return columnWord(column) + " = " + l, ok
}

// Between is the condition that a column's values lie in an interval, its end left out.
func Between(column, typ string, i api.Interval) (string, bool) {
	from, ok := Literal(typ, i.From)
	to, ok2 := Literal(typ, i.To)
	c := columnWord(column)
	return c + " >= " + from + " AND " + c + " < " + to, ok && ok2
}

// AndWhere adds a condition to those there are, once.
func AndWhere(where, condition string) string {
	where = strings.TrimSpace(where)
	switch {
	case where == "":
		return condition
	case where == condition || strings.HasSuffix(where, " AND "+condition) || strings.HasPrefix(where, condition+" AND "):
		return where
	case strings.Contains(strings.ToLower(where), "or"):
		where = "(" + where + ")"
	}
	return where + " AND " + condition
}

// RowJSON writes a row as a JSON object with its columns in order.
func RowJSON(columns []api.Column, row []json.RawMessage) string {
	var b strings.Builder
	b.WriteByte('{')
	for i, c := range columns {
		if i >= len(row) {
			break
		}
		if i > 0 {
			b.WriteByte(',')
		}
		name, _ := json.Marshal(c.Name)
		b.Write(name)
		b.WriteByte(':')
		b.Write(row[i])
	}
	b.WriteByte('}')
	return Pretty([]byte(b.String()))
}

// RowWhere is the condition that finds a row again by its key; false where it has none.
func RowWhere(columns []api.Column, row []json.RawMessage, keys []string) (string, bool) {
	at := map[string]int{}
	for i, c := range columns {
		if i < len(row) {
			at[c.Name] = i
		}
	}
	list := keys
	if i, ok := at["_hoodie_record_key"]; ok && Cell(row[i]).Kind == StringNode {
		list = []string{"_hoodie_record_key"}
		if j, ok := at["_hoodie_partition_path"]; ok && Cell(row[j]).Text != "" {
			list = append(list, "_hoodie_partition_path")
		}
	}
	where := ""
	for _, name := range list {
		i, ok := at[name]
		if !ok {
			return "", false
		}
		c, ok := Equals(name, columns[i].Type, row[i])
		if !ok {
			return "", false
		}
		where = AndWhere(where, c)
	}
	return where, where != ""
}
