package logscan_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"hudiscope/core/corrupt"
	"hudiscope/core/logfile"
	"hudiscope/core/logfile/logfiletest"
	. "hudiscope/core/logscan"
)

var ctx = context.Background()

var allModes = []Mode{Scan1x, ScanV2, ScanV1, ScanV1Until012}

// files makes a slice of log files from (name, content) pairs.
func files(t testing.TB, pairs ...any) []File {
	t.Helper()
	var out []File
	for i := 0; i < len(pairs); i += 2 {
		name, ok := logfile.ParseName(pairs[i].(string))
		if !ok {
			t.Fatalf("%s is no log file", pairs[i])
		}
		out = append(out, File{name, logfiletest.Open(pairs[i+1].([]byte), pairs[i].(string))})
	}
	return out
}

func one(t testing.TB, f *logfiletest.File) []File { return files(t, ".f_t0.log.1_0-0-0", f.Bytes()) }

// data appends a data block of one record, its key.
func data(f *logfiletest.File, instant, key string, more ...logfiletest.Entry) *logfiletest.File {
	return f.Data(instant, "{}", [][]byte{[]byte(key)}, more...)
}

// merged lists the records of the blocks to merge, in order.
func merged(t testing.TB, fs []File, r *Result) string {
	t.Helper()
	var out []string
	for _, ref := range r.Blocks {
		content, err := fs[ref.File].Reader.Content(ctx, ref.Block)
		if err != nil {
			t.Fatal(err)
		}
		for rec, err := range logfile.DataRecords(content, 0) {
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, string(rec.Data))
		}
	}
	return strings.Join(out, " ")
}

func fates(r *Result) string {
	var out []string
	for _, f := range r.Fates {
		out = append(out, string(f.Outcome))
	}
	return strings.Join(out, ", ")
}

// check checks what holds for every result.
func check(t testing.TB, fs []File, r *Result) {
	t.Helper()
	n := 0
	for i, f := range r.Fates {
		if f.Why == "" {
			t.Errorf("block %d of file %d is %q without a reason", f.Block.Index, f.File, f.Outcome)
		}
		if (f.Outcome == RolledBack) && (f.ByFile < 0 || f.ByBlock < 0 || f.By == "") {
			t.Errorf("block %d of file %d is rolled back by nothing", f.Block.Index, f.File)
		}
		if f.Outcome == Merged {
			n++
			if !slices.Contains(r.Blocks, f.Ref) || !slices.Contains(r.ValidInstants, f.Block.Instant()) {
				t.Errorf("block %d of file %d is not among the merged", f.Block.Index, f.File)
			}
		}
		if i > 0 && f.File == r.Fates[i-1].File && f.Block.Index != r.Fates[i-1].Block.Index+1 {
			t.Errorf("block %d of file %d has no fate", f.Block.Index-1, f.File)
		}
	}
	if n != len(r.Blocks) || r.Counters.ValidBlocks != n {
		t.Errorf("%d blocks have the fate of being merged, %d are listed, %d counted", n, len(r.Blocks), r.Counters.ValidBlocks)
	}
}

func scan(t testing.TB, fs []File, o Options) *Result {
	t.Helper()
	r, err := Scan(ctx, fs, o)
	if err != nil {
		t.Fatal(err)
	}
	check(t, fs, r)
	// Tracing changes nothing.
	steps := map[StepKind]int{}
	o.Trace = func(s Step) {
		if s.Kind == Pop && s.Queued < 0 || s.Why == "" {
			t.Errorf("step %+v", s)
		}
		steps[s.Kind]++
	}
	again, err := Scan(ctx, fs, o)
	if err != nil || fates(again) != fates(r) {
		t.Errorf("traced: %s %v, untraced: %s", fates(again), err, fates(r))
	}
	if steps[Pop] != len(r.Blocks) || steps[Read] != r.Counters.LogBlocks {
		t.Errorf("steps %v for %+v", steps, r.Counters)
	}
	return r
}

