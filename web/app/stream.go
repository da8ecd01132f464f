package app

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"

	goapp "github.com/maxence-charriere/go-app/v9/pkg/app"

	"hudiscope/core/api"
	"hudiscope/web/client"
	"hudiscope/web/model"
	"hudiscope/web/text"
	"hudiscope/web/view"
)

// streamSim is Flink's streaming read, stepped by hand: the polls of its monitor, and the readers that
// take the splits. The service keeps nothing of it: every request carries the state so far.
type streamSim struct {
	// key is what the polls are of; another table, release or option starts over.
	key   string
	polls []streamPoll
	// start is the state that was pasted, nil for none.
	start *api.StreamState
	// readers are the operator's; nil before the first split.
	readers *api.OperatorState
	events  []api.OperatorEvent
	rows    []api.OperatorRow
	columns []api.Column
	emitted int64
	// batchSize is how many records one mini batch has at most, 0 for Hudi's own number.
	batchSize int
	routing   string
	// pasteFault says why what was pasted is no state.
	pasteFault string

	seq    int
	busy   bool
	what   string
	fault  *api.Fault
	prog   api.Progress
	cancel context.CancelFunc
}

// shown is what the simulation has come to: the looks of the monitor with their splits, and what the readers gave; nil
// before the first look.
func (sim *streamSim) shown() any {
	if len(sim.polls) == 0 {
		return nil
	}
	type look struct {
		Seen  string          `json:"seen,omitempty"`
		Round api.SplitRound  `json:"round"`
		State api.StreamState `json:"state"`
	}
	looks := make([]look, len(sim.polls))
	for i, p := range sim.polls {
		looks[i] = look{p.seen, p.round, p.after}
	}
	return map[string]any{"looks": looks, "readers": sim.readers, "events": sim.events, "columns": sim.columns, "rows": sim.rows, "emitted": sim.emitted}
}

// streamPoll is one look of the monitor.
type streamPoll struct {
	seen   string
	round  api.SplitRound
	before api.StreamState
	after  api.StreamState
	// What the readers were right after the poll, to come back to it.
	readers      *api.OperatorState
	events, rows int
	emitted      int64
	// ended tells that nothing was new.
	ended bool
}

// simEvents and simRows bound what is kept of the readers' steps.
const (
	simEvents = 400
	simRows   = 1000
)

// savedStream is what is copied and pasted: the state as checkpoints save it.
type savedStream struct {
	Monitor *api.StreamState   `json:"monitor"`
	Readers *api.OperatorState `json:"readers,omitempty"`
}

// simulate sends a request of the simulation; done takes the answer.
func simulate[A any](s *Session, what string, op api.Op, req any, done func(*A)) {
	sim := &s.sim
	sim.stop()
	sim.seq++
	seq := sim.seq
	ctx, cancel := context.WithCancel(context.Background())
	sim.busy, sim.what, sim.fault, sim.prog, sim.cancel = true, what, nil, api.Progress{}, cancel
	go func() {
		a, err := client.Call[A](ctx, s.transport, op, req, func(p api.Progress) {
			s.dispatch(func() {
				if sim.seq == seq && sim.busy {
					sim.prog = p
				}
			})
		})
		cancel()
		s.dispatch(func() {
			if sim.seq != seq {
				return
			}
			sim.busy = false
			if err != nil {
				sim.fault = s.faultOf(err)
				return
			}
			done(&a)
		})
	}()
}

func (sim *streamSim) stop() {
	if sim.cancel != nil {
		sim.cancel()
		sim.cancel = nil
	}
}

// reset forgets all of it, but for how the user looks at it.
func (sim *streamSim) reset() {
	sim.stop()
	*sim = streamSim{seq: sim.seq + 1, batchSize: sim.batchSize}
}

// state is the monitor's after the last poll, nil before the first.
func (sim *streamSim) state() *api.StreamState {
	if n := len(sim.polls); n > 0 {
		st := sim.polls[n-1].after
		return &st
	}
	return sim.start
}

// ensureStream starts over when what is streamed has changed.
func (s *Session) ensureStream(t api.Table) {
	s.wantTimeline(t)
	key := requestKey(s.splitsRequest(t))
	if s.sim.key != key {
		s.sim.reset()
		s.sim.key = key
	}
	if s.state.Batch && !s.state.StreamRows {
		req := s.splitsRequest(t)
		req.Batch, req.Seen = true, s.state.Seen
		want(s, &s.splits, requestKey(req), api.OpSplits, req)
	}
}

// splitsRequest is what all requests of a stream have in common: all but how far it looks.
func (s *Session) splitsRequest(t api.Table) api.SplitsRequest {
	req := api.SplitsRequest{Table: t, Options: model.SplitOptions(s.state.Flink)}
	req.Partitions, _ = placeOf(s.state)
	return req
}

