package app

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"hudiscope/core/api"
	"hudiscope/web/model"
)

func TestQueryStateDecidesWhatIsAskedFor(t *testing.T) {
	const table = `"table":"sample:x"`
	f := &service{answers: answers()}
	f.answers[api.OpPlan], f.answers[api.OpSplits], f.answers[api.OpHandoff] = api.Plan{}, api.Splits{}, api.Handoff{}
	s, until := open(f)
	st := model.State{Table: "sample:x", View: model.Plan, Query: "ro", Where: "a > 1", Columns: "b,a", Limit: 7, OpenCost: "1", Rules: "1.0.2", Partition: "p", OnlyPartition: true}
	s.dispatch(func() { s.apply(st) })
	until("both plans", func() bool { return s.plan.val != nil && s.planRight.val != nil })
	rest := `"options":{"hoodie.datasource.query.type":"read_optimized"},"partitions":["p"],"where":"a \u003e 1","columns":["b","a"],"limit":7,"spark":{"spark.sql.files.openCostInBytes":"1"}}`
	for _, want := range []string{`plan {` + table + `,"hudi":"1.0.2",` + rest, `plan {` + table + `,` + rest} {
		if !slices.Contains(f.ops(), want) {
			t.Errorf("%s was not asked: %q", want, f.ops())
		}
	}
	// Rows with a condition have the plan already; a dialog asks when it is open.
	before := len(f.ops())
	s.dispatch(func() { s.apply(st.Go(model.Rows)) })
	s.dispatch(func() { s.dialog = dialogHandoff; s.ensure() })
	until("the hand-off", func() bool { return s.handoff.val != nil })
	for _, a := range f.ops()[before:] {
		if strings.HasPrefix(a, "plan ") {
			t.Errorf("asked again: %s", a)
		}
	}
	want := `handoff {` + table + `,"hudi":"1.0.2","options":{"hoodie.datasource.query.type":"read_optimized"},"partitions":["p"],"where":"a \u003e 1","columns":["b","a"],"limit":7}`
	if !slices.Contains(f.ops(), want) {
		t.Errorf("%s was not asked: %q", want, f.ops())
	}
	// A batch read of Flink.
	s.dispatch(func() {
		s.dialog = ""
		s.apply(model.State{Table: "sample:x", View: model.Stream, Flink: "read.tasks=2", Seen: "5", Batch: true})
	})
	until("the splits", func() bool { return s.splits.val != nil })
	if want := `splits {` + table + `,"options":{"read.tasks":"2"},"batch":true,"seen":"5"}`; !slices.Contains(f.ops(), want) {
		t.Errorf("%s was not asked: %q", want, f.ops())
	}
}

// monitor answers polls as a monitor of a table with some commits, and readers that take one record a step.
type monitor struct {
	service
	commits []string
}

func (m *monitor) Do(ctx context.Context, op api.Op, args json.RawMessage, p func(api.Progress)) (json.RawMessage, error) {
	switch op {
	case api.OpSplits:
		var req api.SplitsRequest
		if err := json.Unmarshal(args, &req); err != nil {
			return nil, err
		}
		m.note(op, args)
		st := api.StreamState{}
		if req.State != nil {
			st = *req.State
		}
		r := api.SplitRound{Splits: []api.Split{}}
		for _, c := range m.commits {
			if c > st.IssuedOffset && (req.Seen == "" || c <= req.Seen) {
				r.Splits = append(r.Splits, api.Split{Num: st.Total, LatestCommit: c, Task: st.Total % 2})
				st.Total++
			}
		}
		if n := len(r.Splits); n > 0 {
			st.IssuedInstant, st.IssuedOffset = r.Splits[n-1].LatestCommit, r.Splits[n-1].LatestCommit
		}
		return json.Marshal(api.Splits{Rounds: []api.SplitRound{r}, State: st})
	case api.OpOperator:
		var req api.OperatorRequest
		if err := json.Unmarshal(args, &req); err != nil {
			return nil, err
		}
		m.note(op, args)
		st := api.OperatorState{Readers: make([]api.ReaderState, 2)}
		if req.State != nil {
			st = *req.State
		}
		a := api.OperatorAnswer{}
		for _, x := range req.Add {
			st.Readers[x.Task].Queue = append(st.Readers[x.Task].Queue, api.QueuedSplit{Split: x})
		}
		for range req.Steps {
			for i := range st.Readers {
				if r := &st.Readers[i]; len(r.Queue) > 0 {
					r.Queue = r.Queue[1:]
					r.Emitted++
					a.Emitted++
					a.Rows = append(a.Rows, api.OperatorRow{Reader: i})
				}
			}
		}
		a.State = st
		return json.Marshal(a)
	}
	return m.service.Do(ctx, op, args, p)
}

func (f *service) note(op api.Op, args json.RawMessage) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, string(op)+" "+string(args))
}