func TestScan(t *testing.T) {
	file := func() *logfiletest.File { return &logfiletest.File{} }
	times := func(s string) logfiletest.Entry { return logfiletest.Entry{Key: logfile.CompactedBlockTimes, Value: s} }
	junk := bytes.Repeat([]byte{0xa5, 0x5a}, 32)

	// B01: a block cut after 40 bytes, its size pointing into the whole block behind it.
	whole := data(file(), "t1", strings.Repeat("b", 200)).Bytes()
	cut := bytes.Clone(whole[:40])
	size := len(whole) - 14 + len(whole)/2
	cut[12], cut[13] = byte(size>>8), byte(size)

	committed := func(v map[string]Verdict) func(string) Verdict {
		return func(i string) Verdict {
			if x, ok := v[i]; ok {
				return x
			}
			return Completed
		}
	}
	type want struct{ merged, fates, counters string } // counters: blocks rollbacks corrupt
	for _, c := range []struct {
		name string
		f    *logfiletest.File
		o    Options
		want map[Mode]want // a mode that is missing answers as Scan1x
	}{
		{name: "nothing", f: file(), want: map[Mode]want{Scan1x: {"", "", "0 0 0"}}},
		{name: "B01 bad length over a good block", f: file().Raw(cut...).Raw(whole...), want: map[Mode]want{
			Scan1x: {strings.Repeat("b", 200), "corrupt, merged", "2 0 1"}}},
		{name: "B02 a rollback names its target", f: data(data(file(), "t1", "k1"), "t2", "k2").Rollback("t3", "t1"), want: map[Mode]want{
			Scan1x:         {"k2", "rolled back, merged, command", "3 1 0"},
			ScanV1Until012: {"k1 k2", "merged, merged, command", "3 1 0"}}},
		{name: "B03 an instant used again", f: data(data(data(file(), "t1", "k1"), "t2", "k2").Rollback("t3", "t2"), "t2", "k3"), want: map[Mode]want{
			Scan1x: {"k1 k3", "merged, rolled back, command, merged", "4 1 0"}}},
		{name: "B04 junk before a rollback", f: data(file(), "t1", "k1").Raw(junk...).Rollback("t2", "t1"), want: map[Mode]want{
			// The junk takes the block before it along: what follows a block must be a magic.
			Scan1x: {"", "corrupt, command", "2 1 1"},
			ScanV1: {"", "corrupt, command", "2 1 1"}}},
		{name: "B04 a cut block before a rollback", f: data(file(), "t1", "k1").Raw(cut[:30]...).Rollback("t2", "t1"), want: map[Mode]want{
			Scan1x:         {"", "rolled back, corrupt, command", "3 1 1"},
			ScanV1:         {"", "rolled back, corrupt, command", "3 2 1"},
			ScanV1Until012: {"", "rolled back, corrupt, command", "3 1 1"}}},
		{name: "B05 only a rollback", f: file().Rollback("t2", "t1"), want: map[Mode]want{
			Scan1x: {"", "command", "1 1 0"},
			ScanV1: {"", "command", "1 0 0"}}},
		{name: "two rollbacks of one instant", f: data(data(file(), "t1", "k1"), "t2", "k2").Rollback("t3", "t2").Rollback("t3", "t2"), want: map[Mode]want{
			Scan1x: {"k1", "merged, rolled back, command, command", "4 2 0"},
			ScanV1: {"k1", "merged, rolled back, command, command", "4 1 0"}}},
		{name: "rollback of several blocks", f: data(data(data(file(), "t1", "k1"), "t2", "k2"), "t2", "k3").Rollback("t3", "t2"), want: map[Mode]want{
			Scan1x: {"k1", "merged, rolled back, rolled back, command", "4 1 0"},
			ScanV1: {"k1", "merged, rolled back, rolled back, command", "4 2 0"}}},
		{name: "instants interleaved", f: data(data(data(file(), "t1", "a"), "t2", "b"), "t1", "c"), want: map[Mode]want{
			Scan1x:         {"a c b", "merged, merged, merged", "3 0 0"},
			ScanV1:         {"a b c", "merged, merged, merged", "3 0 0"},
			ScanV1Until012: {"a b c", "merged, merged, merged", "3 0 0"}}},
		{name: "later than the query", f: data(data(data(file(), "t1", "a"), "t5", "b").Rollback("t6", "t1"), "t2", "c"), o: Options{LatestInstant: "t3"}, want: map[Mode]want{
			Scan1x:         {"c", "rolled back, after the query instant, command, merged", "4 1 0"},
			ScanV2:         {"a", "merged, after the query instant, not reached, not reached", "2 0 0"},
			ScanV1:         {"a", "merged, after the query instant, not reached, not reached", "2 0 0"},
			ScanV1Until012: {"a", "merged, after the query instant, not reached, not reached", "2 0 0"}}},
		{name: "rollback later than the query", f: data(data(file(), "t1", "a").Rollback("t4", "t9"), "t2", "c"), o: Options{LatestInstant: "t3"}, want: map[Mode]want{
			Scan1x:         {"a c", "merged, command, merged", "3 1 0"},
			ScanV2:         {"a", "merged, after the query instant, not reached", "2 0 0"},
			ScanV1:         {"a", "merged, after the query instant, not reached", "2 0 0"},
			ScanV1Until012: {"a", "merged, after the query instant, not reached", "2 0 0"}}},
		{name: "not committed", f: data(data(data(data(file(), "t1", "a"), "t2", "b"), "t3", "c"), "t4", "d"),
			o:    Options{CheckCommitted: true, Committed: committed(map[string]Verdict{"t1": BeforeStart, "t2": Pending, "t3": UnknownInstant})},
			want: map[Mode]want{Scan1x: {"a d", "merged, not committed, not committed, merged", "4 0 0"}}},
		{name: "not committed, not asked", f: data(data(file(), "t1", "a"), "t2", "b"),
			o: Options{Committed: committed(map[string]Verdict{"t2": Pending})},
			want: map[Mode]want{
				Scan1x:         {"a b", "merged, merged", "2 0 0"},
				ScanV2:         {"a", "merged, not committed", "2 0 0"},
				ScanV1:         {"a", "merged, not committed", "2 0 0"},
				ScanV1Until012: {"a", "merged, not committed", "2 0 0"}}},
		{name: "out of range, commands apply", f: data(data(data(file(), "t1", "a"), "t2", "b").Rollback("t9", "t2"), "t3", "c"),
			o:    Options{Range: &InstantRange{Kind: OpenClosed, Start: "t1", End: "t3"}},
			want: map[Mode]want{Scan1x: {"c", "out of range, rolled back, command, merged", "4 1 0"}}},
		// Section 12.2: B1, B2, R(B2), B3, M(B1,B3), B4.
		{name: "log compaction, the worked example", f: data(data(data(data(data(file(), "t1", "b1"), "t2", "b2").Rollback("t3", "t2"), "t4", "b3"), "t5", "m", times("t1,t4")), "t6", "b4"),
			want: map[Mode]want{
				Scan1x:         {"m b4", "compacted, rolled back, command, compacted, merged, merged", "6 1 0"},
				ScanV1:         {"b1 b3 m b4", "merged, rolled back, command, merged, merged, merged", "6 1 0"},
				ScanV1Until012: {"b1 b3 m b4", "merged, rolled back, command, merged, merged, merged", "6 1 0"}}},
		{name: "log compaction of log compactions", f: data(data(data(data(data(data(file(), "t1", "b1"), "t2", "b2"), "t3", "m1", times("t1,t2")), "t4", "b3"), "t5", "m2", times("t3,t4")), "t6", "b4"),
			want: map[Mode]want{
				Scan1x:         {"m2 b4", "compacted, compacted, compacted, compacted, merged, merged", "6 0 0"},
				ScanV1:         {"b1 b2 m1 b3 m2 b4", "merged, merged, merged, merged, merged, merged", "6 0 0"},
				ScanV1Until012: {"b1 b2 m1 b3 m2 b4", "merged, merged, merged, merged, merged, merged", "6 0 0"}}},
		{name: "log compaction takes the place of its newest original", f: data(data(data(data(file(), "t1", "b1"), "t2", "b2"), "t3", "b3"), "t4", "m", times("t1, t2")),
			want: map[Mode]want{
				Scan1x:         {"m b3", "compacted, compacted, merged, merged", "4 0 0"},
				ScanV1:         {"b1 b2 b3 m", "merged, merged, merged, merged", "4 0 0"},
				ScanV1Until012: {"b1 b2 b3 m", "merged, merged, merged, merged", "4 0 0"}}},
		{name: "log compaction without originals", f: data(data(file(), "t2", "m", times("t1")), "t3", "b"),
			want: map[Mode]want{
				Scan1x:         {"b", "unused, merged", "2 0 0"},
				ScanV1:         {"m b", "merged, merged", "2 0 0"},
				ScanV1Until012: {"m b", "merged, merged", "2 0 0"}}},
		{name: "log compaction rolled back", f: data(data(file(), "t1", "b1"), "t2", "m", times("t1")).Rollback("t3", "t2"),
			want: map[Mode]want{Scan1x: {"b1", "merged, rolled back, command", "3 1 0"}}},
		{name: "blocks on which Hudi fails", f: data(file(), "t1", "a").
			Block(logfile.CDCDataBlock, []logfiletest.Entry{{Key: logfile.InstantTime, Value: "t1"}}, logfiletest.DataContent()).
			Block(logfile.CommandBlock, []logfiletest.Entry{{Key: logfile.InstantTime, Value: "t2"}, {Key: logfile.CommandBlockType, Value: "7"}}, nil).
			Block(logfile.AvroDataBlock, nil, logfiletest.DataContent()).
			Block(logfile.BlockType(9), []logfiletest.Entry{{Key: logfile.InstantTime, Value: "t1"}}, nil),
			want: map[Mode]want{Scan1x: {"a", "merged, damaged, damaged, damaged, damaged", "5 0 0"}}},
	} {
		for _, m := range allModes {
			w, ok := c.want[m]
			if !ok {
				w = c.want[Scan1x]
			}
			fs := one(t, c.f)
			o := c.o
			o.Mode = m
			r := scan(t, fs, o)
			counters := fmt.Sprint(r.Counters.LogBlocks, r.Counters.Rollbacks, r.Counters.CorruptBlocks)
			if got := merged(t, fs, r); got != w.merged || fates(r) != w.fates || counters != w.counters {
				t.Errorf("%s, %s:\n got %q; %s; %s\nwant %q; %s; %s", c.name, m, got, fates(r), counters, w.merged, w.fates, w.counters)
			}
		}
	}
}