// poll lets the monitor look once, up to the completion time that is seen; then, if not nil, is
// called after the readers have the splits.
func (s *Session) poll(then func(more bool)) {
	req := s.splitsRequest(s.table())
	req.Poll, req.State, req.Seen = true, s.sim.state(), s.state.Seen
	var before api.StreamState
	if req.State != nil {
		before = *req.State
	}
	simulate(s, text.T("The monitor looks at the table"), api.OpSplits, req, func(a *api.Splits) {
		sim := &s.sim
		sim.routing = a.Routing
		p := streamPoll{seen: req.Seen, before: before, after: a.State}
		if len(a.Rounds) > 0 {
			p.round = a.Rounds[0]
		}
		p.ended = len(p.round.Splits) == 0 && a.State.IssuedInstant == before.IssuedInstant && a.State.IssuedOffset == before.IssuedOffset
		p.readers, p.events, p.rows, p.emitted = sim.readers, len(sim.events), len(sim.rows), sim.emitted
		sim.polls = append(sim.polls, p)
		at := len(sim.polls) - 1
		if len(p.round.Splits) == 0 {
			if then != nil {
				then(!p.ended)
			}
			return
		}
		s.operate(p.round.Splits, 0, nil, func() {
			if at < len(sim.polls) {
				q := &sim.polls[at]
				q.readers, q.events, q.rows, q.emitted = sim.readers, len(sim.events), len(sim.rows), sim.emitted
			}
			if then != nil {
				then(true)
			}
		})
	})
}

// operate gives splits to the readers and lets them run some mini batches.
func (s *Session) operate(add []api.Split, steps int, reader *int, then func()) {
	sim := &s.sim
	common := s.splitsRequest(s.table())
	req := api.OperatorRequest{Table: common.Table, Options: common.Options, Partitions: common.Partitions, Seen: s.state.Seen,
		State: sim.readers, Add: add, Steps: steps, Reader: reader, MiniBatch: sim.batchSize}
	simulate(s, text.T("The readers run"), api.OpOperator, req, func(a *api.OperatorAnswer) {
		sim.readers = &a.State
		sim.columns = a.Columns
		sim.emitted += a.Emitted
		if a.Routing != "" {
			sim.routing = a.Routing
		}
		sim.events = lastOf(append(sim.events, a.Events...), simEvents)
		sim.rows = lastOf(append(sim.rows, a.Rows...), simRows)
		if then != nil {
			then()
		}
	})
}

func lastOf[T any](list []T, n int) []T {
	if len(list) > n {
		return slices.Clone(list[len(list)-n:])
	}
	return list
}

// backTo forgets what came after a poll.
func (s *Session) backTo(poll int) {
	sim := &s.sim
	sim.stop()
	sim.seq++
	sim.busy, sim.fault = false, nil
	p := sim.polls[poll]
	sim.polls = sim.polls[:poll+1]
	sim.readers, sim.emitted = p.readers, p.emitted
	// The oldest events and rows may be gone by now.
	sim.events, sim.rows = sim.events[:min(p.events, len(sim.events))], sim.rows[:min(p.rows, len(sim.rows))]
}

// restore begins with a saved state: one that was copied here, or a monitor's alone.
func (s *Session) restore(said string) error {
	var saved savedStream
	dec := json.NewDecoder(strings.NewReader(said))
	dec.DisallowUnknownFields()
	err := dec.Decode(&saved)
	if err != nil || saved.Monitor == nil {
		var alone api.StreamState
		dec = json.NewDecoder(strings.NewReader(said))
		dec.DisallowUnknownFields()
		if err2 := dec.Decode(&alone); err2 != nil {
			if err == nil {
				err = errors.New("it has no monitor")
			}
			return err
		}
		saved = savedStream{Monitor: &alone}
	}
	key := s.sim.key
	s.sim.reset()
	s.sim.key = key
	s.sim.start, s.sim.readers = saved.Monitor, saved.Readers
	return nil
}

// streamView shows Flink's streaming read as it goes on, and its rows.
type streamView struct {
	goapp.Compo

	Root *Root
	Rev  int

	slide int // where the slider is while it is dragged, -1 otherwise
	paste string
}

func (v *streamView) OnMount(goapp.Context) { v.slide = -1 }

const iconStream view.Icon = `<path d="M2.500 6c2.500-2 5-2 7.500 0s5 2 7.500 0M2.500 10.500c2.500-2 5-2 7.500 0s5 2 7.500 0M2.500 15c2.500-2 5-2 7.500 0s5 2 7.500 0"/>`

func (v *streamView) Render() goapp.UI {
	s := v.Root.s
	st := s.state
	body := []goapp.UI{v.options(st), v.modes(st)}
	switch {
	case st.StreamRows:
		body = append(body, view.Div("stream-rows", &rowsView{Root: v.Root, State: st, Table: s.table().Location, Rev: v.Rev, Stream: true}))
	case st.Batch:
		body = append(body, v.batch()...)
	default:
		body = append(body, v.monitor(), &view.Later{Class: "portion", Busy: true, Draw: func() []goapp.UI { return []goapp.UI{v.operator(), v.rounds()} }})
	}
	return view.Div("stream", view.Group(body...)...)
}

