package view

import (
	"slices"
	"time"

	"github.com/maxence-charriere/go-app/v9/pkg/app"
)

// Later draws a part of a view in a task of its own, after those that began to wait before it. What a view shows when
// it is opened takes the browser long at once: elements are made, and a program's functions are compiled when they are
// called first. In between the browser draws and takes keys. Once drawn, the part follows its view at once.
type Later struct {
	app.Compo

	// Class is that of the element around the part, before and after it is drawn.
	Class string
	// Key tells what the part is: another one is drawn later again.
	Key string
	// Rows is set where the part is rows of a table: the element around it is a body of one then.
	Rows bool
	// Busy says until the part is drawn, to those who can't see it, that more is coming.
	Busy bool
	// Draw draws what lies in it.
	Draw func() []app.UI

	ctx   app.Context
	key   string // of what waits or is drawn
	drawn bool
	waits bool
	again bool // something was drawn before
}

// Drawn is told whenever a part draws itself without the page around it. The page sets it. UI goroutine only.
var Drawn = func() {}

// line are the parts that wait; the first one's turn has come. It is used on the UI goroutine only.
var line []*Later

// OnMount implements app.Mounter.
func (c *Later) OnMount(ctx app.Context) {
	c.ctx = ctx
	c.wait()
}

// wait takes the part into the line.
func (c *Later) wait() {
	if c.waits {
		return
	}
	c.waits = true
	line = append(line, c)
	if len(line) == 1 {
		c.turn()
	}
}

// turn draws the part in the next task.
func (c *Later) turn() {
	time.AfterFunc(time.Millisecond, func() { c.ctx.Dispatch(func(app.Context) { c.drawn = true }) })
}

// leave takes the part out of the line.
func (c *Later) leave() {
	c.waits = false
	at := slices.Index(line, c)
	if at < 0 {
		return
	}
	line = slices.Delete(line, at, at+1)
	if at == 0 && len(line) > 0 {
		line[0].turn()
	}
}

// OnDismount implements app.Dismounter.
func (c *Later) OnDismount() { c.leave() }

// Render implements app.Composer.
func (c *Later) Render() app.UI {
	if c.Key != c.key {
		c.key, c.drawn = c.Key, false
		if c.ctx != nil {
			c.wait()
		}
	}
	if !c.drawn {
		if c.Rows {
			return app.TBody().Class(c.Class).Aria("busy", true)
		}
		d := Div(c.Class)
		if c.Busy {
			d = d.Aria("busy", true)
		}
		if c.again {
			// As high as what was there, so that the page stays where it is scrolled to.
			d = d.Style("min-height", "100vh")
		}
		return d
	}
	c.again = true
	if c.waits {
		c.ctx.Defer(func(app.Context) { c.leave() })
	}
	if c.Rows {
		return app.TBody().Class(c.Class).Body(Group(c.Draw()...)...)
	}
	return Div(c.Class, Group(c.Draw()...)...)
}

// InPortions draws n parts that stand one after the other: the first ones at once, the others each at a time in tasks of
// their own. draw draws those from an index up to another. The elements around later ones take no part in the layout.
func InPortions(n, each int, draw func(from, to int) []app.UI) []app.UI {
	out := draw(0, min(n, each))
	for from := each; from < n; from += each {
		out = append(out, &Later{Class: "portion", Busy: true, Draw: func() []app.UI { return draw(from, min(n, from+each)) }})
	}
	return out
}

// RowsInPortions draws the n rows of a table as InPortions does, each portion a body of the table.
func RowsInPortions(n, each int, row func(i int) app.UI) []app.UI {
	rows := func(from, to int) []app.UI {
		out := make([]app.UI, 0, to-from)
		for i := from; i < to; i++ {
			out = append(out, row(i))
		}
		return out
	}
	out := []app.UI{app.TBody().Body(rows(0, min(n, each))...)}
	for from := each; from < n; from += each {
		out = append(out, &Later{Rows: true, Draw: func() []app.UI { return rows(from, min(n, from+each)) }})
	}
	return out
}

// AfterFrame runs f on the UI goroutine's thread once the browser has laid out and drawn what was changed, where asking
// for sizes costs nothing; asked for before, the browser lays out the page at once, in the task that changed it. f must
// be quick and must not block. A page that is not seen draws no frames: f runs when it is.
func AfterFrame(f func()) {
	var frame, after app.Func
	after = app.FuncOf(func(app.Value, []app.Value) any {
		after.Release()
		f()
		return nil
	})
	frame = app.FuncOf(func(app.Value, []app.Value) any {
		frame.Release()
		app.Window().Call("setTimeout", after, 0)
		return nil
	})
	app.Window().Call("requestAnimationFrame", frame)
}
