package app

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"hudiscope/core/api"
	"hudiscope/web/model"
)

// service answers requests from a table of answers and remembers what was asked.
type service struct {
	mu      sync.Mutex
	asked   []string
	answers map[api.Op]any
	hold    chan struct{} // when set, answers wait for it
}

func (f *service) Do(ctx context.Context, op api.Op, args json.RawMessage, _ func(api.Progress)) (json.RawMessage, error) {
	f.mu.Lock()
	f.asked = append(f.asked, string(op)+" "+string(args))
	hold := f.hold
	f.mu.Unlock()
	if hold != nil {
		select {
		case <-hold:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	a, ok := f.answers[op]
	if !ok {
		return nil, &api.Fault{Message: "no " + string(op), Kind: "not found", Offset: -1}
	}
	return json.Marshal(a)
}

func (f *service) ops() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.asked)
}

// open makes a session whose functions run one after the other, as on the page.
func open(f *service) (*Session, func(what string, ok func() bool)) {
	var mu sync.Mutex
	s := &Session{transport: f, secrets: map[string]string{}}
	s.dispatch = func(fn func()) {
		mu.Lock()
		defer mu.Unlock()
		fn()
	}
	until := func(what string, ok func() bool) {
		deadline := time.Now().Add(5 * time.Second)
		for {
			mu.Lock()
			done := ok()
			mu.Unlock()
			if done {
				return
			}
			if time.Now().After(deadline) {
				panic("waited too long for " + what + fmt.Sprint(f.ops()))
			}
			time.Sleep(time.Millisecond)
		}
	}
	return s, until
}

func answers() map[api.Op]any {
	return map[api.Op]any{
		api.OpOverview:   api.Overview{Kind: "table", Name: "trips", Version: 9, Type: "MERGE_ON_READ", Readable: true},
		api.OpTimeline:   api.Timeline{Active: []api.Instant{{Requested: "1", Action: "commit", State: "COMPLETED"}}},
		api.OpInstant:    api.InstantDetail{},
		api.OpPartitions: api.Partitions{Paths: []string{"a", "b"}, From: "listing"},
		api.OpFiles:      api.Files{},
		api.OpBlocks: api.Blocks{Files: []api.LogFile{{File: api.File{Path: "a/.f.log.1", Name: ".f.log.1", Size: 3000}, Blocks: []api.Block{
			{Index: 0, Start: 0, End: 1000}, {Index: 1, Start: 1000, End: 3000}}}}},
		api.OpBlock:  api.BlockDetail{},
		api.OpBytes:  api.Bytes{Size: 3000},
		api.OpConfig: api.ConfigAnswer{},
		api.OpSchema: api.SchemaAnswer{},

		api.OpHousekeeping: api.Housekeeping{}, api.OpRelations: api.Relations{}, api.OpHistory: api.History{}, api.OpScan: api.Scan{},
		api.OpAnatomy: api.Anatomy{}, api.OpGroup: api.Group{},
		api.OpHealth: api.Health{}, api.OpCompare: api.Compare{}, api.OpMetadata: api.Metadata{},
	}
}