// flinkFirst is how many of them are always shown.
const flinkFirst = 4

// flinkFields are the options of Flink's reader that have a field of their own.
var flinkFields = []struct {
	name    string
	kind    string // "instant", "flag", "number", or the values to choose from, separated by spaces
	usual   string
	explain string
}{
	{"read.start-commit", "instant", text.Key("the last commit"), text.Key("earliest, latest or an instant; it belongs to the range. Without it a stream begins at the last completed commit")},
	{"read.end-commit", "instant", text.Key("none"), text.Key("an instant; it belongs to the range")},
	{"read.tasks", "number", text.Key("not given"), text.Key("How many readers there are")},
	{"changelog.enabled", "flag", "", text.Key("Emit all changes of logs unmerged")},
	{"cdc.enabled", "flag", "", text.Key("Read the change data")},
	{"read.streaming.skip_compaction", "flag", "", text.Key("Leave out what compactions wrote")},
	{"read.streaming.skip_clustering", "flag", "", text.Key("Leave out what clusterings wrote")},
	{"read.streaming.skip_insertoverwrite", "flag", "", text.Key("Leave out what insert overwrite wrote")},
	{"hoodie.datasource.merge.type", "payload_combine skip_merge", "", text.Key("How base files and logs are put together")},
	{"hoodie.datasource.query.type", "snapshot read_optimized incremental", "", text.Key("The kind of query; a start or an end make it incremental")},
	{"read.commits.limit", "number", text.Key("no bound"), text.Key("How many commits a poll takes at most")},
	{"read.splits.limit", "number", text.Key("no bound"), text.Key("How many splits are handed on at once")},
}

// options edits Flink's options, by their own names.
func (v *streamView) options(st model.State) goapp.UI {
	have := model.SplitOptions(st.Flink)
	set := func(name string) goapp.EventHandler {
		return func(ctx goapp.Context, _ goapp.Event) {
			to := v.Root.s.state
			o := model.SplitOptions(to.Flink)
			if o == nil {
				o = map[string]string{}
			}
			if x := strings.TrimSpace(ctx.JSSrc().Get("value").String()); x != "" {
				o[name] = x
			} else {
				delete(o, name)
			}
			to.Flink = model.JoinOptions(o)
			v.Root.navigate(to)
		}
	}
	// Ranges are of completion times or of requested times; until the table's version is known, none are offered.
	of := v.Root.s.rangesOf(st.Rules)
	known := of != nil
	requested := known && of.FlinkByRequestedTime
	var fields []goapp.UI
	named := map[string]bool{}
	more := false
	for i, f := range flinkFields {
		named[f.name] = true
		id := "flink-" + strconv.Itoa(i)
		value := have[f.name]
		more = more || value != "" && i >= flinkFirst
		var in goapp.UI
		switch f.kind {
		case "instant", "number":
			x := goapp.Input().ID(id).Type("text").Class("small-input mono").Placeholder(text.T(f.usual)).Attr("value", value).Spellcheck(false).OnChange(set(f.name), f.name)
			if f.kind == "instant" {
				x = x.List("flink-instants").Class("wide")
				if i == 0 {
					x = x.DataSet("search", "") // what a stream is looked at by: where it starts
				}
			} else {
				x = x.Attr("inputmode", "numeric")
			}
			in = x
		default:
			values := strings.Fields(f.kind)
			if f.kind == "flag" {
				values = []string{"true", "false"}
			}
			in = optionSelect(id, value, values, set(f.name), f.name)
		}
		class := "flink-field"
		if value != "" {
			class += " given"
		}
		var note goapp.UI
		if f.kind == "instant" && known && v.Root.s.instants() != nil && model.ParseSearch(value).TimeOnly() {
			note = bothTimes(v.Root.s, id+"-times", value, requested)
		}
		fields = append(fields, view.Div(class, view.Group(goapp.Label().For(id).Class("mono").Title(text.T(f.explain)).Text(f.name), in, note)...))
	}
	others := map[string]string{}
	for k, x := range have {
		if !named[k] {
			others[k] = x
		}
	}
	fields = append(fields, view.Div("flink-field other-options", goapp.Label().For("flink-others").Class("mono").Title(text.T("Other options, as name=value; name=value")).Text(text.T("other options")),
		goapp.Input().ID("flink-others").Type("text").Class("small-input mono wide").Placeholder(text.T("name=value; name=value")).Spellcheck(false).Attr("value", strings.ReplaceAll(model.JoinOptions(others), ";", "; ")).
			OnChange(func(ctx goapp.Context, _ goapp.Event) {
				to := v.Root.s.state
				o := map[string]string{}
				for k, x := range model.SplitOptions(to.Flink) {
					if named[k] {
						o[k] = x
					}
				}
				otherOptions(o, named, ctx.JSSrc().Get("value").String())
				to.Flink = model.JoinOptions(o)
				v.Root.navigate(to)
			})))
	list := []goapp.UI{goapp.Option().Value("earliest")}
	if known {
		writes, _ := v.Root.s.instants().Writes("", maxPicked)
		for _, in := range writes {
			said := in.Action
			if in.Operation != "" {
				said += ", " + opName(in.Operation)
			}
			if !requested {
				said = text.F("requested %s", in.Requested) + ", " + said
			}
			if time := model.TimeOf(in, requested); time != "" {
				list = append(list, goapp.Option().Value(time).Text(said))
			}
		}
	}
	summary := text.T("Flink's options")
	if n := len(have); n > 0 {
		summary += ": " + strings.ReplaceAll(st.Flink, ";", ", ")
	}
	return goapp.Details().ID("flink-options").Class("how flink-options").Open(true).Body(goapp.Summary().Text(summary),
		view.Div("flink-fields", fields[:flinkFirst]...),
		goapp.Details().Class("more-options").Open(more || len(others) > 0).Body(goapp.Summary().Text(text.T("More of Flink's options")), view.Div("flink-fields", fields[flinkFirst:]...)),
		goapp.Elem("datalist").ID("flink-instants").Body(list...))
}

