package app

import (
	"encoding/json"
	"slices"
	"strconv"

	goapp "github.com/maxence-charriere/go-app/v9/pkg/app"

	"hudiscope/core/api"
	"hudiscope/web/client"
	"hudiscope/web/lesson"
	"hudiscope/web/model"
	"hudiscope/web/text"
	"hudiscope/web/view"
)

const iconLearn view.Icon = `<path d="M2.500 7.500 10 4l7.500 3.500L10 11z"/><path d="M5.500 9.200v4.100c0 1 2 2.200 4.500 2.200s4.500-1.200 4.500-2.200V9.200M17.500 7.500v4.500"/>`

// learn is what the page knows of the lessons: the list, once it is needed, and what was answered.
type learn struct {
	all   []lesson.Lesson
	fault string
	asked bool
	// answers are by lesson and step.
	answers map[string]*answer
	// shown is the step that the panel showed last, folded whether its text is put away.
	shown  string
	folded bool
	// progress is which steps were shown, nil before it was recalled. It stays in this browser.
	progress lesson.Progress
}

// progressKey names the progress among what the browser keeps.
const progressKey = "hudiscope.lessons"

// done is which steps were shown, in this tab and before.
func (l *learn) done() lesson.Progress {
	if l.progress == nil {
		l.progress = lesson.ParseProgress(recall(progressKey))
	}
	return l.progress
}

// see notes that a step is shown. What other tabs have noted meanwhile is kept.
func (l *learn) see(id string, step int) {
	if l.done().See(id, step) {
		for other, steps := range lesson.ParseProgress(recall(progressKey)) {
			for _, n := range steps {
				l.progress.See(other, n)
			}
		}
		remember(progressKey, l.progress.String())
	}
}

// forget begins anew.
func (l *learn) forget() {
	l.progress = lesson.Progress{}
	remember(progressKey, "")
}

// tries is how many wrong answers there may be before the right one is shown.
const tries = 2

// answer is what the user said to a question, and what the table says.
type answer struct {
	typed      string
	busy, done bool
	// given is set where the user asked for the answer, wrong counts the answers that were not right: after the second one
	// the right one is shown.
	given bool
	wrong int
	real  string
	right bool
	fault *api.Fault
}

// fetchText reads a file that lies beside the page. done runs on the UI goroutine; fault says why there
// is no text.
func (r *Root) fetchText(name string, done func(body, fault string)) {
	var ok, failed goapp.Func
	end := func(body, fault string) {
		ok.Release()
		failed.Release()
		r.s.dispatch(func() { done(body, fault) })
	}
	failed = goapp.FuncOf(func(_ goapp.Value, args []goapp.Value) any {
		end("", text.F("%s can't be reached.", name))
		return nil
	})
	ok = goapp.FuncOf(func(_ goapp.Value, args []goapp.Value) any {
		resp := args[0]
		if !resp.Get("ok").Truthy() {
			end("", text.F("%s could not be loaded (HTTP %s).", name, strconv.Itoa(resp.Get("status").Int())))
			return nil
		}
		var body goapp.Func
		body = goapp.FuncOf(func(_ goapp.Value, args []goapp.Value) any {
			body.Release()
			end(args[0].String(), "")
			return nil
		})
		resp.Call("text").Call("then", body, failed)
		return nil
	})
	goapp.Window().Call("fetch", name).Call("then", ok, failed)
}

// wantLessons loads the list of lessons once.
func (r *Root) wantLessons() {
	l := &r.learn
	if l.asked {
		return
	}
	l.asked, l.fault = true, ""
	r.fetchText("lessons.json", func(body, fault string) {
		if fault != "" {
			l.asked, l.fault = false, fault
			return
		}
		all, err := lesson.Parse([]byte(body))
		if err != nil {
			l.fault = err.Error()
			return
		}
		l.all = all
	})
}

// find is the lesson of an id, nil where there is none.
func (l *learn) find(id string) *lesson.Lesson {
	for i := range l.all {
		if l.all[i].ID == id {
			return &l.all[i]
		}
	}
	return nil
}

// stepState is the page of a step.
func stepState(l *lesson.Lesson, step int) model.State {
	st := model.ParseFragment(l.Steps[step].Go)
	st.Lesson, st.LessonStep = l.ID, step
	return st
}

// lessonStep goes on or back in the lesson that is shown.
func (r *Root) lessonStep(by int) {
	st := r.s.state
	l := r.learn.find(st.Lesson)
	if l == nil {
		return
	}
	to := st.LessonStep + by
	if to < 0 || to >= len(l.Steps) {
		return
	}
	r.navigate(stepState(l, to))
}

