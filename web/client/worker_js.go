package client

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"
	"syscall/js"

	"hudiscope/core/api"
)

// Worker is the Transport to the engine's Web Worker. The page's loader (boot.js) makes
// workers; when one ends, Worker starts another and hands it the dropped files and the keys of
// stores again.
//
// Messages to the engine are objects {id, op, args}, {cancel: id}, {drop, label, files} and {store, access};
// messages from it {id, progress}, {id, answer}, {id, fault}, {load: {received, total}},
// {ready: true} and {dead: reason}. args, progress, answer and fault are JSON texts.
type Worker struct {
	mux *Mux
	// OnDeath is called when the engine ended and was started again, or could not be
	// (restarted false). It may be nil.
	OnDeath func(f *api.Fault, restarted bool)
	// OnPart is called when an engine with another part is started, because a table needs it
	// (loaded true), or when that engine could not be loaded. It may be nil.
	OnPart func(part string, loaded bool)

	mu     sync.Mutex
	worker js.Value
	ready  bool
	broken *api.Fault
	drops  []drop
	// stores is the access to private stores by location, as JSON texts. It is in this memory alone.
	stores map[string]string
	funcs  []js.Func
	// part names what the running engine has beyond the usual; missing the part whose engine
	// could not be loaded.
	part, missing string
}

type drop struct {
	name, label string
	files       js.Value
}

// NewWorker takes over the engine that the loader has started.
func NewWorker() *Worker {
	w := &Worker{}
	w.mux = NewMux(w.post)
	w.attach(loader().Get("engine"))
	return w
}

func loader() js.Value { return js.Global().Get("hudiscope") }

func (w *Worker) attach(worker js.Value) {
	for _, f := range w.funcs {
		f.Release()
	}
	onMessage := js.FuncOf(func(_ js.Value, args []js.Value) any {
		w.receive(args[0].Get("data"))
		return nil
	})
	onError := js.FuncOf(func(_ js.Value, args []js.Value) any {
		text := ""
		if m := args[0].Get("message"); m.Type() == js.TypeString {
			text = m.String()
		}
		go w.died(text)
		return nil
	})
	w.funcs = []js.Func{onMessage, onError}
	w.worker, w.ready = worker, false
	worker.Set("onmessage", onMessage)
	worker.Set("onerror", onError)
	// What arrived before this program ran was kept by the loader.
	if early := worker.Get("early"); early.Type() == js.TypeObject {
		for i := range early.Length() {
			w.receive(early.Index(i))
		}
		worker.Set("early", js.Null())
	}
}

// Do implements Transport.
func (w *Worker) Do(ctx context.Context, op api.Op, args json.RawMessage, progress func(api.Progress)) (json.RawMessage, error) {
	w.mu.Lock()
	broken := w.broken
	w.mu.Unlock()
	if broken != nil {
		return nil, broken
	}
	answer, err := w.mux.Do(ctx, op, args, progress)
	if f, ok := err.(*api.Fault); ok && f.Kind == "needs part" && w.upgrade(f.Part) {
		return w.mux.Do(ctx, op, args, progress)
	}
	return answer, err
}

// upgrade starts the engine that has a part, in place of the running one, which ends. What is
// waiting is asked of the new one. It reports false when there is no such engine.
func (w *Worker) upgrade(part string) bool {
	w.mu.Lock()
	if part == "" || part == w.missing {
		w.mu.Unlock()
		return false
	}
	if w.part == part {
		// Another request has started it meanwhile.
		w.mu.Unlock()
		return true
	}
	w.part = part
	w.worker.Call("terminate")
	w.attach(loader().Call("startEngine", part))
	again := w.handed()
	w.mu.Unlock()
	again()
	w.mux.Resend()
	if w.OnPart != nil {
		w.OnPart(part, true)
	}
	return true
}

// Drop gives files to the engine under a name like "drop:1". files is an array of
// {path, file} objects; label is what to call them.
func (w *Worker) Drop(name, label string, files js.Value) {
	w.mu.Lock()
	w.drops = slices.DeleteFunc(w.drops, func(d drop) bool { return d.name == name })
	w.drops = append(w.drops, drop{name, label, files})
	worker := w.worker
	w.mu.Unlock()
	postDrop(worker, drop{name, label, files})
}