func TestStateDecidesWhatIsAskedFor(t *testing.T) {
	const table = `"table":"sample:x"`
	for _, c := range []struct {
		st   model.State
		want []string
		done func(*Session) bool
	}{
		{model.State{View: model.Timeline, Instant: "1", Action: "commit"},
			[]string{`overview {` + table + `}`, `timeline {` + table + `,"offset":-2500,"limit":2500,"compact":true}`, `instant {` + table + `,"requested":"1","action":"commit"}`, `relations {` + table + `}`},
			func(s *Session) bool { return s.relations.val != nil && s.instant.val != nil }},
		{model.State{View: model.Files, AsOf: "7"},
			[]string{`overview {` + table + `}`, `partitions {` + table + `,"as_of":"7","sizes":true}`, `files {` + table + `,"as_of":"7"}`, `timeline {` + table + `,"offset":-2500,"limit":2500,"compact":true}`},
			func(s *Session) bool { return s.files.val != nil }},
		{model.State{View: model.Blocks, Partition: "a", FileID: "f", Slice: "1", Log: "a/.f.log.1", Block: 2},
			[]string{`overview {` + table + `}`, `blocks {` + table + `,"partition":"a","file_id":"f","base_instant":"1","limit":1000,"find":{"file":"a/.f.log.1","index":1}}`, `files {` + table + `}`, `timeline {` + table + `,"offset":-2500,"limit":2500,"compact":true}`,
				`block {` + table + `,"file":"a/.f.log.1","index":1,"limit":50}`, `bytes {` + table + `,"file":"a/.f.log.1","offset":1000,"length":1024}`},
			func(s *Session) bool { return s.block.val != nil && s.bytes.val != nil }},
		{model.State{View: model.Blocks, Log: "a/.f.log.1", Byte: 2101},
			[]string{`overview {` + table + `}`, `blocks {` + table + `,"file":"a/.f.log.1","limit":1000,"find":{"file":"a/.f.log.1","byte":2101}}`, `timeline {` + table + `,"offset":-2500,"limit":2500,"compact":true}`,
				`block {` + table + `,"file":"a/.f.log.1","index":1,"limit":50}`, `bytes {` + table + `,"file":"a/.f.log.1","offset":2096,"length":904}`},
			func(s *Session) bool { return s.block.val != nil && s.bytes.val != nil }},
		{model.State{View: model.Table},
			[]string{`overview {` + table + `}`, `config {` + table + `}`, `schema {` + table + `}`, `housekeeping {` + table + `}`},
			func(s *Session) bool { return s.config.val != nil && s.schema.val != nil && s.house.val != nil }},
		{model.State{View: model.Blocks, Partition: "a", FileID: "f", Slice: "1", Replay: true, MergeSteps: true},
			[]string{`overview {` + table + `}`, `blocks {` + table + `,"partition":"a","file_id":"f","base_instant":"1","limit":1000}`, `files {` + table + `}`, `timeline {` + table + `,"offset":-2500,"limit":2500,"compact":true}`,
				`scan {` + table + `,"partition":"a","file_id":"f","base_instant":"1","records":true,"limit":4000}`},
			func(s *Session) bool { return s.scan.val != nil && s.blocks.val != nil && s.latest.val != nil }},
		{model.State{View: model.Blocks, Partition: "a", FileID: "f", Slice: "1", AsOf: "7", Replay: true},
			[]string{`overview {` + table + `}`, `blocks {` + table + `,"partition":"a","file_id":"f","base_instant":"1","as_of":"7","limit":1000}`, `files {` + table + `,"as_of":"7"}`, `timeline {` + table + `,"offset":-2500,"limit":2500,"compact":true}`,
				`scan {` + table + `,"partition":"a","file_id":"f","base_instant":"1","as_of":"7","limit":4000}`},
			func(s *Session) bool { return s.scan.val != nil && s.blocks.val != nil && s.timeline.val != nil }},
		{model.State{View: model.Files, Anatomy: "a/f.parquet"}, []string{`overview {` + table + `}`, `anatomy {` + table + `,"file":"a/f.parquet"}`}, func(s *Session) bool { return s.anatomy.val != nil }},
		{model.State{View: model.Files, Partition: "a", FileID: "f", GroupHistory: true, AsOf: "7"},
			[]string{`overview {` + table + `}`, `group {` + table + `,"partition":"a","file_id":"f","as_of":"7"}`, `timeline {` + table + `,"offset":-2500,"limit":2500,"compact":true}`}, func(s *Session) bool { return s.group.val != nil && s.timeline.val != nil }},
		{model.State{View: model.History}, []string{`overview {` + table + `}`, `timeline {` + table + `,"offset":-2500,"limit":2500,"compact":true}`}, func(s *Session) bool { return s.timeline.val != nil }},
		{model.State{View: model.History, Key: "k", Prefix: true, AsOf: "7"},
			[]string{`overview {` + table + `}`, `history {` + table + `,"key":"k","prefix":true,"as_of":"7"}`, `timeline {` + table + `,"offset":-2500,"limit":2500,"compact":true}`}, func(s *Session) bool { return s.history.val != nil && s.timeline.val != nil }},
		{model.State{View: model.Compare, Before: "1", After: "2"},
			[]string{`overview {` + table + `}`, `timeline {` + table + `,"offset":-2500,"limit":2500,"compact":true}`, `compare {` + table + `,"from":"1","to":"2","limit":100}`},
			func(s *Session) bool { return s.compare.val != nil && s.timeline.val != nil }},
		{model.State{View: model.Health}, []string{`overview {` + table + `}`, `health {` + table + `}`, `timeline {` + table + `,"offset":-2500,"limit":2500,"compact":true}`}, func(s *Session) bool { return s.health.val != nil && s.timeline.val != nil }},
		{model.State{View: model.Health, Limits: "small.bytes=1048576"}, []string{`overview {` + table + `}`, `health {` + table + `,"thresholds":{"small.bytes":1048576}}`, `timeline {` + table + `,"offset":-2500,"limit":2500,"compact":true}`}, func(s *Session) bool { return s.health.val != nil && s.timeline.val != nil }},
		{model.State{View: model.Metadata, Part: "files", Find: "a*"},
			[]string{`overview {` + table + `}`, `metadata {` + table + `,"partition":"files","prefix":"a","limit":100}`}, func(s *Session) bool { return s.metadata.val != nil }},
		{model.State{View: model.Rows}, []string{`overview {` + table + `}`, `timeline {` + table + `,"offset":-2500,"limit":2500,"compact":true}`}, func(s *Session) bool { return s.timeline.val != nil }},
	} {
		f := &service{answers: answers()}
		s, until := open(f)
		c.st.Table = "sample:x"
		s.dispatch(func() { s.apply(c.st) })
		until(string(c.st.View), func() bool { return c.done(s) })
		time.Sleep(5 * time.Millisecond)
		got := f.ops()
		slices.Sort(got)
		slices.Sort(c.want)
		if !slices.Equal(got, c.want) {
			t.Errorf("%+v\nasked %q\n want %q", c.st, got, c.want)
		}
	}
}