// closeLesson leaves the view as it is, without the panel.
func (r *Root) closeLesson() {
	st := r.s.state
	st.Lesson, st.LessonStep = "", 0
	r.navigate(st)
	if el := goapp.Window().GetElementByID("main"); el.Truthy() {
		el.Call("focus", map[string]any{"preventScroll": true})
	}
}

// lessonKey works the lesson's keys: Alt with an arrow anywhere, n and p outside of fields.
func (r *Root) lessonKey(e goapp.Value) bool {
	if r.s.state.Lesson == "" || r.s.dialog != "" {
		return false
	}
	by := 0
	switch key := e.Get("key").String(); {
	case e.Get("altKey").Truthy() && !e.Get("ctrlKey").Truthy() && !e.Get("metaKey").Truthy():
		switch key {
		case "ArrowRight":
			by = 1
		case "ArrowLeft":
			by = -1
		}
	case view.Typing(e):
	case key == "n":
		by = 1
	case key == "p":
		by = -1
	}
	if by == 0 {
		return false
	}
	e.Call("preventDefault")
	r.s.dispatch(func() { r.lessonStep(by) })
	return true
}

// lessonCards are the lessons to choose from.
func (r *Root) lessonCards() goapp.UI {
	l := &r.learn
	if l.fault != "" {
		return view.Empty(view.IconInfo, text.T("No lessons"), l.fault, view.Button("", text.T("Try again"), func(goapp.Context, goapp.Event) {
			r.learn.asked = false
			r.wantLessons()
		}))
	}
	if len(l.all) == 0 {
		var ghosts []goapp.UI
		for range 6 {
			ghosts = append(ghosts, view.Div("lesson-card ghost"))
		}
		return goapp.Div().Class("gallery lessons").Aria("busy", true).Body(ghosts...)
	}
	var cards []goapp.UI
	done := l.done()
	for i := range l.all {
		x := &l.all[i]
		questions := 0
		for j := range x.Steps {
			if x.Steps[j].Ask != nil {
				questions++
			}
		}
		count := model.Plural(int64(len(x.Steps)), "step")
		if questions > 0 {
			count += " · " + model.Plural(int64(questions), "question")
		}
		class, mark := "lesson-card", goapp.Text(strconv.Itoa(i+1))
		switch seen := done.Seen(x); {
		case done.Finished(x):
			class, mark = "lesson-card finished", view.IconCheck.UI()
			count = text.F("finished · %s", count)
		case seen > 0:
			count = text.F("%s of %s seen", strconv.Itoa(seen), model.Plural(int64(len(x.Steps)), "step"))
		}
		cards = append(cards, view.Link(class, stepState(x, 0),
			view.Div("lesson-number num", mark),
			goapp.H3().Text(x.Title.In(text.Lang())),
			goapp.P().Text(x.About.In(text.Lang())),
			view.Span("dim small lesson-count", count)))
	}
	return view.Div("", view.Group(r.lessonProgress(), view.Div("gallery lessons", cards...))...)
}

// lessonProgress says how many lessons are finished and leads to the next one; nil before the first step.
func (r *Root) lessonProgress() goapp.UI {
	l := &r.learn
	done := l.done()
	seen := false
	for i := range l.all {
		seen = seen || done.Seen(&l.all[i]) > 0
	}
	if !seen {
		return nil
	}
	n, all := done.FinishedOf(l.all), len(l.all)
	var next goapp.UI = goapp.Strong().Text(text.T("All lessons are finished."))
	if x, step := done.Next(l.all); x != nil {
		next = view.Link("button small primary lesson-go-on", stepState(x, step), goapp.Text(text.F("Next: %s", x.Title.In(text.Lang()))), view.IconRight.UI())
	}
	return goapp.Div().Class("lesson-progress").Body(
		goapp.Span().Class("num").Text(text.F("%s of %s finished", strconv.Itoa(n), strconv.Itoa(all))),
		goapp.Div().Class("meter").Aria("hidden", true).Body(goapp.Div().Style("width", strconv.Itoa(n*100/max(all, 1))+"%")),
		next,
		view.Button("small lesson-forget", text.T("Begin anew"), func(goapp.Context, goapp.Event) { l.forget(); r.s.rev++ }).
			Title(text.T("Forget which lessons are finished. This is kept in this browser only.")))
}

