package app

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"hudiscope/core/api"
	"hudiscope/web/client"
	"hudiscope/web/model"
)

// Session is an open table: its location, the state of the page, and every answer that is
// shown. The state decides what is asked for: see ensure.
type Session struct {
	transport client.Transport
	// dispatch runs a function on the UI goroutine and draws the page again.
	dispatch func(func())
	// navigate changes the state of the page, and with it the address.
	navigate func(model.State)
	// answered is called after every answer; nil for nothing. accessFault is the last one that says that
	// the storage no longer takes what it was opened with.
	answered    func()
	accessFault *api.Fault
	// secrets are full locations (with credentials) by their clean form in the address.
	secrets map[string]string

	state model.State
	// rev counts changes, so that components notice them.
	rev int

	overview   load[api.Overview]
	ranges     load[api.Ranges]
	timeline   load[timelineHead]
	instant    load[api.InstantDetail]
	partitions load[api.Partitions]
	files      load[api.Files]
	blocks     load[api.Blocks]
	block      load[api.BlockDetail]
	bytes      load[api.Bytes]
	config     load[api.ConfigAnswer]
	schema     load[api.SchemaAnswer]
	history    load[api.History]
	scan       load[api.Scan]
	relations  load[api.Relations]
	archived   load[api.Timeline]
	compare    load[api.Compare]
	health     load[api.Health]
	metadata   load[api.Metadata]
	house      load[api.Housekeeping]
	anatomy    load[api.Anatomy]
	group      load[api.Group]
	activity   load[api.Activity]
	// activityFrom and activityTo are the instants on the screen whose numbers are drawn.
	activityFrom, activityTo string
	// plan is that of the query shown, planRight the right one beside that of a release.
	plan, planRight load[api.Plan]
	// splits are those of a batch read of Flink, sim is its streaming read.
	splits  load[api.Splits]
	sim     streamSim
	handoff load[api.Handoff]
	export  export
	// dialog is the dialog that is open, "" for none; chooseColumns is set once columns are chosen.
	dialog        string
	chooseColumns bool
	// deep asks for the health checks that read data files, too.
	deep bool
	// rowOptions is set while the options of a query are shown.
	rowOptions bool
	leftCell   leftCell
	// comparePage is the first changed row shown of a comparison, metaPage the cursor of the
	// page shown of the metadata table, metaBefore those of the pages before it.
	comparePage int64
	metaPage    string
	metaBefore  []string
	// askArchive is set once archived instants are wanted: those up to archivedTo ("" the newest).
	// archive are those read so far; archiveSeen is the answer taken last.
	askArchive  bool
	archivedTo  string
	archive     []api.Instant
	archiveSeen *api.Timeline
	// older are all instants of a timeline that one page does not hold.
	older load[allInstants]
	list  instantList
	// latest are the files of the latest instant, for choosing a slice in the log view.
	latest load[api.Files]
	// anatomyChunk is the column chunk whose pages were asked for, 0 for those that an answer has room for.
	anatomyChunk int
	// blockPage is the first record shown of the selected block.
	blockPage int64
	// listed is the page of blocks that is shown: of which slice or file, and from where on, or with which block on it.
	listed struct {
		of   string
		from int
		find *api.BlockPlace
	}
	// some are the partitions whose files are shown when a table has many.
	some []string
}

// manyPartitions is the number above which the files of partitions are read only when one is opened.
const manyPartitions = 60

// archivedPage is how many archived instants are read at a time.
const archivedPage = 200

// scanSteps bounds the steps of a replay.
const scanSteps = 4000

// hexPage is how many bytes the hex view shows at a time.
const hexPage = 1024

// comparePage and metaPage are how many changed rows and metadata records are shown at a time.
const (
	comparePage = 100
	metaPage    = 100
)

// blocksPage is how many blocks are drawn at a time.
const blocksPage = 1000

// recordPage is how many records of a block are shown at a time.
const recordPage = 50

// table is the part of every request.
func (s *Session) table() api.Table {
	loc := s.state.Table
	if full, ok := s.secrets[loc]; ok {
		loc = full
	}
	return api.Table{Location: loc, Hudi: s.state.Rules}
}

