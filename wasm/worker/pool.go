//go:build js && wasm

package worker

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"syscall/js"
	"time"

	"hudiscope/core/api"
	"hudiscope/core/explorer"
)

const (
	// maxLanes bounds the Workers that read slices beside each other.
	maxLanes = 4
	// dividedBytes is the size of the files of a read from which on Workers are worth their start.
	dividedBytes = 8 << 20
	// idleEnd is how long they are kept without work.
	idleEnd = 30 * time.Second
	// cancelled is how long one may go on with a read that was cancelled before it is ended.
	cancelled = time.Second
	// credit is how many chunks a Worker sends before the first is taken.
	credit = 2
)

// parameter is a number in the address of this worker, 0 when there is none.
func parameter(name string) int64 {
	if loc := js.Global().Get("location"); loc.Truthy() {
		if q, err := url.ParseQuery(strings.TrimPrefix(loc.Get("search").String(), "?")); err == nil {
			if n, err := strconv.ParseInt(q.Get(name), 10, 64); err == nil && n > 0 {
				return n
			}
		}
	}
	return 0
}

// isLane reports whether this worker reads slices for another one.
func isLane() bool { return parameter("lane") > 0 }

// beside is how many Workers share what one may take: 1 but in a lane.
func beside() int64 { return max(parameter("lane"), 1) }

// poolWidth is how many Workers read slices: one processor is left to the page and to this worker where there are more than
// two; 0 where they can't be started.
func poolWidth() int {
	if isLane() || js.Global().Get("engineLane").Type() != js.TypeFunction {
		return 0
	}
	if n := parameter("lanes"); n > 0 {
		return int(min(n, maxLanes))
	}
	n := int64(0)
	if v := js.Global().Get("navigator").Get("hardwareConcurrency"); v.Type() == js.TypeNumber {
		n = int64(v.Int())
	}
	if n > 2 {
		n--
	}
	return int(min(n, maxLanes))
}

// pool is Workers that run the same program as this one and read slices for it. They are started by the first read
// that is divided and end when they have nothing to do for a while.
type pool struct {
	engine *engine
	width  int

	mu    sync.Mutex
	lanes []*lane // by number, nil where none runs
	reads int
	last  *time.Timer
}

// lane is one Worker.
type lane struct {
	worker js.Value
	funcs  []js.Func

	mu    sync.Mutex
	next  int
	reads map[int]chan laneMessage
	// dead is why it has ended.
	dead string
}

// laneMessage is what a Worker says of a request: a chunk, or how many rows were read; or the last one, which is one of
// the others.
type laneMessage struct {
	chunk  js.Value
	rows   int64
	last   bool
	answer string
	fault  string
	alone  bool
	dead   string
}

func newPool(e *engine, width int) *pool {
	return &pool{engine: e, width: width, lanes: make([]*lane, width)}
}

// Width implements explorer.Pool.
func (p *pool) Width() int { return p.width }

// use returns a lane, and starts it where it doesn't run.
func (p *pool) use(n int) *lane {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reads++
	if p.last != nil {
		p.last.Stop()
		p.last = nil
	}
	if l := p.lanes[n]; l != nil {
		return l
	}
	l := &lane{reads: map[int]chan laneMessage{}}
	l.worker = js.Global().Call("engineLane", p.width, mergeBytes()/int64(p.width))
	onMessage := js.FuncOf(func(_ js.Value, args []js.Value) any {
		l.receive(args[0].Get("data"))
		return nil
	})
	onError := js.FuncOf(func(_ js.Value, args []js.Value) any {
		reason := "the worker could not start"
		if m := args[0].Get("message"); m.Type() == js.TypeString && m.String() != "" {
			reason = m.String()
		}
		l.died(reason)
		return nil
	})
	l.funcs = []js.Func{onMessage, onError}
	l.worker.Set("onmessage", onMessage)
	l.worker.Set("onerror", onError)
	p.engine.hand(l.worker)
	p.lanes[n] = l
	return l
}

// unused ends the lanes when nothing is read for a while.
func (p *pool) unused() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reads--; p.reads > 0 {
		return
	}
	p.last = time.AfterFunc(idleEnd, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.reads > 0 {
			return
		}
		for n := range p.lanes {
			p.end(n)
		}
	})
}

