package explorer

import (
	"context"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"hudiscope/core/api"
	"hudiscope/core/corrupt"
	"hudiscope/core/filegroup"
	"hudiscope/core/health"
	"hudiscope/core/instants"
	"hudiscope/core/metatable"
	"hudiscope/core/schema"
	"hudiscope/core/table"
	"hudiscope/core/timeline"
)

// maxMarkers bounds the pending instants whose marker files are counted.
const maxMarkers = 100

// maxHealthCommits bounds the commits whose metadata a health request reads.
const maxHealthCommits = 5000

// maxHealthHeld bounds the memory of the commit metadata that a health request holds, in bytes. Older commits are left
// out when it is not enough: it is that of some 500,000 write stats.
const maxHealthHeld = 512 << 20

// Health checks a table.
func (s *Service) Health(ctx context.Context, req api.HealthRequest) (*api.Health, error) {
	h, err := s.ready(ctx, req.Table)
	if err != nil {
		return nil, err
	}
	in, err := h.healthInput(ctx, req)
	if err != nil {
		return nil, err
	}
	if req.AsOf == "" && (len(req.Checks) == 0 || slices.Contains(req.Checks, "metadata-table")) {
		if err := s.metadataHealth(ctx, h, in, req.Deep); err != nil {
			return nil, err
		}
	}
	deep := req.Deep
	for _, id := range req.Checks {
		deep = deep || id == "duplicate-keys"
	}
	if deep {
		in.Keys = func(ctx context.Context, yield func(health.KeyAt) bool) error {
			return h.keys(ctx, s.opts, req.AsOf, yield)
		}
	}
	a, err := health.Run(ctx, in, req.Checks, deep, func(check string) {
		h.progress(ctx, api.Progress{Phase: "Checking: " + check})
	})
	if err != nil || req.AsOf == "" {
		return a, err
	}
	a.AsOf = req.AsOf
	if h.table.Config.Version < 8 {
		a.Notes = append(a.Notes, "Log files are as long as they are now: before table version 8 later writes go into the same files.")
	}
	gone, err := h.removedSince(ctx, in.Whole, req.AsOf)
	if err != nil {
		return nil, err
	}
	for _, f := range gone {
		a.Notes = append(a.Notes, f.Detail)
	}
	return a, nil
}

// metadataHealth compares the metadata table's listing with the storage's.
func (s *Service) metadataHealth(ctx context.Context, h *handle, in *health.Input, deep bool) error {
	if !slices.Contains(h.table.Config.MetadataPartitions(), string(metatable.Files)) {
		in.MetadataNote = "The table has no metadata table that lists files."
		return nil
	}
	if !in.View.Complete {
		in.MetadataNote = "The listing of the storage is not complete, so there is nothing to compare with."
		return nil
	}
	m, err := s.metadataTable(ctx, h)
	var l *filegroup.Listing
	if err == nil {
		h.progress(ctx, api.Progress{Phase: "Reading the metadata table"})
		l, err = m.Listing(ctx, nil)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		in.Metadata = []api.HealthFinding{{Level: "error", Title: "The metadata table can't be read", Detail: ToFault(err).Error(), Count: 1,
			Evidence: []api.HealthEvidence{{Text: ToFault(err).Message, File: ToFault(err).File}}, Link: api.HealthLink{View: "metadata"},
			Hudi: "Queries that list files by it fail; with hoodie.metadata.enable=false they list the storage."}}
	} else {
		in.Metadata = health.Metadata(metatable.Compare(in.View, l))
	}
	if m == nil {
		return nil
	}
	return h.indexHealth(ctx, m, in, deep, err != nil)
}

// Bounds of the look at the files of the metadata table that is not deep.
const (
	maxIndexGroups   = 200
	maxIndexEvidence = 20
)

