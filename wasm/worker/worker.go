//go:build js && wasm

// Package worker is the explorer service in a Web Worker of the browser. It takes requests
// as messages, answers each in its own goroutine, and reads tables with the same core as
// the command line. See hudiscope/web/client for the messages.
//
// The programs around it differ in the parts they link (explorer.Options): engine links none,
// engineorc the reader of ORC files. The page starts another when a fault of kind "needs part" says so.
package worker

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"sync"
	"syscall/js"
	"time"

	"hudiscope/core/api"
	"hudiscope/core/explorer"
	"hudiscope/fsadapter/idbkept"
	"hudiscope/fsadapter/idbspill"
)

// Run serves requests until the worker ends. The parts of options are kept, its budgets are set here.
func Run(options explorer.Options) {
	tuneGC()

	go sweep()

	e := &engine{running: map[int]context.CancelFunc{}, drops: newDrops(), access: &access{}, kept: idbkept.New()}
	options.MergeBytes, options.Spill = mergeBytes(), idbspill.Open
	options.Ahead, options.Next = true, !isLane()
	options.DividedBytes = dividedBytes
	if n := parameter("divided"); n > 0 {
		options.DividedBytes = n
	}
	if width := poolWidth(); width > 1 {
		e.pool = newPool(e, width)
		options.Pool = e.pool
	}
	e.service = explorer.New(e.resolve, options)
	js.Global().Set("engineReceive", js.FuncOf(func(_ js.Value, args []js.Value) any {
		e.receive(args[0])
		return nil
	}))
	js.Global().Call("engineReady")
	select {}
}

type engine struct {
	service *explorer.Service
	drops   *drops
	access  *access
	kept    *idbkept.Store
	// pool is nil where slices are read one by one; credits are of the reads that a lane does.
	pool    *pool
	credits credits

	mu      sync.Mutex
	running map[int]context.CancelFunc
}

// receive handles one message. It must not block: the page's messages queue behind it.
func (e *engine) receive(m js.Value) {
	if m.Type() != js.TypeObject {
		return
	}
	if c := m.Get("cancel"); c.Type() == js.TypeNumber {
		e.mu.Lock()
		cancel := e.running[c.Int()]
		e.mu.Unlock()
		if cancel != nil {
			cancel()
		}
		return
	}
	if d := m.Get("drop"); d.Type() == js.TypeString {
		e.drops.add(d.String(), m.Get("files"))
		if e.pool != nil {
			e.pool.tell(map[string]any{"drop": d.String(), "files": m.Get("files")})
		}
		return
	}
	if l := m.Get("store"); l.Type() == js.TypeString {
		if text := m.Get("access"); text.Type() == js.TypeString {
			e.access.add(l.String(), text.String())
			if e.pool != nil {
				e.pool.tell(map[string]any{"store": l.String(), "access": text.String()})
			}
		}
		return
	}
	if c := m.Get("more"); c.Type() == js.TypeNumber {
		e.credits.more(c.Int())
		return
	}
	for what, serve := range map[string]func(context.Context, int, string){"part": e.servePart, "facts": e.serveFacts} {
		if p := m.Get(what); p.Type() == js.TypeNumber && isLane() {
			if args := m.Get("args"); args.Type() == js.TypeString {
				ctx, done := e.begin(p.Int())
				go func() {
					defer done(what)
					serve(ctx, p.Int(), args.String())
				}()
			}
			return
		}
	}
	id, op, args := m.Get("id"), m.Get("op"), m.Get("args")
	if id.Type() != js.TypeNumber || op.Type() != js.TypeString || args.Type() != js.TypeString {
		return
	}
	if op.String() == opMemory {
		post(id.Int(), "answer", memoryNow())
		return
	}
	if op.String() == opKept {
		go func() {
			a, err := keeping(context.Background(), e.kept, args.String())
			if err != nil {
				post(id.Int(), "fault", explorer.ToFault(err))
				return
			}
			post(id.Int(), "answer", a)
		}()
		return
	}
	if api.Op(op.String()) == api.OpClose && e.pool != nil {
		// Its answer is nobody's.
		e.pool.tell(map[string]any{"id": 0, "op": string(api.OpClose), "args": args.String()})
	}
	ctx, done := e.begin(id.Int())
	go func() {
		defer done(op.String())
		e.serve(ctx, id.Int(), api.Op(op.String()), []byte(args.String()))
	}()
}

// begin begins work on a request. done is deferred by who does it; a panic is told as a fault: other requests go on.
func (e *engine) begin(id int) (ctx context.Context, done func(what string)) {
	ctx, cancel := context.WithCancel(context.Background())
	e.mu.Lock()
	e.running[id] = cancel
	e.mu.Unlock()
	return ctx, func(what string) {
		if p := recover(); p != nil {
			post(id, "fault", api.Fault{Kind: "internal", Offset: -1,
				Message: fmt.Sprintf("The engine made an error while it worked on %q: %v.", what, p),
				Try:     "Please report it, with the table if you can. Everything else goes on working."})
			fmt.Printf("panic: %v\n%s\n", p, debug.Stack())
		}
		cancel()
		e.mu.Lock()
		delete(e.running, id)
		e.mu.Unlock()
	}
}

// breather returns a function that gives way now and then: in work that computes for long no message, a
// cancellation least of all, would come through.
func breather() func() {
	last := time.Now()
	return func() {
		if time.Since(last) > 50*time.Millisecond {
			time.Sleep(time.Millisecond)
			last = time.Now()
		}
	}
}

// serve answers one request.
func (e *engine) serve(ctx context.Context, id int, op api.Op, args []byte) {
	breathe := breather()
	answer, err := e.service.Do(ctx, op, args, func(p api.Progress) {
		post(id, "progress", p)
		breathe()
	})
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		post(id, "fault", explorer.ToFault(err))
		return
	}
	post(id, "answer", answer)
}

// post sends a message about a request to the page.
func post(id int, kind string, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		kind = "fault"
		b, _ = json.Marshal(api.Fault{Kind: "internal", Offset: -1, Message: "The answer can't be written as JSON: " + err.Error() + "."})
	}
	js.Global().Call("postMessage", map[string]any{"id": id, kind: string(b)})
}