func TestTheSameIsNotAskedTwice(t *testing.T) {
	f := &service{answers: answers()}
	s, until := open(f)
	st := model.State{Table: "sample:x", View: model.Timeline}
	s.dispatch(func() { s.apply(st) })
	until("timeline", func() bool { return s.timeline.val != nil && s.relations.val != nil })
	s.dispatch(func() { s.apply(st.Go(model.Table)) })
	until("schema", func() bool { return s.schema.val != nil && s.config.val != nil && s.house.val != nil })
	s.dispatch(func() { s.apply(st) })
	if n := len(f.ops()); n != 6 {
		t.Errorf("%d requests: %v", n, f.ops())
	}
}

func TestAnotherTableCancelsAndForgets(t *testing.T) {
	f := &service{answers: answers(), hold: make(chan struct{})}
	s, until := open(f)
	s.dispatch(func() { s.apply(model.State{Table: "sample:x", View: model.Timeline}) })
	until("the first request", func() bool { return len(f.ops()) == 1 })
	f.mu.Lock()
	f.hold = nil
	f.mu.Unlock()
	s.dispatch(func() { s.apply(model.State{Table: "sample:y", View: model.Timeline}) })
	until("the other table", func() bool { return s.timeline.val != nil })
	for _, r := range f.ops()[1:] {
		var q api.OverviewRequest
		_ = json.Unmarshal([]byte(r[len("overview "):]), &q)
		if q.Location != "" && q.Location != "sample:y" {
			t.Errorf("asked %s", r)
		}
	}
	if s.overview.fault != nil {
		t.Errorf("the cancelled request shows: %+v", s.overview.fault)
	}
}

