package app

import (
	"context"
	"strings"
	"time"

	goapp "github.com/maxence-charriere/go-app/v9/pkg/app"

	"hudiscope/core/api"
	"hudiscope/web/client"
	"hudiscope/web/model"
	"hudiscope/web/text"
	"hudiscope/web/view"
)

const iconNetwork view.Icon = `<path d="M6 16V5M3 8l3-3 3 3M14 4v11M11 12l3 3 3-3"/>`

// opKept is the engine's own request: what it keeps of tables over sessions.
const opKept api.Op = "engine.kept"

// networkShown is how many requests are listed.
const networkShown = 150

// network is what the page knows of the requests to the storage.
type network struct {
	open  bool
	val   *api.Network
	table string
	kept  *api.Kept
	fault *api.Fault
	// asking is set while an answer is on its way; again while another is wanted after it.
	asking, again bool
	ticking       bool
}

// workTitles name the service's requests by what the user asked for.
var workTitles = map[string]string{
	string(api.OpOverview): text.Key("Opening"), string(api.OpTimeline): text.Key("Timeline"), string(api.OpInstant): text.Key("Instant"), string(api.OpCommits): text.Key("Commits"),
	string(api.OpRelations): text.Key("Links of instants"), string(api.OpPartitions): text.Key("Partitions"), string(api.OpFiles): text.Key("Files"), string(api.OpSlices): text.Key("File slices"),
	string(api.OpBlocks): text.Key("Log blocks"), string(api.OpBlock): text.Key("One block"), string(api.OpBytes): text.Key("Bytes"), string(api.OpRows): text.Key("Rows"), string(api.OpSchema): text.Key("Schema"),
	string(api.OpConfig): text.Key("Properties"), string(api.OpPlan): text.Key("Plan"), string(api.OpStream): text.Key("Stream"), string(api.OpSplits): text.Key("Splits"), string(api.OpHistory): text.Key("History"),
	string(api.OpScan): text.Key("Scan replay"), string(api.OpHealth): text.Key("Health"), string(api.OpCompare): text.Key("Compare"), string(api.OpMetadata): text.Key("Metadata"), string(api.OpHousekeeping): text.Key("Housekeeping"),
	string(api.OpExport): text.Key("Export"), string(api.OpHandoff): text.Key("Hand-off"),
}

func workTitle(op string) string {
	if t := workTitles[op]; t != "" {
		return text.T(t)
	}
	return op
}

// askNetwork asks the engine what it asked of the storage. It costs no request.
func (r *Root) askNetwork() {
	n := &r.network
	if r.s.state.Table == "" {
		return
	}
	if n.asking {
		n.again = true
		return
	}
	n.asking = true
	t := r.s.table()
	shown := r.s.state.Table
	limit := 1
	if n.open {
		limit = networkShown
	}
	wantKept := n.open
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		a, err := client.Call[api.Network](ctx, r.s.transport, api.OpNetwork, api.NetworkRequest{Table: t, Limit: limit}, nil)
		var k *api.Kept
		if wantKept {
			if got, err := client.Call[api.Kept](ctx, r.s.transport, opKept, api.KeptRequest{}, nil); err == nil {
				k = &got
			}
		}
		r.s.dispatch(func() {
			n.asking = false
			if shown == r.s.state.Table {
				n.table = shown
				if err != nil {
					n.fault = r.s.faultOf(err)
				} else {
					n.val, n.fault = &a, nil
				}
				if k != nil {
					n.kept = k
				}
			}
			if n.again {
				n.again = false
				r.askNetwork()
			}
		})
	}()
}

// networkTick keeps an open panel, and the time that is left of signed URLs, up to date.
const (
	networkTick = time.Second
	expiryTick  = 20 * time.Second
)

func (r *Root) tickNetwork() {
	n := &r.network
	if n.ticking {
		return
	}
	n.ticking = true
	go func() {
		for last := time.Now(); ; {
			time.Sleep(networkTick)
			now := time.Now()
			slow := now.Sub(last) >= expiryTick
			if slow {
				last = now
			}
			r.s.dispatch(func() {
				if r.s.state.Table != "" && (n.open || slow && n.val != nil && n.val.Expires > 0) {
					r.askNetwork()
				}
			})
		}
	}()
}

