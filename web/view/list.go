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
	// Row draws a row.
	Row func(i int) app.UI

	top, height float64
	first       model.Window
	at          int
	started     bool
	release     []func()
}

// OnMount implements app.Mounter.
func (c *List) OnMount(ctx app.Context) {
	c.at = -1
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
	for i := range c.first.Count {
		rows = append(rows, c.Row(int(c.first.First+i)))
	}
	return app.Div().Class("vlist", c.Class).TabIndex(0).Role("group").Aria("label", c.Label).Body(
		app.Div().Class("vlist-all").Style("height", Px(c.first.Height)+"px").Body(
			app.Div().Class("vlist-seen").Style("transform", "translateY("+Px(c.first.Top)+"px)").Body(rows...),
		),
	)
}