// apply takes over a new state.
func (s *Session) apply(st model.State) {
	if st.Table != s.state.Table || st.Rules != s.state.Rules {
		s.resetAll()
	}
	if st.Before != s.state.Before || st.After != s.state.After {
		s.comparePage = 0
	}
	if st.Part != s.state.Part || st.Find != s.state.Find {
		s.metaPage, s.metaBefore = "", nil
	}
	if st.Anatomy != s.state.Anatomy || st.AnatomyFrom != s.state.AnatomyFrom {
		s.anatomyChunk = 0
	}
	if st.Log != s.state.Log || st.Block != s.state.Block || st.FileID != s.state.FileID {
		s.blockPage = 0
	}
	s.state = st
	s.rev++
	s.ensure()
}

func (s *Session) resetAll() {
	s.accessFault = nil
	s.overview.reset()
	s.ranges.reset()
	s.timeline.reset()
	s.instant.reset()
	s.partitions.reset()
	s.files.reset()
	s.blocks.reset()
	s.block.reset()
	s.bytes.reset()
	s.config.reset()
	s.schema.reset()
	s.latest.reset()
	s.history.reset()
	s.scan.reset()
	s.relations.reset()
	s.archived.reset()
	s.compare.reset()
	s.health.reset()
	s.metadata.reset()
	s.house.reset()
	s.anatomy.reset()
	s.group.reset()
	s.activity.reset()
	s.activityFrom, s.activityTo = "", ""
	s.anatomyChunk = 0
	s.plan.reset()
	s.planRight.reset()
	s.splits.reset()
	s.handoff.reset()
	s.sim.reset()
	s.some = nil
	s.blockPage, s.comparePage = 0, 0
	s.metaPage, s.metaBefore = "", nil
	s.older.reset()
	s.deep, s.askArchive, s.archivedTo, s.archive, s.archiveSeen = false, false, "", nil, nil
	s.list = instantList{}
}

// reload forgets all answers and asks for what is shown again.
func (s *Session) reload() {
	t := s.table()
	s.resetAll()
	go func() {
		// The engine must forget too: files may have changed.
		_, _ = client.Call[api.CloseAnswer](newContext(), s.transport, api.OpClose, api.CloseRequest{Table: t}, nil)
		s.dispatch(s.ensure)
	}()
}