// end ends a lane; p.mu is held.
func (p *pool) end(n int) {
	l := p.lanes[n]
	if l == nil {
		return
	}
	p.lanes[n] = nil
	l.worker.Call("terminate")
	l.died("it was ended")
	for _, f := range l.funcs {
		f.Release()
	}
}

// drop ends a lane that is not to be used any more.
func (p *pool) drop(n int, l *lane) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.lanes[n] == l {
		p.end(n)
	}
}

// tell sends a message to all lanes that run.
func (p *pool) tell(message map[string]any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, l := range p.lanes {
		if l != nil {
			l.worker.Call("postMessage", message)
		}
	}
}

// Read implements explorer.Pool.
func (p *pool) Read(ctx context.Context, n int, req *explorer.PartRequest, emit func(chunk []byte) error) (*explorer.PartSummary, error) {
	return ask[explorer.PartSummary](ctx, p, n, "part", req, func(m *laneMessage, more func()) error {
		if m.chunk.IsUndefined() {
			return nil
		}
		b := make([]byte, m.chunk.Get("byteLength").Int())
		js.CopyBytesToGo(b, m.chunk)
		if err := emit(b); err != nil {
			return err
		}
		more()
		return nil
	})
}

// Facts implements explorer.Pool.
func (p *pool) Facts(ctx context.Context, n int, req *explorer.FactsRequest, progress func(rows int64)) (*explorer.Facts, error) {
	return ask[explorer.Facts](ctx, p, n, "facts", req, func(m *laneMessage, _ func()) error {
		progress(m.rows)
		return nil
	})
}

// ask sends a request to a lane and waits for its answer. take is given what comes before it; more lets the lane send
// one more of that.
func ask[A any](ctx context.Context, p *pool, n int, what string, req any, take func(m *laneMessage, more func()) error) (*A, error) {
	args, err := json.Marshal(req)
	if err != nil {
		return nil, err
	}
	l := p.use(n)
	defer p.unused()
	id, messages, dead := l.begin()
	if dead != "" {
		p.drop(n, l)
		return nil, poolFault(dead)
	}
	defer l.forget(id)
	l.worker.Call("postMessage", map[string]any{what: id, "args": string(args)})
	// stop ends the request there, and waits until it has ended: its memory is that of the next one.
	stop := func(err error) (*A, error) {
		l.worker.Call("postMessage", map[string]any{"cancel": id})
		end := time.NewTimer(cancelled)
		defer end.Stop()
		for {
			select {
			case m := <-messages:
				if m.last {
					return nil, err
				}
			case <-end.C:
				p.drop(n, l)
				return nil, err
			}
		}
	}
	for {
		var m laneMessage
		select {
		case <-ctx.Done():
			return stop(ctx.Err())
		case m = <-messages:
		}
		switch {
		case !m.last:
			if err := take(&m, func() { l.worker.Call("postMessage", map[string]any{"more": id}) }); err != nil {
				return stop(err)
			}
		case m.dead != "":
			p.drop(n, l)
			return nil, poolFault(m.dead)
		case m.alone:
			return nil, explorer.ErrAlone
		case m.fault != "":
			f := new(api.Fault)
			if err := json.Unmarshal([]byte(m.fault), f); err != nil {
				return nil, err
			}
			return nil, f
		default:
			a := new(A)
			return a, json.Unmarshal([]byte(m.answer), a)
		}
	}
}

// poolFault tells that a Worker has ended.
func poolFault(reason string) error {
	f := &api.Fault{Kind: "internal", Offset: -1, Message: "A Worker that read file slices beside the engine stopped unexpectedly: " + reason + ".",
		Try: "Repeat what you did: it is started again. If it stops again, ask for less at once (one partition, fewer columns)."}
	if strings.Contains(reason, "out of memory") {
		f.Kind, f.Message = "limit", "A Worker that read file slices beside the engine ran out of memory."
	}
	return &explorer.PoolFault{Fault: f}
}

// begin numbers a read. Its messages wait in a channel that has room for all that come before they are asked for.
func (l *lane) begin() (id int, messages chan laneMessage, dead string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.next++
	messages = make(chan laneMessage, credit+2)
	if l.dead == "" {
		l.reads[l.next] = messages
	}
	return l.next, messages, l.dead
}

func (l *lane) forget(id int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.reads, id)
}