// indexHealth looks whether the files of the metadata table's partitions can be read. What was found when files were
// listed is not told twice.
func (h *handle) indexHealth(ctx context.Context, m *metatable.Table, in *health.Input, deep, listed bool) error {
	for _, p := range h.table.Config.MetadataPartitions() {
		if listed && p == string(metatable.Files) {
			continue
		}
		h.progress(ctx, api.Progress{Phase: "Checking the metadata table: " + p})
		f := api.HealthFinding{Level: "error", Title: "The index " + p + " of the metadata table can't be read", Link: api.HealthLink{View: "metadata"},
			Hudi: "Queries that ask it fail or leave nothing out by it, and writers that look keys up in it fail. Dropping the index makes the next writer build it anew."}
		add := func(fileID string, err error) bool {
			f.Count++
			if len(f.Evidence) < maxIndexEvidence {
				x := ToFault(err)
				f.Evidence = append(f.Evidence, api.HealthEvidence{Text: x.Error(), FileID: fileID, File: x.File, Value: float64(max(x.Offset, 0)), Unit: "offset"})
			}
			return true
		}
		left, err := m.Check(ctx, p, deep, maxIndexGroups, add)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			add("", err)
		}
		if f.Count > 0 {
			f.Detail = f.Evidence[0].Text
			if f.Count > 1 {
				f.Detail = f.Detail + " " + strconv.Itoa(f.Count-1) + " more of its files or blocks can't be read."
			}
			f.Link.File = f.Evidence[0].File
			in.Metadata = append(in.Metadata, f)
		}
		gone := api.HealthFinding{Level: "error", Title: "Files of the index " + p + " of the metadata table are missing or cut", Link: api.HealthLink{View: "metadata"},
			Hudi: "Queries that ask it get older answers, or none, for what the files held. Dropping the index makes the next writer build it anew."}
		if err := missingMetadata(ctx, m, p, func(x *metatable.Missing) {
			if x.Why != "" {
				return // a write that is under way, or was left
			}
			gone.Count++
			if len(gone.Evidence) < maxIndexEvidence {
				gone.Evidence = append(gone.Evidence, api.HealthEvidence{Text: x.Sentence(), File: x.Path, Instant: x.Commit})
			}
		}); err != nil {
			return err
		}
		if gone.Count > 0 {
			gone.Detail = gone.Evidence[0].Text
			in.Metadata = append(in.Metadata, gone)
		}
		if left > 0 {
			in.Metadata = append(in.Metadata, api.HealthFinding{Level: "note", Title: "Not all files of the index " + p + " were looked at", Count: left, Link: api.HealthLink{View: "metadata"},
				Detail: strconv.Itoa(left) + " of its file groups were left out: a deep check reads all.", Evidence: []api.HealthEvidence{}})
		}
	}
	return nil
}

// healthInput reads what the checks look at.
func (h *handle) healthInput(ctx context.Context, req api.HealthRequest) (*health.Input, error) {
	v, err := h.storageView(ctx)
	if err != nil {
		return nil, err
	}
	if err := h.nameLogs(ctx, v, nil, true); err != nil {
		return nil, err
	}
	tl := v.Timeline
	in := &health.Input{Config: h.table.Config, Timeline: tl, View: v, Whole: v, All: true, Now: req.Now, AsOf: req.AsOf, Limits: req.Thresholds, Markers: map[string]int{}}
	if leadingDigits(req.AsOf) != req.AsOf {
		return nil, invalid("%q is no instant: an instant is 14 or 17 digits.", req.AsOf)
	}
	if req.AsOf != "" {
		tl = tl.Filter(func(x *timeline.Instant) bool { return x.Requested <= req.AsOf })
		in.Timeline, in.View = tl, v.AsOf(req.AsOf)
	} else if in.Now == "" {
		in.Now = timeline.FormatTime(time.Now())
	}
	commits := tl.Commits().Completed().Instants
	if len(commits) > maxHealthCommits {
		commits, in.All = commits[len(commits)-maxHealthCommits:], false
	}
	in.Commits = make([]health.Commit, len(commits))
	var mu sync.Mutex
	done := 0
	step := func(phase string, n int, unit string) {
		mu.Lock()
		defer mu.Unlock()
		done++
		h.progress(ctx, api.Progress{Phase: phase, Done: int64(done), Total: int64(n), Unit: unit})
	}
	var held atomic.Int64
	var from atomic.Int64 // the oldest commit that is looked at
	err = each(ctx, len(commits), func(ctx context.Context, k int) error {
		i := len(commits) - 1 - k // the newest first: there may be no room for all
		c := &in.Commits[i]
		c.Instant = commits[i]
		if int64(i) < from.Load() {
			return nil
		}
		c.Meta, c.Err = tl.CommitMetadata(ctx, &commits[i])
		if c.Meta != nil && held.Add(c.Meta.Held()) > maxHealthHeld {
			c.Meta = nil
			for old := from.Load(); int64(i) >= old && !from.CompareAndSwap(old, int64(i)+1); old = from.Load() {
			}
			return nil
		}
		if c.Err != nil {
			c.Meta = nil
			if !tolerable(c.Err) {
				return c.Err
			}
		}
		step("Reading commit metadata", len(commits), "commits")
		return nil
	})
	if err != nil {
		return nil, err
	}
	if n := from.Load(); n > 0 {
		in.Commits, in.All = in.Commits[n:], false
	}
	h.schemaErrors(ctx, in)
	in.Services, err = h.healthServices(ctx, tl, step)
	if err != nil {
		return nil, err
	}
	if req.AsOf != "" {
		return in, nil // the rest is about what lies there now
	}
	in.Heartbeats = h.heartbeats(ctx)
	for i, left := len(tl.Instants)-1, maxMarkers; i >= 0 && left > 0; i-- {
		if x := &tl.Instants[i]; !x.IsCompleted() {
			left--
			if n := h.markers(ctx, x.Requested); n > 0 {
				in.Markers[x.Requested] = n
			}
		}
	}
	if in.Unmarked, err = h.unmarked(ctx, v, in.Commits); err != nil {
		return nil, err
	}
	return in, nil
}

