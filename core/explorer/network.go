package explorer

import (
	"context"
	"encoding/json"
	"time"

	"hudiscope/core/api"
	"hudiscope/core/storage"
	"hudiscope/core/storage/cache"
	"hudiscope/core/storage/trace"
)

// maxNetwork is the largest number of requests of one answer, plainNetwork the usual one.
const (
	maxNetwork   = trace.MaxEvents
	plainNetwork = 100
)

// traced makes requests of the storage be noted as those of a request.
func (s *Service) traced(ctx context.Context, op api.Op, args []byte) context.Context {
	if op == api.OpNetwork || op == api.OpClose {
		return ctx
	}
	var t api.Table
	if json.Unmarshal(args, &t) != nil || t.Location == "" {
		return ctx
	}
	return s.network.With(ctx, t.Location, string(op))
}

// Traced makes requests of the storage be noted as those of work on a table, for callers of the Service's methods; Do does
// it by itself. Network tells of them.
func (s *Service) Traced(ctx context.Context, location, work string) context.Context {
	return s.network.With(ctx, location, work)
}

// behind is the context of work that goes on behind the requests op: it outlives each of them.
func (h *handle) behind(op api.Op) context.Context {
	if h.network == nil {
		return context.Background()
	}
	return h.network.Behind(h.location, string(op))
}

// Network tells what was asked of a table's storage. It opens and sends nothing.
func (s *Service) Network(_ context.Context, req api.NetworkRequest) (*api.Network, error) {
	if req.Location == "" {
		return nil, invalid("The request names no table.")
	}
	if req.Limit < 0 || req.Limit > maxNetwork {
		return nil, invalid("limit must lie between 0 and %d.", maxNetwork)
	}
	if req.Limit == 0 {
		req.Limit = plainNetwork
	}
	out := &api.Network{Work: []api.NetworkWork{}, Requests: []api.NetworkRequestSent{}}
	for _, w := range s.network.Sums(req.Location) {
		t := api.NetworkTotal{Requests: w.Requests, Bytes: w.Bytes, Failed: w.Failed, Kept: w.Kept, KeptBytes: w.KeptBytes}
		out.Work = append(out.Work, api.NetworkWork{Op: w.Work, Calls: w.Calls, NetworkTotal: t, Rounds: w.Rounds, LastRequests: w.LastRequests})
		out.Total.Requests += t.Requests
		out.Total.Bytes += t.Bytes
		out.Total.Failed += t.Failed
		out.Total.Kept += t.Kept
		out.Total.KeptBytes += t.KeptBytes
	}
	for _, e := range s.network.Events(req.Location, req.Limit) {
		ms := float64(e.Took.Microseconds()) / 1000
		if e.Running {
			ms = float64(time.Since(e.Start).Microseconds()) / 1000
		}
		out.Requests = append(out.Requests, api.NetworkRequestSent{Seq: e.Seq, Op: e.Work, Method: e.Method, Address: e.Address, From: e.From, To: e.To,
			Status: e.Status, Failed: e.Failed, Bytes: e.Bytes, At: e.Start.UnixMilli(), Milliseconds: ms, Round: e.Round, Running: e.Running})
	}
	if req.Clear {
		s.network.Clear(req.Location)
	}
	s.mu.Lock()
	h := s.tables[req.Location+"\x00"+req.Hudi]
	s.mu.Unlock()
	if h == nil {
		return out, nil
	}
	if c, ok := h.src.(interface{ Stats() cache.Stats }); ok {
		st := c.Stats()
		out.Memory = api.NetworkMemory{Hits: st.Hits, Joined: st.Joined, Held: st.Held, Evicted: st.Evicted, Reads: st.Requests, Lists: st.Lists, Bytes: st.Bytes}
	}
	if at, renews := expiry(h.src); !at.IsZero() {
		out.Expires, out.Renews = at.UnixMilli(), renews
	}
	return out, nil
}

// expiry is when the addresses end by which a source is read, and whether it gets new ones then.
func expiry(src storage.Source) (at time.Time, renews bool) {
	for src != nil {
		if e, ok := src.(interface{ Expires() time.Time }); ok {
			r, told := src.(interface{ Renews() bool })
			return e.Expires(), !told || r.Renews()
		}
		u, ok := src.(interface{ Unwrap() storage.Source })
		if !ok {
			break
		}
		src = u.Unwrap()
	}
	return time.Time{}, false
}