// died tells all reads that the Worker has ended.
func (l *lane) died(reason string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dead != "" {
		return
	}
	l.dead = reason
	for id, c := range l.reads {
		delete(l.reads, id)
		c <- laneMessage{last: true, dead: reason}
	}
}

// receive handles a message of the Worker. It must not block.
func (l *lane) receive(m js.Value) {
	if m.Type() != js.TypeObject {
		return
	}
	if dead := m.Get("dead"); dead.Type() == js.TypeString {
		l.died(dead.String())
		return
	}
	id := m.Get("id")
	if id.Type() != js.TypeNumber {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.reads[id.Int()]
	if c == nil {
		return
	}
	x := laneMessage{last: true}
	switch {
	case m.Get("chunk").Truthy():
		x.chunk, x.last = m.Get("chunk"), false
	case m.Get("rows").Type() == js.TypeNumber:
		if len(c) > 0 {
			return // another one comes
		}
		x.rows, x.last = int64(m.Get("rows").Float()), false
	case m.Get("answer").Type() == js.TypeString:
		x.answer = m.Get("answer").String()
	case m.Get("alone").Truthy():
		x.alone = true
	case m.Get("fault").Type() == js.TypeString:
		x.fault = m.Get("fault").String()
	default:
		return
	}
	select {
	case c <- x:
	default:
		// It has sent more than it may. What was sent is not looked at any more, so that there is room for the end.
		for len(c) > 0 {
			<-c
		}
		delete(l.reads, id.Int())
		c <- laneMessage{last: true, dead: "it has sent more than it was asked for"}
	}
}

// hand gives a Worker what this one was given: dropped files, and the access to private stores.
func (e *engine) hand(worker js.Value) {
	for name, files := range e.drops.all() {
		worker.Call("postMessage", map[string]any{"drop": name, "files": files})
	}
	for location, text := range e.access.all() {
		worker.Call("postMessage", map[string]any{"store": location, "access": text})
	}
}

// --- The side of the Worker that reads ---

// credits are the chunks that the reads of a lane may send.
type credits struct {
	mu sync.Mutex
	m  map[int]chan struct{}
}

// open begins a read.
func (c *credits) open(id int) chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.m == nil {
		c.m = map[int]chan struct{}{}
	}
	ch := make(chan struct{}, credit)
	for range credit {
		ch <- struct{}{}
	}
	c.m[id] = ch
	return ch
}

// more takes the message that a chunk was taken.
func (c *credits) more(id int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case c.m[id] <- struct{}{}:
	default:
	}
}

func (c *credits) close(id int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.m, id)
}

// servePart reads a part and sends its rows.
func (e *engine) servePart(ctx context.Context, id int, args string) {
	breathe := breather()
	give := e.credits.open(id)
	defer e.credits.close(id)
	var req explorer.PartRequest
	err := json.Unmarshal([]byte(args), &req)
	var sum *explorer.PartSummary
	if err == nil {
		sum, err = e.service.ReadPart(ctx, &req, breathe, func(chunk []byte) error {
			select {
			case <-give:
			case <-ctx.Done():
				return ctx.Err()
			}
			array := js.Global().Get("Uint8Array").New(len(chunk))
			js.CopyBytesToJS(array, chunk)
			js.Global().Call("postMessage", map[string]any{"id": id, "chunk": array}, []any{array.Get("buffer")})
			breathe()
			return ctx.Err()
		})
	}
	laneAnswer(id, sum, err)
}

// serveFacts tells of columns.
func (e *engine) serveFacts(ctx context.Context, id int, args string) {
	breathe := breather()
	var req explorer.FactsRequest
	err := json.Unmarshal([]byte(args), &req)
	var facts *explorer.Facts
	if err == nil {
		told := time.Now()
		facts, err = e.service.ReadFacts(ctx, &req, func(rows int64) {
			if time.Since(told) > 100*time.Millisecond {
				told = time.Now()
				js.Global().Call("postMessage", map[string]any{"id": id, "rows": rows})
			}
			breathe()
		})
	}
	laneAnswer(id, facts, err)
}

// laneAnswer ends a request.
func laneAnswer(id int, answer any, err error) {
	switch {
	case err == nil:
		post(id, "answer", answer)
	case errors.Is(err, explorer.ErrAlone):
		js.Global().Call("postMessage", map[string]any{"id": id, "alone": true})
	default:
		post(id, "fault", explorer.ToFault(err))
	}
}
