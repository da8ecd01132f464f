package view

import (
	"github.com/maxence-charriere/go-app/v9/pkg/app"

	"hudiscope/web/model"
)

// List draws only those of many equally high rows that are seen.
type List struct {
	app.Compo

	// Count of rows of RowHeight pixels each.
	Count     int
	RowHeight float64
	// Class of the scrolled element and Label its name.
	Class, Label string
	// At is a row that must be seen when it changes, -1 for none.
	At int
	// Row draws a row; stop is true for the one that the Tab key reaches.
	Row func(i int, stop bool) app.UI
	// Choose is called with the row that keys lead to, whose number At becomes.
	Choose func(i int)

	ctx         app.Context
	top, height float64
	first       model.Window
	at          int
	started     bool
	follow      bool // the row At takes the focus
	release     []func()
}

// OnMount implements app.Mounter.
func (c *List) OnMount(ctx app.Context) {
	c.at, c.ctx = -1, ctx
	AfterFrame(func() { ctx.Dispatch(func(app.Context) { c.start() }) })
}

func (c *List) start() {
	el := c.JSValue()
	if !c.Mounted() || !el.Truthy() || c.started {
		return
	}
	c.started = true
	c.height = el.Get("clientHeight").Float()
	c.release = append(c.release, Listen(el, "scroll", true, func(app.Value) {
		c.top = el.Get("scrollTop").Float()
		c.height = el.Get("clientHeight").Float()
		w := c.window()
		if w.First != c.first.First || w.Count != c.first.Count {
			c.Update()
			Drawn()
		}
	}))
	c.show()
	c.Update()
}

// OnUpdate implements app.Updater: rows or the selection changed.
func (c *List) OnUpdate(ctx app.Context) {
	ctx.Defer(func(app.Context) {
		c.show()
		// More rows may have made the list higher.
		if el := c.JSValue(); c.started && el.Truthy() {
			if h := el.Get("clientHeight").Float(); h != c.height {
				c.height = h
				c.Update()
			}
		}
	})
}

// show scrolls as little as needed to have the row At in sight.
func (c *List) show() {
	if c.At == c.at || c.At < 0 || !c.started {
		return
	}
	c.at = c.At
	el := c.JSValue()
	c.height = el.Get("clientHeight").Float()
	to := model.ScrollTo(int64(c.Count), int64(c.At), c.RowHeight, c.height, el.Get("scrollTop").Float())
	el.Set("scrollTop", to)
	if c.follow {
		c.follow = false
		c.top = to
		c.Update()
		c.ctx.Defer(func(app.Context) {
			if row := el.Call("querySelector", ".vlist-seen > [tabindex=\"0\"]"); row.Truthy() {
				row.Call("focus", map[string]any{"preventScroll": true})
			}
		})
	}
}

// key moves from row to row: what is chosen follows the focus.
func (c *List) key(_ app.Context, e app.Event) {
	if c.Choose == nil || c.Count == 0 || e.Get("ctrlKey").Truthy() || e.Get("altKey").Truthy() || e.Get("metaKey").Truthy() {
		return
	}
	to, page := c.At, max(1, int(c.height/c.RowHeight)-1)
	switch e.Get("key").String() {
	case "ArrowDown", "j":
		to++
	case "ArrowUp", "k":
		to--
	case "PageDown":
		to += page
	case "PageUp":
		to -= page
	case "Home":
		to = 0
	case "End":
		to = c.Count - 1
	default:
		return
	}
	e.PreventDefault()
	if to = min(max(to, 0), c.Count-1); to != c.At {
		c.follow = true
		c.Choose(to)
	}
}

// OnDismount implements app.Dismounter.
func (c *List) OnDismount() {
	for _, f := range c.release {
		f()
	}
}

func (c *List) window() model.Window {
	if !c.started {
		// Drawing the rows is left to a task of its own, when it is known how many are seen.
		return model.Window{Height: model.ScrollWindow(int64(c.Count), c.RowHeight, 0, 0, 0).Height}
	}
	h := c.height
	if h == 0 {
		h = 600
	}
	return model.ScrollWindow(int64(c.Count), c.RowHeight, h, c.top, 4)
}

// Render implements app.Composer.
func (c *List) Render() app.UI {
	c.first = c.window()
	rows := make([]app.UI, 0, c.first.Count)
	stop := c.first.First
	if at := int64(c.At); at >= stop && at < stop+c.first.Count {
		stop = at
	}
	for i := range c.first.Count {
		rows = append(rows, c.Row(int(c.first.First+i), c.first.First+i == stop))
	}
	return app.Div().Class("vlist", c.Class).TabIndex(-1).Role("group").Aria("label", c.Label).OnKeyDown(c.key).Body(
		app.Div().Class("vlist-all").Style("height", Px(c.first.Height)+"px").Body(
			app.Div().Class("vlist-seen").Style("transform", "translateY("+Px(c.first.Top)+"px)").Body(rows...),
		),
	)
}
