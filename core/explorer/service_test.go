package explorer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"hudiscope/core/api"
	"hudiscope/core/storage"
	"hudiscope/core/storage/storagetest"
	"hudiscope/core/tabletest"
)

func ask[A any](t *testing.T, s *Service, op api.Op, args string) A {
	t.Helper()
	v, err := s.Do(context.Background(), op, []byte(args), nil)
	if err != nil {
		t.Fatalf("%s %s: %v", op, args, err)
	}
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var a A
	if err := json.Unmarshal(b, &a); err != nil {
		t.Fatalf("%s: %v", op, err)
	}
	return a
}

func TestOverview(t *testing.T) {
	s := testService(t)
	for _, c := range []struct{ table, mode, from, support string }{
		{"mor_trips_h120", "EVENT_TIME_ORDERING", "hoodie.record.merge.mode", ""},
		{"mor_rollback_h0150", "COMMIT_TIME_ORDERING", "hoodie.compaction.payload.class", ""},
		{"orc_base_h120", "EVENT_TIME_ORDERING", "hoodie.record.merge.mode", "ORC base files"},
	} {
		o := ask[api.Overview](t, s, api.OpOverview, `{"table":"`+c.table+`"}`)
		if o.Kind != "table" || o.Merge.Mode != c.mode || o.Merge.From != c.from || o.Merge.Why == "" || !o.Readable {
			t.Errorf("%s: %+v", c.table, o)
		}
		if got := len(o.Support) > 0 && strings.Contains(o.Support[0].What, c.support); got != (c.support != "") {
			t.Errorf("%s: support %+v", c.table, o.Support)
		}
	}
}

// TestOverviewReadsPropertiesOnly counts what the first answer asks of the storage.
func TestOverviewReadsPropertiesOnly(t *testing.T) {
	p := &storagetest.Probe{Src: tabletest.Open(t, "mor_trips_h120")}
	s := New(func(context.Context, string) (storage.Source, error) { return p, nil }, Options{})
	ask[api.Overview](t, s, api.OpOverview, `{"table":"x"}`)
	opens := p.Opens()
	if len(opens) != 1 || opens[0] != ".hoodie/hoodie.properties" {
		t.Errorf("opened %q", opens)
	}
}

// TestBlocksAgainstGold compares every block of every log file with what Hudi's reader found.
func TestBlocksAgainstGold(t *testing.T) {
	s := testService(t)
	for _, name := range tabletest.Names(t, "blocks.json") {
		var gold map[string][]struct {
			Type     string            `json:"type"`
			Position int64             `json:"content_position"`
			Size     int64             `json:"content_size"`
			End      int64             `json:"block_end"`
			Header   map[string]string `json:"header"`
			Count    *int64            `json:"record_count"`
			Error    string            `json:"error"`
		}
		tabletest.Gold(t, name, "blocks.json", &gold)
		a := ask[api.Blocks](t, s, api.OpBlocks, `{"table":"`+name+`","all":true}`)
		if len(a.Files) != len(gold) {
			t.Errorf("%s: want %d log files, got %d", name, len(gold), len(a.Files))
		}
		for _, f := range a.Files {
			want := gold[f.File.Path]
			for i, b := range f.Blocks {
				if i >= len(want) {
					t.Errorf("%s %s: more blocks than Hudi finds", name, f.File.Path)
					break
				}
				w := want[i]
				if w.Type != b.Type || w.Position != b.ContentOffset || w.Size != b.ContentSize || w.End != b.End {
					t.Errorf("%s %s block %d: want %+v, got %+v", name, f.File.Path, i, w, b)
				}
				if w.Count != nil && b.Records >= 0 && *w.Count != b.Records {
					t.Errorf("%s %s block %d: want %d records, got %d", name, f.File.Path, i, *w.Count, b.Records)
				}
				for _, h := range b.Header {
					if w.Header[h.Key] != h.Value && h.Key != "SCHEMA" {
						t.Errorf("%s %s block %d header %s: want %q, got %q", name, f.File.Path, i, h.Key, w.Header[h.Key], h.Value)
					}
				}
				if b.Fate == "" || b.FateWhy == "" {
					t.Errorf("%s %s block %d has no fate", name, f.File.Path, i)
				}
				at := b.Start
				for _, sp := range b.Layout {
					if sp.Start != at {
						t.Errorf("%s %s block %d: the layout has a gap before %s", name, f.File.Path, i, sp.Name)
					}
					at = sp.End
				}
				if at != b.End {
					t.Errorf("%s %s block %d: the layout ends at %d, the block at %d", name, f.File.Path, i, at, b.End)
				}
			}
		}
	}
}