func (v *streamView) modes(st model.State) goapp.UI {
	mode := func(label, title string, on bool, f func(*model.State)) goapp.UI {
		to := st
		f(&to)
		a := goapp.A().Class("seg").Href("#" + to.Fragment()).Title(title).Text(label)
		if on {
			a = a.Class("current").Aria("current", true)
		}
		return a
	}
	kinds := goapp.Div().Class("segmented").Role("group").Aria("label", text.T("How Flink reads")).Body(
		mode(text.T("Streaming"), text.T("The monitor polls for new commits"), !st.Batch, func(x *model.State) { x.Batch = false }),
		mode(text.T("Batch"), text.T("One read, without deletes"), st.Batch, func(x *model.State) { x.Batch = true }))
	shows := goapp.Div().Class("segmented").Role("group").Aria("label", text.T("What is shown")).Body(
		mode(text.T("Step by step"), text.T("Polls, splits and readers"), !st.StreamRows, func(x *model.State) { x.StreamRows = false }),
		mode(text.T("All rows"), text.T("The rows of the whole read, with their kinds"), st.StreamRows, func(x *model.State) { x.StreamRows = true }))
	items := []goapp.UI{kinds, shows, v.seen(st), v.Root.rulesSelect(st)}
	if !st.StreamRows {
		items = append(items, view.Div("toolbar-end", v.Root.takeAway()))
	}
	return view.Div("toolbar stream-bar", view.Group(items...)...)
}

// maxSeen is how many of the newest commits can be stepped through.
const maxSeen = 500

// seen chooses the completion time up to which the table is looked at.
func (v *streamView) seen(st model.State) goapp.UI {
	writes, _ := v.Root.s.instants().Writes("", maxSeen)
	times := model.CompletionTimes(writes)
	if len(times) == 0 {
		return nil
	}
	at := len(times)
	if st.Seen != "" {
		at, _ = slices.BinarySearch(times, st.Seen)
	}
	shown := at
	if v.slide >= 0 {
		shown = v.slide
	}
	said := text.F("all %s", model.Plural(int64(len(times)), "commit"))
	if shown < len(times) {
		said = times[shown]
		if shown == at && st.Seen != "" {
			said = st.Seen
		}
	}
	set := func(i int) {
		to := v.Root.s.state
		to.Seen = ""
		if i < len(times) {
			to.Seen = times[max(i, 0)]
		}
		v.slide = -1
		v.Root.navigate(to)
	}
	by := func(n int) goapp.EventHandler {
		return func(goapp.Context, goapp.Event) {
			// From where it is by now: clicks may be faster than the drawing.
			from := len(times)
			if seen := v.Root.s.state.Seen; seen != "" {
				from, _ = slices.BinarySearch(times, seen)
			}
			set(min(max(from+n, 0), len(times)))
		}
	}
	prev := view.IconButton(view.IconLeft, text.T("One commit less is seen"), by(-1), len(times))
	next := view.IconButton(view.IconRight, text.T("One commit more is seen"), by(1), len(times))
	if at == 0 {
		prev = prev.Disabled(true)
	}
	if at == len(times) {
		next = next.Disabled(true)
	}
	return view.Div("seen", goapp.Label().For("seen").Text(text.T("Seen up to")), prev,
		goapp.Input().ID("seen").Type("range").Min(0).Max(len(times)).Step(1).Attr("value", strconv.Itoa(at)).Aria("valuetext", said).
			OnInput(func(ctx goapp.Context, _ goapp.Event) {
				v.slide, _ = strconv.Atoi(ctx.JSSrc().Get("value").String())
			}).
			OnChange(func(ctx goapp.Context, _ goapp.Event) {
				n, _ := strconv.Atoi(ctx.JSSrc().Get("value").String())
				set(n)
			}, len(times)),
		next, goapp.Elem("output").ID("seen-text").Class("mono").Text(said))
}

