package client

import (
	"context"
	"encoding/json"
	"sort"
	"sync"

	"hudiscope/core/api"
)

// Request is a message to the engine: a request, or with Cancel set the end of an earlier one.
type Request struct {
	ID     int64
	Op     api.Op
	Args   json.RawMessage
	Cancel bool
}

// Reply is a message from the engine about the request ID. Exactly one of Progress,
// Answer and Fault is set; the last two end the request.
type Reply struct {
	ID                      int64
	Progress, Answer, Fault json.RawMessage
}

// Mux matches replies with requests over a channel that passes messages in both
// directions. The zero value is not usable; see NewMux.
type Mux struct {
	post func(Request) error

	mu      sync.Mutex
	next    int64
	waiting map[int64]*waiting
}

type waiting struct {
	request  Request
	done     chan result // has room for one
	progress func(api.Progress)
}

type result struct {
	answer json.RawMessage
	fault  *api.Fault
}

// NewMux returns a Mux that sends with post. post must not wait for replies.
func NewMux(post func(Request) error) *Mux {
	return &Mux{post: post, waiting: map[int64]*waiting{}}
}

// Do implements Transport.
func (m *Mux) Do(ctx context.Context, op api.Op, args json.RawMessage, progress func(api.Progress)) (json.RawMessage, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	w := &waiting{done: make(chan result, 1), progress: progress}
	m.mu.Lock()
	m.next++
	id := m.next
	w.request = Request{ID: id, Op: op, Args: args}
	m.waiting[id] = w
	m.mu.Unlock()
	defer func() {
		m.mu.Lock()
		delete(m.waiting, id)
		w.progress = nil
		m.mu.Unlock()
	}()
	if err := m.post(w.request); err != nil {
		return nil, internal("the request can't be sent to the engine: %v", err)
	}
	select {
	case r := <-w.done:
		if r.fault != nil {
			return nil, r.fault
		}
		return r.answer, nil
	case <-ctx.Done():
		// The engine stops working on it; what it still sends finds nobody waiting.
		_ = m.post(Request{ID: id, Cancel: true})
		return nil, ctx.Err()
	}
}

// Receive handles a message from the engine. Replies to unknown requests are dropped.
func (m *Mux) Receive(r Reply) {
	m.mu.Lock()
	defer m.mu.Unlock()
	w := m.waiting[r.ID]
	if w == nil {
		return
	}
	if r.Progress != nil {
		var p api.Progress
		if w.progress != nil && json.Unmarshal(r.Progress, &p) == nil {
			// Under the lock, so that no progress comes after Do has returned.
			w.progress(p)
		}
		return
	}
	delete(m.waiting, r.ID)
	switch {
	case r.Fault != nil:
		f := new(api.Fault)
		if err := json.Unmarshal(r.Fault, f); err != nil {
			f = internal("the engine told an error that can't be decoded: %v", err)
		}
		w.done <- result{fault: f}
	default:
		w.done <- result{answer: r.Answer}
	}
}

// Fail ends every waiting request with a fault: the engine is gone.
func (m *Mux) Fail(f *api.Fault) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for id, w := range m.waiting {
		delete(m.waiting, id)
		w.done <- result{fault: f}
	}
}

// Resend sends every waiting request once more: another engine has taken over.
func (m *Mux) Resend() {
	m.mu.Lock()
	var all []Request
	for _, w := range m.waiting {
		all = append(all, w.request)
	}
	m.mu.Unlock()
	sort.Slice(all, func(i, j int) bool { return all[i].ID < all[j].ID })
	for _, r := range all {
		if err := m.post(r); err != nil {
			f, _ := json.Marshal(internal("the request can't be sent to the engine: %v", err))
			m.Receive(Reply{ID: r.ID, Fault: f})
		}
	}
}

// Waiting is the number of requests without an answer yet.
func (m *Mux) Waiting() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.waiting)
}

// Broadcast tells all that wait how far something common to them is, such as the loading
// of the engine itself.
func (m *Mux) Broadcast(p api.Progress) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, w := range m.waiting {
		if w.progress != nil {
			w.progress(p)
		}
	}
}
