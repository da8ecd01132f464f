package schema

import "fmt"

// The meta fields Hudi puts before a table's own, in this order. All are ["null","string"].
const (
	CommitTimeField    = "_hoodie_commit_time"
	CommitSeqnoField   = "_hoodie_commit_seqno"
	RecordKeyField     = "_hoodie_record_key"
	PartitionPathField = "_hoodie_partition_path"
	FileNameField      = "_hoodie_file_name"
	// OperationField is written only with hoodie.allow.operation.metadata.field.
	OperationField = "_hoodie_operation"
)

// MetaFields returns the names of the five meta fields, in order.
func MetaFields() []string {
	return []string{CommitTimeField, CommitSeqnoField, RecordKeyField, PartitionPathField, FileNameField}
}

// IsMetaField reports whether a field is one of Hudi's own, _hoodie_operation included.
func IsMetaField(name string) bool {
	switch name {
	case CommitTimeField, CommitSeqnoField, RecordKeyField, PartitionPathField, FileNameField, OperationField:
		return true
	}
	return false
}

// WithMetaFields returns record t with the five meta fields in front, and behind them
// _hoodie_operation where operation is set; those t has already are moved, not doubled.
func (t *Type) WithMetaFields(operation bool) *Type {
	names := MetaFields()
	if operation {
		names = append(names, OperationField)
	}
	out := *t
	out.Fields = make([]Field, 0, len(t.Fields)+len(names))
	meta := &Type{Kind: String, Nullable: true, NullFirst: true}
	moved := map[string]bool{}
	for _, name := range names {
		moved[name] = true
		if i := t.FieldIndex(name); i >= 0 {
			out.Fields = append(out.Fields, t.Fields[i])
		} else {
			out.Fields = append(out.Fields, Field{Name: name, Type: meta, HasDoc: true, HasDefault: true, Default: "null"})
		}
	}
	for _, f := range t.Fields {
		if !moved[f.Name] {
			out.Fields = append(out.Fields, f)
		}
	}
	return &out
}

// Project returns record t with only the fields keep chooses, in their order.
func (t *Type) Project(keep func(field string) bool) *Type {
	out := *t
	out.Fields = nil
	for _, f := range t.Fields {
		if keep(f.Name) {
			out.Fields = append(out.Fields, f)
		}
	}
	return &out
}

// Select returns record t with the named fields, in the order of names. A name that t
// does not have is an error.
func (t *Type) Select(names ...string) (*Type, error) {
	out := *t
	out.Fields = make([]Field, 0, len(names))
	for _, name := range names {
		i := t.FieldIndex(name)
		if i < 0 {
			return nil, fmt.Errorf("schema %s has no field %q", t.FullName(), name)
		}
		out.Fields = append(out.Fields, t.Fields[i])
	}
	return &out, nil
}