// learnSection is the part of the home page about the lessons.
func (r *Root) learnSection() goapp.UI {
	return goapp.Section().Class("samples").Aria("labelledby", "learn-title").Body(
		view.Div("section-head",
			goapp.H2().ID("learn-title").Text(text.T("Learn how it works")),
			goapp.P().Class("dim").Text(text.T("One idea each, on real tables; the answers to the questions are read from them.")),
		),
		r.lessonCards(),
	)
}

// dialogLearn is the list of lessons over a table.
const dialogLearn = "learn"

type learnDialog struct {
	goapp.Compo
	modal

	Root *Root
	Rev  int
}

func (v *learnDialog) OnMount(ctx goapp.Context) {
	v.show(ctx, "learn-dialog", v.Root.s.closing(dialogLearn))
}

func (v *learnDialog) OnDismount() { v.gone() }

func (v *learnDialog) Render() goapp.UI {
	return v.frame("learn-dialog", text.T("Lessons"),
		goapp.P().Class("dim").Text(text.T("One idea each, on real tables; the answers to the questions are read from them.")), v.Root.lessonCards())
}

// lessonPanel shows the step beside the view it talks about.
type lessonPanel struct {
	goapp.Compo

	Root *Root
	Rev  int
}

// OnMount implements go-app's Mounter.
func (v *lessonPanel) OnMount(ctx goapp.Context) {
	// Where nothing else has the focus, as after a card was chosen, the title takes it.
	ctx.Defer(func(goapp.Context) { focusLesson(false) })
}

func focusLesson(always bool) {
	doc := goapp.Window().Get("document")
	if active := doc.Get("activeElement"); !always && active.Truthy() && !active.Equal(doc.Get("body")) {
		return
	}
	if el := goapp.Window().GetElementByID("lesson-title"); el.Truthy() {
		el.Call("focus", map[string]any{"preventScroll": true})
	}
}

// stepped is called when another step is drawn: its text is seen from the start, and the field is empty.
func (v *lessonPanel) stepped(key string) {
	r := v.Root
	if r.learn.shown == key || r.ctx == nil {
		return
	}
	r.learn.shown = key
	r.learn.see(r.s.state.Lesson, r.s.state.LessonStep)
	typed := ""
	if a := r.learn.answers[key]; a != nil {
		typed = a.typed
	}
	r.ctx.Defer(func(goapp.Context) {
		if el := goapp.Window().GetElementByID("lesson-answer"); el.Truthy() {
			el.Set("value", typed)
		}
		if el := goapp.Window().GetElementByID("lesson-body"); el.Truthy() {
			el.Set("scrollTop", 0)
		}
		// The links that led here may be gone.
		focusLesson(false)
	})
}