// ensure asks for whatever the present state shows and is not there yet.
func (s *Session) ensure() {
	st := s.state
	if st.Table == "" {
		return
	}
	t := s.table()
	want(s, &s.overview, st.Table, api.OpOverview, api.OverviewRequest{Table: t})
	o := s.overview.val
	if o == nil {
		return
	}
	if o.Kind == kindLog {
		s.ensureBlocks(t)
		return
	}
	if !o.Readable && st.View != model.Table {
		// What can be read of an unsupported table is its properties, and mostly its timeline.
		if st.View != model.Timeline {
			return
		}
	}
	s.ensureDialog(t)
	if st.Query == "inc" || st.Query == "cdc" || st.View == model.Stream || st.Flink != "" {
		s.wantRanges(t)
	}
	switch st.View {
	case model.Timeline:
		s.wantTimeline(t)
		if st.Instant != "" {
			want(s, &s.instant, st.Instant+" "+st.Action, api.OpInstant, api.InstantRequest{Table: t, Requested: st.Instant, Action: st.Action})
		}
		if s.timeline.val != nil {
			want(s, &s.relations, "all", api.OpRelations, api.RelationsRequest{Table: t})
		}
		if st.Activity && s.activityTo != "" {
			wantAsOf(s, &s.activity, "activity", s.activityFrom+" to "+s.activityTo, api.OpActivity,
				api.ActivityRequest{Table: t, From: s.activityFrom, To: s.activityTo, Limit: activityCommits, Metadata: true})
		}
		if st.Archived || s.archivedChosen() {
			s.askArchive = true
		}
		if s.askArchive {
			want(s, &s.archived, "to "+s.archivedTo, api.OpTimeline, api.TimelineRequest{Table: t, Archived: true,
				TimelinePage: api.TimelinePage{Limit: 1, ArchivedTo: s.archivedTo, ArchivedLimit: archivedPage}})
			s.takeArchive()
			if len(s.archive) > 0 && s.archived.val != nil && s.archived.val.ArchivedMore && s.archivedTo != s.archive[0].Requested && s.archivedChosen() && st.Instant < s.archive[0].Requested {
				s.earlier() // the chosen one lies further back
			}
		}
	case model.Files:
		s.ensureFiles(t)
	case model.Blocks:
		s.ensureBlocks(t)
	case model.Rows:
		// The grid asks for its own pages; the instants are for choosing a range or a time.
		if s.rowOptions || st.Query != "" || st.Rules != "" {
			s.wantTimeline(t)
		}
		if st.Where != "" || st.Rules != "" {
			s.wantPlan(t)
		}
		s.wantColumns(t)
	case model.Plan:
		s.wantTimeline(t)
		s.wantPlan(t)
		s.wantColumns(t)
	case model.Stream:
		s.ensureStream(t)
	case model.History:
		if st.Key != "" {
			wantAsOf(s, &s.history, fmt.Sprintf("%q %v %v", st.Key, st.Prefix, st.Everywhere), st.AsOf, api.OpHistory,
				api.HistoryRequest{Table: t, Key: st.Key, Prefix: st.Prefix, Everywhere: st.Everywhere, AsOf: st.AsOf})
		}
	case model.Compare:
		s.wantTimeline(t)
		if st.Before != "" || st.After != "" {
			want(s, &s.compare, fmt.Sprint(st.Before, " ", st.After, " ", s.comparePage), api.OpCompare,
				api.CompareRequest{Table: t, From: st.Before, To: st.After, Offset: s.comparePage, Limit: comparePage})
		}
	case model.Health:
		wantAsOf(s, &s.health, fmt.Sprint(s.deep, " ", st.Limits), st.AsOf, api.OpHealth, api.HealthRequest{Table: t, Deep: s.deep, AsOf: st.AsOf, Thresholds: model.ParseLimits(st.Limits)})
	case model.Metadata:
		req := api.MetadataRequest{Table: t, Partition: st.Part, Limit: metaPage, Cursor: s.metaPage}
		if st.Part != "" && st.Find != "" {
			if strings.HasSuffix(st.Find, "*") {
				req.Prefix = strings.TrimSuffix(st.Find, "*")
			} else {
				req.Keys = []string{st.Find}
			}
		}
		want(s, &s.metadata, fmt.Sprintf("%q %q %s", st.Part, st.Find, s.metaPage), api.OpMetadata, req)
	case model.Table:
		want(s, &s.config, "all", api.OpConfig, api.ConfigRequest{Table: t})
		want(s, &s.schema, "all", api.OpSchema, api.SchemaRequest{Table: t})
		want(s, &s.house, "all", api.OpHousekeeping, api.HousekeepingRequest{Table: t})
	}
	if followsCursor(st) || st.AsOf != "" {
		s.wantCursor(t)
	}
}

// ensureFiles asks for what the files view shows: a base file, a file group, or the partitions.
func (s *Session) ensureFiles(t api.Table) {
	st := s.state
	switch {
	case st.Anatomy != "":
		want(s, &s.anatomy, fmt.Sprintf("%q %d %d %d", st.Anatomy, st.AnatomyFrom, st.AnatomyLen, s.anatomyChunk), api.OpAnatomy,
			api.AnatomyRequest{Table: t, File: st.Anatomy, Offset: st.AnatomyFrom, Length: st.AnatomyLen, Chunk: s.anatomyChunk})
		return
	case st.GroupHistory && st.FileID != "":
		wantAsOf(s, &s.group, fmt.Sprintf("%q %q", st.Partition, st.FileID), st.AsOf, api.OpGroup,
			api.GroupRequest{Table: t, Partition: st.Partition, FileID: st.FileID, AsOf: st.AsOf})
		return
	}
	wantAsOf(s, &s.partitions, "all", st.AsOf, api.OpPartitions, api.PartitionsRequest{Table: t, AsOf: st.AsOf, Sizes: true})
	p := s.partitions.val
	if p == nil || s.partitions.kept {
		return
	}
	req := api.FilesRequest{Table: t, AsOf: st.AsOf}
	key := "all"
	if len(p.Paths) > manyPartitions {
		req.Partitions = s.shownPartitions(p.Paths)
		key = strings.Join(req.Partitions, "\x00")
	}
	wantAsOf(s, &s.files, key, st.AsOf, api.OpFiles, req)
}

// timelinePage is how many instants are asked for at a time. Longer pages would take the page longer
// to take in than it may be busy without a break.
const timelinePage = 2500

// timelineHead is the newest page of the timeline, and what is about the whole of it.
type timelineHead struct {
	api.Timeline
	list *model.Instants
}

