package groupreader

import (
	"fmt"
	"strings"

	"hudiscope/core/column"
	"hudiscope/core/logfile"
	"hudiscope/core/schema"
)

// fitsBase looks at the columns of the base file; b is a batch of it with the names of the reader's columns.
func (r *reader) fitsBase(f BaseFile, b *column.Batch) {
	if b.Len == 0 || r.foreign[r.s.Base] || r.withoutMeta(b, r.s.Base, r.s.Base) {
		return
	}
	unknown, missing := r.strays(b.Type)
	if missing == "" {
		return
	}
	// The mapping of a schema on read leaves out what the file has under a name that is another column's now.
	if meta, ok := f.(interface {
		Lookup(key string) (string, bool)
	}); ok && (r.o.Evolve == nil || unknown != "") {
		if text, ok := meta.Lookup("parquet.avro.schema"); ok {
			if t, err := schema.Parse(strings.Clone(text)); err == nil && r.lost(t, r.s.Base, r.s.Base, unknown, missing, "the schema in its footer") {
				return
			}
		}
	}
	r.lostBy(r.s.BaseInstant, r.s.Base, r.s.Base, unknown, missing)
}

// fitsBlock is fitsBase for the first records of a block of a log file.
func (r *reader) fitsBlock(f *logfile.Reader, block *logfile.Block, b *column.Batch) {
	file, text := f.Path(), block.SchemaText()
	if b.Len == 0 || r.foreign[file] || text != "" && block.Type == logfile.AvroDataBlock && text == r.fitting {
		return
	}
	where := fmt.Sprintf("the block at byte %d of %s", block.Start, file)
	if r.withoutMeta(b, file, where) {
		return
	}
	unknown, missing := r.strays(b.Type)
	if missing == "" || unknown == "" {
		r.fitting = text
		return
	}
	// The records of an Avro block have the columns of its header's schema; others have names of their own.
	if block.Type != logfile.AvroDataBlock && text != "" {
		if t, err := schema.Parse(text); err == nil && r.lost(t, file, where, unknown, missing, "the schema in its header") {
			return
		}
	}
	r.lostBy(block.Instant(), file, where, unknown, missing)
}

// withoutMeta tells of rows without the columns that every writer of the table puts into each.
func (r *reader) withoutMeta(b *column.Batch, file, where string) bool {
	if !r.o.MetaFields || r.s.Source != "" {
		return false
	}
	for _, name := range schema.MetaFields() {
		if b.Type.FieldIndex(name) < 0 {
			r.tell(file, "%s has no column %s, which every row of this table has (hoodie.populate.meta.fields is not false): it is another table's, or a name in its schema is damaged.", where, name)
			return true
		}
	}
	return false
}

// strays returns a column of a file that the reader does not know, and one of the reader that the file does not have, "" when
// there is none; a field below others is named with dots. Where a record has both, those two are returned.
func (r *reader) strays(file *schema.Type) (unknown, missing string) {
	return strays(file, r.o.Reader, "", 0, func(name string) bool {
		_, constant := r.o.Constants[name]
		return constant || schema.IsMetaField(name)
	})
}

func strays(file, reader *schema.Type, path string, depth int, passed func(name string) bool) (unknown, missing string) {
	switch {
	case file == nil || reader == nil || file.Kind != reader.Kind || depth > maxNesting:
		return "", ""
	case file.Kind == schema.Array || file.Kind == schema.Map:
		return strays(file.Elem, reader.Elem, path+"element.", depth+1, nil)
	case file.Kind != schema.Record:
		return "", ""
	}
	known := make(map[string]int, len(file.Fields))
	for i := range file.Fields {
		known[file.Fields[i].Name] = i
	}
	seen := 0
	var inner, innerUnknown string
	for i := range reader.Fields {
		f := &reader.Fields[i]
		j, ok := known[f.Name]
		switch {
		case passed != nil && passed(f.Name):
			if ok {
				seen++
			}
		case !ok:
			if missing == "" {
				missing = path + f.Name
			}
		default:
			seen++
			if inner == "" || innerUnknown == "" {
				if u, m := strays(file.Fields[j].Type, f.Type, path+f.Name+".", depth+1, nil); m != "" && (inner == "" || u != "") {
					innerUnknown, inner = u, m
				}
			}
		}
	}
	if seen < len(file.Fields) {
		for i := range file.Fields {
			if name := file.Fields[i].Name; reader.FieldIndex(name) < 0 && !(passed != nil && passed(name)) {
				unknown = path + name
				break
			}
		}
	}
	if missing == "" || unknown == "" && innerUnknown != "" {
		return innerUnknown, inner
	}
	return unknown, missing
}

