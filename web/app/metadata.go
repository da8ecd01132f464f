package app

import (
	"encoding/json"
	"strconv"
	"strings"

	goapp "github.com/maxence-charriere/go-app/v9/pkg/app"

	"hudiscope/core/api"
	"hudiscope/web/model"
	"hudiscope/web/text"
	"hudiscope/web/view"
)

// metadataView shows the metadata table: its partitions, their records, and keys looked up.
type metadataView struct {
	goapp.Compo

	Root *Root
	Rev  int

	typed string
	was   string
	in    string                  // the partition that is looked into where all are shown
	parts []api.MetadataPartition // as the last first page told them
	table string
}

func (v *metadataView) Render() goapp.UI {
	s := v.Root.s
	st := s.state
	if v.table != st.Table {
		v.table, v.parts, v.in = st.Table, nil, ""
	}
	if v.was != st.Part+"\x00"+st.Find {
		v.was, v.typed = st.Part+"\x00"+st.Find, st.Find
	}
	m := &s.metadata
	if m.val != nil && len(m.val.Partitions) > 0 {
		v.parts = m.val.Partitions
	}
	var body []goapp.UI
	switch {
	case m.fault != nil && (m.fault.Kind == "not found" || m.fault.Kind == "empty") && len(v.parts) == 0:
		body = append(body, view.Empty(view.IconMeta, text.T("No metadata table"), text.F("Readers of this table list its files and read their footers themselves. %s", strings.TrimSpace(text.Said(m.fault.Message)+" "+text.Said(m.fault.Try)))))
	case m.fault != nil:
		body = append(body, v.partitions(), view.FaultPanel(m.fault, v.Root.bytesLink(m.fault), m.retrier(s)))
	case m.val == nil:
		body = append(body, v.partitions(), view.Loading(text.T("Reading the metadata table"), m.slow, m.prog, m.canceller()), bones())
	case len(m.val.Partitions) == 0 && len(v.parts) == 0 && len(m.val.Records) == 0:
		body = append(body, view.Empty(view.IconMeta, text.T("No metadata table"), text.F("Readers of this table list its files and read their footers themselves. %s", text.Said(m.val.Why))))
	default:
		body = append(body, v.state(m.val), v.partitions(), v.records(m.val))
	}
	return view.Div("metadata", view.Group(body...)...)
}

func (v *metadataView) state(m *api.Metadata) goapp.UI {
	tone, icon, said := "good", view.IconCheck, text.T("Readers list the table by its metadata table.")
	if !m.Trusted {
		tone, icon, said = "warn", view.IconWarning, text.T("Readers do not use the metadata table.")
	}
	items := []goapp.UI{goapp.Div().Class("finding", tone).Body(icon.UI(), view.Div("finding-text", goapp.Strong().Text(said), goapp.Text(" "), view.Spoken("", m.Why)))}
	if f := view.Findings(m.Findings); f != nil {
		items = append(items, f)
	}
	return view.Div("metadata-state", items...)
}

func (v *metadataView) partitions() goapp.UI {
	if len(v.parts) == 0 {
		return nil
	}
	st := v.Root.s.state
	all := st
	all.Part, all.Find = "", ""
	link := func(to model.State, current bool, body ...goapp.UI) goapp.UI {
		class := "mpart"
		if current {
			class += " current"
		}
		a := goapp.A().Class(class).Href("#" + to.Fragment()).Body(body...)
		if current {
			a = a.Aria("current", true)
		}
		return a
	}
	items := []goapp.UI{link(all, st.Part == "", goapp.Strong().Text(text.T("all")))}
	for _, p := range v.parts {
		to := st
		to.Part, to.Find = p.Name, ""
		body := []goapp.UI{goapp.Strong().Text(p.Name)}
		switch p.State {
		case "ready":
		case "inflight":
			body = append(body, view.Badge("warn", text.T("being built")))
		default:
			body = append(body, goapp.Span().Class("badge").Title(text.T("Readers do not use it")).Text(p.State))
		}
		if d := p.Definition; d != nil {
			f := strings.Join(d.Fields, ", ")
			if d.Function != "" && d.Function != "identity" {
				f = d.Function + "(" + f + ")"
			}
			if len(f) <= 40 {
				body = append(body, view.Span("dim mono", f))
			}
		}
		items = append(items, link(to, st.Part == p.Name, body...))
	}
	return goapp.Nav().Class("mparts").Aria("label", text.T("Partitions of the metadata table")).Body(items...)
}

// recordsAtOnce is how many records are drawn in one task.
const recordsAtOnce = 20