// TestRollbackFate follows a rollback from the command to the block it removed, and back.
func TestRollbackFate(t *testing.T) {
	s := testService(t)
	a := ask[api.Blocks](t, s, api.OpBlocks, `{"table":"mor_rollback_h0150","all":true}`)
	rolled := 0
	for _, f := range a.Files {
		for _, b := range f.Blocks {
			if b.Fate != "rolled back" {
				continue
			}
			rolled++
			found := false
			for _, g := range a.Files {
				if g.File.Path == b.FateFile {
					c := g.Blocks[b.FateBlock]
					found = c.Command == "ROLLBACK_BLOCK" && c.Target == b.Instant
				}
			}
			if !found {
				t.Errorf("%s block %d: rolled back by %q block %d, which is no command with that target", f.File.Path, b.Index, b.FateFile, b.FateBlock)
			}
		}
	}
	if rolled != 3 {
		t.Errorf("want 3 blocks rolled back, got %d", rolled)
	}
}

// TestRowPages scrolls to and fro with a tiny budget: every page is the same whatever was asked before.
func TestRowPages(t *testing.T) {
	s := New(func(_ context.Context, name string) (storage.Source, error) { return tabletest.Open(t, name), nil }, Options{PageBytes: 1})
	all := ask[api.Rows](t, s, api.OpRows, `{"table":"mor_compacted_h120","limit":10000}`)
	if !all.TotalKnown || all.Total != int64(len(all.Rows)) || all.Total < 15 {
		t.Fatalf("total %d, known %v", all.Total, all.TotalKnown)
	}
	for _, page := range []struct{ offset, limit int64 }{{0, 5}, {5, 5}, {12, 3}, {0, 5}, {all.Total - 2, 10}, {3, 9}, {all.Total, 5}, {all.Total + 50, 5}} {
		args, _ := json.Marshal(api.RowsRequest{Table: api.Table{Location: "mor_compacted_h120"}, Offset: page.offset, Limit: int(page.limit)})
		got := ask[api.Rows](t, s, api.OpRows, string(args))
		lo := min(page.offset, all.Total)
		hi := min(page.offset+page.limit, all.Total)
		if want := all.Rows[lo:hi]; !equalRows(want, got.Rows) {
			t.Errorf("page %d+%d: want %d rows, got %d others", page.offset, page.limit, len(want), len(got.Rows))
		}
	}
}

func equalRows(a, b [][]json.RawMessage) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		for j := range a[i] {
			if !bytes.Equal(a[i][j], b[i][j]) {
				return false
			}
		}
	}
	return true
}