// networkButton opens the panel, and says how many requests there were.
func (r *Root) networkButton() goapp.UI {
	label := text.T("Network")
	if v := r.network.val; v != nil && r.network.table == r.s.state.Table && v.Total.Requests > 0 {
		label = model.Plural(v.Total.Requests, "request")
	}
	return goapp.Button().Type("button").ID("network-button").Class("button small network-button").Aria("expanded", r.network.open).Aria("controls", "network").
		Title(text.T("Requests to the storage: what was asked, how much came")).Body(iconNetwork.UI(), goapp.Span().Text(label)).
		OnClick(func(goapp.Context, goapp.Event) {
			r.network.open = !r.network.open
			if r.network.open {
				r.askNetwork()
				r.tickNetwork()
			}
		})
}

// expiryBadge says how long the addresses are valid by which the table is read.
func (r *Root) expiryBadge() goapp.UI {
	v := r.network.val
	if v == nil || v.Expires == 0 || r.network.table != r.s.state.Table {
		return nil
	}
	r.tickNetwork()
	at := time.UnixMilli(v.Expires)
	left := time.Until(at)
	tone, said := "", text.F("URLs valid for %s", model.Left(left))
	switch {
	case left <= 0 && v.Renews:
		said = text.T("URLs are renewed when needed")
	case left <= 0:
		tone, said = "bad", text.T("URLs have ended")
	case left < 10*time.Minute && !v.Renews:
		tone = "warn"
	}
	return goapp.Span().ID("expiry").Class("badge", tone).Title(text.F("They end at %s UTC", at.UTC().Format("2006-01-02 15:04:05"))).Text(said)
}

// networkPanel lists the requests to the storage.
func (r *Root) networkPanel() goapp.UI {
	if !r.network.open || r.s.state.Table == "" {
		return nil
	}
	n := &r.network
	head := view.Div("panel-head", goapp.H2().ID("network-title").Text(text.T("Network")), view.Div("detail-tools",
		view.Button("small", text.T("Clear the list"), func(goapp.Context, goapp.Event) { r.clearNetwork() }),
		view.IconButton(view.IconClose, text.T("Close the network panel"), func(goapp.Context, goapp.Event) { n.open = false; focus("network-button") })))
	var body []goapp.UI
	switch v := n.val; {
	case n.fault != nil:
		body = append(body, view.FaultPanel(n.fault, nil, func(goapp.Context, goapp.Event) { r.askNetwork() }))
	case v == nil || n.table != r.s.state.Table:
		body = append(body, bones())
	default:
		body = append(body, networkTiles(v), networkHint(v), view.Div("network-tables", networkWork(v), networkRequests(v)))
	}
	body = append(body, r.keptPanel())
	return goapp.Section().ID("network").Class("network").Aria("labelledby", "network-title").Body(append([]goapp.UI{head}, view.Group(body...)...)...)
}

func netTile(id, value, name string) goapp.UI {
	return view.Div("tile", goapp.Span().ID(id).Class("tile-value").Text(value), goapp.Span().Class("tile-name").Text(name))
}

func networkTiles(v *api.Network) goapp.UI {
	rounds := 0
	for _, w := range v.Work {
		if w.LastRequests > 0 {
			rounds = w.Rounds
			break
		}
	}
	return view.Div("tiles",
		netTile("net-requests", model.Count(v.Total.Requests), text.T("requests")),
		netTile("net-bytes", model.Bytes(v.Total.Bytes), text.T("received")),
		netTile("net-rounds", model.Count(int64(rounds)), text.T("round trips, last step")),
		netTile("net-hits", model.Count(v.Memory.Hits+v.Memory.Joined), text.T("answered from memory")),
		netTile("net-kept", model.Count(v.Total.Kept), text.F("from kept files, %s", model.Bytes(v.Total.KeptBytes))),
	)
}