// monitor is StreamReadMonitoringFunction, with what can be done with it.
func (v *streamView) monitor() goapp.UI {
	s := v.Root.s
	sim := &s.sim
	do := func(f func()) goapp.EventHandler {
		return func(goapp.Context, goapp.Event) { s.dispatch(f) }
	}
	var step func(bool)
	left := 200
	step = func(more bool) {
		if left--; more && left > 0 {
			s.poll(step)
		}
	}
	poll := view.Button("primary", text.T("Poll"), do(func() { s.poll(nil) })).ID("poll").Disabled(sim.busy)
	all := view.Button("", text.T("Poll until nothing is new"), do(func() { left = 200; s.poll(step) })).Disabled(sim.busy)
	facts := []goapp.UI{}
	st := sim.state()
	said := text.T("not started")
	if st != nil {
		said = text.T("started")
		facts = append(facts, view.Fact(text.T("Issued instant"), monoOr(st.IssuedInstant, text.T("none"))), view.Fact(text.T("Issued offset"), monoOr(st.IssuedOffset, text.T("none"))),
			view.FactText(text.T("Splits so far"), model.Count(int64(st.Total))))
		if n := len(st.Remaining); n > 0 {
			facts = append(facts, view.FactText(text.T("Held back"), text.F("%s by read.splits.limit", model.Plural(int64(n), "split"))))
		}
	}
	if n := len(sim.polls); n > 0 {
		said = model.Plural(int64(n), "poll")
	} else if sim.start != nil {
		said = text.T("restored from a saved state")
	}
	tools := []goapp.UI{poll, all}
	if st != nil {
		saved := savedStream{Monitor: st, Readers: sim.readers}
		tools = append(tools, &view.CopyButton{Label: text.T("Copy the state"), Make: func() string { return toJSON(saved) }, Wide: true},
			view.Button("small", text.T("Start over"), do(func() { key := sim.key; sim.reset(); sim.key = key })))
	}
	body := []goapp.UI{view.Div("monitor-head", goapp.H2().Text(text.T("StreamReadMonitoringFunction")), goapp.Span().ID("monitor-state").Class("badge").Text(said), view.Div("actions", tools...))}
	if len(facts) > 0 {
		body = append(body, view.Facts("inline", facts...))
	}
	if sim.busy {
		body = append(body, view.Loading(sim.what, true, sim.prog, func(goapp.Context, goapp.Event) { sim.stop() }))
	}
	if sim.fault != nil {
		body = append(body, view.FaultPanel(sim.fault, v.Root.bytesLink(sim.fault), nil))
	}
	restore := goapp.Details().Class("how").Body(goapp.Summary().Text(text.T("Restore a saved state")),
		view.Div("restore", goapp.Elem("textarea").ID("paste-state").Class("mono paste").Attr("rows", 5).Spellcheck(false).Aria("label", text.T("A saved state, as JSON")).
			Attr("placeholder", `{"monitor": {"issued_instant": "…", "issued_offset": "…", "total": 0}}`).
			OnInput(func(ctx goapp.Context, _ goapp.Event) { v.paste = ctx.JSSrc().Get("value").String() }),
			view.Button("small", text.T("Restore"), func(goapp.Context, goapp.Event) {
				said := v.paste
				s.dispatch(func() {
					sim.pasteFault = ""
					if err := s.restore(said); err != nil {
						sim.pasteFault = text.F("This is no saved state: %s. Paste what “Copy the state” gave.", err.Error())
					}
				})
			})))
	body = append(body, restore)
	if sim.pasteFault != "" {
		body = append(body, goapp.P().ID("paste-fault").Class("where-fault").Role("alert").Body(view.IconWarning.UI(), goapp.Span().Text(sim.pasteFault)))
	}
	return goapp.Section().Class("panel monitor").ID("monitor").Aria("label", text.T("The monitor")).Body(body...)
}

func monoOr(said, none string) goapp.UI {
	if said == "" {
		return view.Span("dim", none)
	}
	return view.Mono(said)
}