// TestFaults asks for what can't be given: every answer is a fault of the right kind that says where and what to do.
func TestFaults(t *testing.T) {
	table := tabletest.Open(t, "mor_trips_h120")
	cut := storagetest.Mem{".f-0_20240101000000000.log.1_0-1-0": []byte("#HUDI#\x00\x00\x00\x00\x00\x00\xff\xff")}
	places := map[string]storage.Source{
		"table": table,
		"empty": storagetest.Mem{},
		"other": storagetest.Mem{"a.txt": []byte("hello")},
		"deep":  storagetest.Mem{"x/.hoodie/hoodie.properties": []byte("hoodie.table.name=x")},
		"v99":   storagetest.Mem{".hoodie/hoodie.properties": []byte("hoodie.table.name=x\nhoodie.table.version=99")},
		"cut":   cut,
	}
	s := New(func(_ context.Context, name string) (storage.Source, error) {
		if p := places[name]; p != nil {
			return p, nil
		}
		return nil, &storage.Fault{Op: "open", Location: name, Kind: storage.NotFound}
	}, Options{})
	for _, c := range []struct {
		op         api.Op
		args       string
		kind, says string
	}{
		{"nothing", `{}`, "invalid request", "nothing"},
		{api.OpOverview, `{`, "invalid request", ""},
		{api.OpOverview, `{}`, "invalid request", "no table"},
		{api.OpOverview, `{"table":"gone"}`, "not found", ""},
		{api.OpOverview, `{"table":"empty"}`, "not a table", "mpty"},
		{api.OpOverview, `{"table":"other"}`, "not a table", "a.txt"},
		{api.OpOverview, `{"table":"deep"}`, "not a table", "x"},
		{api.OpTimeline, `{"table":"v99"}`, "unsupported", "99"},
		{api.OpTimeline, `{"table":"cut"}`, "unsupported", "single log file"},
		{api.OpRows, `{"table":"cut"}`, "unsupported", "single log file"},
		{api.OpInstant, `{"table":"table","requested":"1"}`, "not found", "no instant"},
		{api.OpBlocks, `{"table":"table","file":"../x"}`, "invalid request", "inside"},
		{api.OpBlocks, `{"table":"table","partition":"p","file_id":"f"}`, "not found", "no file group"},
		{api.OpBlock, `{"table":"table","file":".a_1.log.1_0-0-0"}`, "not found", ""},
		{api.OpBytes, `{"table":"table","file":"/etc/passwd","length":5}`, "invalid request", "inside"},
		{api.OpBytes, `{"table":"table","file":"x","length":99999999}`, "invalid request", "pieces"},
		{api.OpRows, `{"table":"table","offset":-1}`, "invalid request", ""},
		{api.OpRows, `{"table":"table","options":{"hoodie.nonsense":"1"}}`, "unsupported", "hoodie.nonsense"},
		{api.OpRows, `{"table":"table","options":{"as.of.instant":"yesterday"}}`, "unsupported", "yyyy"},
		{api.OpRows, `{"table":"table","hudi":"7.0"}`, "invalid request", "7.0"},
	} {
		_, err := s.Do(context.Background(), c.op, []byte(c.args), nil)
		f := ToFault(err)
		if f == nil {
			t.Errorf("%s %s: no fault", c.op, c.args)
			continue
		}
		if f.Kind != c.kind || !strings.Contains(f.Error(), c.says) || f.Message == "" {
			t.Errorf("%s %s: want %s about %q, got %+v", c.op, c.args, c.kind, c.says, *f)
		}
	}
	// A cut log file opens by itself and says what is wrong with it.
	a := ask[api.Blocks](t, s, api.OpBlocks, `{"table":"cut"}`)
	if len(a.Files) != 1 || len(a.Files[0].Blocks) != 1 || a.Files[0].Blocks[0].Type != "CORRUPT_BLOCK" || a.Files[0].Blocks[0].Corrupt == "" {
		t.Errorf("cut log: %+v", a.Files)
	}
	if v := ask[api.Overview](t, s, api.OpOverview, `{"table":"v99"}`); v.Readable || v.Name != "x" || len(v.Support) == 0 {
		t.Errorf("version 99: %+v", v)
	}
}

// TestCancel cancels a request while it reads: it ends with the context's error, and the next one works.
func TestCancel(t *testing.T) {
	s := testService(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := s.Do(ctx, api.OpRows, []byte(`{"table":"mor_trips_h120"}`), nil)
	if f := ToFault(err); f == nil || f.Kind != "cancelled" || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if r := ask[api.Rows](t, s, api.OpRows, `{"table":"mor_trips_h120"}`); len(r.Rows) == 0 {
		t.Error("no rows after a cancelled request")
	}
}

// TestInstants decodes every instant of every table and never fails as a whole.
func TestInstants(t *testing.T) {
	s := testService(t)
	decoded := 0
	for _, name := range tabletest.Names(t, "timeline.json") {
		tl := ask[api.Timeline](t, s, api.OpTimeline, `{"table":"`+name+`","archived":true}`)
		for _, i := range tl.Active {
			args, _ := json.Marshal(api.InstantRequest{Table: api.Table{Location: name}, Requested: i.Requested, Action: i.Action})
			d := ask[api.InstantDetail](t, s, api.OpInstant, string(args))
			for _, p := range d.Parts {
				if p.Fault != nil {
					t.Errorf("%s %s: %+v", name, p.File, p.Fault)
				}
				if p.Encoding != "empty" && len(p.Decoded) == 0 {
					t.Errorf("%s %s: nothing decoded", name, p.File)
				}
				decoded++
			}
			if !reflect.DeepEqual(d.Instant.File, i.File) {
				t.Errorf("%s: asked for %s, got %s", name, i.File, d.Instant.File)
			}
		}
	}
	if decoded < 100 {
		t.Errorf("only %d files decoded", decoded)
	}
}
