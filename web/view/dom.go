package view

import (
	"strconv"

	"github.com/maxence-charriere/go-app/v9/pkg/app"
)

func itoa(n int) string { return strconv.Itoa(n) }

// Px writes a length for an SVG attribute or a style.
func Px(f float64) string { return strconv.FormatFloat(f, 'f', 1, 64) }

// Closest returns the data attribute of the nearest element around an event's target that
// matches a selector. One handler on a container so serves all that lies in it.
func Closest(e app.Event, selector, data string) (string, bool) {
	t := e.Get("target")
	if !t.Truthy() || !t.Get("closest").Truthy() {
		return "", false
	}
	el := t.Call("closest", selector)
	if !el.Truthy() {
		return "", false
	}
	v := el.Get("dataset").Get(data)
	if v.Type() != app.TypeString {
		return "", false
	}
	return v.String(), true
}

// FocusData focuses the element in root whose data attribute has a value, without
// building a selector from text that is not ours.
func FocusData(root app.Value, data, value string) {
	list := root.Call("querySelectorAll", "[data-"+data+"]")
	for i := range list.Get("length").Int() {
		el := list.Index(i)
		if el.Get("dataset").Get(data).String() == value {
			el.Call("focus")
			return
		}
	}
}

// Listen attaches a listener outside of go-app's own events: for events so frequent that
// they must not draw the page again, like scrolling. The handler must be quick and must
// not block. The returned function takes it away.
func Listen(target app.Value, event string, passive bool, f func(e app.Value)) (release func()) {
	fn := app.FuncOf(func(_ app.Value, args []app.Value) any {
		f(args[0])
		return nil
	})
	target.Call("addEventListener", event, fn, map[string]any{"passive": passive})
	return func() {
		target.Call("removeEventListener", event, fn)
		fn.Release()
	}
}

// Svg is an element of SVG.
func Svg(tag string) app.HTMLElem {
	return app.Elem(tag).XMLNS("http://www.w3.org/2000/svg")
}

// Typing reports whether a key event goes into a field, where shortcuts must not apply.
func Typing(e app.Value) bool {
	if e.Get("ctrlKey").Truthy() || e.Get("metaKey").Truthy() || e.Get("altKey").Truthy() {
		return true
	}
	t := e.Get("target")
	if !t.Truthy() || t.Get("tagName").Type() != app.TypeString {
		return false
	}
	switch t.Get("tagName").String() {
	case "INPUT", "TEXTAREA", "SELECT":
		return true
	}
	// Asking whether a text can be edited would make the browser compute styles at every key.
	return t.Call("hasAttribute", "contenteditable").Truthy()
}
