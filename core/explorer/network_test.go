package explorer

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"hudiscope/core/api"
	"hudiscope/core/storage"
	"hudiscope/core/storage/cache"
	"hudiscope/core/storage/storagetest"
	"hudiscope/core/storage/trace"
)

// remoteMem is a source whose reads and listings are traced as requests are.
type remoteMem struct{ storage.Source }

func (r remoteMem) List(ctx context.Context, dir string) (storage.Listing, error) {
	done := trace.Begin(ctx, "GET", "http://h/"+dir+"/", 0, -1)
	l, err := r.Source.List(ctx, dir)
	if err != nil {
		done(404, 0, "")
	} else {
		done(200, 100, "")
	}
	return l, err
}

func (r remoteMem) Open(ctx context.Context, p string) (storage.Object, error) {
	o, err := r.Source.Open(ctx, p)
	return remoteObj{o, p}, err
}

func (r remoteMem) Expires() time.Time { return time.UnixMilli(1772900000000) }
func (r remoteMem) Renews() bool       { return false }

type remoteObj struct {
	storage.Object
	path string
}

func (o remoteObj) ReadAt(ctx context.Context, p []byte, off int64) (int, error) {
	done := trace.Begin(ctx, "GET", "http://h/"+o.path, off, off+int64(len(p))-1)
	n, err := o.Object.ReadAt(ctx, p, off)
	done(206, int64(n), "")
	return n, err
}

func TestNetworkTellsWhatWasAsked(t *testing.T) {
	files := map[string][]byte{".hoodie/hoodie.properties": []byte("hoodie.table.name=t\nhoodie.table.type=COPY_ON_WRITE\nhoodie.table.version=6\nhoodie.timeline.layout.version=1\n"),
		".hoodie/20260307162557587.commit": []byte(`{"partitionToWriteStats":{}}`)}
	s := New(func(context.Context, string) (storage.Source, error) {
		return cache.New(remoteMem{storagetest.Mem(files)}, cache.Options{}), nil
	}, Options{})
	do := func(op api.Op, args string) any {
		t.Helper()
		a, err := s.Do(t.Context(), op, []byte(args), nil)
		if err != nil {
			t.Fatal(op, err)
		}
		return a
	}
	network := func(args string) *api.Network { t.Helper(); return do(api.OpNetwork, args).(*api.Network) }
	if n := network(`{"table":"t"}`); n.Total.Requests != 0 || len(n.Work) != 0 {
		t.Fatalf("before anything: %+v", n)
	}
	do(api.OpOverview, `{"table":"t"}`)
	do(api.OpTimeline, `{"table":"t"}`)
	n := network(`{"table":"t"}`)
	if len(n.Work) != 2 || n.Work[0].Op != "timeline" || n.Work[1].Op != "overview" || n.Work[1].Requests == 0 || n.Work[1].Rounds == 0 {
		t.Fatalf("%+v", n.Work)
	}
	if n.Total.Requests != int64(len(n.Requests)) || n.Memory.Reads != n.Total.Requests || n.Expires != 1772900000000 || n.Renews {
		t.Errorf("%+v", n)
	}
	found := false
	for _, r := range n.Requests {
		found = found || r.Address == "http://h/.hoodie/hoodie.properties" && r.Status == 206 && r.Bytes == int64(len(files[".hoodie/hoodie.properties"])) && !r.Running
	}
	if !found {
		t.Errorf("the properties are not among %+v", n.Requests)
	}
	if n := network(`{"table":"other"}`); n.Total.Requests != 0 || len(n.Requests) != 0 {
		t.Errorf("another table: %+v", n)
	}
	if b, err := json.Marshal(network(`{"table":"t","limit":1,"clear":true}`)); err != nil || len(b) == 0 {
		t.Error(err)
	}
	if n := network(`{"table":"t"}`); n.Total.Requests != 0 || n.Memory.Reads == 0 {
		t.Errorf("after clearing: %+v", n)
	}
	for _, bad := range []string{`{}`, `{"table":"t","limit":-1}`, `{"table":"t","limit":501}`} {
		if _, err := s.Do(t.Context(), api.OpNetwork, []byte(bad), nil); err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
}
