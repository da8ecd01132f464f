package skipping

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf16"

	"hudiscope/core/config"
	"hudiscope/core/predicate"
	"hudiscope/core/schema"
)

// keyMeta is the meta column of record keys.
const keyMeta = "_hoodie_record_key"

// maxKeys bounds the keys of one look-up.
const maxKeys = 1000

// keys are the record keys that a condition allows.
type keys struct {
	// texts are their texts; a key of one column has two forms, of which only one is in use.
	texts []string
	// conjuncts are the parts of the condition that bind them, text is what they are.
	conjuncts []*predicate.Bound
	text      string
	// values are those of the key columns, for each key, in the order of fields; nil for _hoodie_record_key.
	fields []string
	values [][]string
}

// pinned returns the values to which a conjunct binds a column: column = constant or column IN (constants).
func pinned(rows *schema.Type, b *predicate.Bound, column string) ([]string, bool) {
	at := rows.FieldIndex(column)
	if at < 0 {
		return nil, false
	}
	t := rows.Fields[at].Type
	if t.Logical != schema.None || t.Kind != schema.String && t.Kind != schema.Int && t.Kind != schema.Long {
		return nil, false
	}
	list := []predicate.Expr{}
	switch e := b.Root.(type) {
	case *predicate.Binary:
		c, v := e.Left, e.Right
		if predicate.Constant(c) {
			c, v = v, c
		}
		if e.Op != predicate.Eq && e.Op != predicate.NullSafe || !isColumn(c, column) {
			return nil, false
		}
		list = append(list, v)
	case *predicate.In:
		if !isColumn(e.X, column) {
			return nil, false
		}
		list = e.List
	default:
		return nil, false
	}
	var out []string
	for _, v := range list {
		text, ok := literalText(v)
		if !ok {
			return nil, false
		}
		out = append(out, text)
	}
	return out, len(out) > 0
}

func isColumn(e predicate.Expr, name string) bool {
	c, ok := e.(*predicate.Column)
	return ok && len(c.Path) == 1 && c.Path[0] == name
}

// keysOf finds the record keys that a condition allows, nil when it does not bind them.
func keysOf(c *config.Config, rows *schema.Type, conjuncts []*predicate.Bound) *keys {
	for _, b := range conjuncts {
		if v, ok := pinned(rows, b, keyMeta); ok && len(v) <= maxKeys {
			return &keys{texts: v, conjuncts: []*predicate.Bound{b}, text: b.String()}
		}
	}
	switch c.KeyGeneratorType() {
	case "SIMPLE", "COMPLEX", "TIMESTAMP", "CUSTOM", "NON_PARTITION", "GLOBAL_DELETE", "SPARK_SQL", "SPARK_SQL_MERGE_INTO":
	default:
		// Only the key's own text is certain.
		return nil
	}
	fields := c.RecordKeyFields()
	if len(fields) == 0 {
		return nil
	}
	k := &keys{fields: fields, values: [][]string{nil}}
	var texts []string
	for _, f := range fields {
		var values []string
		for _, b := range conjuncts {
			if v, ok := pinned(rows, b, f); ok {
				values = v
				k.conjuncts = append(k.conjuncts, b)
				texts = append(texts, b.String())
				break
			}
		}
		if values == nil || len(k.values)*len(values) > maxKeys {
			return nil
		}
		var next [][]string
		for _, row := range k.values {
			for _, v := range values {
				next = append(next, append(slices.Clone(row), v))
			}
		}
		k.values = next
	}
	k.text = strings.Join(texts, " AND ")
	for _, row := range k.values {
		named := make([]string, len(row))
		for i, v := range row {
			if v == "" {
				v = "__empty__"
			}
			named[i] = fields[i] + ":" + v
		}
		if len(row) == 1 {
			if row[0] == "" {
				return nil
			}
			k.texts = append(k.texts, row[0])
		}
		k.texts = append(k.texts, strings.Join(named, ","))
	}
	return k
}

// bucket is the bucket of a key (spec file-view.md section 10).
func bucket(values []string, n int) int {
	h := int32(1)
	for _, v := range values {
		s := int32(0)
		for _, u := range utf16.Encode([]rune(v)) {
			s = 31*s + int32(u)
		}
		h = 31*h + s
	}
	return int(h&0x7FFFFFFF) % n
}

// bucketOf is the bucket that a file id tells; ok is false when it is not that of a simple bucket index.
func bucketOf(fileID string) (n int, ok bool) {
	if len(fileID) < 9 || fileID[8] != '-' {
		return 0, false
	}
	for _, c := range fileID[:8] {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = 10*n + int(c-'0')
	}
	return n, true
}

// shortList renders some texts for a sentence.
func shortList(list []string) string {
	if len(list) > 3 {
		return fmt.Sprintf("%s and %d more", strings.Join(list[:3], ", "), len(list)-3)
	}
	return strings.Join(list, ", ")
}
