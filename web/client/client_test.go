package client

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"hudiscope/core/api"
)

// engine answers requests on its own goroutine, as a worker would.
type engine struct {
	t    *testing.T
	mux  *Mux
	mu   sync.Mutex
	sent []Request
	on   func(e *engine, r Request)
}

func newEngine(t *testing.T, on func(e *engine, r Request)) *engine {
	e := &engine{t: t, on: on}
	e.mux = NewMux(func(r Request) error {
		e.mu.Lock()
		e.sent = append(e.sent, r)
		e.mu.Unlock()
		e.mu.Lock()
		on := e.on
		e.mu.Unlock()
		go on(e, r)
		return nil
	})
	return e
}

func (e *engine) requests() []Request {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]Request(nil), e.sent...)
}

func TestCallDecodesTheAnswerAndReportsProgress(t *testing.T) {
	e := newEngine(t, func(e *engine, r Request) {
		var req api.OverviewRequest
		if err := json.Unmarshal(r.Args, &req); err != nil || req.Location != "sample:x" || r.Op != api.OpOverview {
			t.Errorf("the engine got %s %s", r.Op, r.Args)
		}
		e.mux.Receive(Reply{ID: r.ID, Progress: json.RawMessage(`{"phase":"Reading","done":1,"total":2,"requests":3,"bytes":4}`)})
		e.mux.Receive(Reply{ID: r.ID, Answer: json.RawMessage(`{"kind":"table","name":"trips"}`)})
	})
	var seen []api.Progress
	o, err := Call[api.Overview](context.Background(), e.mux, api.OpOverview,
		api.OverviewRequest{Table: api.Table{Location: "sample:x"}}, func(p api.Progress) { seen = append(seen, p) })
	if err != nil {
		t.Fatal(err)
	}
	if o.Name != "trips" || len(seen) != 1 || seen[0].Bytes != 4 {
		t.Fatalf("answer %+v, progress %+v", o, seen)
	}
	if e.mux.Waiting() != 0 {
		t.Fatal("the request still waits")
	}
}

func TestFaultComesBackWhole(t *testing.T) {
	want := api.Fault{Message: "The block is cut.", Kind: "corrupt", File: "p/.f.log.1", Offset: 972, Part: "content", Try: "Copy the file again."}
	e := newEngine(t, func(e *engine, r Request) {
		f, _ := json.Marshal(want)
		e.mux.Receive(Reply{ID: r.ID, Fault: f})
	})
	_, err := Call[api.Rows](context.Background(), e.mux, api.OpRows, api.RowsRequest{}, nil)
	var f *api.Fault
	if !errors.As(err, &f) || *f != want {
		t.Fatalf("got %#v", err)
	}
}

func TestCancelTellsTheEngineAndDropsWhatComesLate(t *testing.T) {
	late := make(chan Reply, 1)
	started := make(chan struct{})
	var once sync.Once
	e := newEngine(t, func(e *engine, r Request) {
		if r.Cancel {
			late <- Reply{ID: r.ID, Answer: json.RawMessage(`{}`)}
			return
		}
		once.Do(func() { close(started) })
	})
	ctx, cancel := context.WithCancel(context.Background())
	go func() { <-started; cancel() }()
	_, err := Call[api.Rows](ctx, e.mux, api.OpRows, api.RowsRequest{}, func(api.Progress) { t.Error("progress after the end") })
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
	select {
	case r := <-late:
		e.mux.Receive(Reply{ID: r.ID, Progress: json.RawMessage(`{}`)})
		e.mux.Receive(r)
	case <-time.After(5 * time.Second):
		t.Fatal("the engine was not told")
	}
	if got := e.requests(); len(got) != 2 || !got[1].Cancel || got[1].ID != got[0].ID {
		t.Fatalf("messages %+v", got)
	}
	if f := FaultOf(err); f.Kind != "cancelled" {
		t.Fatalf("fault %+v", f)
	}
}

