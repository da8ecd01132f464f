package app

import (
	"encoding/json"
	"net/url"
	"strconv"
	"strings"

	goapp "github.com/maxence-charriere/go-app/v9/pkg/app"

	"hudiscope/web/lesson"
	"hudiscope/web/model"
	"hudiscope/web/text"
	"hudiscope/web/view"
)

// Sample is an embedded table of the gallery, as samples/samples.json lists it.
type Sample struct {
	// Name is the file name without ".zip"; Title what the card says.
	Name  string      `json:"name"`
	Title lesson.Text `json:"title"`
	// Shows says in one sentence what the table holds; Look what to look at.
	Shows lesson.Text `json:"shows"`
	Look  lesson.Text `json:"look"`
	// Version is the table version, -1 when it is of no interest.
	Version int `json:"version"`
	// Tags are a few names: "MOR", "Hudi 1.2.0".
	Tags []string `json:"tags"`
	// View opens first; Fragment is appended to the address (a selection).
	View     model.View `json:"view"`
	Fragment string     `json:"select,omitempty"`
}

// tags are the names on a card.
func (s Sample) tags() []string {
	if s.Version < 0 {
		return s.Tags
	}
	return append([]string{text.F("version %s", strconv.Itoa(s.Version))}, s.Tags...)
}

// state is where a card leads to.
func (s Sample) state() model.State {
	st := model.ParseFragment("/t=sample:" + s.Name + "&v=" + string(s.View) + "&" + s.Fragment)
	return st
}

func (r *Root) loadSamples(ctx goapp.Context) {
	fail := func(said string) {
		ctx.Dispatch(func(goapp.Context) { r.sampleEr = said; r.s.rev++ })
	}
	goapp.Window().Call("fetch", "samples/samples.json").Then(func(resp goapp.Value) {
		if !resp.Get("ok").Truthy() {
			fail(text.F("The gallery could not be loaded (HTTP %s).", resp.Get("status").Call("toString").String()))
			return
		}
		resp.Call("text").Then(func(said goapp.Value) {
			body := said.String()
			ctx.Dispatch(func(goapp.Context) {
				if err := json.Unmarshal([]byte(body), &r.samples); err != nil {
					r.sampleEr = text.F("The gallery's list is damaged: %s", err.Error())
				}
				r.s.rev++
			})
		})
	})
}

// home is the page without a table.
func (r *Root) home() goapp.UI {
	return view.Div("home", view.Group(
		goapp.Section().Class("hero").Body(
			goapp.H1().Text(text.T("See what is really inside an Apache Hudi table")),
			goapp.P().Class("lede").Text(text.T("Timeline, file slices, log blocks down to the byte, merged rows. Everything is read in this browser tab; nothing is uploaded and nothing is installed.")),
			r.opener(),
		),
		r.served(),
		r.learnSection(),
		goapp.Section().Class("samples").Aria("labelledby", "samples-title").Body(
			view.Div("section-head",
				goapp.H2().ID("samples-title").Text(text.T("Or start with a real table")),
				goapp.P().Class("dim").Text(text.T("Small tables written by Apache Hudi itself, embedded in this page.")),
			),
			r.gallery(),
		),
	)...)
}

func (r *Root) opener() goapp.UI {
	return view.Div("opener",
		&storeForm{Root: r, Rev: r.s.rev},
		view.Div("drop-zone", view.Group(
			view.IconDrop.UI(),
			goapp.P().Body(goapp.Strong().Text(text.T("Drop a table here: ")), goapp.Text(text.T("its folder, a .zip, .tar or .tar.gz of it, or a single .log file"))),
			view.Div("actions",
				r.folderChooser(),
				r.chooser("choose-file", text.T("Choose a file"), view.IconFile, false),
			),
			r.recentFolders(),
		)...),
	)
}

// addressForm opens a table by its address.
func (r *Root) addressForm() goapp.UI {
	form := goapp.Form().Class("open-url").Body(
		goapp.Label().Class("visually-hidden").For("url").Text(text.T("Address of a table")),
		goapp.Div().Class("field").Body(
			view.IconGlobe.UI(),
			goapp.Input().ID("url").Type("text").Name("url").Placeholder(text.T("https://…/my_table/, …/my_table.zip or s3://bucket/my_table")).
				AutoComplete(false).Spellcheck(false).Attr("inputmode", "url").Attr("autocapitalize", "off"),
		),
		goapp.Button().Type("submit").Class("button primary").Text(text.T("Open")),
	).OnSubmit(func(_ goapp.Context, e goapp.Event) {
		e.PreventDefault()
		said := goapp.Window().GetElementByID("url").Get("value").String()
		r.s.dispatch(func() { r.openURL(said) })
	})
	if r.barred == "" {
		return form
	}
	return view.Div("barred", form, goapp.Div().ID("barred").Class("diagnosis").Role("alert").Body(
		goapp.H2().Text(text.T(userTitle)), goapp.P().Text(text.T(userText)), view.Div("actions", r.openWithout(r.barred))))
}