// networkHint says what the requests mean for whoever pays for them.
func networkHint(v *api.Network) goapp.UI {
	switch {
	case v.Total.Requests == 0 && v.Memory.Reads > 0 && v.Total.Kept == 0:
		return goapp.P().Class("dim").Text(text.F("Nothing goes over the network: the files are on this machine, or the table came with the page. %s of them, %s.", model.Plural(v.Memory.Reads, "read"), model.Bytes(v.Memory.Bytes)))
	case v.Total.Requests == 0:
		return goapp.P().Class("dim").Text(text.T("No request was sent."))
	}
	said := text.F("Object stores bill by the request, listings mostly at ten times a read: %s so far, %s listed.", model.Plural(v.Total.Requests, "request"), model.Plural(v.Memory.Lists, "directory"))
	if v.Total.Failed > 0 {
		said += text.F(" %s of them failed: names that were tried and are not there count, too.", model.Count(v.Total.Failed))
	}
	if v.Memory.Hits+v.Memory.Joined > 0 {
		said += text.T(" Answered from memory are pieces and listings that this tab had read before, or was just reading: they cost no request.")
	}
	return goapp.P().Class("dim").Text(said)
}

func networkWork(v *api.Network) goapp.UI {
	var rows []goapp.UI
	for _, w := range v.Work {
		if w.Requests == 0 && w.Kept == 0 {
			continue
		}
		rows = append(rows, goapp.Tr().DataSet("op", w.Op).Body(goapp.Th().Scope("row").Text(workTitle(w.Op)), goapp.Td().Class("num").Text(model.Count(w.Requests)), goapp.Td().Class("num").Text(model.Bytes(w.Bytes)),
			goapp.Td().Class("num").Text(model.Count(int64(w.Rounds))), goapp.Td().Class("num").Text(model.Count(w.Kept))))
	}
	if len(rows) == 0 {
		return nil
	}
	return goapp.Div().Class("table-wrap network-work").TabIndex(0).Role("region").Aria("label", text.T("By what was shown")).Body(goapp.Table().Class("stats").Body(
		goapp.THead().Body(goapp.Tr().Body(goapp.Th().Scope("col").Text(text.T("For")), goapp.Th().Scope("col").Class("num").Text(text.T("Requests")), goapp.Th().Scope("col").Class("num").Text(text.T("Received")),
			goapp.Th().Scope("col").Class("num").Title(text.T("Of the last time: requests of one round trip do not wait for each other")).Text(text.T("Round trips")), goapp.Th().Scope("col").Class("num").Text(text.T("Kept")))),
		goapp.TBody().Body(rows...)))
}

func networkRequests(v *api.Network) goapp.UI {
	var rows []goapp.UI
	for _, q := range v.Requests {
		method, where := q.Method, q.Address
		if i := strings.Index(where, "://"); i >= 0 {
			where = where[i+3:]
		}
		name := where
		if i := strings.LastIndexByte(strings.TrimSuffix(where, "/"), '/'); i >= 0 && i < len(where)-1 {
			name = where[i+1:]
		}
		span, asked := model.SentRange(q)
		if span == "" {
			span = text.T("whole")
		} else if asked != span {
			asked = text.F("Asked for %s; the file ends before.", asked)
		} else {
			asked = ""
		}
		var status goapp.UI
		tone := ""
		switch {
		case method == "kept":
			method, status, tone = "—", view.Badge("good", text.T("kept")), "from-kept"
		case q.Running:
			status = view.Badge("", text.T("running"))
		case q.Failed != "":
			status, tone = view.Badge("bad", q.Failed), "failed"
		case q.Status >= 400:
			status = view.Badge("warn", model.Count(int64(q.Status)))
		default:
			status = view.Span("dim", model.Count(int64(q.Status)))
		}
		took := ""
		if q.Method != "kept" {
			took = text.F("%s ms", model.Count(int64(q.Milliseconds+0.5)))
		}
		round := ""
		if q.Round > 0 {
			round = model.Count(int64(q.Round))
		}
		rows = append(rows, goapp.Tr().Class(tone).Body(
			goapp.Td().Text(workTitle(q.Op)), goapp.Td().Class("mono").Text(method), goapp.Td().Class("mono net-name").Title(q.Address).Text(unescaped(name)),
			goapp.Td().Class("num mono").Title(asked).Text(span), goapp.Td().Class("num").Text(model.Bytes(q.Bytes)), goapp.Td().Class("num").Text(took), goapp.Td().Class("num").Text(round), goapp.Td().Body(status)))
	}
	if len(rows) == 0 {
		return nil
	}
	head := goapp.Tr().Body(goapp.Th().Scope("col").Text(text.T("For")), goapp.Th().Scope("col").Text(text.T("Method")), goapp.Th().Scope("col").Text(text.T("File")), goapp.Th().Scope("col").Class("num").Text(text.T("Bytes")),
		goapp.Th().Scope("col").Class("num").Text(text.T("Received")), goapp.Th().Scope("col").Class("num").Text(text.T("Took")), goapp.Th().Scope("col").Class("num").Text(text.T("Round")), goapp.Th().Scope("col").Text(text.T("Answer")))
	return goapp.Div().Class("table-wrap network-list").TabIndex(0).Role("region").Aria("label", text.T("The latest requests")).Body(goapp.Table().ID("network-requests").Class("stats").Body(goapp.THead().Body(head), goapp.TBody().Body(rows...)))
}

