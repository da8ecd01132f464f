package query

import (
	"context"
	"iter"
	"strings"

	"hudiscope/core/column"
	"hudiscope/core/groupreader"
	"hudiscope/core/schema"
	"hudiscope/core/table"
)

// The row kinds, as Flink writes them.
const (
	kindInsert       = "+I"
	kindUpdateBefore = "-U"
	kindUpdateAfter  = "+U"
	kindDelete       = "-D"
)

// kindOf turns _hoodie_operation into a row kind.
func kindOf(operation string) string {
	switch operation {
	case "-U":
		return kindUpdateBefore
	case "U":
		return kindUpdateAfter
	case "D":
		return kindDelete
	}
	return kindInsert
}

// Type is the type of the rows of splits: the row kind, then the table's columns.
func (f *Flink) Type() *schema.Type {
	out := *f.sc.Type
	out.Fields = append([]schema.Field{{Name: "kind", Type: &schema.Type{Kind: schema.String}}}, f.sc.Type.Fields...)
	return &out
}

// From says where the schema was found.
func (f *Flink) From() string { return f.sc.From }

// kinded gathers rows with their kinds to batches.
type kinded struct {
	typ   *schema.Type
	batch *column.Batch
	yield func(Row, error) bool
}

const kindedRows = 512

func (k *kinded) start() *column.Batch {
	if k.batch == nil {
		k.batch = &column.Batch{Type: k.typ}
		for i := range k.typ.Fields {
			k.batch.Columns = append(k.batch.Columns, column.New(k.typ.Fields[i].Type, kindedRows))
		}
	}
	k.batch.Len++
	return k.batch
}

// add appends a row.
func (k *kinded) add(kind string, row column.Row) {
	b := k.start()
	b.Columns[0].AppendString(kind)
	for i := 1; i < len(b.Columns); i++ {
		src := row.Batch.Column(k.typ.Fields[i].Name)
		if src == nil || src.Type.Kind != b.Columns[i].Type.Kind || src.IsNull(row.Index) {
			b.Columns[i].AppendNull()
			continue
		}
		b.Columns[i].AppendFrom(src, row.Index)
	}
}

// keyOnly appends a deleted row of which only the key is known.
func (k *kinded) keyOnly(key string, fields map[string]string) {
	b := k.start()
	b.Columns[0].AppendString(kindDelete)
	for i := 1; i < len(b.Columns); i++ {
		v, ok := fields[k.typ.Fields[i].Name]
		if k.typ.Fields[i].Name == schema.RecordKeyField && key != "" {
			v, ok = key, true
		}
		if !ok {
			b.Columns[i].AppendNull()
			continue
		}
		one, err := column.ParseText(b.Columns[i].Type, v)
		if err != nil {
			b.Columns[i].AppendNull()
			continue
		}
		b.Columns[i].AppendFrom(one, 0)
	}
}

// flush hands on what was gathered.
func (k *kinded) flush(end bool) (more bool) {
	if k.batch == nil || !end && k.batch.Len < kindedRows {
		return true
	}
	b := k.batch
	k.batch = nil
	for i := range b.Len {
		if !k.yield(Row{Batch: b, Index: i}, nil) {
			return false
		}
	}
	return true
}

// keyFields takes the key columns from a record key: "v", or "a:1,b:2".
func (f *Flink) keyFields(key string) map[string]string {
	fields := f.t.Config.RecordKeyFields()
	out := map[string]string{}
	if len(fields) == 1 && !strings.HasPrefix(key, fields[0]+":") {
		out[fields[0]] = key
		return out
	}
	rest := key
	for i, name := range fields {
		v, ok := strings.CutPrefix(rest, name+":")
		if !ok {
			return out
		}
		if i+1 < len(fields) {
			if n := strings.Index(v, ","+fields[i+1]+":"); n >= 0 {
				v, rest = v[:n], v[n+1:]
			}
		}
		switch v {
		case "__null__":
		case "__empty__":
			out[name] = ""
		default:
			out[name] = v
		}
	}
	return out
}

// Rows reads a split; streaming reads tell of deletes. st may be nil.
func (f *Flink) Rows(ctx context.Context, s *Split, streaming bool, ro table.ReadOptions, st *groupreader.Stats) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		if s.Class == "CdcInputSplit" {
			r := &changeReader{t: f.t, schema: f.sc, query: table.Query{Type: table.Snapshot}, tl: f.tl}
			r.read(ctx, s.Changes, ro, &kindedChanges{kinded: &kinded{typ: f.Type(), yield: yield}, table: f.sc.Type}, yield)
			return
		}
		if s.Base == "" && len(s.Logs) == 0 {
			return
		}
		if s.Range != nil && !f.t.Config.PopulateMetaFields() {
			yield(Row{}, refuse("The rows of such a table do not tell their commit; read a snapshot instead.", "Rows of a range can't be told from others when meta fields are disabled."))
			return
		}
		if st == nil {
			st = new(groupreader.Stats)
		}
		k := &kinded{typ: f.Type(), yield: yield}
		g := s.slice()
		q := table.Query{Type: table.Snapshot, SkipMerge: s.MergeType == "skip_merge" && s.Base != "" && len(s.Logs) > 0}
		sel := table.Selection{Query: q, Schema: f.sc, Slices: []groupreader.Slice{g}, AsOf: s.LatestCommit, Timeline: f.tl, Blocks: s.Range}
		// Up to 0.15 the base rows of a skip-merge read are not filtered.
		if s.Range != nil && s.Base != "" && !(q.SkipMerge && f.t.Rules.SkipMergesLogs) {
			sel.KeepBase = s.Range.Contains
		}
		unmerged := s.Base == "" && f.o.Changelog && streaming || q.SkipMerge && !f.t.Rules.SkipMergesLogs
		sel.Unmerged = unmerged && len(s.Logs) > 0
		plan, err := f.t.PlanSelection(sel)
		if err != nil {
			yield(Row{}, err)
			return
		}
		// Up to 0.15 a bounded read without changelog.enabled does not know the deletes among records that
		// meet no base row of the range, and shows them.
		strays := !streaming && f.loses() && f.t.Rules.Payloads && !f.o.Changelog && s.Base != "" && len(s.Logs) > 0 && !q.SkipMerge
		if !unmerged && (streaming || strays) {
			ro.Observe = func(step groupreader.Step) {
				if !step.Final {
					return
				}
				w := step.Decision.Winner()
				if w == nil || !w.Delete || strays && (step.Decision.Older != nil || w.Row.Batch == nil) {
					return
				}
				switch {
				case w.Row.Batch != nil:
					k.add(kindDelete, w.Row)
				case f.t.Rules.Payloads && s.Base != "" && !q.SkipMerge:
					// These releases tell of a deleted row only when the delete holds its values.
				default:
					key := string(step.Key)
					stored := key
					if f.t.Rules.Payloads {
						stored = ""
					}
					k.keyOnly(stored, f.keyFields(key))
				}
			}
		}
		for row, err := range plan.Rows(ctx, g, ro, st) {
			if err != nil {
				yield(Row{}, err)
				return
			}
			kind := kindInsert
			if row.Origin != groupreader.FromBase {
				if op := row.Batch.Column(schema.OperationField); op != nil {
					text, _ := op.Text(row.Index)
					kind = kindOf(text)
				}
			}
			k.add(kind, row.Row)
			if !k.flush(false) {
				return
			}
		}
		k.flush(true)
	}
}