// Render implements go-app's Composer.
func (v *lessonPanel) Render() goapp.UI {
	r, st := v.Root, v.Root.s.state
	shut := view.IconButton(view.IconClose, text.T("Close the lesson (Esc)"), func(goapp.Context, goapp.Event) { r.closeLesson() })
	frame := func(class, title string, tools []goapp.UI, body ...goapp.UI) goapp.UI {
		return goapp.Aside().ID("lesson").Class("lesson", class).Aria("labelledby", "lesson-title").Body(append([]goapp.UI{
			view.Div("lesson-head", iconLearn.UI(), goapp.H2().ID("lesson-title").TabIndex(-1).Text(title), view.Div("lesson-tools", append(tools, shut)...)),
		}, body...)...)
	}
	l := r.learn.find(st.Lesson)
	switch {
	case r.learn.fault != "":
		return frame("", text.T("Lesson"), nil, view.Div("lesson-body", goapp.P().Text(r.learn.fault), view.Button("", text.T("Try again"), func(goapp.Context, goapp.Event) {
			r.learn.asked = false
			r.wantLessons()
		})))
	case len(r.learn.all) == 0:
		return frame("", text.T("Lesson"), nil, goapp.Div().Class("lesson-body").Aria("busy", true).Body(view.Div("bone"), view.Div("bone wide")))
	case l == nil || st.LessonStep >= len(l.Steps):
		return frame("", text.T("Lesson"), nil, view.Div("lesson-body", goapp.P().Text(text.T("There is no such lesson, or it has fewer steps.")), r.learnButton(true)))
	}
	at, lang := st.LessonStep, text.Lang()
	step := &l.Steps[at]
	key := l.ID + " " + strconv.Itoa(at)
	v.stepped(key)
	here := stepState(l, at)
	var dots []goapp.UI
	for i := range l.Steps {
		name := text.F("Step %s of %s", strconv.Itoa(i+1), strconv.Itoa(len(l.Steps)))
		dot := goapp.A().Class("lesson-dot").Title(name).Aria("label", name).Href("#" + stepState(l, i).Fragment())
		switch a := r.learn.answers[l.ID+" "+strconv.Itoa(i)]; {
		case i == at:
			dot = dot.Class("current").Aria("current", "step")
		case a != nil && a.done && a.right:
			dot = dot.Class("right")
		case slices.Contains(r.learn.done()[l.ID], i):
			dot = dot.Class("past")
		}
		dots = append(dots, dot)
	}
	body := []goapp.UI{goapp.P().Class("lesson-text").Text(step.Text.In(lang))}
	if here != st {
		body = append(body, view.Link("button small lesson-back", here, view.IconLeft.UI(), goapp.Text(text.T("Back to what this step shows"))))
	}
	if f := r.s.overview.fault; step.Ask != nil && f != nil && f.Kind != "cancelled" {
		// A question is answered by the table.
		body = append(body, goapp.P().Class("dim lesson-unasked").Text(text.T("The question of this step is asked once its table can be read.")))
	} else if step.Ask != nil {
		body = append(body, v.question(key, step.Ask))
	}
	end := goapp.UI(view.Link("button primary", stepState(l, min(at+1, len(l.Steps)-1)), goapp.Text(text.T("Next")), view.IconRight.UI()))
	if at == len(l.Steps)-1 {
		end = v.next(l)
	}
	back := goapp.UI(goapp.Span())
	if at > 0 {
		back = view.Link("button", stepState(l, at-1), view.IconLeft.UI(), goapp.Text(text.T("Previous")))
	}
	class, fold, foldName := "", view.IconDown, text.T("Fold the lesson")
	if r.learn.folded {
		class, fold, foldName = "folded", iconUp, text.T("Unfold the lesson")
	}
	tools := []goapp.UI{goapp.Button().Type("button").Class("icon-button lesson-fold").Title(foldName).Aria("label", foldName).Aria("expanded", !r.learn.folded).
		Body(fold.UI()).OnClick(func(goapp.Context, goapp.Event) { r.learn.folded = !r.learn.folded; r.s.rev++ }, r.learn.folded)}
	return frame(class, l.Title.In(lang), tools,
		goapp.Nav().Class("lesson-dots").Aria("label", text.T("Steps")).Body(append(dots, view.Span("dim small num", strconv.Itoa(at+1)+" / "+strconv.Itoa(len(l.Steps))))...),
		goapp.Div().ID("lesson-body").Class("lesson-body").Aria("live", "polite").TabIndex(0).Role("group").Aria("label", text.T("This step")).Body(body...),
		view.Div("lesson-foot", back, end))
}

const iconUp view.Icon = `<path d="M4.500 12.500 10 7l5.500 5.500"/>`

// next leads from the last step to the next lesson.
func (v *lessonPanel) next(l *lesson.Lesson) goapp.UI {
	all := v.Root.learn.all
	for i := range all {
		if all[i].ID == l.ID && i+1 < len(all) {
			title := all[i+1].Title.In(text.Lang())
			return view.Link("button primary lesson-next", stepState(&all[i+1], 0), goapp.Text(text.T("Next lesson")), view.IconRight.UI()).Title(title)
		}
	}
	return v.Root.learnButton(true)
}