// pending counts the instants that are not completed.
func (t *timelineHead) pending() int {
	n := 0
	for kind, count := range t.Counts {
		if !strings.HasSuffix(kind, " COMPLETED") {
			n += count
		}
	}
	return n
}

// allInstants are those of all pages, with what is drawn of them.
type allInstants struct {
	list *model.Instants
	// charts are by axis, stops are the places of the time cursor.
	charts map[model.Axis]*model.Chart
	stops  *model.Stops
}

// timelineAt asks for a page of the timeline and takes its instants out of the answer.
func (s *Session) timelineAt(ctx context.Context, t api.Table, p api.TimelinePage, progress func(api.Progress)) (timelineHead, error) {
	p.Compact = true
	a, err := client.Call[api.Timeline](ctx, s.transport, api.OpTimeline, api.TimelineRequest{Table: t, TimelinePage: p}, progress)
	if err != nil {
		return timelineHead{}, err
	}
	h := timelineHead{Timeline: a, list: model.InstantsOf(a.Active)}
	if a.Compact != nil {
		breathe()
		h.list, err = model.InstantsIn(a.Compact)
		h.Compact = nil
		breathe()
	}
	return h, err
}

// wantCursor asks for the instants that the time cursor stops at: the newest page, and all once it is moved.
func (s *Session) wantCursor(t api.Table) {
	if s.state.AsOf != "" {
		s.wantTimeline(t)
		return
	}
	s.wantHead(t)
}

func (s *Session) wantHead(t api.Table) {
	wantBy(s, &s.timeline, "all", func(ctx context.Context, progress func(api.Progress)) (timelineHead, error) {
		return s.timelineAt(ctx, t, api.TimelinePage{Offset: -timelinePage, Limit: timelinePage}, progress)
	})
}

func (s *Session) wantTimeline(t api.Table) {
	s.wantHead(t)
	head := s.timeline.val
	if head == nil || head.Total <= head.list.Len() {
		return
	}
	wantBy(s, &s.older, "all", func(ctx context.Context, progress func(api.Progress)) (allInstants, error) {
		parts := []*model.Instants{head.list}
		last := time.Now()
		for to := head.Offset; to > 0; {
			from := max(0, to-timelinePage)
			p, err := s.timelineAt(ctx, t, api.TimelinePage{Offset: from, Limit: to - from, Bare: true}, nil)
			if err != nil {
				return allInstants{}, err
			}
			if p.Total != head.Total || p.Offset != from || p.list.Len() != to-from {
				return allInstants{}, &api.Fault{Kind: "changed", Offset: -1, Message: "The timeline changed while it was read.", Try: "Read the table again."}
			}
			parts = append(parts, p.list)
			to = from
			if time.Since(last) > progressEvery {
				last = time.Now()
				progress(api.Progress{Phase: "Reading all instants", Done: int64(head.Total - to), Total: int64(head.Total), Unit: "instants"})
			}
		}
		slices.Reverse(parts)
		breathe()
		all := allInstants{list: model.JoinInstants(parts...)}
		breathe()
		// What is made of all instants takes its time, too: each in a task of its own.
		all.charts = map[model.Axis]*model.Chart{}
		for _, other := range []model.Axis{model.OnRequested, model.OnCompleted, model.InSteps} {
			all.charts[other] = model.NewChart(all.list, other)
			breathe()
		}
		all.stops = all.list.Stops()
		breathe()
		return all, nil
	})
}

// progressEvery is how often the progress of many small requests is drawn.
const progressEvery = 200 * time.Millisecond

// breathe lets the browser draw and take input between two pieces of work.
func breathe() { time.Sleep(time.Millisecond) }

// instantList is every instant that is known, the archived ones first, with its charts.
type instantList struct {
	head    *timelineHead
	older   *allInstants
	archive int
	all     *model.Instants
	charts  map[model.Axis]*model.Chart
	stops   *model.Stops
}

// takeArchive adds a page of archived instants to those known.
func (s *Session) takeArchive() {
	a := s.archived.val
	if a == nil || a == s.archiveSeen {
		return
	}
	s.archiveSeen = a
	known := map[string]bool{}
	for _, in := range s.archive {
		known[in.Requested+in.Action] = true
	}
	var fresh []api.Instant
	for _, in := range a.Archived {
		if !known[in.Requested+in.Action] {
			fresh = append(fresh, in)
		}
	}
	s.archive = append(fresh, s.archive...)
}