// unescaped is a name as it is, not as it stands in a URL.
func unescaped(name string) string { return model.PlainName(name) }

func (r *Root) clearNetwork() {
	t := r.s.table()
	go func() {
		_, _ = client.Call[api.Network](newContext(), r.s.transport, api.OpNetwork, api.NetworkRequest{Table: t, Limit: 1, Clear: true}, nil)
		r.s.dispatch(r.askNetwork)
	}()
}

// keptPanel shows what the browser keeps over sessions, and lets the user decide.
func (r *Root) keptPanel() goapp.UI {
	k := r.network.kept
	if k == nil {
		return nil
	}
	set := func(req api.KeptRequest) {
		go func() {
			got, err := client.Call[api.Kept](newContext(), r.s.transport, opKept, req, nil)
			r.s.dispatch(func() {
				if err != nil {
					r.notice = &notice{"bad", r.s.faultOf(err).Error()}
					return
				}
				r.network.kept = &got
			})
		}()
	}
	if !k.Works {
		return view.Div("kept", goapp.H3().Text(text.T("Kept files")), goapp.P().Class("dim").Text(text.F("Nothing is kept over sessions: %s.", k.Why)))
	}
	var limits []goapp.UI
	const mib = 1 << 20
	for _, n := range []int64{64, 256, 1024, 4096} {
		limits = append(limits, goapp.Option().Value(model.Count(n*mib)).Selected(k.Limit == n*mib).Text(model.Bytes(n*mib)))
	}
	return view.Div("kept",
		view.Div("kept-head", goapp.H3().Text(text.T("Kept files")),
			goapp.Button().Type("button").ID("kept-switch").Class("switch link-button").Role("switch").Aria("checked", k.On).Body(goapp.Span().Class("switch-knob"), goapp.Text(text.T("Keep over sessions"))).
				OnClick(func(goapp.Context, goapp.Event) { on := !k.On; set(api.KeptRequest{On: &on}) }, k.On),
			goapp.Label().Class("kept-limit").Body(goapp.Text(text.T("At most")), goapp.Select().ID("kept-limit").Class("select").Body(limits...).OnChange(func(ctx goapp.Context, _ goapp.Event) {
				sizes := []int64{64 * mib, 256 * mib, 1024 * mib, 4096 * mib}
				if i := ctx.JSSrc().Get("selectedIndex").Int(); i >= 0 && i < len(sizes) {
					set(api.KeptRequest{Limit: &sizes[i]})
				}
			})),
			goapp.Span().ID("kept-usage").Class("dim").Text(text.F("%s in %s", model.Bytes(k.Bytes), model.Plural(int64(k.Pieces), "piece"))),
			view.Button("small", text.T("Remove all"), func(goapp.Context, goapp.Event) { set(api.KeptRequest{Clear: true}) })),
		goapp.P().Class("dim").Text(text.T("Files that Hudi never writes twice (base files, log files, completed instants) stay in this browser’s storage, so that opening the table again asks for little but its listings. They are used only when a fresh listing shows the same size and version. That includes private tables: switch it off on a machine that you share.")),
	)
}
