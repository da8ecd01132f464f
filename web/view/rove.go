package view

import (
	"github.com/maxence-charriere/go-app/v9/pkg/app"
)

// Tree works the keys of a tree that is drawn as elements with role "treeitem" and "aria-level" (WAI-ARIA tree pattern):
// one of them is reached by the Tab key, arrows and j and k go from one to the next, right and left open, close, and
// lead inward and outward, Enter does what a click on the item does. The items are drawn with tabindex -1; which of
// them is reached is kept in the elements alone, so that moving draws nothing. The returned function ends it.
func Tree(root app.Value) (release func()) {
	items := func() []app.Value {
		list := root.Call("querySelectorAll", `[role="treeitem"]`)
		out := make([]app.Value, list.Get("length").Int())
		for i := range out {
			out[i] = list.Index(i)
		}
		return out
	}
	reach := func(el app.Value) {
		was := root.Call("querySelectorAll", `[role="treeitem"][tabindex="0"]`)
		for i := range was.Get("length").Int() {
			if !was.Index(i).Equal(el) {
				was.Index(i).Set("tabIndex", -1)
			}
		}
		el.Set("tabIndex", 0)
	}
	// One item can always be reached: the chosen one at first.
	settle := func() {
		if root.Call("querySelector", `[role="treeitem"][tabindex="0"]`).Truthy() {
			return
		}
		el := root.Call("querySelector", `[role="treeitem"][aria-selected="true"]`)
		if !el.Truthy() {
			el = root.Call("querySelector", `[role="treeitem"]`)
		}
		if el.Truthy() {
			el.Set("tabIndex", 0)
		}
	}
	settle()
	changed := app.FuncOf(func(app.Value, []app.Value) any {
		settle()
		return nil
	})
	observer := app.Window().Get("MutationObserver").New(changed)
	observer.Call("observe", root, map[string]any{"childList": true, "subtree": true})
	stops := []func(){
		func() { observer.Call("disconnect"); changed.Release() },
		Listen(root, "focusin", true, func(e app.Value) {
			if el := e.Get("target").Call("closest", `[role="treeitem"]`); el.Truthy() {
				reach(el)
			}
		}),
		Listen(root, "keydown", false, func(e app.Value) {
			at := e.Get("target")
			if e.Get("ctrlKey").Truthy() || e.Get("altKey").Truthy() || e.Get("metaKey").Truthy() || !at.Call("matches", `[role="treeitem"]`).Truthy() {
				return
			}
			if treeKey(e.Get("key").String(), at, items()) {
				e.Call("preventDefault")
			}
		}),
	}
	return func() {
		for _, f := range stops {
			f()
		}
	}
}

// treeKey does what a key means at an item, and reports whether it means something.
func treeKey(key string, at app.Value, all []app.Value) bool {
	here := -1
	for i, el := range all {
		if el.Equal(at) {
			here = i
		}
	}
	if here < 0 {
		return false
	}
	level := func(el app.Value) string { return el.Call("getAttribute", "aria-level").String() } // of one digit
	to := here
	switch key {
	case "ArrowDown", "j":
		to++
	case "ArrowUp", "k":
		to--
	case "Home":
		to = 0
	case "End":
		to = len(all) - 1
	case "ArrowRight":
		if expanded(at) == "false" {
			press(at)
		} else if here+1 < len(all) && level(all[here+1]) > level(at) {
			to++
		}
	case "ArrowLeft":
		if expanded(at) == "true" {
			press(at)
			break
		}
		for to = here - 1; to >= 0 && level(all[to]) >= level(at); {
			to--
		}
	case "Enter", " ":
		press(at)
	default:
		return false
	}
	if to != here && to >= 0 && to < len(all) {
		all[to].Call("focus")
	}
	return true
}

func expanded(el app.Value) string {
	if v := el.Call("getAttribute", "aria-expanded"); v.Truthy() {
		return v.String()
	}
	return ""
}

// press does what a click on an item means: the item is a link, or has a button or a link for itself.
func press(el app.Value) {
	if el.Get("tagName").String() != "A" {
		el = el.Call("querySelector", "button, a, summary")
	}
	if el.Truthy() {
		el.Call("click")
	}
}