// archivedChosen reports whether the chosen instant is none of those known: it may be an archived one.
func (s *Session) archivedChosen() bool {
	all := s.instants()
	return s.state.Instant != "" && all != nil && s.unread() == 0 && all.Find(s.state.Instant, s.state.Action) < 0
}

// hideArchive forgets the archived instants; a chosen one is not chosen any more.
func (s *Session) hideArchive() {
	st := s.state
	if i := s.instants().Find(st.Instant, st.Action); i >= 0 && i < len(s.archive) {
		st.Instant, st.Action = "", ""
	}
	s.askArchive, s.archivedTo, s.archive, s.archiveSeen = false, "", nil, nil
	s.archived.reset()
	st.Archived = false
	s.navigate(st)
}

// earlier asks for archived instants before those known.
func (s *Session) earlier() {
	s.askArchive = true
	if len(s.archive) > 0 {
		s.archivedTo = s.archive[0].Requested
	}
	s.ensure()
}

// instants are all instants known, the archived ones first.
func (s *Session) instants() *model.Instants {
	head, older := s.timeline.val, s.older.val
	if head == nil {
		return nil
	}
	l := &s.list
	if l.head != head || l.older != older || l.archive != len(s.archive) || l.charts == nil {
		*l = instantList{head: head, older: older, archive: len(s.archive), all: head.list, charts: map[model.Axis]*model.Chart{}}
		if older != nil {
			l.all = older.list
			maps.Copy(l.charts, older.charts)
			l.stops = older.stops
		}
		if len(s.archive) > 0 {
			l.all = model.JoinInstants(model.InstantsOf(s.archive), l.all)
			l.all.Archived = len(s.archive)
			l.stops = nil
			l.charts = map[model.Axis]*model.Chart{}
		}
	}
	return l.all
}

// stops are the places of the time cursor among the instants known.
func (s *Session) stops() *model.Stops {
	all := s.instants()
	if s.list.stops == nil {
		s.list.stops = all.Stops()
	}
	return s.list.stops
}

// catchingUp reports whether an answer as of the cursor's instant is on its way.
func (s *Session) catchingUp() bool {
	return s.partitions.busy || s.files.busy || s.latest.busy || s.blocks.busy || s.scan.busy || s.health.busy || s.history.busy || s.plan.busy || s.group.busy
}

// unread counts the instants of the active timeline that are not known yet: they are older than those
// that are.
func (s *Session) unread() int {
	if s.timeline.val == nil || s.older.val != nil {
		return 0
	}
	return s.timeline.val.Offset
}

// chart is the chart of all instants known on an axis.
func (s *Session) chart(axis model.Axis) *model.Chart {
	all := s.instants()
	c := s.list.charts[axis]
	if c == nil {
		c = model.NewChart(all, axis)
		if s.list.charts != nil {
			s.list.charts[axis] = c
		}
	}
	return c
}

// shownPartitions chooses the partitions whose files are read in a table with many: those
// the user opened, the selected one, and the first few.
func (s *Session) shownPartitions(all []string) []string {
	const first = 8
	seen := map[string]bool{}
	var out []string
	add := func(p string) {
		if !seen[p] {
			seen[p] = true
			out = append(out, p)
		}
	}
	for i := 0; i < len(all) && i < first; i++ {
		add(all[i])
	}
	if s.state.FileID != "" || s.state.OnlyPartition {
		add(s.state.Partition)
	}
	for _, p := range s.some {
		add(p)
	}
	return out
}

