//go:build js && wasm

// Command app is the user interface of hudiscope in the browser's main thread. The
// engine runs beside it in a Web Worker; see package hudiscope/wasm/engine.
package main

import (
	"strings"
	"syscall/js"

	goapp "github.com/maxence-charriere/go-app/v9/pkg/app"

	"hudiscope/core/api"
	"hudiscope/web/app"
	"hudiscope/web/client"
	"hudiscope/web/text"
)

func main() {
	w := client.NewWorker()
	root := app.NewRoot(engine{w})
	w.OnDeath = func(f *api.Fault, restarted bool) {
		tone := "bad"
		if restarted {
			tone = "warn"
		}
		root.Notify(tone, f.Error())
	}
	w.OnPart = func(part string, loaded bool) {
		if !loaded {
			root.Notify("bad", text.F("The part of the engine that reads this table's files (%s) could not be loaded. Everything else goes on working.", strings.ToUpper(part)))
			return
		}
		root.Notify("", text.F("This table has %s files: the engine that reads them is loaded, once for this tab.", strings.ToUpper(part)))
	}
	// One page for every path: the page may be served below any folder.
	goapp.RouteWithRegexpFunc(".*", func() goapp.Composer { return root })
	goapp.RunWhenOnBrowser()
}

// engine gives the worker the face that the page knows.
type engine struct{ *client.Worker }

// Drop implements app.Engine.
func (e engine) Drop(name, label string, files goapp.Value) {
	e.Worker.Drop(name, label, js.Value(goapp.JSValue(files)))
}
