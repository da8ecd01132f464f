package explorer

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"sync"

	"hudiscope/core/api"
	"hudiscope/core/commitmeta"
	"hudiscope/core/instants"
	"hudiscope/core/schema"
	"hudiscope/core/storage"
	"hudiscope/core/timeline"
)

// maxArchivedHeld bounds the JSON of archived instants that is held for one answer, in bytes.
const maxArchivedHeld = 256 << 20

// readConcurrency is how many small files of the timeline are read at once.
const readConcurrency = 8

// each runs f for 0..n-1, some at once; the first error stops it.
func each(ctx context.Context, n int, f func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	next := make(chan int)
	var wg sync.WaitGroup
	for range min(readConcurrency, n) {
		wg.Go(func() {
			for i := range next {
				if err := f(ctx, i); err != nil {
					cancel(err)
				}
			}
		})
	}
	for i := 0; i < n && ctx.Err() == nil; i++ {
		select {
		case next <- i:
		case <-ctx.Done():
		}
	}
	close(next)
	wg.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// tolerable reports whether an error of one metadata file is a finding about it.
func tolerable(err error) bool { return instants.Tolerable(err) || storage.IsNotExist(err) }

// planned is the pending action under which a completed instant was requested, "" when it is its own.
func planned(x *timeline.Instant) timeline.Action {
	for _, f := range x.Files {
		if f.State != timeline.Completed && f.Action != x.Action {
			return f.Action
		}
	}
	return ""
}

// newInput is what is known of an instant without its files' content.
func newInput(x *timeline.Instant) *instants.Input {
	in := &instants.Input{Requested: x.Requested, Completed: x.Completed, Action: x.Action, State: x.State, Planned: planned(x)}
	if x.IsCompleted() {
		in.CompletedFile = x.File.Name
	}
	return in
}

// planCopy reads the copy of a compaction plan that old tables keep in .hoodie/.aux, when the file
// of the timeline is empty.
func planCopy(ctx context.Context, tl *timeline.Timeline, x *timeline.Instant, in *instants.Input) {
	f, ok := x.FileOf(timeline.Requested)
	if !ok || f.Size != 0 || f.Action != timeline.Compaction || tl.Layout >= 2 {
		return
	}
	f.Path = tl.Dir + "/.aux/" + f.Name
	if d, err := tl.Decode(ctx, f); err == nil && d.JSON != nil {
		in.Parts = append([]instants.Part{{State: timeline.Requested, File: ".aux/" + f.Name, Record: d.SchemaName, JSON: d.JSON}}, in.Parts...)
	}
}

// inputOf reads the files of an instant in the given states (all when there are none). errs are
// those of files that can't be decoded.
func inputOf(ctx context.Context, tl *timeline.Timeline, x *timeline.Instant, states ...timeline.State) (in *instants.Input, errs []error, err error) {
	in = newInput(x)
	for _, f := range x.Files {
		if f.Size == 0 || len(states) > 0 && !slices.Contains(states, f.State) {
			continue
		}
		d, err := tl.Decode(ctx, f)
		if err != nil {
			if !tolerable(err) {
				return nil, nil, err
			}
			errs = append(errs, err)
		}
		in.Parts = append(in.Parts, instants.Part{State: f.State, File: f.Name, Record: d.SchemaName, JSON: d.JSON})
	}
	if len(states) == 0 || slices.Contains(states, timeline.Requested) {
		planCopy(ctx, tl, x, in)
	}
	return in, errs, nil
}

// serviceStates are the states whose files tell the links of an instant, none when they need not
// be read: writes of records tell nothing there.
func serviceStates(layout int, x *timeline.Instant) []timeline.State {
	switch {
	case x.Action == timeline.Rollback, x.Action == timeline.Clean, x.Action == timeline.Indexing:
		if x.IsCompleted() && x.File.Size != 0 {
			return []timeline.State{timeline.Completed}
		}
		return []timeline.State{timeline.Requested}
	case x.Action == timeline.Restore:
		return []timeline.State{timeline.Requested, timeline.Completed}
	case x.Action == timeline.Compaction, x.Action == timeline.LogCompaction, x.Action == timeline.Clustering:
		return []timeline.State{timeline.Requested}
	}
	switch planned(x) {
	case timeline.Compaction, timeline.LogCompaction, timeline.Clustering:
		return []timeline.State{timeline.Requested}
	}
	if x.Action == timeline.ReplaceCommit && layout < 2 {
		return []timeline.State{timeline.Requested} // it may be a clustering
	}
	return nil
}

// defaultRelations is the number of instants whose files one request reads.
const defaultRelations = 1000

// Relations returns the links between instants, reading only the small files of table services,
// newest first.
func (s *Service) Relations(ctx context.Context, req api.RelationsRequest) (*api.Relations, error) {
	h, err := s.ready(ctx, req.Table)
	if err != nil {
		return nil, err
	}
	tl, err := h.table.Timeline(ctx)
	if err != nil {
		return nil, err
	}
	if req.Limit <= 0 {
		req.Limit = defaultRelations
	}
	want := timeline.Range{From: req.From, To: req.To}
	a := &api.Relations{Relations: []api.Relation{}}
	var list []*timeline.Instant
	for i := len(tl.Instants) - 1; i >= 0; i-- {
		x := &tl.Instants[i]
		if req.From != "" && x.Requested < req.From || req.To != "" && x.Requested > req.To {
			continue
		}
		if x.Action == timeline.Savepoint {
			a.Relations = append(a.Relations, api.Relation{Kind: api.RelSaves, From: x.Requested, FromAction: string(x.Action), To: x.Requested, Plan: !x.IsCompleted()})
			continue
		}
		if serviceStates(tl.Layout, x) == nil {
			continue
		}
		if len(list) == req.Limit {
			a.Before = list[len(list)-1].Requested
			break
		}
		list = append(list, x)
	}
	var mu sync.Mutex
	done := 0
	err = each(ctx, len(list), func(ctx context.Context, i int) error {
		in, errs, err := inputOf(ctx, tl, list[i], serviceStates(tl.Layout, list[i])...)
		if err != nil {
			return err
		}
		w := instants.Describe(in)
		mu.Lock()
		defer mu.Unlock()
		a.Relations = append(a.Relations, w.Relations...)
		a.Findings = append(a.Findings, w.Findings...)
		for _, err := range errs {
			a.Findings = append(a.Findings, api.Finding{Level: "warning", Title: "Metadata of " + string(list[i].Action) + " " + list[i].Requested + " can't be read", Detail: sentence(err.Error()), File: list[i].File.Path})
		}
		a.Read++
		done++
		h.progress(ctx, api.Progress{Phase: "Reading what table services did", Done: int64(done), Total: int64(len(list)), Unit: "instants"})
		return nil
	})
	if err != nil {
		return nil, err
	}
	if req.Archived && a.Before == "" {
		want.Limit = req.Limit - len(list) + 1
		if err := h.archivedRelations(ctx, want, a); err != nil {
			return nil, err
		}
	}
	sort.SliceStable(a.Relations, func(i, j int) bool {
		x, y := &a.Relations[i], &a.Relations[j]
		if x.From != y.From {
			return x.From < y.From
		}
		if x.Kind != y.Kind {
			return x.Kind < y.Kind
		}
		return x.To < y.To
	})
	h.mu.Lock()
	h.relations = a.Relations
	h.mu.Unlock()
	return a, nil
}

// archivedRelations adds the links of archived instants.
func (h *handle) archivedRelations(ctx context.Context, want timeline.Range, a *api.Relations) error {
	arch, err := h.table.ArchivedRange(ctx, want)
	if err != nil {
		return err
	}
	var list []timeline.ArchivedInstant
	for _, i := range arch.Instants {
		switch i.Action {
		case timeline.Commit, timeline.DeltaCommit:
			if h.table.Config.TimelineLayout < 2 {
				continue // the plan of a compaction is a record of its own
			}
		}
		list = append(list, i)
	}
	if arch.More && len(arch.Instants) > 0 {
		a.Before = arch.Instants[0].Requested
	}
	inputs, faults, err := h.archivedInputs(ctx, list)
	if err != nil {
		return err
	}
	a.Findings = append(a.Findings, faults...)
	for _, in := range inputs {
		for _, r := range instants.Describe(in).Relations {
			if r.Kind != api.RelWritesOver {
				a.Relations = append(a.Relations, r)
			}
		}
		a.Read++
	}
	return nil
}

// archivedInputs reads what the archive holds of some instants; the states of one instant become
// one input, in the order of the list.
func (h *handle) archivedInputs(ctx context.Context, list []timeline.ArchivedInstant) ([]*instants.Input, []api.Finding, error) {
	type key struct {
		requested string
		action    timeline.Action
	}
	inputs := map[key]*instants.Input{}
	var order []key
	for i := range list {
		x := &list[i]
		k := key{x.Requested, x.Action.Comparable()}
		in := inputs[k]
		if in == nil {
			in = &instants.Input{Requested: x.Requested, Action: x.Action, State: x.State}
			inputs[k] = in
			order = append(order, k)
		}
		if x.State >= in.State {
			if x.Action != in.Action {
				in.Planned = in.Action
			}
			in.State, in.Action, in.Completed = x.State, x.Action, x.Completed
		} else if x.Action != in.Action {
			in.Planned = x.Action
		}
		if x.State == timeline.Completed {
			in.CompletedFile = x.File
		}
	}
	var findings []api.Finding
	held := 0
	err := h.table.ArchivedParts(ctx, list, func(i *timeline.ArchivedInstant, parts []timeline.ArchivedPart) error {
		in := inputs[key{i.Requested, i.Action.Comparable()}]
		for _, p := range parts {
			if held += len(p.JSON); held > maxArchivedHeld {
				held -= len(p.JSON)
				p.JSON, p.Err = nil, fmt.Errorf("the metadata of the archived instants of one answer has more than %d bytes; ask for fewer of them", maxArchivedHeld)
			}
			if p.Err != nil {
				findings = append(findings, api.Finding{Level: "warning", Title: "Metadata of archived " + string(i.Action) + " " + i.Requested + " can't be read", Detail: sentence(p.Err.Error()), File: i.File})
			}
			if p.Record == "HoodieCompactionPlan" && in.Action == timeline.Commit {
				in.Planned = timeline.Compaction
			}
			if p.Record == "HoodieCompactionPlan" && in.Action == timeline.DeltaCommit {
				in.Planned = timeline.LogCompaction
			}
			in.Parts = append(in.Parts, instants.Part{State: p.State, File: i.File, Record: p.Record, JSON: p.JSON})
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	out := make([]*instants.Input, len(order))
	for n, k := range order {
		out[n] = inputs[k]
		sort.SliceStable(out[n].Parts, func(i, j int) bool { return out[n].Parts[i].State < out[n].Parts[j].State })
	}
	return out, findings, nil
}

// archivedInstant answers an InstantRequest from the archive, nil when the archive lacks the instant.
func (h *handle) archivedInstant(ctx context.Context, req api.InstantRequest) (*api.InstantDetail, error) {
	arch, err := h.table.ArchivedRange(ctx, timeline.Range{From: req.Requested, To: req.Requested})
	if err != nil {
		return nil, err
	}
	var list []timeline.ArchivedInstant
	for _, i := range arch.Instants {
		if req.Action == "" || i.Action.Comparable() == timeline.Action(req.Action).Comparable() {
			list = append(list, i)
		}
	}
	if req.Action == "" && len(list) > 0 {
		first := list[0].Action.Comparable()
		list = slices.DeleteFunc(list, func(i timeline.ArchivedInstant) bool { return i.Action.Comparable() != first })
	}
	if len(list) == 0 {
		return nil, nil
	}
	inputs, faults, err := h.archivedInputs(ctx, list)
	if err != nil {
		return nil, err
	}
	in := inputs[0]
	d := &api.InstantDetail{Parts: []api.InstantDecode{}, Instant: api.Instant{Requested: in.Requested, Completed: in.Completed, Action: string(in.Action), State: in.State.String(), Files: []api.InstantFile{}}}
	for _, p := range in.Parts {
		encoding := string(commitmeta.Avro)
		if p.JSON == nil {
			encoding = string(commitmeta.Empty)
		}
		d.Parts = append(d.Parts, api.InstantDecode{File: p.File, State: p.State.String(), Size: int64(len(p.JSON)), Encoding: encoding, Schema: p.Record, Decoded: p.JSON, Path: p.File})
	}
	d.Work = instants.Describe(in)
	d.Work.Archived, d.Work.Stored = true, list[len(list)-1].File
	d.Work.Findings = append(d.Work.Findings, faults...)
	for _, f := range arch.Findings {
		d.Work.Findings = append(d.Work.Findings, api.Finding(f))
	}
	if m := instants.Commit(in); m != nil {
		d.Summary = summarize(m)
		d.Instant.Operation = m.Operation
	}
	h.linksTo(d.Work, in.Requested)
	return d, nil
}

// work tells what an instant of the active timeline did, from parts that are decoded already.
func (h *handle) work(ctx context.Context, tl *timeline.Timeline, x *timeline.Instant, parts []api.InstantDecode) (*api.InstantWork, error) {
	in := newInput(x)
	for i, f := range x.Files {
		if parts[i].Decoded != nil {
			in.Parts = append(in.Parts, instants.Part{State: f.State, File: f.Name, Record: parts[i].Schema, JSON: parts[i].Decoded})
		}
	}
	planCopy(ctx, tl, x, in)
	w := instants.Describe(in)
	if w.Pending != nil {
		h.pending(ctx, tl, x, w.Pending)
	}
	if m := instants.Commit(in); m != nil && w.Service == "" {
		if err := h.schemaChange(ctx, tl, x, m, w); err != nil {
			return nil, err
		}
	}
	if len(w.Replaced) > 0 && w.Service == "" {
		if err := replacedFrom(ctx, tl, x, w); err != nil {
			return nil, err
		}
	}
	h.linksTo(w, x.Requested)
	return w, nil
}

// linksTo adds the links to an instant that a RelationsRequest has found.
func (h *handle) linksTo(w *api.InstantWork, requested string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, r := range h.relations {
		if r.To == requested && r.From != requested {
			w.Relations = append(w.Relations, r)
		}
	}
}

// pending fills in what else is known of a pending instant.
func (h *handle) pending(ctx context.Context, tl *timeline.Timeline, x *timeline.Instant, p *api.Pending) {
	newest := ""
	for i := range tl.Instants {
		y := &tl.Instants[i]
		newest = max(newest, y.Requested)
		if y.CompletedFrom == "name" {
			newest = max(newest, y.Completed)
		}
		if y.IsCompleted() && y.Requested > x.Requested {
			p.Later++
		}
	}
	if a, ok := instants.Time(x.Requested); ok {
		if b, ok := instants.Time(newest); ok {
			p.AgeSeconds = int64(b.Sub(a).Seconds())
		}
	}
	if t, ok := h.heartbeats(ctx)[x.Requested]; ok && !t.IsZero() {
		p.Heartbeat = timeline.FormatTime(t)
	}
	p.Markers = h.markers(ctx, x.Requested)
}

// maxBack is how many earlier commits are read to explain one.
const maxBack = 50

// schemaChange compares a commit's schema with that of the commit before it.
func (h *handle) schemaChange(ctx context.Context, tl *timeline.Timeline, x *timeline.Instant, m *commitmeta.CommitMetadata, w *api.InstantWork) error {
	if m.Extra["schema"] == "" || !m.CanChangeSchema() {
		return nil
	}
	now, err := schema.Parse(m.Extra["schema"])
	if err != nil {
		w.Findings = append(w.Findings, api.Finding{Level: "warning", Title: "The commit's schema can't be read", Detail: sentence(err.Error()), File: x.File.Path})
		return nil
	}
	commits := tl.Commits().Completed().Instants
	for i, read := len(commits)-1, 0; i >= 0 && read < maxBack; i-- {
		if commits[i].Requested >= x.Requested {
			continue
		}
		read++
		before, err := tl.CommitMetadata(ctx, &commits[i])
		if err != nil {
			if !tolerable(err) {
				return err
			}
			continue
		}
		if before.Extra["schema"] == "" {
			continue
		}
		if before.Extra["schema"] == m.Extra["schema"] {
			return nil
		}
		if old, err := schema.Parse(before.Extra["schema"]); err == nil {
			w.SchemaChange = schemaChanges(old, now)
		}
		return nil
	}
	return nil
}

// replacedFrom finds which instants wrote the replaced file groups, among the commits before.
func replacedFrom(ctx context.Context, tl *timeline.Timeline, x *timeline.Instant, w *api.InstantWork) error {
	left := map[api.ReplacedGroup]bool{}
	for _, g := range w.Replaced {
		left[g] = true
	}
	commits := tl.Commits().Completed().Instants
	for i, read := len(commits)-1, 0; i >= 0 && read < maxBack && len(left) > 0; i-- {
		c := &commits[i]
		if c.Requested >= x.Requested {
			continue
		}
		read++
		m, err := tl.CommitMetadata(ctx, c)
		if err != nil {
			if !tolerable(err) {
				return err
			}
			continue
		}
		n := 0
		for _, p := range m.Partitions {
			for k := range p.Stats {
				g := api.ReplacedGroup{Partition: p.Partition, FileID: p.Stats[k].FileID}
				if left[g] {
					delete(left, g)
					n++
				}
			}
		}
		if n > 0 {
			w.Relations = append(w.Relations, api.Relation{Kind: api.RelReplaces, From: x.Requested, FromAction: string(x.Action), To: c.Requested, Note: fmt.Sprintf("%d file groups", n)})
		}
	}
	return nil
}

// schemaChanges lists how the fields of two record types differ, meta fields left out.
func schemaChanges(a, b *schema.Type) []api.SchemaChange {
	out := []api.SchemaChange{}
	var common []string
	for i := range a.Fields {
		f := &a.Fields[i]
		if schema.IsMetaField(f.Name) {
			continue
		}
		k := b.FieldIndex(f.Name)
		if k < 0 {
			out = append(out, api.SchemaChange{Kind: "removed", Column: f.Name, Before: f.Type.Display()})
			continue
		}
		common = append(common, f.Name)
		if x, y := typeText(f.Type), typeText(b.Fields[k].Type); x != y {
			out = append(out, api.SchemaChange{Kind: "type", Column: f.Name, Before: x, After: y})
		}
	}
	var order []string
	for i := range b.Fields {
		f := &b.Fields[i]
		if schema.IsMetaField(f.Name) {
			continue
		}
		if a.FieldIndex(f.Name) < 0 {
			out = append(out, api.SchemaChange{Kind: "added", Column: f.Name, After: f.Type.Display()})
		} else {
			order = append(order, f.Name)
		}
	}
	for i := range order {
		if common[i] != order[i] {
			out = append(out, api.SchemaChange{Kind: "order", Column: order[i], Before: fmt.Sprint(slices.Index(common, order[i])), After: fmt.Sprint(i)})
			break
		}
	}
	return out
}

// typeText names a type and whether it may be null.
func typeText(t *schema.Type) string {
	if t.Nullable {
		return t.Display() + ", nullable"
	}
	return t.Display()
}