func (s *Session) ensureBlocks(t api.Table) {
	st := s.state
	req := api.BlocksRequest{Table: t, AsOf: st.AsOf}
	switch {
	case s.overview.val.Kind == kindLog:
		// The file is the location itself.
	case st.FileID != "":
		req.Partition, req.FileID, req.BaseInstant = st.Partition, st.FileID, st.Slice
	case st.Log != "":
		req.File = st.Log
	default:
		wantAsOf(s, &s.latest, "all", st.AsOf, api.OpFiles, api.FilesRequest{Table: t, AsOf: st.AsOf})
		return
	}
	of := strings.Join([]string{req.File, req.Partition, req.FileID, req.BaseInstant}, "\x00")
	s.pageOfBlocks(of)
	req.Limit, req.Offset, req.Find = blocksPage, s.listed.from, s.listed.find
	page := strconv.Itoa(s.listed.from)
	if f := s.listed.find; f != nil {
		page = fmt.Sprintf("%s %d %d", f.File, f.Index, f.Byte)
	}
	wantAsOf(s, &s.blocks, of+"\x00"+page, st.AsOf, api.OpBlocks, req)
	if st.FileID != "" && s.overview.val.Kind != kindLog {
		wantAsOf(s, &s.latest, "all", st.AsOf, api.OpFiles, api.FilesRequest{Table: t, AsOf: st.AsOf})
	}
	if st.Replay {
		want(s, &s.scan, fmt.Sprintf("%s\x00%s\x00%s\x00%s\x00%v %s", req.File, req.Partition, req.FileID, req.BaseInstant, st.MergeSteps, st.AsOf), api.OpScan,
			api.ScanRequest{Table: t, File: req.File, Partition: req.Partition, FileID: req.FileID, BaseInstant: req.BaseInstant, AsOf: st.AsOf, Records: st.MergeSteps, Limit: scanSteps})
		return
	}
	b := s.blocks.val
	if b == nil {
		return
	}
	file, blk := selectedBlock(b, st)
	if blk == nil {
		return
	}
	path := file.File.Path
	key := path + " " + strconv.Itoa(blk.Index) + " " + strconv.FormatInt(s.blockPage, 10)
	want(s, &s.block, key, api.OpBlock, api.BlockRequest{Table: t, File: path, Index: blk.Index, Offset: s.blockPage, Limit: recordPage})
	from := hexFrom(st, *blk)
	n := min(hexPage, blk.End-from)
	if n > 0 {
		want(s, &s.bytes, path+" "+strconv.FormatInt(from, 10)+" "+strconv.FormatInt(n, 10), api.OpBytes,
			api.BytesRequest{Table: t, File: path, Offset: from, Length: int(n)})
	}
}

// pageOfBlocks chooses the page of blocks that is asked for: the one that is there, unless the state names a block that
// is not on it.
func (s *Session) pageOfBlocks(of string) {
	st, at := s.state, &s.listed
	same := at.of == of
	if !same {
		at.of, at.from, at.find = of, 0, nil
	}
	if st.Log == "" || st.Block <= 0 && st.Byte <= 0 {
		return
	}
	if same && s.blocks.val != nil && !s.blocks.busy {
		if _, blk := selectedBlock(s.blocks.val, st); blk != nil {
			return
		}
	}
	find := api.BlockPlace{File: st.Log, Byte: st.Byte}
	if st.Block > 0 {
		find = api.BlockPlace{File: st.Log, Index: st.Block - 1}
	}
	if same && (s.blocks.busy || at.find != nil && *at.find == find) {
		return
	}
	at.from, at.find = 0, &find
}

// turnBlocks shows another page of blocks.
func (s *Session) turnBlocks(from int64) {
	s.listed.from, s.listed.find = int(from), nil
	s.ensure()
}

// hexFrom is the offset of the first byte that the hex view shows of a block: its start,
// or the row of the byte that the state points at.
func hexFrom(st model.State, b api.Block) int64 {
	if st.Byte > 0 {
		o := st.Byte - 1
		if o > b.Start && o < b.End {
			from := o - o%model.HexWidth
			return max(from, b.Start)
		}
	}
	return b.Start
}

// kindLog is the kind of an overview of a single log file.
const kindLog = "log file"

// selectedBlock is the block that the state names, by its index or by a byte in it.
func selectedBlock(b *api.Blocks, st model.State) (*api.LogFile, *api.Block) {
	if st.Log == "" {
		return nil, nil
	}
	if st.Block > 0 {
		return findBlock(b, st.Log, st.Block-1)
	}
	if st.Byte > 0 {
		for i := range b.Files {
			f := &b.Files[i]
			if f.File.Path != st.Log && f.File.Name != st.Log {
				continue
			}
			for j := range f.Blocks {
				if blk := &f.Blocks[j]; blk.Start <= st.Byte-1 && st.Byte-1 < blk.End {
					return f, blk
				}
			}
		}
	}
	return nil, nil
}

// findBlock finds a block of an answer by file path (or name) and index.
func findBlock(b *api.Blocks, path string, index int) (*api.LogFile, *api.Block) {
	for i := range b.Files {
		f := &b.Files[i]
		if f.File.Path != path && f.File.Name != path {
			continue
		}
		for j := range f.Blocks {
			if f.Blocks[j].Index == index {
				return f, &f.Blocks[j]
			}
		}
	}
	return nil, nil
}