func TestCancelShowsAFaultAndRetryAsksAgain(t *testing.T) {
	f := &service{answers: answers(), hold: make(chan struct{})}
	s, until := open(f)
	s.dispatch(func() { s.apply(model.State{Table: "sample:x", View: model.Timeline}) })
	until("slow", func() bool { return s.overview.slow })
	s.dispatch(func() { s.overview.stop() })
	until("the fault", func() bool { return s.overview.fault != nil })
	if s.overview.fault.Kind != "cancelled" || s.overview.busy {
		t.Errorf("%+v", s.overview.fault)
	}
	f.mu.Lock()
	f.hold = nil
	f.mu.Unlock()
	s.dispatch(func() { s.overview.reset(); s.ensure() })
	until("the timeline", func() bool { return s.timeline.val != nil })
}

func TestSecretsGoToTheEngineOnly(t *testing.T) {
	f := &service{answers: answers()}
	s, until := open(f)
	s.secrets["https://h/t/"] = "https://h/t/?sig=1"
	s.dispatch(func() { s.apply(model.State{Table: "https://h/t/", View: model.Rows}) })
	until("overview", func() bool { return s.overview.val != nil })
	if got := f.ops()[0]; got != `overview {"table":"https://h/t/?sig=1"}` {
		t.Errorf("asked %s", got)
	}
	if got := s.state.Fragment(); got != "/t=https://h/t/&v=rows" {
		t.Errorf("the address holds %s", got)
	}
}

func TestManyPartitionsAreReadInPart(t *testing.T) {
	a := answers()
	var paths []string
	for i := range 500 {
		paths = append(paths, fmt.Sprintf("day=%03d", i))
	}
	a[api.OpPartitions] = api.Partitions{Paths: paths}
	f := &service{answers: a}
	s, until := open(f)
	s.dispatch(func() {
		s.apply(model.State{Table: "sample:x", View: model.Files, FileID: "f", Partition: "day=400", Slice: "1"})
	})
	until("files", func() bool { return s.files.val != nil })
	var q api.FilesRequest
	asked := f.ops()
	if err := json.Unmarshal([]byte(asked[slices.IndexFunc(asked, func(r string) bool { return strings.HasPrefix(r, "files ") })][len("files "):]), &q); err != nil {
		t.Fatal(err)
	}
	if len(q.Partitions) != 9 || !slices.Contains(q.Partitions, "day=400") {
		t.Errorf("asked for %v", q.Partitions)
	}
}

func TestTablesOfTheServer(t *testing.T) {
	for body, want := range map[string]int{`[{"name":"trips","type":"directory"},{"name":"x.txt","type":"file"}]`: 1, `[]`: 0, `null`: 0, `<!doctype html>`: 0, `{"name":"x"}`: 0} {
		if got := tableList([]byte(body)); len(got) != want {
			t.Errorf("%s gave %v", body, got)
		}
	}
	for _, c := range []struct{ page, want string }{
		{"/", "/tables/we%20ird%23na%25me/"}, {"/index.html", "/tables/we%20ird%23na%25me/"}, {"/hudi/", "/hudi/tables/we%20ird%23na%25me/"}, {"", "/tables/we%20ird%23na%25me/"},
	} {
		st := servedState(c.page, "we ird#na%me")
		if st.Table != c.want || model.ParseFragment(st.Fragment()) != st {
			t.Errorf("%q leads to %q", c.page, st.Table)
		}
	}
}

func TestUnknownSizes(t *testing.T) {
	sl := api.Slice{Base: &api.File{Size: -1}, Logs: []api.File{{Size: -1}, {Size: 2048}}}
	if n := unsized(sl); n != 2 || sliceSize(sl) != "over 2.00 KB" {
		t.Errorf("%d, %s", n, sliceSize(sl))
	}
	sl.Logs = sl.Logs[:1]
	p := &api.PartitionFiles{Groups: []api.FileGroup{{Slices: []api.Slice{sl}}}, Other: []api.File{{Size: -1}, {Size: 1}}}
	if n := unsizedFiles(p); n != 3 || sliceSize(sl) != "?" {
		t.Errorf("%d, %s", n, sliceSize(sl))
	}
}

// long answers pages of a timeline as the service does.
type long struct {
	service
	total  int
	change int // the total once a bare page was asked for, 0 for no change
}