func TestStreamIsSteppedBackAndRestored(t *testing.T) {
	m := &monitor{service: service{answers: answers()}, commits: []string{"1", "2", "3"}}
	s, until := open(&m.service)
	s.transport = m
	st := model.State{Table: "sample:x", View: model.Stream, Flink: "read.tasks=2", Seen: "1"}
	s.dispatch(func() { s.apply(st) })
	until("the timeline", func() bool { return s.timeline.val != nil })
	poll := func(n int) {
		t.Helper()
		s.dispatch(func() { s.poll(nil) })
		until("a poll", func() bool { return len(s.sim.polls) == n && !s.sim.busy })
	}
	poll(1)
	if x := s.sim.state(); x.IssuedOffset != "1" || x.Total != 1 || len(s.sim.readers.Readers[0].Queue) != 1 {
		t.Fatalf("after the first poll: %+v %+v", x, s.sim.readers)
	}
	st.Seen = ""
	s.dispatch(func() { s.apply(st) }) // more is seen: the polls go on
	poll(2)
	poll(3)
	if !s.sim.polls[2].ended || s.sim.polls[1].ended || len(s.sim.polls[1].round.Splits) != 2 {
		t.Fatalf("%+v", s.sim.polls)
	}
	s.dispatch(func() { s.operate(nil, 1000, nil, nil) })
	until("the readers", func() bool { return !s.sim.busy })
	if s.sim.emitted != 3 || len(s.sim.rows) != 3 {
		t.Fatalf("%d rows, %d kept", s.sim.emitted, len(s.sim.rows))
	}
	saved := toJSON(savedStream{Monitor: s.sim.state(), Readers: s.sim.readers})
	s.dispatch(func() { s.backTo(0) })
	if x := s.sim.state(); len(s.sim.polls) != 1 || x.IssuedOffset != "1" || s.sim.emitted != 0 || len(s.sim.rows) != 0 || len(s.sim.readers.Readers[0].Queue) != 1 {
		t.Fatalf("back at the first poll: %+v %+v", s.sim.polls, s.sim.readers)
	}
	for _, bad := range []string{"", "x", `{"y": 1}`, `[]`, `{"monitor": 3}`} {
		if err := s.restore(bad); err == nil {
			t.Errorf("%q was taken for a state", bad)
		}
	}
	if len(s.sim.polls) != 1 {
		t.Error("a bad state took the polls away")
	}
	if err := s.restore(saved); err != nil {
		t.Fatal(err)
	}
	if x := s.sim.state(); x.IssuedOffset != "3" || s.sim.readers.Readers[1].Emitted != 1 || len(s.sim.polls) != 0 {
		t.Fatalf("restored: %+v", s.sim)
	}
	if err := s.restore(`{"issued_instant": "2", "issued_offset": "2", "total": 2}`); err != nil {
		t.Fatal(err)
	}
	poll(1)
	if x := s.sim.polls[0].round.Splits; len(x) != 1 || x[0].LatestCommit != "3" || x[0].Num != 2 {
		t.Fatalf("from a monitor's state: %+v", x)
	}
	// Other options are another stream.
	st.Flink = "read.tasks=3"
	s.dispatch(func() { s.apply(st) })
	if len(s.sim.polls) != 0 || s.sim.state() != nil {
		t.Errorf("the polls of other options stayed: %+v", s.sim.polls)
	}
}

// paper is a sink in memory.
type paper struct {
	text   string
	full   int
	closed bool
	thrown bool
}

func (p *paper) write(b []byte) error {
	if p.full > 0 && len(p.text)+len(b) > p.full {
		return errors.New("no room")
	}
	p.text += string(b)
	return nil
}
func (p *paper) close() error { p.closed = true; return nil }
func (p *paper) abort()       { p.thrown = true }

// parts answers an export in parts.
type parts struct {
	list  []string
	after func(part int)
	asked []int
}

func (f *parts) Do(ctx context.Context, _ api.Op, args json.RawMessage, _ func(api.Progress)) (json.RawMessage, error) {
	var req api.ExportRequest
	if err := json.Unmarshal(args, &req); err != nil {
		return nil, err
	}
	f.asked = append(f.asked, req.Part)
	if req.Part >= len(f.list) {
		return nil, &api.Fault{Message: "no such part", Kind: "corrupt", Offset: -1}
	}
	if f.after != nil {
		f.after(req.Part)
	}
	return json.Marshal(api.ExportChunk{Data: []byte(f.list[req.Part]), Rows: int64(req.Part + 1), Done: req.Part == len(f.list)-1})
}

func TestExportWritesPartsInOrderOrNothing(t *testing.T) {
	told := func(*api.ExportChunk, *api.Progress) {}
	f, p := &parts{list: []string{"a\n", "", "b\n"}}, &paper{}
	if err := writeExport(context.Background(), f, api.ExportRequest{ID: "x"}, p, told); err != nil || p.text != "a\nb\n" || !p.closed || p.thrown || !slices.Equal(f.asked, []int{0, 1, 2}) {
		t.Errorf("%v %+v asked %v", err, p, f.asked)
	}
	// The place is full, and the export cancelled between two parts.
	p = &paper{full: 3}
	if err := writeExport(context.Background(), f, api.ExportRequest{}, p, told); err == nil || err.Error() != "no room" || p.closed || !p.thrown {
		t.Errorf("%v %+v", err, p)
	}
	ctx, cancel := context.WithCancel(context.Background())
	p, f = &paper{}, &parts{list: []string{"a", "b"}, after: func(int) { cancel() }}
	if err := writeExport(ctx, f, api.ExportRequest{}, p, told); !errors.Is(err, context.Canceled) || p.closed || !p.thrown {
		t.Errorf("%v %+v", err, p)
	}
	for name, want := range map[string]string{"t1": "t1", "a b/c:ü.zip": "a_b_c___zip", "": "rows", "//": "rows", strings.Repeat("x", 300): strings.Repeat("x", 80)} {
		if got := fileName(name); got != want {
			t.Errorf("%q gave %q", name, got)
		}
	}
}

func TestHandoffKeepsCredentialsBack(t *testing.T) {
	s := &Session{secrets: map[string]string{"https://h/t": "https://h/t?sig=secret"}, state: model.State{Table: "https://h/t"}}
	a := &api.Handoff{Address: "https://h/t?sig=secret", Snippets: []api.Snippet{{Engine: "PySpark", Code: `load("https://h/t?sig=secret")`}}}
	if got := s.clean(a); got.Address != "https://h/t" || got.Snippets[0].Code != `load("https://h/t")` || !strings.Contains(a.Snippets[0].Code, "secret") {
		t.Errorf("%+v", got)
	}
}