// rounds are the polls so far, the newest first.
func (v *streamView) rounds() goapp.UI {
	s := v.Root.s
	sim := &s.sim
	if len(sim.polls) == 0 {
		return view.Empty(iconStream, text.T("Nothing polled yet"), text.T("A poll looks at the commits completed up to the time that is seen, takes those that are new, and makes one split per file slice. Move the time back first to see commits come one after the other."))
	}
	var cards []goapp.UI
	for i := len(sim.polls) - 1; i >= 0 && len(cards) < 60; i-- {
		p := &sim.polls[i]
		title := text.F("Poll %s", strconv.Itoa(i+1))
		head := []goapp.UI{goapp.H3().Text(title)}
		if p.ended {
			head = append(head, view.Badge("", text.T("nothing new")))
		} else {
			head = append(head, view.Badge("accent", model.Plural(int64(len(p.round.Splits)), "split")))
		}
		if p.seen != "" {
			head = append(head, goapp.Span().Class("dim").Body(goapp.Text(text.T("seen up to ")), view.Mono(p.seen)))
		}
		if i < len(sim.polls)-1 {
			head = append(head, view.Button("small", text.T("Back to here"), func(goapp.Context, goapp.Event) { s.dispatch(func() { s.backTo(i) }) }, i))
		}
		cards = append(cards, goapp.Section().Class("panel poll").DataSet("poll", strconv.Itoa(i+1)).Aria("label", title).Body(append([]goapp.UI{view.Div("panel-head", head...)}, v.round(&p.round, &p.before, &p.after)...)...))
	}
	return view.Div("polls", cards...)
}

func (v *streamView) round(r *api.SplitRound, before, after *api.StreamState) []goapp.UI {
	var out []goapp.UI
	if r.Range != "" {
		out = append(out, goapp.P().Body(view.Spoken("", r.Range)))
	}
	moved := func(a, b string) goapp.UI {
		if a == b {
			return goapp.Span().Body(monoOr(b, text.T("none")), view.Span("dim", text.T(" as before")))
		}
		return goapp.Span().Body(monoOr(a, text.T("none")), goapp.Text(" → "), monoOr(b, text.T("none")))
	}
	facts := []goapp.UI{}
	if before != nil {
		facts = append(facts, view.Fact(text.T("Issued instant"), moved(before.IssuedInstant, after.IssuedInstant)), view.Fact(text.T("Issued offset"), moved(before.IssuedOffset, after.IssuedOffset)))
	} else {
		facts = append(facts, view.Fact(text.T("End instant"), monoOr(r.EndInstant, text.T("none"))))
	}
	if r.InputFormat != "" {
		facts = append(facts, view.FactText(text.T("Input format"), r.InputFormat))
	}
	out = append(out, view.Facts("inline", facts...))
	if f := view.Findings(r.Findings); f != nil {
		out = append(out, f)
	}
	if n := len(r.Instants); n > 0 {
		out = append(out, goapp.Details().Class("how").Open(n <= 6).Body(goapp.Summary().Text(text.F("%s taken", model.Plural(int64(n), "instant"))), chosenTable(v.Root, r.Instants)))
	}
	if len(r.Splits) > 0 {
		out = append(out, splitsTable(v.Root, r.Splits))
	}
	return out
}

// splitsTable lists splits with the iterator that reads each, and why.
func splitsTable(r *Root, splits []api.Split) goapp.UI {
	var rows []goapp.UI
	for i := range splits {
		if i == 300 {
			rows = append(rows, goapp.Tr().Body(goapp.Td().ColSpan(6).Class("dim").Text(text.F("and %s", model.Plural(int64(len(splits)-i), "more split")))))
			break
		}
		x := &splits[i]
		var files []goapp.UI
		if x.Base != "" {
			files = append(files, goapp.Div().Body(view.Badge("", text.T("base")), goapp.Text(" "), goapp.Code().Class("mono").Title(x.Base).Text(tail(x.Base))))
		}
		if n := len(x.Logs); n > 0 {
			var names []goapp.UI
			for _, l := range x.Logs {
				names = append(names, goapp.Div().Class("mono").Text(tail(l)))
			}
			files = append(files, goapp.Details().Body(goapp.Summary().Text(model.Plural(int64(n), "log file")), goapp.Div().Body(names...)))
		}
		if len(x.Changes) > 0 {
			files = append(files, goapp.Details().Body(goapp.Summary().Text(text.F("%s of changes", model.Plural(int64(len(x.Changes)), "source"))), changesTable(x.Changes)))
		}
		limits := []goapp.UI{goapp.Div().Body(goapp.Text(text.T("up to ")), monoOr(x.LatestCommit, text.T("any")))}
		if g := x.Range; g != nil {
			said := g.Class
			switch {
			case len(g.Instants) > 0:
				said += ": " + strings.Join(g.Instants[:min(4, len(g.Instants))], ", ")
				if n := len(g.Instants) - 4; n > 0 {
					said += text.F(" and %s more", strconv.Itoa(n))
				}
			default:
				said += ": " + g.Start + " … " + g.End
			}
			limits = append(limits, goapp.Div().Class("dim").Text(said))
		}
		task := goapp.UI(view.Span("dim", text.T("any")))
		if x.Task >= 0 {
			task = view.Span("reader-chip tone"+strconv.Itoa(x.Task%6), strconv.Itoa(x.Task))
		}
		st := r.s.state.Go(model.Files)
		st.Partition, st.FileID, st.Slice, st.OnlyPartition = x.Partition, x.FileID, "", false
		rows = append(rows, goapp.Tr().Body(
			goapp.Td().Class("num").Text(x.Num),
			goapp.Th().Scope("row").Body(view.Link("link mono", st, goapp.Text(partitionName(x.Partition)+" / "+model.ShortID(x.FileID)))),
			goapp.Td().Body(goapp.Strong().Class("iterator").Text(text.Said(x.Iterator)), goapp.Div().Class("dim").Body(view.Spoken("", x.Why))),
			goapp.Td().Body(files...), goapp.Td().Body(limits...), goapp.Td().Body(task)))
	}
	return table([]string{text.T("#Split"), text.T("File group"), text.T("Iterator, and why"), text.T("Files"), text.T("Rows"), text.T("Reader")}, rows)
}