func (v *metadataView) records(m *api.Metadata) goapp.UI {
	s := v.Root.s
	st := s.state
	var body []goapp.UI
	body = append(body, v.lookup())
	if st.Part != "" {
		for _, p := range m.Partitions {
			if p.Name == st.Part && len(p.Groups) > 0 {
				body = append(body, groups(p.Groups))
			}
		}
	}
	if len(m.Records) == 0 {
		said := text.T("The partition holds no records.")
		if st.Find != "" {
			said = text.T("No record has this key. Only the file group and the blocks that may hold it were read.")
		}
		return view.Div("metadata-records", append(body, view.Empty(view.IconMeta, text.T("No records"), said))...)
	}
	rows := view.RowsInPortions(len(m.Records), recordsAtOnce, func(i int) goapp.UI { return v.record(&m.Records[i]) })
	head := goapp.Tr().Body(goapp.Th().Scope("col").Text(text.T("Partition")), goapp.Th().Scope("col").Text(text.T("Key")), goapp.Th().Scope("col").Text(text.T("Kind")), goapp.Th().Scope("col").Text(text.T("Value")), goapp.Th().Scope("col").Body(goapp.Span().Class("visually-hidden").Text(text.T("Copy"))))
	body = append(body,
		view.Wrap("table-wrap panel-box", goapp.Table().ID("meta-records").Class("stats meta-records").Body(append([]goapp.UI{goapp.THead().Body(head)}, rows...)...)),
		v.pages(m))
	return view.Div("metadata-records", view.Group(body...)...)
}

func (v *metadataView) pages(m *api.Metadata) goapp.UI {
	s := v.Root.s
	if m.Next == "" && len(s.metaBefore) == 0 {
		return nil
	}
	next := m.Next
	return view.Div("pager",
		view.IconButton(view.IconLeft, text.T("Earlier records"), func(goapp.Context, goapp.Event) {
			n := len(s.metaBefore)
			if n == 0 {
				return
			}
			s.metaPage, s.metaBefore = s.metaBefore[n-1], s.metaBefore[:n-1]
			s.ensure()
		}, len(s.metaBefore)).Disabled(len(s.metaBefore) == 0),
		view.Span("num", text.F("page %s, %s", strconv.Itoa(len(s.metaBefore)+1), model.Plural(int64(len(m.Records)), "record"))),
		view.IconButton(view.IconRight, text.T("Later records"), func(goapp.Context, goapp.Event) {
			if next == "" {
				return
			}
			s.metaBefore = append(s.metaBefore, s.metaPage)
			s.metaPage = next
			s.ensure()
		}, next).Disabled(next == ""))
}

// hints say what the keys of a partition are.
func keyHint(part string) string {
	switch {
	case part == "files":
		return text.T("a partition path, or __all_partitions__")
	case part == "record_index":
		return text.T("a record key")
	case strings.HasPrefix(part, "secondary_index"):
		return text.T("a value of the column and * for all its records")
	}
	return text.T("a key, or its beginning and *")
}

// lookup looks for a key: in the partition shown, or in the one that is chosen beside it.
func (v *metadataView) lookup() goapp.UI {
	part := v.Root.s.state.Part
	var in goapp.UI
	if part == "" {
		if v.in == "" && len(v.parts) > 0 {
			v.in = v.parts[0].Name
		}
		var opts []goapp.UI
		for _, p := range v.parts {
			opts = append(opts, goapp.Option().Value(p.Name).Selected(p.Name == v.in).Text(p.Name))
		}
		part = v.in
		in = goapp.Select().ID("lookup-in").Class("select").Aria("label", text.T("Partition of the metadata table")).Body(opts...).
			OnChange(func(ctx goapp.Context, _ goapp.Event) { v.in = ctx.JSSrc().Get("value").String() })
	}
	return goapp.Form().Class("history-form").Role("search").Body(view.Group(
		in,
		goapp.Label().Class("visually-hidden").For("search").Text(text.T("Key of the metadata table")),
		goapp.Div().Class("field").Body(view.IconKey.UI(), goapp.Input().ID("search").Type("text").Name("key").Placeholder(text.F("Look up %s", keyHint(part))).Value(v.typed).
			AutoComplete(false).Spellcheck(false).Attr("autocapitalize", "off").
			OnInput(func(ctx goapp.Context, _ goapp.Event) { v.typed = ctx.JSSrc().Get("value").String() })),
		goapp.Button().Type("submit").Class("button").Text(text.T("Look up")),
	)...).OnSubmit(func(_ goapp.Context, e goapp.Event) {
		e.PreventDefault()
		st := v.Root.s.state
		if st.Part == "" {
			st.Part = v.in
		}
		st.Find = strings.TrimSpace(v.typed)
		v.Root.navigate(st)
	})
}