func (f *long) Do(ctx context.Context, op api.Op, args json.RawMessage, progress func(api.Progress)) (json.RawMessage, error) {
	if op != api.OpTimeline {
		return f.service.Do(ctx, op, args, progress)
	}
	f.mu.Lock()
	f.asked = append(f.asked, string(args))
	f.mu.Unlock()
	var req api.TimelineRequest
	if err := json.Unmarshal(args, &req); err != nil || !req.Compact || req.Limit <= 0 || req.Limit > timelinePage {
		return nil, fmt.Errorf("asked for %s", args)
	}
	a := api.Timeline{}
	a.Total = f.total
	if req.Bare && f.change > 0 {
		a.Total = f.change
	}
	if a.Offset = req.Offset; a.Offset < 0 {
		a.Offset = max(0, a.Total+a.Offset)
	}
	c := &api.CompactTimeline{Actions: []string{"commit", "clean"}}
	for i := a.Offset; i < min(a.Offset+req.Limit, a.Total); i++ {
		c.Requested += fmt.Sprintf("%017d ", i)
		c.Completed += " "
		c.Action = append(c.Action, uint8(i%2))
		c.Flags = append(c.Flags, api.CompactInflight)
	}
	a.Compact = c
	if !req.Bare {
		a.Counts = map[string]int{"commit INFLIGHT": a.Total}
	}
	return json.Marshal(a)
}

func TestLongTimelineIsReadInPages(t *testing.T) {
	const total = 3*timelinePage + 17
	f := &long{service: service{answers: answers()}, total: total}
	s, until := open(&f.service)
	s.transport = f
	s.dispatch(func() { s.apply(model.State{Table: "sample:x", View: model.Timeline}) })
	until("the newest", func() bool { return s.timeline.val != nil })
	until("all", func() bool { return s.older.val != nil })
	s.dispatch(func() {
		all := s.instants()
		if all.Len() != total || s.unread() != 0 || s.timeline.val.pending() != total {
			t.Fatalf("%d instants, %d unread", all.Len(), s.unread())
		}
		for i := range total {
			if x := all.At(i); x.Requested != fmt.Sprintf("%017d", i) || x.Action != []string{"commit", "clean"}[i%2] || x.State != "INFLIGHT" {
				t.Fatalf("instant %d is %+v", i, x)
			}
		}
		if c := s.chart(""); len(c.Order) != total || s.chart("") != c {
			t.Error("the chart is made once")
		}
		s.archive = []api.Instant{{Requested: "0", Action: "commit", State: "COMPLETED"}}
		if all := s.instants(); all.Len() != total+1 || all.Archived != 1 || all.At(1).Requested != fmt.Sprintf("%017d", 0) {
			t.Error("archived instants come first")
		}
	})
	for i, from := range []int{-timelinePage, total - 2*timelinePage, 17, 0} {
		var req api.TimelineRequest
		if err := json.Unmarshal([]byte(pages(f)[i]), &req); err != nil || req.Offset != from || req.Bare != (i > 0) {
			t.Errorf("page %d: %+v", i, req)
		}
	}
	// While pages come the newest are there; a timeline that changes is told, and asked for again.
	f = &long{service: service{answers: answers()}, total: total, change: total + 1}
	s, until = open(&f.service)
	s.transport = f
	s.dispatch(func() { s.apply(model.State{Table: "sample:x", View: model.Timeline}) })
	until("a fault", func() bool { return s.older.fault != nil })
	s.dispatch(func() {
		if s.older.fault.Kind != "changed" || s.instants().Len() != timelinePage || s.unread() != total-timelinePage {
			t.Errorf("%+v, %d instants", s.older.fault, s.instants().Len())
		}
	})
}

// pages are the arguments of the requests for the timeline.
func pages(f *long) []string {
	var out []string
	for _, x := range f.ops() {
		if strings.HasPrefix(x, "{") {
			out = append(out, x)
		}
	}
	return out
}

