package groupreader_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"iter"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"hudiscope/core/groupreader"
	"hudiscope/core/logfile/logfiletest"
	"hudiscope/core/merge"
	"hudiscope/core/spill"
)

// large is a slice of rows base rows whose logs update every other one, delete some and insert as
// many again, each key twice; values are random, so that nothing of it is small.
func large(t testing.TB, rows int) *slice {
	t.Helper()
	rnd := rand.New(rand.NewPCG(7, 7))
	name := func() string {
		b := make([]byte, 60+rnd.IntN(60))
		for i := range b {
			b[i] = byte('a' + rnd.IntN(26))
		}
		return string(b)
	}
	s := newSlice(t)
	var b bytes.Buffer
	w := parquet.NewGenericWriter[baseRow](&b, parquet.MaxRowsPerRowGroup(20000))
	for i := range rows {
		if _, err := w.Write([]baseRow{base(fmt.Sprintf("key-%07d", i), 5, "base", float64(i))}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	s.files.Put(baseFile, b.Bytes())
	s.s.Base = baseFile
	for n := range 4 {
		f := file()
		const perBlock = 2000
		for lo := 0; lo < rows; lo += perBlock {
			var recs [][]byte
			var dels []logfiletest.Del
			for i := lo; i < min(lo+perBlock, rows); i++ {
				k := i
				if n%2 == 1 {
					k += rows // an insert
				} else if k%2 == 1 {
					continue // untouched
				}
				if k%97 == 0 && n >= 2 {
					dels = append(dels, logfiletest.Del{Key: fmt.Sprintf("key-%07d", k), Ordering: int64(9)})
					continue
				}
				// Ordering values go up for some keys, and down for others.
				recs = append(recs, full(fmt.Sprint("00", n+2), fmt.Sprintf("key-%07d", k), 6+(k%3-1)*n, name(), float64(n)))
			}
			data(f, fmt.Sprint("00", n+2), recs...)
			if len(dels) > 0 {
				f.Deletes(fmt.Sprint("00", n+2), fullSchema, dels)
			}
		}
		s.log(n+1, f)
	}
	return s
}

// sum is a checksum of rows that does not depend on their order.
type sum struct {
	rows, bytes int
	hash        uint64
}

func (s *slice) sum(each func()) (out sum, stats *groupreader.Stats, err error) {
	stats = new(groupreader.Stats)
	var buf []byte
	for row, err := range groupreader.Rows(context.Background(), s.s, &s.o, stats) {
		if err != nil {
			return out, stats, err
		}
		buf = buf[:0]
		for _, c := range row.Batch.Columns {
			if c != nil {
				buf = append(c.AppendJSON(buf, row.Index), 0)
			}
		}
		buf = fmt.Append(buf, row.Origin, row.Block, row.Record)
		h := fnv.New64a()
		h.Write(buf)
		out.rows++
		out.bytes += len(buf)
		out.hash += h.Sum64()
		if each != nil {
			each()
		}
	}
	return out, stats, nil
}

// constantBytes is what merging may take beside its budget here: the part of a block that is being
// decoded (the blocks of this test have half a MiB), a batch of the base file, buffers of the store.
const constantBytes = 6 << 20

// TestSpillBounded reads a log whose merged map takes more than 20 times the budget.
func TestSpillBounded(t *testing.T) {
	rows := 60_000
	if testing.Short() {
		rows = 30_000
	}
	s := large(t, rows)
	live := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	// read returns the most memory in use at the end of a block, a partition, or every 5,000 rows.
	read := func() (sum, *groupreader.Stats, int64) {
		before, peak, n := live(), int64(0), 0
		s.o.Progress = func(unit string, _ int64) {
			if unit != "records" {
				peak = max(peak, live()-before)
			}
		}
		got, stats, err := s.sum(func() {
			if n++; n%5000 == 0 {
				peak = max(peak, live()-before)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		return got, stats, peak
	}
	want, _, inMemory := read()
	if want.rows < rows*3/2 {
		t.Fatalf("%d rows", want.rows)
	}
	budget := inMemory / 24
	s.o.MergeBytes, s.o.Spill = budget, tempStore(t)
	got, stats, spilled := read()
	if got != want {
		t.Errorf("spilled: %+v, in memory: %+v", got, want)
	}
	t.Logf("%d rows; in memory %d KiB, budget %d KiB, spilled %d KiB with %d KiB written", want.rows, inMemory>>10, budget>>10, spilled>>10, stats.SpilledBytes>>10)
	if stats.SpilledBytes == 0 || spilled > budget+constantBytes {
		t.Errorf("%d bytes in use with a budget of %d", spilled, budget)
	}
}

// memoryStore opens a store with room for limit bytes, and says whether it was closed.
func memoryStore(limit int64) (open spill.Open, closed func() bool) {
	var all []*watched
	return func(context.Context) (spill.Store, error) {
			w := &watched{Store: spill.Memory(limit)}
			all = append(all, w)
			return w, nil
		}, func() bool {
			for _, w := range all {
				if !w.closed {
					return false
				}
			}
			return len(all) == 1
		}
}

type watched struct {
	spill.Store
	closed bool
	// lose drops the last chunk of every segment, spoil changes a byte.
	lose, spoil bool
}

func (w *watched) Close() error { w.closed = true; return w.Store.Close() }

func (w *watched) Chunks(ctx context.Context, segment uint32) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		var last []byte
		for c, err := range w.Store.Chunks(ctx, segment) {
			if w.spoil && len(c) > 0 {
				c[0] ^= 0x80
			}
			if w.lose {
				c, last = last, bytes.Clone(c)
				if c == nil {
					continue
				}
			}
			if !yield(c, err) {
				return
			}
		}
	}
}

// TestSpillFull: rows end with a fault when the store takes no more, wherever that is.
func TestSpillFull(t *testing.T) {
	s := large(t, 3000)
	s.o.MergeBytes = 64 << 10
	for _, limit := range []int64{1, 100_000, 300_000} {
		open, closed := memoryStore(limit)
		s.o.Spill = open
		got, _, err := s.sum(nil)
		var f *spill.Fault
		if !errors.As(err, &f) || !f.Full || !strings.Contains(err.Error(), "file group f") {
			t.Errorf("room for %d bytes: %v after %d rows", limit, err, got.rows)
		}
		if !closed() {
			t.Errorf("room for %d bytes: the store was left open", limit)
		}
	}
	s.o.Spill = func(context.Context) (spill.Store, error) {
		return nil, &spill.Fault{Op: "open", Place: "nowhere"}
	}
	var f *spill.Fault
	if _, _, err := s.sum(nil); !errors.As(err, &f) || f.Op != "open" {
		t.Errorf("a store that can't be opened: %v", err)
	}
}

// TestSpillLost: a store that gives back less than it was given, or other bytes, is an error.
func TestSpillLost(t *testing.T) {
	s := large(t, 3000)
	s.o.MergeBytes = 64 << 10
	for name, w := range map[string]*watched{"lost": {lose: true}, "spoiled": {spoil: true}} {
		s.o.Spill = func(context.Context) (spill.Store, error) {
			w.Store = spill.Memory(0)
			return w, nil
		}
		var f *spill.Fault
		if _, _, err := s.sum(nil); !errors.As(err, &f) || f.Op != "read" || !w.closed {
			t.Errorf("%s: %v, closed %v", name, err, w.closed)
		}
	}
}

// TestSpillCancelled: the store is removed when the consumer stops and when the context ends, at any row.
func TestSpillCancelled(t *testing.T) {
	s := large(t, 3000)
	s.o.MergeBytes = 64 << 10
	for _, stop := range []int{0, 1, 1600, 3500} {
		ctx, cancel := context.WithCancel(context.Background())
		open, closed := memoryStore(0)
		s.o.Spill = open
		blocks := 0
		s.o.Progress = func(unit string, _ int64) {
			if blocks++; stop == 0 && blocks == 3 {
				cancel()
			}
		}
		n := 0
		var last error
		for _, err := range groupreader.Rows(ctx, s.s, &s.o, nil) {
			if last = err; err != nil {
				break
			}
			if n++; n == stop {
				cancel()
			}
		}
		if !errors.Is(last, context.Canceled) || !closed() {
			t.Errorf("cancelled at row %d: %v after %d rows, closed %v", stop, last, n, closed())
		}
		open, closed = memoryStore(0)
		s.o.Spill, s.o.Progress = open, nil
		n = 0
		for range groupreader.Rows(context.Background(), s.s, &s.o, nil) {
			if n++; n > stop {
				break
			}
		}
		if !closed() {
			t.Errorf("stopped at row %d: the store was left open", stop)
		}
	}
}

// TestSpillOrder: rows that no log record touches come first, as they lie in the base file.
func TestSpillOrder(t *testing.T) {
	s := large(t, 3000)
	s.o.MergeBytes = 64 << 10
	s.o.Spill, _ = memoryStore(0)
	next, base := int32(0), 0
	for row, err := range groupreader.Rows(context.Background(), s.s, &s.o, nil) {
		if err != nil {
			t.Fatal(err)
		}
		if row.Origin != groupreader.FromBase || row.Record < next {
			break
		}
		next = row.Record + 1
		base++
	}
	if base < 1000 {
		t.Errorf("%d base rows in order", base)
	}
}

// TestSpillPayloads merges by every class that makes rows of two versions, in memory and spilled.
func TestSpillPayloads(t *testing.T) {
	for _, rules := range []merge.Rules{
		{Mode: merge.EventTime, HasOrdering: true},
		{Mode: merge.CommitTime},
		{Mode: merge.CommitTime, Partial: merge.IgnoreDefaults},
		{Mode: merge.EventTime, HasOrdering: true, Partial: merge.IgnoreDefaults},
		{Mode: merge.Custom, HasOrdering: true, Payload: "PartialUpdateAvroPayload"},
		{Mode: merge.Custom, HasOrdering: true, Payload: "PartialUpdateAvroPayload", Style: merge.Payloads},
		{Mode: merge.Custom, HasOrdering: true, Payload: "OverwriteNonDefaultsWithLatestAvroPayload"},
		{Mode: merge.EventTime, HasOrdering: true, Payload: "DefaultHoodieRecordPayload", Style: merge.Payloads},
		{Mode: merge.Custom, HasOrdering: true, Payload: "EmptyHoodieRecordPayload"},
		{Mode: merge.Custom, HasOrdering: true, Payload: "ReverseOrderHoodieRecordPayload"},
	} {
		for _, withPartials := range []bool{false, true} {
			if withPartials && rules.Mode == merge.Custom {
				continue
			}
			rnd := rand.New(rand.NewPCG(3, 4))
			var rows []baseRow
			for i := range 400 {
				rows = append(rows, base(fmt.Sprintf("k%03d", i*2), int64(rnd.IntN(20)), "base", 1))
			}
			s := newSlice(t, rows...)
			f := file()
			any := func(x any) any {
				if rnd.IntN(3) == 0 {
					return nil
				}
				return x
			}
			for n := range 12 {
				at := fmt.Sprint("1", 10+n)
				var recs [][]byte
				for range 150 {
					key := fmt.Sprintf("k%03d", rnd.IntN(900))
					recs = append(recs, full(at, key, any(rnd.IntN(20)), any(fmt.Sprint("n", n)), any(float64(n)), any(rnd.IntN(8) == 0)))
				}
				if withPartials && n > 5 {
					for range 20 {
						partial(f, at, fmt.Sprintf("k%03d", rnd.IntN(900)), any(rnd.IntN(20)), any(0.5))
					}
				}
				data(f, at, recs...)
				deletes(f, at, any(int64(rnd.IntN(20))), fmt.Sprintf("k%03d", rnd.IntN(900)), fmt.Sprintf("k%03d", rnd.IntN(900)))
			}
			s.log(1, f)
			s.o.Rules = rules
			steps := func(count map[string]int) func(groupreader.Step) {
				return func(st groupreader.Step) {
					count[fmt.Sprint(string(st.Key), st.Final, st.Decision.Outcome, st.Decision.Why())]++
				}
			}
			want, got := map[string]int{}, map[string]int{}
			s.o.Observe = steps(want)
			inMemory, _, err := s.sum(nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, budget := range []int64{1, 4 << 10, 40 << 10} {
				clear(got)
				s.o.Observe = steps(got)
				s.o.MergeBytes = budget
				var closed func() bool
				s.o.Spill, closed = memoryStore(0)
				spilled, stats, err := s.sum(nil)
				if err != nil || spilled != inMemory || stats.SpilledBytes == 0 || !closed() {
					t.Errorf("%+v, partial updates %v, budget %d: %+v, in memory %+v, %v", rules, withPartials, budget, spilled, inMemory, err)
				}
				if fmt.Sprint(got) != fmt.Sprint(want) {
					t.Errorf("%+v, partial updates %v, budget %d: other merge steps", rules, withPartials, budget)
				}
			}
		}
	}
}