func groups(list []api.MetadataGroup) goapp.UI {
	var rows []goapp.UI
	for _, g := range list {
		rows = append(rows, goapp.Tr().Body(goapp.Th().Scope("row").Class("mono wrap").Text(g.FileID), goapp.Td().Class("mono").Text(g.BaseInstant),
			goapp.Td().Text(baseOf(g)), goapp.Td().Class("num").Text(model.Plural(int64(len(g.LogFiles)), "log file")), goapp.Td().Class("num").Text(model.Bytes(g.Bytes))))
	}
	return goapp.Details().Class("how").Open(len(list) <= 3).Body(goapp.Summary().Text(model.Plural(int64(len(list)), "file group")), view.Wrap("table-wrap panel-box", goapp.Table().Class("stats").Body(
		goapp.THead().Body(goapp.Tr().Body(goapp.Th().Scope("col").Text(text.T("File group")), goapp.Th().Scope("col").Text(text.T("Base instant")), goapp.Th().Scope("col").Text(text.T("Base file")), goapp.Th().Scope("col").Class("num").Text(text.T("Logs")), goapp.Th().Scope("col").Class("num").Text(text.T("Size")))),
		goapp.TBody().Body(rows...))))
}

func baseOf(g api.MetadataGroup) string {
	if g.BaseFile == "" {
		return text.T("none yet")
	}
	return "yes"
}

func (v *metadataView) record(r *api.MetadataRecord) goapp.UI {
	var value []goapp.UI
	switch {
	case r.Fault != nil:
		value = append(value, view.Badge("bad", text.Said(r.Fault.Message)))
	case r.Stats != nil:
		value = append(value, v.stats(r.Stats))
	case len(r.Files) > 0:
		value = append(value, files(r.Files))
	case r.Bloom != nil:
		b := r.Bloom
		value = append(value, goapp.Text(b.TypeCode+", "+model.Plural(int64(b.Hashes), "hash")+" "+b.Hash+", "+model.Plural(int64(b.Bits), "bit")+", "+model.Bytes(int64(b.Bytes))+" "), view.Mono(b.Instant))
	case r.Location != nil:
		to := v.Root.s.state.Go(model.Files)
		to.Partition, to.FileID, to.Slice, to.OnlyPartition = r.Location.Partition, r.Location.FileID, "", false
		value = append(value, view.Link("link mono", to, goapp.Text(partitionName(r.Location.Partition)+" / "+model.ShortID(r.Location.FileID))))
		if p := r.Location.Position; p != nil && *p >= 0 {
			value = append(value, view.Span("dim num", text.F(" position %s", model.Count(*p))))
		}
		value = append(value, goapp.Text(" "), view.Link("link", v.Root.s.state.HistoryOf(r.Key), goapp.Text(text.T("History"))))
	case r.Secondary != nil:
		val := "null"
		if r.Secondary.Value != nil {
			val = "“" + *r.Secondary.Value + "”"
		}
		value = append(value, goapp.Text(val+" → "), view.Link("link mono", v.Root.s.state.HistoryOf(r.Secondary.RecordKey), goapp.Text(r.Secondary.RecordKey)))
	default:
		value = append(value, view.Span("dim", text.T("no value")))
	}
	key := r.Key
	if len(key) > 80 {
		key = strings.ToValidUTF8(key[:80], "") + "…"
	}
	return goapp.Tr().Body(
		goapp.Td().Class("dim").Text(r.Partition), goapp.Th().Scope("row").Class("mono wrap").Title(r.Key).Text(key), goapp.Td().Text(text.Said(r.TypeName)),
		goapp.Td().Body(value...), goapp.Td().Body(&view.CopyButton{Label: text.T("Copy the record as JSON"), Make: func() string { return toJSON(r) }}))
}

func (v *metadataView) stats(s *api.MetadataStats) goapp.UI {
	val := func(raw json.RawMessage) goapp.UI {
		c := model.Cell(raw)
		return goapp.Span().Class("mono", cellClass(c.Kind)).Title(c.Text).Text(c.Text)
	}
	parts := []goapp.UI{view.Mono(s.Column), view.Span("dim", text.T("from")), val(s.Min), view.Span("dim", text.T("to")), val(s.Max)}
	if s.Nulls != nil {
		parts = append(parts, view.Span("dim num", model.Plural(*s.Nulls, "null")))
	}
	if s.Values != nil {
		parts = append(parts, view.Span("dim num", model.Plural(*s.Values, "value")))
	}
	return view.Div("meta-stats", view.Div("meta-line", parts...), goapp.Div().Class("mono dim small wrap").Text(s.File))
}

func files(list []api.MetadataFile) goapp.UI {
	const few = 4
	line := func(f api.MetadataFile) goapp.UI {
		size := ""
		if f.Size > 0 {
			size = model.Bytes(f.Size)
		}
		return goapp.Li().Body(goapp.Span().Class("mono wrap").Text(f.Name), view.Span("dim num", size))
	}
	var first, rest []goapp.UI
	for i, f := range list {
		if i < few {
			first = append(first, line(f))
		} else if i < 500 {
			rest = append(rest, line(f))
		}
	}
	out := []goapp.UI{goapp.Ul().Class("meta-files").Body(first...)}
	if len(rest) > 0 {
		out = append(out, goapp.Details().Class("how").Body(goapp.Summary().Text(text.F("%s more", model.Count(int64(len(list)-few)))), goapp.Ul().Class("meta-files").Body(rest...)))
	}
	return view.Div("", out...)
}
