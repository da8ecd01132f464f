package explorer

import (
	"context"

	"hudiscope/core/api"
	"hudiscope/core/column"
	"hudiscope/core/compare"
	"hudiscope/core/schema"
	"hudiscope/core/table"
)

// Limits of a comparison.
const (
	defaultCompareRows = 100
	maxCompareRows     = 1000
	defaultCompareKeys = 2_000_000
)

// Compare tells how a table changed from one instant to another.
func (s *Service) Compare(ctx context.Context, req api.CompareRequest) (*api.Compare, error) {
	if req.Offset < 0 || req.Limit < 0 || req.Limit > maxCompareRows || req.MaxKeys < 0 {
		return nil, invalid("Changed rows come in pages of at most %d, from an offset that is not negative.", maxCompareRows)
	}
	for _, t := range []string{req.From, req.To} {
		if leadingDigits(t) != t {
			return nil, invalid("%q is no instant: an instant is 14 or 17 digits.", t)
		}
	}
	if req.Limit == 0 {
		req.Limit = defaultCompareRows
	}
	if req.MaxKeys == 0 {
		req.MaxKeys = defaultCompareKeys
	}
	h, err := s.ready(ctx, req.Table)
	if err != nil {
		return nil, err
	}
	run := compare.Request{From: req.From, To: req.To, Partitions: req.Partitions, NoRows: req.NoRows, Offset: req.Offset, Limit: req.Limit, MaxKeys: req.MaxKeys,
		Read: s.opts.read(), Fault: compareFault,
		Progress: func(phase string, done, total int64, unit string) {
			h.progress(ctx, api.Progress{Phase: phase, Done: done, Total: total, Unit: unit})
		}}
	r, err := compare.Run(ctx, h.table, run)
	if f := ToFault(err); err != nil && f.Kind == "unsupported" && !run.NoRows {
		// What can't be read is rows; schema and files can be compared all the same.
		run.NoRows = true
		if r, err = compare.Run(ctx, h.table, run); err == nil {
			r.Findings = append(r.Findings, api.Finding{Level: "warning", Title: "Rows are not compared", Detail: f.Error(), File: f.File})
		}
	}
	if err != nil {
		return nil, err
	}
	a := &api.Compare{From: r.From, To: r.To, Instants: []api.Instant{}, Schema: []api.SchemaChange{}, Files: r.Files, Rows: r.Rows, Findings: r.Findings}
	for i := range r.Instants {
		a.Instants = append(a.Instants, instantOf(&r.Instants[i]))
	}
	if r.Before != nil && r.After != nil {
		a.Schema = schemaChanges(r.Before, r.After)
	} else if r.After != nil && r.From == "" {
		a.Schema = schemaChanges(&schema.Type{Kind: schema.Record}, r.After)
	}
	return a, nil
}

func compareFault(err error) *api.Fault {
	if compare.IsTooMany(err) {
		return &api.Fault{Kind: "limit", Offset: -1, Message: sentence(err.Error()), Try: "Compare one partition at a time, or allow more keys."}
	}
	return ToFault(err)
}

// keyer builds the record keys of rows.
type keyer struct {
	k    *compare.Keys
	want func(string) bool
}

// keyColumns tells how the records of a table are identified, nil when they have no key.
func keyColumns(t *table.Table) *keyer {
	k := compare.KeysOf(t)
	if k == nil {
		return nil
	}
	return &keyer{k, k.Want}
}

func (k *keyer) of(b *column.Batch, i int) []byte { return k.k.Append(nil, b, i) }