// Store gives the engine what a private store is opened with; an empty access makes it forget that.
func (w *Worker) Store(location string, access api.StoreAccess) {
	text := ""
	if !access.Empty() {
		if b, err := json.Marshal(access); err == nil {
			text = string(b)
		}
	}
	w.mu.Lock()
	if w.stores == nil {
		w.stores = map[string]string{}
	}
	if text == "" {
		delete(w.stores, location)
	} else {
		w.stores[location] = text
	}
	worker := w.worker
	w.mu.Unlock()
	postStore(worker, location, text)
}

func postStore(worker js.Value, location, text string) {
	worker.Call("postMessage", map[string]any{"store": location, "access": text})
}

// handed returns a function that hands the present worker what it was given before; w.mu is held.
func (w *Worker) handed() func() {
	worker, drops, stores := w.worker, slices.Clone(w.drops), maps.Clone(w.stores)
	return func() {
		for _, d := range drops {
			postDrop(worker, d)
		}
		for l, text := range stores {
			postStore(worker, l, text)
		}
	}
}

func postDrop(worker js.Value, d drop) {
	worker.Call("postMessage", map[string]any{"drop": d.name, "label": d.label, "files": d.files})
}

func (w *Worker) post(r Request) error {
	w.mu.Lock()
	worker := w.worker
	w.mu.Unlock()
	if r.Cancel {
		worker.Call("postMessage", map[string]any{"cancel": r.ID})
		return nil
	}
	worker.Call("postMessage", map[string]any{"id": r.ID, "op": string(r.Op), "args": string(r.Args)})
	return nil
}

func (w *Worker) receive(m js.Value) {
	if m.Type() != js.TypeObject {
		return
	}
	if id := m.Get("id"); id.Type() == js.TypeNumber {
		r := Reply{ID: int64(id.Int())}
		for key, to := range map[string]*json.RawMessage{"progress": &r.Progress, "answer": &r.Answer, "fault": &r.Fault} {
			if v := m.Get(key); v.Type() == js.TypeString {
				*to = json.RawMessage(v.String())
			}
		}
		w.mux.Receive(r)
		return
	}
	if load := m.Get("load"); load.Type() == js.TypeObject {
		p := api.Progress{Phase: "Loading the engine", Unit: "bytes", Done: int64(load.Get("received").Float())}
		if t := load.Get("total"); t.Type() == js.TypeNumber {
			p.Total = int64(t.Float())
		}
		w.mux.Broadcast(p)
		return
	}
	if m.Get("ready").Truthy() {
		w.mu.Lock()
		w.ready = true
		w.mu.Unlock()
		return
	}
	if dead := m.Get("dead"); dead.Type() == js.TypeString {
		go w.died(dead.String())
	}
}

// died ends what waits with a fault and starts another engine, unless this one never ran.
func (w *Worker) died(reason string) {
	f := &api.Fault{Message: "The engine stopped unexpectedly.", Kind: "internal", Offset: -1,
		Try: "It has been started again: repeat what you did. If it stops again, ask for less at once (one partition, one file group)."}
	if reason != "" {
		f.Message = "The engine stopped unexpectedly: " + reason
	}
	if strings.Contains(reason, "out of memory") {
		f.Kind, f.Message = "limit", "The engine ran out of memory (a browser tab gives it at most 4 GB)."
	}
	w.mu.Lock()
	started := w.ready
	if w.broken != nil {
		w.mu.Unlock()
		return
	}
	if !started && w.part != "" {
		// The usual engine goes on without the part.
		part := w.part
		w.part, w.missing = "", part
		w.worker.Call("terminate")
		w.attach(loader().Call("startEngine", ""))
		again := w.handed()
		w.mu.Unlock()
		again()
		w.mux.Resend()
		if w.OnPart != nil {
			w.OnPart(part, false)
		}
		return
	}
	if !started {
		f.Kind, f.Message = "unreachable", "The engine could not be loaded: "+reason
		f.Try = "Reload the page. If it fails again, engine.wasm or engine.js is missing beside this page, or the browser can't run WebAssembly."
		w.broken = f
		w.mu.Unlock()
		w.mux.Fail(f)
		if w.OnDeath != nil {
			w.OnDeath(f, false)
		}
		return
	}
	w.worker.Call("terminate")
	w.attach(loader().Call("startEngine", w.part))
	again := w.handed()
	w.mu.Unlock()
	w.mux.Fail(f)
	again()
	if w.OnDeath != nil {
		w.OnDeath(f, true)
	}
}
