package query

import (
	"context"
	"crypto/sha256"
	"fmt"

	"hudiscope/core/groupreader"
	"hudiscope/core/table"
)

// Divisible reports whether the parts of the plan can be read one beside the other, and elsewhere by
// PlanSlices: whether they are the slices of a snapshot.
func (p *Plan) Divisible() bool { return p.Query.Incremental == nil && p.table != nil }

// PlanSlices is the plan of some slices of another one: their rows are those of that plan's parts, if
// nothing has changed since, which Fingerprint tells. asOf is that plan's AsOf.
func PlanSlices(ctx context.Context, t *table.Table, q Query, asOf string, slices []groupreader.Slice) (*Plan, error) {
	tl, err := t.Timeline(ctx)
	if err != nil {
		return nil, err
	}
	sc, err := t.SchemaAt(ctx, q.Read.AsOf)
	if err != nil {
		return nil, err
	}
	tp, err := t.PlanSelection(table.Selection{Query: q.Read, Schema: sc, Slices: slices, AsOf: asOf, Timeline: tl})
	if err != nil {
		return nil, err
	}
	p := &Plan{Query: q}
	p.take(tp)
	return p, nil
}

// Fingerprint is the same for two plans whose rows are read by the same schema, properties and timeline.
func (p *Plan) Fingerprint(ctx context.Context, t *table.Table) (string, error) {
	tl, err := t.Timeline(ctx)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	fmt.Fprintf(h, "%q %q %q %d\n", p.AsOf, p.From, t.Rules.Name(), t.Config.Version)
	if p.Type != nil {
		h.Write(p.Type.AppendJSON(nil))
	}
	for i := range tl.Instants {
		x := &tl.Instants[i]
		fmt.Fprintf(h, "%s %s %s %d\n", x.Requested, x.Completed, x.Action, x.State)
	}
	return fmt.Sprintf("%x", h.Sum(nil)), nil
}