// operator draws the readers: their queues, and what they have handed on.
func (v *streamView) operator() goapp.UI {
	s := v.Root.s
	sim := &s.sim
	if sim.readers == nil {
		return nil
	}
	do := func(f func()) goapp.EventHandler {
		return func(goapp.Context, goapp.Event) { s.dispatch(f) }
	}
	waiting := 0
	for i := range sim.readers.Readers {
		waiting += len(sim.readers.Readers[i].Queue)
	}
	var sizes []goapp.UI
	for _, n := range []int{0, 1, 2, 10, 100} {
		label := text.T("2,048 records, as Hudi does")
		if n > 0 {
			label = model.Plural(int64(n), "record")
		}
		sizes = append(sizes, goapp.Option().Value(strconv.Itoa(n)).Selected(n == sim.batchSize).Text(label))
	}
	idle := sim.busy || waiting == 0
	tools := []goapp.UI{
		view.Button("primary", text.T("Run a mini batch"), do(func() { s.operate(nil, 1, nil, nil) })).ID("run-batch").Disabled(idle),
		view.Button("", text.T("Run until idle"), do(func() { s.operate(nil, 1000, nil, nil) })).ID("run-all").Disabled(idle),
		view.Div("limit-field", goapp.Label().For("batch-size").Text(text.T("of")), goapp.Select().ID("batch-size").Class("select").Body(sizes...).OnChange(func(ctx goapp.Context, _ goapp.Event) {
			sim.batchSize, _ = strconv.Atoi(ctx.JSSrc().Get("value").String())
		})),
	}
	var lanes []goapp.UI
	for i := range sim.readers.Readers {
		if i == 64 {
			lanes = append(lanes, goapp.P().Class("dim").Text(text.F("and %s", model.Plural(int64(len(sim.readers.Readers)-i), "more reader"))))
			break
		}
		x := &sim.readers.Readers[i]
		tone := ""
		if x.Status == "RUNNING" {
			tone = "good"
		}
		var queue []goapp.UI
		for j := range x.Queue {
			if j == 40 {
				queue = append(queue, goapp.Li().Class("dim").Text("+"+strconv.Itoa(len(x.Queue)-j)))
				break
			}
			q := &x.Queue[j]
			class := "qsplit"
			if j == 0 {
				class += " head"
			}
			body := []goapp.UI{goapp.Strong().Text(text.F("split %s", strconv.Itoa(q.Split.Num))), view.Span("dim", text.Said(q.Split.Iterator))}
			if q.Consumed > 0 {
				body = append(body, view.Span("num", text.F("%s consumed", model.Plural(q.Consumed, "record"))))
			}
			queue = append(queue, goapp.Li().Class(class).Title(partitionName(q.Split.Partition)+" / "+q.Split.FileID).Body(body...))
		}
		if len(queue) == 0 {
			queue = append(queue, goapp.Li().Class("dim").Text(text.T("the queue is empty")))
		}
		lanes = append(lanes, goapp.Div().Class("reader").DataSet("reader", strconv.Itoa(i)).Body(
			view.Div("reader-head", view.Span("reader-chip tone"+strconv.Itoa(i%6), text.F("reader %s", strconv.Itoa(i))), goapp.Span().Class("badge", tone, "reader-status").Text(x.Status),
				view.Span("dim num", text.F("%s handed on, %s read", model.Plural(x.Emitted, "record"), model.Plural(x.Finished, "split")))),
			goapp.Ol().Class("split-queue").Aria("label", text.F("Splits that wait for reader %s", strconv.Itoa(i))).Body(queue...)))
	}
	body := []goapp.UI{view.Div("monitor-head", goapp.H2().Text(text.T("StreamReadOperator")), view.Badge("", model.Plural(int64(len(sim.readers.Readers)), "reader")), view.Div("actions", tools...))}
	if sim.routing != "" {
		body = append(body, goapp.P().Class("dim").Body(view.Spoken("", sim.routing)))
	}
	body = append(body, view.Div("readers", lanes...))
	if len(sim.events) > 0 {
		var items []goapp.UI
		for i := len(sim.events) - 1; i >= 0 && len(items) < 120; i-- {
			e := &sim.events[i]
			items = append(items, goapp.Li().Body(view.Span("reader-chip tone"+strconv.Itoa(max(e.Reader, 0)%6), strconv.Itoa(e.Reader)), goapp.Strong().Text(text.Said(e.Kind)), view.Spoken("dim", e.Detail)))
		}
		body = append(body, goapp.Details().Class("how").Body(goapp.Summary().Text(text.T("What the readers did, the newest first")), goapp.Ol().Class("op-events").Body(items...)))
	}
	body = append(body, v.handedOn())
	return goapp.Section().Class("panel operator").ID("operator").Aria("label", text.T("The readers")).Body(view.Group(body...)...)
}