// TestMovingThroughTimeKeepsWhatIsShown: while the answer as of another instant is on its way the one before stays, and
// an answer that is overtaken is dropped.
func TestMovingThroughTimeKeepsWhatIsShown(t *testing.T) {
	a := answers()
	a[api.OpHealth] = api.Health{Level: "ok"}
	f := &service{answers: a}
	s, until := open(f)
	st := model.State{Table: "sample:x", View: model.Health}
	s.dispatch(func() { s.apply(st) })
	until("the latest", func() bool { return s.health.val != nil && s.timeline.val != nil })
	f.mu.Lock()
	f.hold = make(chan struct{})
	f.mu.Unlock()
	st.AsOf = "1"
	s.dispatch(func() { s.apply(st) })
	until("the request", func() bool { return s.health.busy })
	if s.health.val == nil || !s.health.kept || s.health.val.Level != "ok" {
		t.Errorf("nothing is shown meanwhile: %+v", s.health)
	}
	st.Limits = "small.bytes=7"
	s.dispatch(func() { s.apply(st) })
	until("the other request", func() bool { return strings.Contains(s.health.key, "small.bytes") })
	if s.health.val != nil || s.health.kept {
		t.Error("the answer to another question is shown")
	}
	f.mu.Lock()
	close(f.hold)
	f.hold = nil
	f.mu.Unlock()
	until("the answer", func() bool { return s.health.val != nil && !s.health.busy })
	if s.health.kept || s.health.fault != nil {
		t.Errorf("%+v", s.health)
	}
}

// TestFilesFollowTheCursor: after several moves the files are those of the last one.
func TestFilesFollowTheCursor(t *testing.T) {
	f := &service{answers: answers()}
	s, until := open(f)
	st := model.State{Table: "sample:x", View: model.Files}
	s.dispatch(func() { s.apply(st) })
	until("files", func() bool { return s.files.val != nil })
	for _, a := range []string{"5", "4"} {
		st.AsOf = a
		s.dispatch(func() { s.apply(st) })
	}
	until("the files", func() bool { return strings.HasSuffix(s.files.key, "as of 4") && !s.files.busy })
	if s.files.kept || s.partitions.kept || s.files.fault != nil {
		t.Errorf("%+v", s.files)
	}
	if asked := f.ops(); !slices.Contains(asked, `files {"table":"sample:x","as_of":"4"}`) {
		t.Errorf("asked %q", asked)
	}
}

// TestPagesOfBlocks asks for the page that a block is on, keeps it while blocks on it are chosen, and turns it.
func TestPagesOfBlocks(t *testing.T) {
	s := &Session{}
	ask := func(st model.State) (int, *api.BlockPlace) {
		s.state = st
		s.pageOfBlocks(st.FileID + "\x00" + st.Log)
		return s.listed.from, s.listed.find
	}
	one := model.State{Log: "a/.f.log.1"}
	if from, find := ask(one); from != 0 || find != nil {
		t.Errorf("the first page is %d, %v", from, find)
	}
	s.blocks.val = &api.Blocks{Total: 5000, Files: []api.LogFile{{File: api.File{Path: one.Log}, Total: 5000, Blocks: []api.Block{{Index: 0, Start: 0, End: 10}, {Index: 1, Start: 10, End: 20}}}}}
	at := one
	at.Block = 2
	if from, find := ask(at); from != 0 || find != nil {
		t.Errorf("a block that is there asks for %d, %v", from, find)
	}
	at.Block = 3001
	if _, find := ask(at); find == nil || *find != (api.BlockPlace{File: one.Log, Index: 3000}) {
		t.Fatalf("a block that is not there asks for %v", find)
	}
	before := s.listed.find
	if _, find := ask(at); find != before {
		t.Error("the same block was asked for twice")
	}
	at.Block, at.Byte = 0, 777
	if _, find := ask(at); find == nil || *find != (api.BlockPlace{File: one.Log, Byte: 777}) {
		t.Errorf("a byte asks for %v", find)
	}
	other := model.State{FileID: "g", Log: "b/.g.log.1", Block: 1}
	if from, find := ask(other); from != 0 || find == nil || find.File != other.Log {
		t.Errorf("another slice begins at %d, %v", from, find)
	}
}