// TestOrderOfFiles: B11, files given in any order, versions compared as numbers; B12, a
// change data capture log of the same name is no part of it.
func TestOrderOfFiles(t *testing.T) {
	var pairs []any
	for i := 11; i >= 1; i-- {
		pairs = append(pairs, fmt.Sprintf(".f_t.log.%d_1-1-1", i), data(&logfiletest.File{}, "t1", fmt.Sprint(i)).Bytes())
	}
	cdc := &logfiletest.File{}
	cdc.Block(logfile.CDCDataBlock, []logfiletest.Entry{{Key: logfile.InstantTime, Value: "t1"}}, logfiletest.DataContent([]byte("cdc")))
	pairs = append(pairs, ".f_t.log.1_1-1-1.cdc", cdc.Bytes())
	pairs = append(pairs, ".f_t.log.5_1-1-0", []byte{}) // an empty file is legal and has no block
	fs := files(t, pairs...)
	rnd := rand.New(rand.NewPCG(1, 1))
	for range 5 {
		rnd.Shuffle(len(fs), func(i, j int) { fs[i], fs[j] = fs[j], fs[i] })
		for _, m := range allModes {
			r := scan(t, fs, Options{Mode: m})
			if got := merged(t, fs, r); got != "1 2 3 4 5 6 7 8 9 10 11" {
				t.Errorf("%s: %s", m, got)
			}
			if r.Counters.LogFiles != 11 || len(r.Files) != 12 || len(r.Damaged) != 0 {
				t.Errorf("%s: %+v, files %v", m, r.Counters, r.Files)
			}
		}
	}
}

