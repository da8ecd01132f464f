package groupreader

import (
	"fmt"
	"strings"

	"hudiscope/core/column"
	"hudiscope/core/corrupt"
	"hudiscope/core/merge"
	"hudiscope/core/schema"
)

// deletedField flags a row as deleted when it is true.
const deletedField = "_hoodie_is_deleted"

// keyer reads key, ordering value and delete flag of the rows of one batch.
type keyer struct {
	keys     []*column.Vector
	names    []string
	meta     bool
	order    []fieldPath
	deletedC *column.Vector
	opC      *column.Vector
	markC    *column.Vector
	marker   string
	file     string
	// offset is where the block of the rows begins in file, corrupt.Unknown for a base file.
	offset int64
	buf    []byte
	// flags is false when no row of the batch can be flagged as deleted.
	flags bool
}

// fieldPath is an ordering field: a top-level column and the record fields below it.
type fieldPath []*column.Vector

func newKeyer(b *column.Batch, o *Options, file string, offset int64) (*keyer, error) {
	k := flagsOf(b, o.DeleteField, o.DeleteMarker)
	k.file, k.offset = file, offset
	if len(o.KeyFields) == 0 {
		c := b.Column(schema.RecordKeyField)
		if c == nil || c.Type.Kind != schema.String {
			return nil, k.keyless("a text column "+schema.RecordKeyField+" to merge by", "none")
		}
		k.keys, k.meta = []*column.Vector{c}, true
	} else {
		for _, f := range o.KeyFields {
			c := resolve(b, f)
			if c == nil {
				return nil, k.keyless("the record key field "+f, "data without it")
			}
			k.keys = append(k.keys, c[len(c)-1])
			k.names = append(k.names, f)
		}
	}
	for _, f := range o.Ordering {
		k.order = append(k.order, resolve(b, f))
	}
	return k, nil
}

// keyless says that records have no key to be merged by.
func (k *keyer) keyless(want, got string) error {
	return &corrupt.Error{File: k.file, Offset: k.offset, Part: "record key", Want: want, Got: got, Try: "The file is damaged, or the table's record key fields in hoodie.properties are not those it was written with."}
}

// resolve finds a (dotted) field; nil when it is not there.
func resolve(b *column.Batch, field string) fieldPath {
	top, rest, nested := strings.Cut(field, ".")
	c := b.Column(top)
	if c == nil {
		return nil
	}
	p := fieldPath{c}
	for nested {
		if c.Type.Kind != schema.Record {
			return nil
		}
		top, rest, nested = strings.Cut(rest, ".")
		i := c.Type.FieldIndex(top)
		if i < 0 {
			return nil
		}
		c = c.Children[i]
		p = append(p, c)
	}
	return p
}

// key returns the record key of row i. The bytes are valid until the next call.
func (k *keyer) key(i int) ([]byte, error) {
	if k.meta {
		c := k.keys[0]
		if c.IsNull(i) {
			return nil, k.keyless("a record key in every row", fmt.Sprintf("none in row %d", i))
		}
		return c.BytesAt(i), nil
	}
	k.buf = k.buf[:0]
	for n, c := range k.keys {
		if len(k.keys) > 1 {
			if n > 0 {
				k.buf = append(k.buf, ',')
			}
			k.buf = append(append(k.buf, k.names[n]...), ':')
		}
		switch {
		case c.IsNull(i) && len(k.keys) == 1:
			return nil, k.keyless("a record key in every row", fmt.Sprintf("a null in the field %s of row %d", k.names[n], i))
		case c.IsNull(i):
			k.buf = append(k.buf, "__null__"...)
		default:
			before := len(k.buf)
			k.buf = column.AppendPlain(k.buf, c, i)
			if len(k.buf) == before && len(k.keys) > 1 {
				k.buf = append(k.buf, "__empty__"...)
			}
		}
	}
	return k.buf, nil
}

// ordering writes the ordering value of row i to o, which must be zero.
func (k *keyer) ordering(i int, o *merge.Ordering) {
	switch len(k.order) {
	case 0:
	case 1:
		k.order[0].value(i, o)
	default:
		o.Class, o.Tuple = merge.Tuple, make([]merge.Ordering, len(k.order))
		for n, p := range k.order {
			p.value(i, &o.Tuple[n])
		}
	}
}

func (p fieldPath) value(i int, o *merge.Ordering) {
	for _, c := range p {
		if c.IsNull(i) {
			return
		}
	}
	if len(p) > 0 {
		merge.FromColumn(p[len(p)-1], i, o)
	}
}

// DeleteFlags returns a function that tells which rows of a batch are deletes by their own values:
// by _hoodie_is_deleted, _hoodie_operation, or the value marker in a column field ("" = none).
func DeleteFlags(b *column.Batch, field, marker string) func(row int) bool {
	return flagsOf(b, field, marker).deleted
}

// flagsOf is a keyer that knows the delete flags only.
func flagsOf(b *column.Batch, field, marker string) *keyer {
	k := &keyer{marker: marker, deletedC: b.Column(deletedField), opC: b.Column(schema.OperationField)}
	if k.deletedC != nil && k.deletedC.Type.Kind != schema.Boolean {
		k.deletedC = nil
	}
	if field != "" && marker != "" {
		k.markC = b.Column(field)
	}
	k.flags = k.deletedC != nil || k.opC != nil || k.markC != nil
	return k
}

// deleted reports whether row i is a delete by its own values (spec record-merging.md section 5).
func (k *keyer) deleted(i int) bool {
	if !k.flags {
		return false
	}
	if k.deletedC != nil && !k.deletedC.IsNull(i) && k.deletedC.Bools[i] {
		return true
	}
	if k.opC != nil {
		if op, ok := k.opC.Text(i); ok && (op == "D" || op == "-U") {
			return true
		}
	}
	return k.markC != nil && !k.markC.IsNull(i) && string(column.AppendPlain(nil, k.markC, i)) == k.marker
}