// chooser is a button over a file input.
func (r *Root) chooser(id, label string, icon view.Icon, folder bool) goapp.UI {
	in := goapp.Input().Type("file").ID(id).Class("visually-hidden")
	if folder {
		in = in.Attr("webkitdirectory", "")
	} else {
		in = in.Multiple(true)
	}
	return goapp.Label().Class("button").For(id).Body(icon.UI(), goapp.Text(label),
		in.OnChange(func(ctx goapp.Context, _ goapp.Event) { r.takeInput(ctx.JSSrc()) }))
}

// openURL opens what was typed into the URL box.
func (r *Root) openURL(said string) {
	said = strings.TrimSpace(said)
	r.barred = ""
	switch {
	case said == "":
		r.notice = &notice{"warn", text.T("Type the address of a table: the folder that holds “.hoodie”, or a .zip of it.")}
		return
	case strings.HasPrefix(said, "hdfs:"):
		r.notice = &notice{"warn", text.T("A browser can't speak hdfs://. Use the address of a WebHDFS or HTTP gateway, or serve the table with “hudiscope serve”.")}
		return
	}
	if k := model.KindOfStore(said); k != model.NoStore && !strings.HasPrefix(strings.ToLower(said), "http") {
		clean, _ := model.StripCredentials(said)
		if clean != said {
			r.notice = &notice{"warn", text.T("Keys don't belong into an address, which is shown and remembered: give them in the fields for them.")}
		}
		r.typed = model.ParseStore(clean)
		return
	}
	said, scheme := model.TypedLocation(said)
	r.assumed, r.assumedScheme = "", scheme
	without, user := model.WithoutUser(said)
	if scheme != "" {
		r.assumed, _ = model.StripCredentials(said)
	}
	if user {
		r.barred = without
		return
	}
	r.open(said)
}

// fullLocation is the present location with what was kept out of the address.
func (r *Root) fullLocation() string { return r.s.table().Location }

// serverTable is a table of the server that the page came from, as its listing names it.
type serverTable struct {
	Name string `json:"name"`
	Type string `json:"type"`
}

// loadTables asks the server that the page came from for its tables. Beside the page lies an empty
// list, for hosts of static files; whatever is no list counts as that.
func (r *Root) loadTables(ctx goapp.Context) {
	answer := goapp.Window().Call("fetch", "tables.json")
	none := goapp.FuncOf(func(goapp.Value, []goapp.Value) any { return nil })
	answer.Call("catch", none)
	answer.Then(func(resp goapp.Value) {
		if !resp.Get("ok").Truthy() {
			return
		}
		resp.Call("text").Then(func(said goapp.Value) {
			if list := tableList([]byte(said.String())); len(list) > 0 {
				ctx.Dispatch(func(goapp.Context) { r.tables = list; r.s.rev++ })
			}
		})
	})
}

// tableList reads the list of a server's tables; nil when it is none.
func tableList(body []byte) []serverTable {
	var all, out []serverTable
	if json.Unmarshal(body, &all) != nil {
		return nil
	}
	for _, t := range all {
		if t.Name != "" && t.Type == "directory" {
			out = append(out, t)
		}
	}
	return out
}

// servedState is where the card of a table leads to; page is the path of the page.
func servedState(page, name string) model.State {
	dir := page[:strings.LastIndexByte(page, '/')+1]
	if dir == "" {
		dir = "/"
	}
	return model.State{Table: dir + "tables/" + url.PathEscape(name) + "/", View: model.Timeline}
}

// served are the tables of the server that the page came from.
func (r *Root) served() goapp.UI {
	if len(r.tables) == 0 {
		return nil
	}
	page := goapp.Window().URL().EscapedPath()
	var cards []goapp.UI
	for _, t := range r.tables {
		cards = append(cards, goapp.A().Class("card served").Href("#"+servedState(page, t.Name).Fragment()).Body(
			view.Div("card-head", goapp.H3().Class("mono").Text(t.Name))))
	}
	return goapp.Section().Class("samples").Aria("labelledby", "tables-title").Body(
		view.Div("section-head",
			goapp.H2().ID("tables-title").Text(text.T("Tables of this server")),
			goapp.P().Class("dim").Text(text.T("Served along with this page.")),
		),
		view.Div("gallery", cards...),
	)
}

func (r *Root) gallery() goapp.UI {
	if r.sampleEr != "" {
		return view.Empty(view.IconInfo, text.T("No gallery"), r.sampleEr)
	}
	if len(r.samples) == 0 {
		var ghosts []goapp.UI
		for range 6 {
			ghosts = append(ghosts, view.Div("card ghost"))
		}
		return goapp.Div().Class("gallery").Aria("busy", true).Body(ghosts...)
	}
	var cards []goapp.UI
	for _, s := range r.samples {
		var tags []goapp.UI
		for _, t := range s.tags() {
			tags = append(tags, view.Badge("", t))
		}
		cards = append(cards, goapp.A().Class("card").Href("#"+s.state().Fragment()).Body(
			view.Div("card-head", goapp.H3().Text(s.Title.In(text.Lang())), view.Div("badges", tags...)),
			goapp.P().Text(s.Shows.In(text.Lang())),
			goapp.P().Class("look").Text(s.Look.In(text.Lang())),
		))
	}
	return view.Div("gallery", cards...)
}
