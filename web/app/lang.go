package app

import (
	goapp "github.com/maxence-charriere/go-app/v9/pkg/app"

	"hudiscope/web/text"
	"hudiscope/web/view"
)

// language is one that the page has texts in.
type language struct {
	code string
	// tag is its HTML language tag, name its name in itself, english in English.
	tag, name, english string
}

var languages = []language{
	{text.English, "en", "English", "English"},
	{text.Chinese, "zh-Hans", "简体中文", "Simplified Chinese"},
}

// otherLang is the language that the switch leads to.
func (r *Root) otherLang() language {
	for _, l := range languages {
		if l.code != text.Lang() {
			return l
		}
	}
	return language{}
}

// takeTexts uses the texts that the loader fetched while the program was loading.
func takeTexts() {
	loader := goapp.Window().Get("hudiscope")
	if !loader.Truthy() {
		return
	}
	lang, doc := loader.Get("lang"), loader.Get("texts")
	if lang.Type() != goapp.TypeString || doc.Type() != goapp.TypeString {
		return
	}
	if list, err := text.Parse([]byte(doc.String())); err == nil {
		text.Use(lang.String(), list)
	}
}

// setLang changes the language of the page, and remembers it where that is allowed.
func (r *Root) setLang(code string) {
	use := func(list text.Catalogue) {
		text.Use(code, list)
		for _, l := range languages {
			if l.code == code {
				goapp.Window().Get("document").Get("documentElement").Set("lang", l.tag)
			}
		}
		remember("hudiscope.lang", code)
		r.title()
		r.s.rev++
	}
	if code == text.English {
		use(nil)
		return
	}
	r.fetchText("lang/"+code+".json", func(body, fault string) {
		if fault != "" {
			r.notice = &notice{"bad", fault}
			return
		}
		list, err := text.Parse([]byte(body))
		if err != nil {
			r.notice = &notice{"bad", err.Error()}
			return
		}
		use(list)
	})
}

// withoutStorage makes up for storage that the browser forbids, where even naming it ends a program: what is kept there
// is then kept nowhere. It is called before go-app looks into it.
func withoutStorage() {
	w := goapp.Window()
	for _, name := range []string{"localStorage", "sessionStorage"} {
		if reachable(name) {
			continue
		}
		none := goapp.FuncOf(func(goapp.Value, []goapp.Value) any { return nil })
		store := w.Get("Object").New()
		for _, method := range []string{"getItem", "setItem", "removeItem", "clear", "key"} {
			store.Set(method, none)
		}
		store.Set("length", 0)
		is := w.Get("Object").New()
		is.Set("value", store)
		w.Get("Object").Call("defineProperty", w, name, is)
	}
}

// reachable reports whether a property of the window can be read.
func reachable(name string) (ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	w := goapp.Window()
	return w.Get("Reflect").Call("get", w, name).Truthy()
}

// remember keeps a choice of the user in the browser, and forgets it with "". Storage may be forbidden; the choice is then
// this page's only.
func remember(key, value string) {
	defer func() { _ = recover() }()
	store := goapp.Window().Get("localStorage")
	if value == "" {
		store.Call("removeItem", key)
		return
	}
	store.Call("setItem", key, value)
}

// recall is a choice that remember keeps, "" where there is none.
func recall(key string) (value string) {
	defer func() { _ = recover() }()
	if v := goapp.Window().Get("localStorage").Call("getItem", key); v.Type() == goapp.TypeString {
		return v.String()
	}
	return ""
}

// langButton switches the language.
func (r *Root) langButton() goapp.UI {
	to := r.otherLang()
	short := "EN"
	if to.code == text.Chinese {
		short = "中"
	}
	return goapp.Button().Type("button").ID("switch-lang").Class("icon-button", "lang-button").Title(to.name).Aria("label", short+": "+to.name).Lang(to.tag).Text(short).
		OnClick(func(goapp.Context, goapp.Event) { r.setLang(to.code) }, to.code)
}

// updated says that a new version of the page is there. others is how many other tabs show the old
// one, which it would break.
func (r *Root) updateNotice() goapp.UI {
	if !r.update.ready {
		return nil
	}
	message := text.T("A new version of hudiscope is ready.")
	actions := []goapp.UI{view.Button("small primary", text.T("Reload"), func(goapp.Context, goapp.Event) { goapp.Window().Get("hudiscope").Call("takeUpdate") })}
	if r.update.others {
		message = text.T("A new version of hudiscope is ready. It starts when the other tabs with hudiscope are closed: they run the present one.")
	}
	return goapp.Div().ID("update").Class("notice").Role("status").Body(
		iconReload.UI(), goapp.P().Text(message), view.Div("actions", actions...),
		view.IconButton(view.IconClose, text.T("Later"), func(goapp.Context, goapp.Event) { r.update.ready = false; r.s.rev++ }),
	)
}

// update is what is known of a newer version of the page.
type update struct {
	ready, others bool
}

// listenUpdates takes what the loader tells of new versions.
func (r *Root) listenUpdates() {
	take := func() {
		state := goapp.Window().Get("hudiscope").Get("update")
		if !state.Truthy() {
			return
		}
		others := state.Get("others").Truthy()
		r.s.dispatch(func() { r.update = update{ready: true, others: others} })
	}
	r.release = append(r.release, view.Listen(goapp.Window(), "hudiscope-update", true, func(goapp.Value) { take() }))
	if loader := goapp.Window().Get("hudiscope"); loader.Truthy() {
		take()
	}
}
