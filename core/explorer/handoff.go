package explorer

import (
	"context"
	"slices"
	"strings"

	"hudiscope/core/api"
	"hudiscope/core/handoff"
	"hudiscope/core/predicate"
	"hudiscope/core/query"
	"hudiscope/core/timeline"
)

// Handoff writes code that reads the rows of a query with other engines. The query is planned, so that
// what can't be read here is refused here; no data is read.
func (s *Service) Handoff(ctx context.Context, req api.HandoffRequest) (*api.Handoff, error) {
	if req.Limit < 0 {
		return nil, invalid("A limit is not negative.")
	}
	h, err := s.ready(ctx, req.Table)
	if err != nil {
		return nil, err
	}
	tl, err := h.table.Timeline(ctx)
	if err != nil {
		return nil, err
	}
	c := h.table.Config
	t := &handoff.Table{
		Name: c.TableName(), Database: c.Database(), Address: handoff.AddressOf(h.location, c.TableName(), s.opts.LocalPaths),
		Version: c.Version, Release: h.table.Rules.Version, MergeOnRead: c.MergeOnRead(), BaseFormat: strings.ToUpper(c.BaseFormat()),
		MetaFields: c.PopulateMetaFields(), Bootstrapped: c.BootstrapBasePath() != "", Custom: h.table.MergeSupport() != nil,
		RecordKeys: c.RecordKeyFields(), Partitions: c.PartitionFields(), HasPathNames: c.HiveStyle(), Ordering: c.OrderingFields(),
	}
	generator := strings.ToUpper(c.KeyGenerator() + c.KeyGeneratorClass() + c.KeyGeneratorType())
	t.PlainKeys = !strings.Contains(generator, "TIMESTAMP") && !strings.Contains(generator, "CUSTOM") && !c.SlashSeparatedDates()
	t.Timestamps, t.Dropped = strings.Contains(generator, "TIMESTAMP"), c.DropPartitionColumns()
	m := &h.table.Merge
	t.Payload, t.Filled = m.PayloadName(), m.PartialMode == "FILL_UNAVAILABLE"
	t.Compacting = tl.PendingCompaction().First() != nil
	history, err := h.table.SchemaHistory(ctx)
	if err != nil {
		return nil, err
	}
	t.Evolved = history != nil
	q := &handoff.Query{Options: req.Options, Flink: req.Flink, Batch: req.Batch || !req.Flink, FileID: req.FileID, Columns: req.Columns, Limit: req.Limit,
		PartitionPaths: req.Partitions}
	for _, p := range req.Partitions {
		if v, ok := h.table.PartitionValues(p); ok {
			q.PartitionValues = append(q.PartitionValues, v)
		}
	}
	if req.Flink {
		err = s.handoffFlink(ctx, &req, t, q)
	} else {
		err = s.handoffSpark(ctx, h, &req, tl, t, q)
	}
	if err != nil {
		return nil, err
	}
	if q.Type != "incremental" && q.Shown != "" {
		if q.Refusal, err = query.TravelRefusal(ctx, h.table, q.Shown); err != nil {
			return nil, err
		}
		q.ShownCompleted = completedBy(tl, q.Shown, c.Version >= 8)
	}
	if strings.TrimSpace(req.Where) != "" {
		if q.Where, err = predicate.Parse(req.Where); err != nil {
			return nil, badCondition(err, "where")
		}
	}
	return &api.Handoff{Address: t.Spark, Note: t.Note, Snippets: handoff.Make(t, q)}, nil
}

// handoffSpark plans a query of Spark's.
func (s *Service) handoffSpark(ctx context.Context, h *handle, req *api.HandoffRequest, tl *timeline.Timeline, t *handoff.Table, q *handoff.Query) error {
	parsed, err := query.Parse(req.Options)
	if err != nil {
		return err
	}
	parsed.Read.Partitions, parsed.Read.FileID = req.Partitions, req.FileID
	p, err := query.Prepare(ctx, h.table, parsed, func(dirs int) {
		h.progress(ctx, api.Progress{Phase: "Listing partitions", Done: int64(dirs), Unit: "directories"})
	})
	if err != nil {
		return err
	}
	// What can't be understood here is handed to no engine.
	if err := restrict(p, req.Condition); err != nil {
		return err
	}
	t.Schema, q.Type, q.Shown = p.Type, parsed.Type, p.AsOf
	if parsed.Incremental == nil {
		q.AsOf = parsed.Read.AsOf
		return nil
	}
	q.CDC = parsed.Incremental.CDC
	q.ByRequestedTime = parsed.Incremental.ByRequestedTime(h.table.Config.Version)
	times := func(requested, completed string) {
		if q.ByRequestedTime {
			q.Last = max(q.Last, requested)
		} else {
			q.Last = max(q.Last, completed)
		}
	}
	for _, i := range p.Instants {
		q.Archived = q.Archived || i.Archived
		times(i.Requested, i.Completed)
	}
	// The release's default may scan the whole table instead; what was done here is asked for by name.
	q.Archived = q.Archived && !slices.ContainsFunc(p.Remarks, func(r string) bool { return strings.Contains(r, "slices of the table are scanned") })
	if q.Last == "" {
		// Nothing was read: nothing must be read later either.
		for _, i := range tl.Commits().Completed().Instants {
			times(i.Requested, i.Completed)
		}
	}
	return nil
}

// handoffFlink plans a query of Flink's.
func (s *Service) handoffFlink(ctx context.Context, req *api.HandoffRequest, t *handoff.Table, q *handoff.Query) error {
	h, f, err := s.flink(ctx, req.Table, req.Options, req.Partitions, req.Seen)
	if err != nil {
		return err
	}
	o, err := query.ParseFlink(req.Options, h.table.Rules)
	if err != nil {
		return err
	}
	rounds, err := flinkRounds(ctx, f, req.Batch)
	if err != nil {
		return err
	}
	p := f.Plan(rounds, !req.Batch)
	if err := restrict(p, req.Condition); err != nil {
		return err
	}
	q.Type, q.CDC, q.ByRequestedTime = o.Type, o.CDC, f.ByRequestedTime()
	t.Schema = p.Type
	if len(t.Schema.Fields) > 0 && t.Schema.Fields[0].Name == "kind" {
		// The row's kind is no column for Flink.
		without := *t.Schema
		without.Fields = t.Schema.Fields[1:]
		t.Schema = &without
	}
	for _, r := range rounds {
		if q.ByRequestedTime {
			q.Last = max(q.Last, r.EndInstant)
		} else {
			q.Last = max(q.Last, r.Offset)
		}
	}
	if req.Batch && o.Type != "incremental" {
		tl, err := h.table.Timeline(ctx)
		if err != nil {
			return err
		}
		for _, i := range tl.Commits().Completed().Instants {
			if req.Seen == "" || i.Completed <= req.Seen {
				q.Shown = max(q.Shown, i.Requested)
			}
		}
	}
	return nil
}

// completedBy is the end of a Flink read of the commits up to an instant: a completion time, or for
// tables whose ranges are of requested times the instant. It is "" when commits up to the instant
// completed after later ones.
func completedBy(tl *timeline.Timeline, instant string, byCompletion bool) string {
	done := tl.Commits().Completed().Instants
	if !byCompletion {
		if !slices.ContainsFunc(done, func(i timeline.Instant) bool { return i.Requested <= instant }) {
			return ""
		}
		return instant
	}
	last := ""
	for _, i := range done {
		if i.Requested <= instant {
			last = max(last, i.Completed)
		}
	}
	for _, i := range done {
		if i.Requested > instant && i.Completed <= last {
			return ""
		}
	}
	return last
}
