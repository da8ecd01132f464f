package explorer

import (
	"context"

	"hudiscope/core/api"
	"hudiscope/core/history"
	"hudiscope/core/metatable"
	"hudiscope/core/table"
)

// Limits of a history.
const (
	defaultHistoryKeys = 20
	maxHistoryKeys     = 1000
)

// History finds every version of the records with a key, in all file groups and slices.
func (s *Service) History(ctx context.Context, req api.HistoryRequest) (*api.History, error) {
	switch {
	case req.Limit < 0 || req.Limit > maxHistoryKeys:
		return nil, invalid("A history is of at most %d keys.", maxHistoryKeys)
	case req.Key == "" && !req.Prefix:
		return nil, invalid("The request names no record key.")
	case leadingDigits(req.AsOf) != req.AsOf:
		return nil, invalid("%q is no instant: an instant is 14 or 17 digits.", req.AsOf)
	}
	if req.Limit == 0 {
		req.Limit = defaultHistoryKeys
	}
	h, err := s.ready(ctx, req.Table)
	if err != nil {
		return nil, err
	}
	q, err := table.ParseQuery(req.Options)
	if err != nil {
		return nil, err
	}
	if q.Type != table.Snapshot || q.SkipMerge {
		return nil, invalid("A history tells how a snapshot query merges; it takes no other query type and no skip_merge.")
	}
	q.Partitions, q.FileID = req.Partitions, req.FileID
	if req.AsOf != "" {
		q.AsOf = req.AsOf
	}
	r, err := history.Search(ctx, h.table, history.Request{
		Key: req.Key, Prefix: req.Prefix, Limit: req.Limit, Query: q, Everywhere: req.Everywhere, Read: s.opts.read(), Fault: ToFault,
		Metadata: func(ctx context.Context) (*metatable.Table, error) { return s.metadataTable(ctx, h) },
		Progress: func(phase string, done, total int64, unit string) {
			h.progress(ctx, api.Progress{Phase: phase, Done: done, Total: total, Unit: unit})
		}})
	if err != nil {
		return nil, err
	}
	w := r.Work
	return &api.History{Columns: columnsOf(r.Schema, nil), Keys: r.Keys, More: r.More, AsOf: r.AsOf, Rules: h.table.Rules.Name(), Merge: mergeOf(h.table), Findings: r.Findings,
		Searched: api.Searched{FileGroups: w.Groups, AllFileGroups: w.GroupsOf, Files: w.Files, BaseSkipped: w.BaseSkipped, BaseScanned: w.BaseScanned, RecordIndex: w.Index}}, nil
}

// mergeOf says by which rule versions of a table's records are merged.
func mergeOf(t *table.Table) api.Merge {
	return api.Merge{Mode: t.Merge.Mode, From: t.Merge.From, Why: t.Merge.Why, OrderingFields: list(t.Merge.OrderingFields),
		Payload: t.Merge.Payload, StrategyID: t.Merge.StrategyID}
}