// maxNesting bounds how deep columns are compared.
const maxNesting = 64

// declares reports whether a record type has a field, named with dots as strays does.
func declares(t *schema.Type, name string, depth int) bool {
	for t != nil && (t.Kind == schema.Array || t.Kind == schema.Map) {
		rest, ok := strings.CutPrefix(name, "element.")
		if !ok {
			return false
		}
		t, name = t.Elem, rest
	}
	if t == nil || t.Kind != schema.Record || depth > maxNesting {
		return false
	}
	if t.FieldIndex(name) >= 0 {
		return true
	}
	// Names of fields may have dots themselves.
	for i := range t.Fields {
		if rest, ok := strings.CutPrefix(name, t.Fields[i].Name+"."); ok && declares(t.Fields[i].Type, rest, depth+1) {
			return true
		}
	}
	return false
}

// lost tells of a column that a file should have by what its writer says of it, and does not.
func (r *reader) lost(by *schema.Type, file, where, unknown, missing, source string) bool {
	if !declares(by, missing, 0) || unknown != "" && declares(by, unknown, 0) {
		return false
	}
	if unknown == "" {
		r.tell(file, "%s has no column %q, though %s says so: its rows are shown without the values.", where, missing, source)
		return true
	}
	r.tell(file, "%s has a column %q, which the table does not know, and no column %q, though %s says so: a name in its schema is damaged, and its rows are shown without the values.", where, unknown, missing, source)
	return true
}

// lostBy is lost by the commit that wrote the file.
func (r *reader) lostBy(instant, file, where, unknown, missing string) {
	if unknown == "" || r.o.Written == nil || instant == "" {
		return
	}
	// What can't be read of the commit is told where it is shown.
	if t, err := r.o.Written(r.ctx, instant); err == nil && t != nil {
		r.lost(t, file, where, unknown, missing, "the commit metadata of "+instant)
	}
}

// keyed looks at the record key of the first row of a batch: it must be made of the field that holds it.
func (r *reader) keyed(b *column.Batch, file, where string) {
	name := r.o.KeyField
	if name == "" {
		return
	}
	key := b.Column(schema.RecordKeyField)
	p := resolve(b, name)
	if key == nil || key.Type.Kind != schema.String || key.IsNull(0) || p == nil {
		return
	}
	for _, c := range p {
		if c == nil || c.IsNull(0) {
			return
		}
	}
	field := p[len(p)-1]
	switch t := field.Type; {
	case t.Logical != schema.None:
		return
	case t.Kind != schema.String && t.Kind != schema.Int && t.Kind != schema.Long:
		return
	}
	// Some releases write the name before the value.
	got, value := string(key.BytesAt(0)), string(column.AppendPlain(nil, field, 0))
	if got == value || got == name+":"+value || value == "" {
		return
	}
	r.tell(file, "the first row of %s has the record key %q, and %q in the field %s, which the key is made of: the content is damaged, or a name in its schema.", where, got, value, name)
}

// tell notes something of a file, once for all there is to say of it.
func (r *reader) tell(file, format string, args ...any) {
	if r.foreign == nil {
		r.foreign = map[string]bool{}
	}
	r.foreign[file] = true
	r.stats.note(format, args...)
}