// handedOn are the rows that the readers handed on, the newest last.
func (v *streamView) handedOn() goapp.UI {
	sim := &v.Root.s.sim
	if sim.emitted == 0 {
		return nil
	}
	var head []string
	var cols []int
	for i, c := range sim.columns {
		if c.Meta && v.Root.s.state.HideMeta {
			continue
		}
		name := c.Name
		if numeric(c.Type) {
			name = "#" + name
		}
		head, cols = append(head, name), append(cols, i)
	}
	const shown = 200
	list := sim.rows
	if len(list) > shown {
		list = list[len(list)-shown:]
	}
	var rows []goapp.UI
	for i := range list {
		x := &list[i]
		tr := []goapp.UI{goapp.Td().Class("num dim").Text(x.Split)}
		for _, c := range cols {
			if c >= len(x.Cells) {
				tr = append(tr, goapp.Td())
				continue
			}
			cell := model.Cell(x.Cells[c])
			class := cellClass(cell.Kind)
			if c == 0 {
				class = "kind " + kindClass(cell.Text)
			} else if sim.columns[c].Meta {
				class += " meta"
			}
			if numeric(sim.columns[c].Type) {
				class += " num"
			}
			tr = append(tr, goapp.Td().Class(class).Text(cell.Text))
		}
		rows = append(rows, goapp.Tr().Body(tr...))
	}
	title := text.F("%s handed on", model.Plural(sim.emitted, "row"))
	if sim.emitted > int64(len(list)) {
		title += text.F(", the last %s of them here", model.Count(int64(len(list))))
	}
	return view.Div("handed-on", goapp.H3().ID("handed-on").Text(title), table(append([]string{"#Split"}, head...), rows))
}

// kindClass gives a kind of row its colour.
func kindClass(kind string) string {
	switch kind {
	case "+I":
		return "k-insert"
	case "-U", "−U":
		return "k-before"
	case "+U":
		return "k-after"
	case "-D", "−D":
		return "k-delete"
	}
	return ""
}

// batch is the one round of a batch read.
func (v *streamView) batch() []goapp.UI {
	s := v.Root.s
	a := &s.splits
	switch {
	case a.fault != nil:
		return []goapp.UI{view.FaultPanel(a.fault, v.Root.bytesLink(a.fault), a.retrier(s))}
	case a.val == nil:
		return []goapp.UI{view.Loading(text.T("Planning the splits"), a.slow, a.prog, a.canceller()), bones()}
	}
	var out []goapp.UI
	for i := range a.val.Rounds {
		r := &a.val.Rounds[i]
		body := append([]goapp.UI{view.Div("panel-head", goapp.H2().Text(text.T("The splits of one batch read")), view.Badge("accent", model.Plural(int64(len(r.Splits)), "split")))}, v.round(r, nil, nil)...)
		out = append(out, goapp.Section().Class("panel poll").Aria("label", text.T("Batch")).Body(body...))
		if tasks, _ := strconv.Atoi(model.SplitOptions(s.state.Flink)["read.tasks"]); tasks > 0 && tasks <= 64 && len(r.Splits) > 0 {
			out = append(out, queues(r.Splits, tasks))
		}
	}
	if len(out) == 0 {
		out = append(out, view.Empty(iconStream, text.T("Nothing to read"), text.T("No commit is in the range.")))
	}
	return out
}

// queues draws which reader gets which split.
func queues(splits []api.Split, tasks int) goapp.UI {
	var lanes []goapp.UI
	for i, q := range model.ReaderQueues(splits, tasks) {
		var boxes []goapp.UI
		for _, x := range q {
			boxes = append(boxes, goapp.Li().Class("qsplit").Body(goapp.Strong().Text(text.F("split %s", strconv.Itoa(x.Num))), view.Span("dim", text.Said(x.Iterator))))
		}
		if len(boxes) == 0 {
			boxes = append(boxes, goapp.Li().Class("dim").Text(text.T("no split")))
		}
		lanes = append(lanes, goapp.Div().Class("reader").Body(view.Div("reader-head", view.Span("reader-chip tone"+strconv.Itoa(i%6), text.F("reader %s", strconv.Itoa(i)))),
			goapp.Ol().Class("split-queue").Aria("label", text.F("Splits of reader %s", strconv.Itoa(i))).Body(boxes...)))
	}
	return panel("batch-queues", text.T("Which reader reads what"), view.Div("readers", lanes...))
}