// schemaErrors looks whether the schemas of the commits, and that of the table, can be read.
func (h *handle) schemaErrors(ctx context.Context, in *health.Input) {
	parsed := map[string]error{} // nearly all commits carry the same text
	said := false
	for i := range in.Commits {
		c := &in.Commits[i]
		if c.Meta == nil || c.Meta.Extra["schema"] == "" {
			continue
		}
		text := c.Meta.Extra["schema"]
		err, ok := parsed[text]
		if !ok {
			_, err = schema.Parse(text)
			parsed[text] = err
		}
		if err != nil {
			c.SchemaErr = &corrupt.Error{File: c.Instant.File.Path, Offset: corrupt.Unknown, Part: "extraMetadata.schema", Err: err}
			said = true
		}
	}
	// Where only the newest commits are looked at, finding the table's schema may read all others.
	if said || len(in.Commits) == 0 || !in.All {
		return
	}
	if _, err := h.table.SchemaAt(ctx, in.AsOf); corrupt.Is(err) {
		in.SchemaErr = err
	}
}

// healthServices reads the files of pending instants and of completed rollbacks, restores, cleans
// and savepoints.
func (h *handle) healthServices(ctx context.Context, tl *timeline.Timeline, step func(string, int, string)) ([]health.Service, error) {
	var list []*timeline.Instant
	for i := range tl.Instants {
		x := &tl.Instants[i]
		switch {
		case !x.IsCompleted(), x.Action == timeline.Rollback, x.Action == timeline.Restore, x.Action == timeline.Clean, x.Action == timeline.Savepoint:
			list = append(list, x)
		}
	}
	if len(list) > maxHealthCommits {
		list = list[len(list)-maxHealthCommits:]
	}
	out := make([]health.Service, len(list))
	err := each(ctx, len(list), func(ctx context.Context, i int) error {
		in, errs, err := inputOf(ctx, tl, list[i])
		if err != nil {
			return err
		}
		out[i] = health.Service{Instant: *list[i], Work: instants.Describe(in), Errs: errs}
		step("Reading what table services did", len(list), "instants")
		return nil
	})
	return out, err
}

// maxUnmarked bounds the directories that are listed in search of partitions without a marker.
const maxUnmarked = 200

// unmarked lists the directories of partitions that commits wrote to and the view lacks.
func (h *handle) unmarked(ctx context.Context, v *filegroup.View, commits []health.Commit) ([]health.Unmarked, error) {
	wrote := map[string]string{}
	for i := range commits {
		if commits[i].Meta == nil {
			continue
		}
		for _, p := range commits[i].Meta.Partitions {
			if health.Outside(p.Partition) {
				continue // a finding about the commit; nothing is listed there
			}
			if _, unmarked := v.NoMarker[p.Partition]; unmarked || v.Partition(p.Partition) == nil {
				wrote[p.Partition] = commits[i].Instant.Requested
			}
		}
	}
	if len(wrote) == 0 {
		return nil, nil
	}
	var parts []string
	for p := range wrote {
		parts = append(parts, p)
	}
	sort.Strings(parts)
	parts = parts[:min(len(parts), maxUnmarked)]
	l, err := filegroup.List(ctx, h.src, h.table.Config, parts, filegroup.ListOptions{})
	if err != nil {
		return nil, err
	}
	var out []health.Unmarked
	for _, p := range parts {
		u := health.Unmarked{Partition: p, Commit: wrote[p]}
		for _, e := range l.Files[p] {
			if strings.HasPrefix(e.Name, filegroup.PartitionMarker) {
				u.Files = 0
				break
			}
			u.Files++
			u.Bytes += max(e.Size, 0)
		}
		if u.Files > 0 {
			out = append(out, u)
		}
	}
	return out, nil
}

// keys reads the record keys of the latest slices, and no other column that is not needed to merge.
func (h *handle) keys(ctx context.Context, o Options, asOf string, yield func(health.KeyAt) bool) error {
	plan, err := h.table.Plan(ctx, table.Query{Type: table.Snapshot, AsOf: asOf}, nil)
	if err != nil {
		return err
	}
	k := keyColumns(h.table)
	if k == nil {
		return unsupported("The table has neither meta fields nor record key fields: its records have no keys.", "")
	}
	plan.Want = k.want
	n := int64(0)
	for i := range plan.Slices {
		sl := &plan.Slices[i]
		for row, err := range plan.Rows(ctx, *sl, o.read(), nil) {
			if err != nil {
				return err
			}
			if !yield(health.KeyAt{Partition: sl.Partition, FileID: sl.FileID, BaseInstant: sl.BaseInstant, Key: k.of(row.Batch, row.Index)}) {
				return nil
			}
			if n++; n%1024 == 0 {
				if err := ctx.Err(); err != nil {
					return err
				}
				h.progress(ctx, api.Progress{Phase: "Reading record keys", Done: n, Unit: "keys"})
			}
		}
	}
	return nil
}