func TestRepliesFindTheirOwnRequests(t *testing.T) {
	// Answers come back in the opposite order.
	var mu sync.Mutex
	var held []Request
	e := newEngine(t, func(e *engine, r Request) {
		mu.Lock()
		defer mu.Unlock()
		held = append(held, r)
		if len(held) < 20 {
			return
		}
		for i := len(held) - 1; i >= 0; i-- {
			var req api.BytesRequest
			_ = json.Unmarshal(held[i].Args, &req)
			body, _ := json.Marshal(api.Bytes{Offset: req.Offset})
			e.mux.Receive(Reply{ID: held[i].ID, Answer: body})
		}
	})
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			b, err := Call[api.Bytes](context.Background(), e.mux, api.OpBytes, api.BytesRequest{Offset: int64(i)}, nil)
			if err != nil || b.Offset != int64(i) {
				t.Errorf("request %d got %d, %v", i, b.Offset, err)
			}
		})
	}
	wg.Wait()
}

func TestFailEndsAllThatWait(t *testing.T) {
	e := newEngine(t, func(e *engine, r Request) {})
	errs := make(chan error, 3)
	for range 3 {
		go func() {
			_, err := Call[api.Timeline](context.Background(), e.mux, api.OpTimeline, api.TimelineRequest{}, nil)
			errs <- err
		}()
	}
	for e.mux.Waiting() < 3 {
		time.Sleep(time.Millisecond)
	}
	e.mux.Fail(&api.Fault{Message: "The engine ran out of memory.", Kind: "limit", Offset: -1})
	for range 3 {
		if f := FaultOf(<-errs); f.Kind != "limit" {
			t.Fatalf("got %+v", f)
		}
	}
}

func TestUndecodableAnswersAreFaults(t *testing.T) {
	e := newEngine(t, func(e *engine, r Request) {
		if r.Op == api.OpRows {
			e.mux.Receive(Reply{ID: r.ID, Answer: json.RawMessage(`{"rows": 3`)})
			return
		}
		e.mux.Receive(Reply{ID: r.ID, Fault: json.RawMessage(`nonsense`)})
	})
	for _, op := range []api.Op{api.OpRows, api.OpConfig} {
		_, err := Call[api.Rows](context.Background(), e.mux, op, api.RowsRequest{}, nil)
		if f := FaultOf(err); f.Kind != "internal" || !strings.Contains(f.Message, "decoded") {
			t.Fatalf("%s: %+v", op, f)
		}
	}
	e.mux = NewMux(func(Request) error { return errors.New("closed") })
	if _, err := Call[api.Rows](context.Background(), e.mux, api.OpRows, api.RowsRequest{}, nil); FaultOf(err).Kind != "internal" {
		t.Fatal(err)
	}
}

func TestResendAsksAnotherEngine(t *testing.T) {
	e := newEngine(t, func(e *engine, r Request) {})
	answers := make(chan error, 2)
	for i := range 2 {
		go func() {
			b, err := Call[api.Bytes](context.Background(), e.mux, api.OpBytes, api.BytesRequest{Offset: int64(i)}, nil)
			if err == nil && b.Offset != int64(i) {
				err = errors.New("the answer of another request")
			}
			answers <- err
		}()
	}
	for len(e.requests()) < 2 {
		time.Sleep(time.Millisecond)
	}
	e.mu.Lock()
	e.on = func(e *engine, r Request) {
		var req api.BytesRequest
		_ = json.Unmarshal(r.Args, &req)
		body, _ := json.Marshal(api.Bytes{Offset: req.Offset})
		e.mux.Receive(Reply{ID: r.ID, Answer: body})
	}
	e.mu.Unlock()
	e.mux.Resend()
	for range 2 {
		if err := <-answers; err != nil {
			t.Fatal(err)
		}
	}
	if got := e.requests(); len(got) != 4 || got[2].ID != 1 || got[3].ID != 2 {
		t.Fatalf("messages %+v", got)
	}
}