func TestErrors(t *testing.T) {
	good := data(&logfiletest.File{}, "t1", "a").Bytes()
	fs := files(t, ".f_t.log.1_0-0-0", good, ".f_t.log.2_0-0-0", []byte("no log file at all"), ".f_t.log.3_0-0-0", good)
	r, err := Scan(ctx, fs, Options{})
	if err == nil || !strings.Contains(err.Error(), ".f_t.log.2_0-0-0 at byte 0") || len(r.Fates) != 1 {
		t.Error(err, fates(r))
	}
	c, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := Scan(c, fs, Options{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	// Behind the place where the scan stops no file matters.
	later := data(&logfiletest.File{}, "t9", "z").Bytes()
	fs = files(t, ".f_t.log.1_0-0-0", later, ".f_t.log.2_0-0-0", []byte("no log file at all"), ".f_t.log.3_0-0-0", good)
	if r, err := Scan(ctx, fs, Options{Mode: ScanV1, LatestInstant: "t5"}); err != nil || fates(r) != "after the query instant, not reached" {
		t.Error(err, fates(r))
	}
}

func TestInstantRange(t *testing.T) {
	exact := InstantRange{Kind: ExactMatch, Instants: map[string]bool{"3": true}}
	for _, c := range []struct {
		r    InstantRange
		in   string // those of 1 to 5 it contains
		text string
	}{
		{InstantRange{Kind: OpenClosed, Start: "2", End: "4"}, "34", "(2, 4]"},
		{InstantRange{Kind: OpenClosed, Start: "2"}, "345", "(2, ∞)"},
		{InstantRange{Kind: OpenClosed, End: "2"}, "12", "(-∞, 2]"},
		{InstantRange{Kind: ClosedClosed, Start: "2", End: "4"}, "234", "[2, 4]"},
		{InstantRange{Kind: ClosedClosed}, "12345", "(-∞, ∞)"},
		{exact, "3", "3"},
		{InstantRange{Kind: Composition, Parts: []InstantRange{exact, {Kind: ClosedClosed, Start: "5"}}}, "35", "3 or [5, ∞)"},
		{InstantRange{Kind: Composition}, "", ""},
	} {
		got := ""
		for _, i := range "12345" {
			if c.r.Contains(string(i)) {
				got += string(i)
			}
		}
		if got != c.in || c.r.String() != c.text {
			t.Errorf("%+v contains %q and is written %q", c.r, got, c.r.String())
		}
	}
}

// table is a real table of testdata: its slices' log files and what its timeline says.
type table struct {
	slices map[string][]File // by partition and file id
	done   map[string]bool
	first  string
	latest string
}

func open(t *testing.T, name string) table {
	t.Helper()
	out := table{slices: map[string][]File{}, done: map[string]bool{}}
	for _, l := range logfiletest.LogFiles(t, name, false) {
		n, _ := logfile.ParseName(l.Path)
		dir := path.Dir(l.Path)
		out.slices[dir] = append(out.slices[dir], File{n, logfiletest.Open(l.Data, l.Path)})
	}
	b, err := os.ReadFile(filepath.Join(logfiletest.Testdata(t), "gold", name, "timeline.json"))
	if err != nil {
		t.Fatal(err)
	}
	var tl struct {
		Active []struct{ Timestamp, Action, State string }
	}
	if err := json.Unmarshal(b, &tl); err != nil {
		t.Fatal(err)
	}
	for _, i := range tl.Active {
		if i.State != "COMPLETED" {
			continue
		}
		if out.first == "" {
			out.first = i.Timestamp
		}
		if strings.HasSuffix(i.Action, "commit") {
			out.done[i.Timestamp] = true
			out.latest = max(out.latest, i.Timestamp)
		}
	}
	return out
}

func (x table) committed(instant string) Verdict {
	switch {
	case x.done[instant]:
		return Completed
	case instant < x.first:
		return BeforeStart
	}
	return UnknownInstant
}

// TestRollbackTables scans tables whose delta commits were rolled back by Hudi itself.
// In mor_rollback_h0150 the rollback's instant is later than the last write, which
// hides that write from 0.15's own reader and not from 1.x's.
func TestRollbackTables(t *testing.T) {
	const (
		mc  = "merged"
		rb  = "rolled back"
		nc  = "not committed"
		cmd = "command"
		lt  = "after the query instant"
		nr  = "not reached"
	)
	join := func(s ...string) string { return strings.Join(s, ", ") }
	for _, c := range []struct {
		table string
		mode  Mode
		check bool
		want  map[string]string // by partition
	}{
		{"mor_rollback_h0150", ScanV1, true, map[string]string{
			"chennai":       join(mc, nc, lt),
			"san_francisco": join(mc, nc, lt, nr),
			"sao_paulo":     join(mc, nc, lt, nr),
		}},
		{"mor_rollback_h0150", ScanV2, true, map[string]string{
			"chennai":       join(mc, nc, lt),
			"san_francisco": join(mc, nc, lt, nr),
			"sao_paulo":     join(mc, nc, lt, nr),
		}},
		{"mor_rollback_h0150", Scan1x, true, map[string]string{
			"chennai":       join(mc, rb, cmd),
			"san_francisco": join(mc, rb, cmd, mc),
			"sao_paulo":     join(mc, rb, cmd, mc),
		}},
		// The rolled back instant is gone from the timeline: its blocks are left out before the command
		// is met, and still told as rolled back. Without the timeline the command alone drops them.
		{"mor_rollback_h0150", Scan1x, false, map[string]string{
			"chennai":       join(mc, rb, cmd),
			"san_francisco": join(mc, rb, cmd, mc),
			"sao_paulo":     join(mc, rb, cmd, mc),
		}},
		{"mor_rollback_multi_h0150", Scan1x, false, map[string]string{
			"chennai":       join(mc, rb, cmd, rb, cmd, mc, rb, cmd, mc, mc),
			"san_francisco": join(mc, rb, cmd, rb, cmd, rb, cmd, mc),
			"sao_paulo":     join(mc, rb, cmd, rb, cmd, mc, mc),
		}},
		// A later write makes all of it visible to 0.15 too.
		{"mor_rollback_multi_h0150", ScanV1, true, map[string]string{
			"chennai":       join(mc, rb, cmd, rb, cmd, mc, rb, cmd, mc, mc),
			"san_francisco": join(mc, rb, cmd, rb, cmd, rb, cmd, mc),
			"sao_paulo":     join(mc, rb, cmd, rb, cmd, mc, mc),
		}},
		{"mor_rollback_retry_h0150", Scan1x, false, map[string]string{
			"chennai":       join(mc, rb, cmd, cmd),
			"san_francisco": join(mc, rb, cmd, cmd),
			"sao_paulo":     join(mc, rb, cmd, cmd, mc),
		}},
		{"mor_rollback_retry_h0150", ScanV1, true, map[string]string{
			"chennai":       join(mc, rb, cmd, cmd),
			"san_francisco": join(mc, rb, cmd, cmd),
			"sao_paulo":     join(mc, rb, cmd, cmd, mc),
		}},
		{"mor_rollback_h120", Scan1x, true, map[string]string{"chennai": mc, "san_francisco": join(mc, mc), "sao_paulo": join(mc, mc)}},
	} {
		x := open(t, c.table)
		if len(x.slices) != len(c.want) {
			t.Errorf("%s: %d slices", c.table, len(x.slices))
		}
		for part, fs := range x.slices {
			o := Options{Mode: c.mode, LatestInstant: x.latest, CheckCommitted: c.check}
			if c.check {
				o.Committed = x.committed
			}
			r := scan(t, fs, o)
			if fates(r) != c.want[part] {
				t.Errorf("%s %s, %s:\n got %s\nwant %s", c.table, part, c.mode, fates(r), c.want[part])
			}
			for _, f := range r.Fates {
				if f.Outcome == RolledBack {
					by := fs[f.ByFile]
					if by.Name.Version != fs[f.File].Name.Version+1 || f.ByBlock != 0 {
						t.Errorf("%s %s: block of %s is rolled back by %s", c.table, part, fs[f.File].Name, by.Name)
					}
				}
			}
		}
	}
}

// TestSnapshotCommits compares the instants that are merged with those that Hudi's
// snapshot answers show: no row may come from a block we drop.
func TestSnapshotCommits(t *testing.T) {
	for _, c := range []struct {
		table, gold string
		mode        Mode
	}{
		{"mor_rollback_h0150", "snapshot.jsonl", ScanV1},
		{"mor_rollback_h0150", "by_1.2.0/snapshot.jsonl", Scan1x},
		{"mor_rollback_multi_h0150", "snapshot.jsonl", ScanV1},
		{"mor_rollback_retry_h0150", "snapshot.jsonl", ScanV1},
		{"mor_rollback_h120", "snapshot.jsonl", Scan1x},
	} {
		x := open(t, c.table)
		b, err := os.ReadFile(filepath.Join(logfiletest.Testdata(t), "gold", c.table, c.gold))
		if err != nil {
			t.Fatal(err)
		}
		shown := map[string]bool{}
		for line := range strings.Lines(string(b)) {
			var row struct {
				Time      string `json:"_hoodie_commit_time"`
				Partition string `json:"_hoodie_partition_path"`
			}
			if err := json.Unmarshal([]byte(line), &row); err != nil {
				t.Fatal(err)
			}
			shown[row.Partition+" "+row.Time] = true
		}
		for part, fs := range x.slices {
			r := scan(t, fs, Options{Mode: c.mode, LatestInstant: x.latest, CheckCommitted: true, Committed: x.committed})
			for _, f := range r.Fates {
				if in := f.Block.Instant(); f.Outcome != Merged && f.Outcome != Command && shown[part+" "+in] {
					t.Errorf("%s %s: Hudi shows rows of %s, we call it %s: %s", c.table, part, in, f.Outcome, f.Why)
				}
			}
			// The newest merged block of a slice can't be hidden by another.
			if n := len(r.Blocks); n > 0 && r.Blocks[n-1].Block.Type.IsData() && !shown[part+" "+r.Blocks[n-1].Block.Instant()] {
				t.Errorf("%s %s: no row of the newest merged block, instant %s, is in Hudi's answer", c.table, part, r.Blocks[n-1].Block.Instant())
			}
		}
	}
}

// TestManyBlocks: a file of very many tiny blocks and rollbacks must not take time that
// grows with the square of their number.
func TestManyBlocks(t *testing.T) {
	f := &logfiletest.File{}
	const n = 20_000
	for i := range n {
		in := fmt.Sprintf("t%08d", i)
		data(f, in, "k")
		if i%2 == 1 {
			f.Rollback(in, fmt.Sprintf("t%08d", i-1))
		}
	}
	for _, m := range allModes {
		r, err := Scan(ctx, one(t, f), Options{Mode: m})
		if err != nil {
			t.Fatal(err)
		}
		want := n / 2
		if m == ScanV1Until012 {
			want = n // the target is never the last block
		}
		if len(r.Blocks) != want {
			t.Errorf("%s: %d blocks", m, len(r.Blocks))
		}
	}
}

// TestHostileLinear scans logs that were made to cost much, and ones ten times as large: commands whose targets are nowhere,
// headers whose instants are as long as the log, and corrupt blocks that many commands meet.
func TestHostileLinear(t *testing.T) {
	long := strings.Repeat("9", 1<<20)
	for _, k := range []struct {
		name string
		make func(f *logfiletest.File, n int)
	}{
		{"targets nowhere", func(f *logfiletest.File, n int) {
			for i := range n {
				data(f, fmt.Sprintf("1%08d", i), "a").Rollback(fmt.Sprintf("2%08d", i), fmt.Sprintf("3%08d", i))
			}
		}},
		{"one target again and again", func(f *logfiletest.File, n int) {
			for i := range n {
				data(f, "1", "a").Rollback(fmt.Sprintf("2%08d", i), "1")
			}
		}},
		{"a long instant that rolls back all", func(f *logfiletest.File, n int) {
			for range n {
				data(f, "1", "a")
			}
			f.Rollback(long, "1")
		}},
		{"log compactions of one another", func(f *logfiletest.File, n int) {
			for i := range n {
				data(f, fmt.Sprintf("1%08d", i), "a", logfiletest.Entry{Key: logfile.CompactedBlockTimes, Value: fmt.Sprintf("1%08d", i+1)})
			}
			data(f, fmt.Sprintf("1%08d", n), "a")
		}},
		{"magics and rollbacks", func(f *logfiletest.File, n int) {
			for i := range n {
				f.Raw([]byte("#HUDI#")...).Rollback(fmt.Sprintf("2%08d", i), "1")
			}
		}},
	} {
		for _, m := range []Mode{Scan1x, ScanV2, ScanV1, ScanV1Until012} {
			took := func(n int) (allocated float64) {
				f := &logfiletest.File{}
				k.make(f, n)
				fs := one(t, f)
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				if _, err := Scan(t.Context(), fs, Options{Mode: m}); err != nil {
					t.Fatal(err)
				}
				runtime.ReadMemStats(&after)
				return float64(after.TotalAlloc - before.TotalAlloc)
			}
			if a, b := took(1000), took(10_000); b > 12*max(a, 1<<20) {
				t.Errorf("%s, %s: %.0f bytes allocated, %.0f for ten times as many", k.name, m, a, b)
			} else {
				t.Logf("%-36s %-28s %9.0f %10.0f", k.name, m, a, b)
			}
		}
	}
}

func FuzzScan(f *testing.F) {
	times := logfiletest.Entry{Key: logfile.CompactedBlockTimes, Value: "t1,t3"}
	a := data(data(data(data(&logfiletest.File{}, "t1", "b1"), "t2", "b2").Rollback("t3", "t2"), "t3", "b3"), "t4", "m", times)
	f.Add(a.Bytes(), a.Bytes(), uint8(0))
	f.Add(a.Bytes()[:100], a.Bytes()[20:], uint8(2))
	f.Add(a.Bytes(), []byte{}, uint8(5))
	f.Fuzz(func(t *testing.T, p, q []byte, mode uint8) {
		fs := files(t, ".f_t.log.1_0-0-0", p, ".f_t.log.2_0-0-0", q)
		o := Options{Mode: Mode(mode % 4), CheckCommitted: true, Committed: func(i string) Verdict { return Verdict(len(i) % 4) }}
		if mode >= 128 {
			o.LatestInstant = "t2"
		}
		r, err := Scan(ctx, fs, o)
		if err == nil {
			check(t, fs, r)
		} else if !corrupt.Is(err) {
			t.Fatalf("%#v", err)
		}
	})
}

func BenchmarkScan(b *testing.B) {
	f := &logfiletest.File{}
	for i := range 1000 {
		data(f, fmt.Sprintf("t%08d", i), "k")
	}
	for _, m := range []Mode{Scan1x, ScanV1} {
		b.Run(m.String(), func(b *testing.B) {
			fs := one(b, f)
			b.ReportAllocs()
			for b.Loop() {
				if r, err := Scan(ctx, fs, Options{Mode: m}); err != nil || len(r.Blocks) != 1000 {
					b.Fatal(err)
				}
			}
		})
	}
}