// question asks, and says what the table answers.
func (v *lessonPanel) question(key string, q *lesson.Question) goapp.UI {
	r, lang := v.Root, text.Lang()
	a := r.learn.answers[key]
	if a == nil {
		a = &answer{}
	}
	ask := func(typed string, give bool) { r.ask(key, q, typed, give) }
	field := []goapp.UI{goapp.Label().ID("lesson-question").For("lesson-answer").Text(q.Question.In(lang))}
	var tools []goapp.UI
	if len(q.Choices) > 0 {
		field = []goapp.UI{goapp.P().ID("lesson-question").Text(q.Question.In(lang))}
		var list []goapp.UI
		for _, c := range q.Choices {
			class := "button small"
			if a.typed == c && a.done {
				class += " marked"
			}
			list = append(list, goapp.Button().Type("button").Class(class).Aria("pressed", a.typed == c).Lang("en").Text(c).
				OnClick(func(goapp.Context, goapp.Event) { ask(c, false) }, key+c))
		}
		field = append(field, goapp.Div().Class("actions").Role("group").Aria("labelledby", "lesson-question").Body(list...))
	} else {
		field = append(field, goapp.Input().ID("lesson-answer").Class("search").Type("text").AutoComplete(false).Spellcheck(false).Attr("autocapitalize", "off"))
		tools = append(tools, goapp.Button().Type("submit").Class("button small primary").Text(text.T("Check")))
	}
	tools = append(tools, view.Button("small", text.T("Show the answer"), func(goapp.Context, goapp.Event) { ask("", true) }, key))
	var said goapp.UI
	switch {
	case a.busy:
		said = view.Span("dim", text.T("Asking the table…"))
	case a.fault != nil:
		said = view.FaultPanel(a.fault, nil, nil)
	case a.done:
		icon, tone, verdict := view.IconStop, "bad", text.T("Not quite.")
		switch {
		case a.given:
			icon, tone, verdict = view.IconInfo, "calm", ""
		case a.right:
			icon, tone, verdict = view.IconCheck, "good", text.T("Right.")
		}
		parts := []goapp.UI{goapp.Strong().Text(verdict)}
		if !a.right && !a.given && a.wrong < tries {
			parts = append(parts, goapp.Text(" "+text.T("Look again and try once more, or have the answer shown.")))
			said = view.Div("lesson-verdict bad", icon.UI(), goapp.Div().Body(goapp.P().Body(parts...)))
			break
		}
		if !a.right || a.given {
			parts = append(parts, goapp.Text(" "+text.T("The table says:")+" "), goapp.Code().Class("mono lesson-real").Text(a.real))
		}
		said = view.Div("lesson-verdict "+tone, icon.UI(), goapp.Div().Body(goapp.P().Body(parts...), goapp.P().Text(q.Why.In(lang))))
	}
	return goapp.Form().Class("lesson-ask").Body(view.Group(
		view.Div("lesson-field", field...),
		view.Div("actions", tools...),
		goapp.Div().ID("lesson-said").Role("status").Body(view.Group(said)...),
	)...).OnSubmit(func(_ goapp.Context, e goapp.Event) {
		e.PreventDefault()
		if el := goapp.Window().GetElementByID("lesson-answer"); el.Truthy() {
			ask(el.Get("value").String(), false)
		}
	}, key)
}

// ask reads the answer to a question from the table and holds what was typed against it.
func (r *Root) ask(key string, q *lesson.Question, typed string, give bool) {
	if typed == "" && !give {
		if el := goapp.Window().GetElementByID("lesson-answer"); el.Truthy() {
			el.Call("focus")
		}
		return
	}
	if r.learn.answers == nil {
		r.learn.answers = map[string]*answer{}
	}
	a := &answer{typed: typed, given: give, busy: true}
	if before := r.learn.answers[key]; before != nil {
		if before.busy {
			return
		}
		a.wrong = before.wrong
	}
	r.learn.answers[key] = a
	r.s.rev++
	go func() {
		doc, err := client.Call[json.RawMessage](newContext(), r.s.transport, q.Op, q.Args, nil)
		real := ""
		if err == nil {
			real, err = lesson.Pick(doc, q.Pick)
		}
		r.s.dispatch(func() {
			a.busy, a.done = false, true
			if err != nil {
				a.fault = r.s.faultOf(err)
				return
			}
			a.real, a.right = real, !give && lesson.Same(typed, real)
			if !give && !a.right {
				a.wrong++
			}
			r.ctx.Defer(func(goapp.Context) {
				if el := goapp.Window().GetElementByID("lesson-said"); el.Truthy() {
					el.Call("scrollIntoView", map[string]any{"block": "nearest"})
				}
			})
		})
	}()
}

// learnButton opens the list of lessons.
func (r *Root) learnButton(wide bool) goapp.UI {
	b := goapp.Button().Type("button").Class("icon-button").Title(text.T("Lessons")).Aria("label", text.T("Lessons")).Body(iconLearn.UI())
	if wide {
		b = goapp.Button().Type("button").Class("button").Body(iconLearn.UI(), goapp.Text(text.T("All lessons")))
	} else {
		b = b.ID("open-learn")
	}
	return b.OnClick(func(goapp.Context, goapp.Event) { r.openLearn() })
}

// openLearn shows the list of lessons.
func (r *Root) openLearn() {
	r.s.dispatch(func() {
		r.wantLessons()
		r.s.dialog = dialogLearn
	})
}
