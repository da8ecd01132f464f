package groupreader

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"iter"
	"math"

	"hudiscope/core/column"
	"hudiscope/core/merge"
	"hudiscope/core/spill"
)

// Merging within a memory budget is a hash join that spills (a grace hash join).
//
// Log records are merged by key into a map. When the map and the batches its rows lie in take more
// than the budget, rows are first copied out of batches of which few are left; if that is not
// enough, everything moves to a store, in partitions by a hash of the key, each in the order in
// which the records came. Base rows whose key no log record can have, by a Bloom filter, pass
// through in base-file order; the others join their partition. Then the partitions are merged one
// after another: the same steps in the same order for every key. How many partitions there are follows from
// how much has been read when the memory is full, and how much is to come, so that one division is enough
// nearly always. A partition that does not fit all the same is divided again, by another hash.
const (
	// minFanout and maxFanout bound how many partitions a join is divided into.
	minFanout, maxFanout = 16, 256
	// fillPercent is how much of its memory a partition is to take, so that one that is larger than the others
	// still fits.
	fillPercent = 60
	// maxDepth is how often a partition is divided at most. Hashes differ from one time to the
	// next, so only a few rows that are larger than the budget themselves get as far.
	maxDepth = 8
	// Chunks are what a store is handed: smaller ones with small budgets, and with many partitions, of which
	// there are only so many that chunks have wideChunk.
	minChunk, wideChunk, maxChunk = 4 << 10, 16 << 10, 1 << 20
	// minPart and maxPart bound the bytes of a block that are decoded at a time under a budget.
	minPart, maxPart = 256 << 10, 8 << 20
	// orderingBytes is about what one value of a tuple takes.
	orderingBytes = 80
)

// join merges the log records of a slice, or of one partition of it, with base rows.
type join struct {
	r       *reader
	depth   int
	records *records
	merger  *merge.Merger
	// sawPartials is what the merger has been told.
	sawPartials bool
	// retained is the memory of the batches that entries have rows in.
	retained int64
	// limit is how much may be used before something is done about it.
	limit int64
	// parts is where records go once they did not fit; nil before.
	parts *partitions
	// come are the bytes of all records of the join, as they lie in log blocks or in a store, taken those that
	// were merged; 0 where it is not known.
	come, taken int64
	// keys is a filter of the keys in parts, at depth 0.
	keys *filter
	// base is the base row that is being merged.
	base merge.Record
	// made is the merger's memory that finals may add to.
	made, finals int64
	steps        int
}

func (r *reader) newJoin(depth int) *join {
	j := &join{r: r, depth: depth, records: newRecords(), limit: math.MaxInt64}
	j.merger = r.newMerger()
	switch {
	case r.budget() > 0:
		// While rows are copied out of sparse batches, half as much again is in use.
		j.limit = r.budget() / 3 * 2
		if r.o.Shown != nil {
			// Rows that are shown with other types are there twice.
			j.limit = r.budget() / 3
		}
	case r.o.LogBytes > 0:
		j.limit = r.o.LogBytes
	}
	return j
}

func (r *reader) newMerger() *merge.Merger {
	return merge.NewMerger(r.o.Rules, r.o.Reader, r.rowOrdering)
}

// budget is the memory for merging, 0 when there is no bound to keep by spilling.
func (r *reader) budget() int64 {
	if r.o.Spill == nil {
		return 0
	}
	return r.o.MergeBytes
}

// empty reports that there is nothing to merge base rows with.
func (j *join) empty() bool { return j.parts == nil && j.records.n == 0 }

// partialUpdates tells the merger that the slice's partial updates have begun.
func (j *join) partialUpdates() error {
	if j.sawPartials {
		return nil
	}
	j.sawPartials = true
	return j.merger.SawPartials()
}

// put merges a log record; known records have been told to observers before.
func (j *join) put(key []byte, rec *merge.Record, known bool) error {
	if j.parts != nil {
		return j.parts.log(key, rec, known, j.sawPartials)
	}
	h := j.records.hash(key)
	e := j.records.find(key, h)
	if e == nil {
		e = j.records.add(key, h)
		e.Record = *rec
		j.records.enter(h)
		if !known {
			j.first(e)
		}
		return nil
	}
	j.delta(e, rec)
	return nil
}

// first tells of the first log record of a key.
func (j *join) first(e *entry) {
	if j.r.o.Observe != nil {
		j.r.observe(e.key, false, j.merger.First(&e.Record))
	}
}

func (j *join) delta(e *entry, rec *merge.Record) {
	d := j.merger.Delta(&e.Record, rec)
	if d.Mixed {
		j.r.mixed(&d)
	}
	if j.r.o.Observe != nil {
		j.r.observe(e.key, false, d)
	}
	switch d.Outcome {
	case merge.New:
		e.Record = *rec
	case merge.Combined, merge.Removed:
		e.Record = d.Merged.Record
	}
}

// used is about the memory in use.
func (j *join) used() int64 {
	return j.retained + j.merger.Bytes() + int64(j.records.n)*entryBytes + j.records.keyBytes
}

// check keeps the memory within the limit; it is called after every batch.
func (j *join) check() error {
	if j.parts != nil || j.limit == math.MaxInt64 || j.used() <= j.limit {
		return nil
	}
	live := j.live()
	divisible := j.depth < maxDepth && j.records.n > 1
	switch {
	case live <= j.limit/2:
		j.compact()
		return nil
	case j.r.budget() == 0:
		return fmt.Errorf("partition %q, file group %s: %w (%d bytes)", j.r.s.Partition, j.r.s.FileID, ErrLogBytes, j.r.o.LogBytes)
	case divisible:
		return j.spill()
	}
	j.compact()
	j.limit = max(j.limit, 2*j.used())
	return nil
}

// live is about the memory that would be in use if no batch held anything but rows of entries.
func (j *join) live() int64 {
	n := int64(j.records.n)*entryBytes + j.records.keyBytes
	for i := range j.records.n {
		e := j.records.at(i)
		if e.Row.Batch != nil {
			n += rowBytes(e.Row)
		}
		n += ownBytes(&e.Ord)
	}
	return n
}

// copyRows is how many rows batches have that rows are copied to.
const copyRows = 1024

// compact copies the rows of entries out of their batches, so that nothing else stays in memory.
func (j *join) compact() {
	to := make([]*column.Batch, len(j.r.codec.layouts))
	j.retained = 0
	for i := range j.records.n {
		e := j.records.at(i)
		cloneOrdering(&e.Ord)
		j.retained += ownBytes(&e.Ord)
		from := e.Row.Batch
		if from == nil {
			continue
		}
		n := j.r.codec.layoutOf(from)
		for len(to) <= n {
			to = append(to, nil)
		}
		if to[n] == nil || to[n].Len >= copyRows {
			if to[n] != nil {
				j.retained += to[n].Bytes()
			}
			to[n] = j.r.codec.newBatch(n)
		}
		appendRow(to[n], e.Row)
		e.Row = column.Row{Batch: to[n], Index: to[n].Len - 1}
	}
	for _, b := range to {
		if b != nil {
			j.retained += b.Bytes()
		}
	}
	j.renewMerger()
}

// appendRow copies a row to a batch of its layout.
func appendRow(to *column.Batch, row column.Row) {
	for c, v := range to.Columns {
		if v != nil {
			v.AppendFrom(row.Batch.Columns[c], row.Index)
		}
	}
	to.Len++
}

// renewMerger gives back the memory of rows that the merger has made.
func (j *join) renewMerger() {
	j.merger = j.r.newMerger()
	if j.sawPartials {
		// It was no error the first time.
		_ = j.merger.SawPartials()
	}
}

// cloneOrdering gives an ordering value its own memory.
func cloneOrdering(o *merge.Ordering) {
	if o.Bytes != nil {
		o.Bytes = bytes.Clone(o.Bytes)
	}
	for i := range o.Tuple {
		cloneOrdering(&o.Tuple[i])
	}
}

// spill moves all records to a store; those that follow go there at once.
func (j *join) spill() error {
	if _, err := j.r.openStore(); err != nil {
		return err
	}
	n := j.fanout()
	j.parts = &partitions{r: j.r, seed: maphash.MakeSeed(), chunk: j.r.chunk(n), logs: make([]segment, n), bases: make([]segment, n)}
	if j.depth == 0 {
		j.keys = newFilter(j.r.budget() / 16)
	}
	for i := range j.records.n {
		e := j.records.at(i)
		if err := j.log(e.key, &e.Record, true); err != nil {
			return err
		}
	}
	j.records, j.merger, j.retained = newRecords(), j.r.newMerger(), 0
	if j.sawPartials {
		_ = j.merger.SawPartials()
	}
	return nil
}

// fanout is how many partitions the join is to be divided into: the memory in use grows with what is to come.
func (j *join) fanout() int {
	if j.taken <= 0 || j.come <= j.taken {
		return minFanout
	}
	all := float64(j.used()) / float64(j.taken) * float64(j.come)
	most := min(max(j.r.budget()/(6*wideChunk), minFanout), maxFanout)
	return int(min(max(all/(float64(j.limit)*fillPercent/100), minFanout), float64(most)))
}

// log writes a log record to its partition.
func (j *join) log(key []byte, rec *merge.Record, known bool) error {
	return j.parts.log(key, rec, known, j.sawPartials)
}

// finish ends the log records: what partial updates there were counts from here on.
func (j *join) finish() error {
	if j.r.partials {
		if err := j.partialUpdates(); err != nil {
			return err
		}
	}
	if j.parts != nil {
		return j.parts.flush(j.parts.logs)
	}
	j.finals = max(j.r.budget()/8, 64<<10)
	j.made = j.merger.Bytes()
	return nil
}

// final merges a base row with the merged log record of its key, if there is one.
func (j *join) final(e *entry, base *merge.Record, row *Row) (keep bool) {
	if e == nil || e.done {
		return true
	}
	e.done = true
	if j.steps++; j.r.budget() > 0 && j.steps%64 == 0 && j.merger.Bytes() > j.made+j.finals {
		j.renewMerger()
		j.made = 0
	}
	d := j.merger.Final(base, &e.Record)
	if d.Mixed {
		j.r.mixed(&d)
	}
	if j.r.o.Observe != nil {
		j.r.observe(e.key, true, d)
	}
	if d.Outcome == merge.Old {
		return true
	}
	w := d.Winner()
	if w.Delete {
		j.r.stats.Deleted++
		return false
	}
	j.r.stats.Updated++
	*row = Row{w.Row, FromLog, w.Block, w.Index}
	if d.Outcome == merge.Combined {
		row.Origin = Combined
	}
	return true
}

// rest yields what is left when the base rows have been read: log records without a base row, and
// all that was spilled.
func (j *join) rest(yield func(Row, error) bool) (more bool, err error) {
	if j.parts == nil {
		return j.inserts(yield)
	}
	j.keys = nil
	if err := j.parts.flush(j.parts.bases); err != nil {
		return false, err
	}
	for p := range j.parts.logs {
		if more, err := j.partition(p, yield); err != nil || !more {
			return false, err
		}
		j.r.forgetShown()
		j.r.progress("partitions", 1)
	}
	return true, nil
}

// partition merges one partition.
func (j *join) partition(p int, yield func(Row, error) bool) (more bool, err error) {
	logs, bases := &j.parts.logs[p], &j.parts.bases[p]
	child := j.r.newJoin(j.depth + 1)
	child.come = logs.bytes
	dec := &decoder{c: &j.r.codec, batchRows: copyRows, batchBytes: int(min(max(child.limit/8, 1<<10), 1<<20))}
	var before, own int64
	held := map[*column.Batch]bool{}
	for s, err := range j.parts.read(logs, dec) {
		if err != nil {
			return false, err
		}
		if s.sawPartials {
			if err := child.partialUpdates(); err != nil {
				return false, err
			}
		}
		if err := child.put(s.key, &s.rec, s.known); err != nil {
			return false, err
		}
		if child.parts != nil {
			continue
		}
		child.taken += s.size
		if b := s.rec.Row.Batch; b != nil {
			held[b] = true
		}
		if before += s.size; before < child.limit/8 {
			continue
		}
		child.retained += dec.own - own
		for b := range held {
			child.retained += b.Bytes()
		}
		before, own = 0, dec.own
		clear(held)
		// A batch must not grow after it has been counted.
		dec.open = nil
		if err := child.check(); err != nil {
			return false, err
		}
	}
	if err := j.r.store.Drop(j.r.ctx, logs.id); err != nil {
		return false, err
	}
	if err := child.finish(); err != nil {
		return false, err
	}
	dec = &decoder{c: &j.r.codec, batchRows: 256, batchBytes: 64 << 10}
	for s, err := range j.parts.read(bases, dec) {
		if err != nil {
			return false, err
		}
		if child.parts != nil {
			if err := child.parts.base(s.key, &s.rec); err != nil {
				return false, err
			}
			continue
		}
		row := Row{s.rec.Row, FromBase, merge.InBase, s.rec.Index}
		child.base = s.rec
		if child.final(child.records.find(s.key, child.records.hash(s.key)), &child.base, &row) && !yield(row, nil) {
			return false, nil
		}
	}
	if err := j.r.store.Drop(j.r.ctx, bases.id); err != nil {
		return false, err
	}
	return child.rest(yield)
}

// inserts yields the log records that met no base row.
func (j *join) inserts(yield func(Row, error) bool) (more bool, err error) {
	for i := range j.records.n {
		e := j.records.at(i)
		if e.done {
			continue
		}
		d := j.merger.Insert(&e.Record)
		j.r.observe(e.key, true, d)
		if d.Winner().Delete {
			continue
		}
		if e.Partial != nil {
			j.r.unknown++
		}
		if !yield(Row{e.Row, Inserted, e.Block, e.Index}, nil) {
			return false, nil
		}
	}
	return true, nil
}

// partitions are where a join's records and base rows lie when they do not fit into memory.
type partitions struct {
	r           *reader
	seed        maphash.Seed
	chunk       int
	logs, bases []segment
}

// segment is one run of records in a store.
type segment struct {
	id      uint32
	buf     []byte
	chunks  int
	bytes   int64
	records int64
}

// chunk is how many bytes are collected before a store gets them, with n partitions. While a map moves to its
// partitions, two thirds of the budget are the map's, and the buffers of all partitions and the filter share the rest.
func (r *reader) chunk(n int) int {
	return int(min(max(r.budget()/int64(6*n), minChunk), maxChunk))
}

func (p *partitions) of(key []byte) int { return int(maphash.Bytes(p.seed, key) % uint64(len(p.logs))) }

func (p *partitions) log(key []byte, rec *merge.Record, known, sawPartials bool) error {
	if k := p.r.join.keys; k != nil {
		k.add(key)
	}
	return p.add(&p.logs[p.of(key)], &spilled{key: key, rec: *rec, known: known, sawPartials: sawPartials})
}

func (p *partitions) base(key []byte, rec *merge.Record) error {
	return p.add(&p.bases[p.of(key)], &spilled{key: key, rec: *rec})
}

func (p *partitions) add(s *segment, x *spilled) error {
	if s.id == 0 {
		p.r.segments++
		s.id = p.r.segments
	}
	if s.buf == nil {
		s.buf = make([]byte, 0, p.chunk+p.chunk/4)
	}
	s.buf = p.r.codec.append(s.buf, x)
	s.records++
	if len(s.buf) < p.chunk {
		return nil
	}
	return p.write(s)
}

func (p *partitions) write(s *segment) error {
	if err := p.r.store.Append(p.r.ctx, s.id, s.buf); err != nil {
		return p.r.storeFailed(err)
	}
	s.chunks++
	s.bytes += int64(len(s.buf))
	p.r.stats.SpilledBytes += int64(len(s.buf))
	if cap(s.buf) > 2*p.chunk {
		s.buf = nil
	}
	s.buf = s.buf[:0]
	return nil
}

// flush writes what is still in memory of some segments.
func (p *partitions) flush(list []segment) error {
	for i := range list {
		s := &list[i]
		if len(s.buf) > 0 {
			if err := p.write(s); err != nil {
				return err
			}
		}
		s.buf = nil
	}
	return nil
}

// sized is a record with its size in the store.
type sized struct {
	spilled
	size int64
}

// read decodes the records of a segment; a record is valid until the next one, its row for longer.
// What is missing is an error.
func (p *partitions) read(s *segment, dec *decoder) iter.Seq2[*sized, error] {
	return func(yield func(*sized, error) bool) {
		if s.id == 0 {
			return
		}
		var x sized
		chunks, size, n := 0, int64(0), int64(0)
		for chunk, err := range p.r.store.Chunks(p.r.ctx, s.id) {
			if err != nil {
				yield(nil, p.r.storeFailed(err))
				return
			}
			chunks++
			size += int64(len(chunk))
			for len(chunk) > 0 {
				rest, err := dec.read(chunk, &x.spilled)
				if err != nil {
					yield(nil, p.r.storeFailed(&spill.Fault{Op: "read", Place: "the store of merged log records", Err: err, Try: "Read again; no rows are shown rather than wrong ones."}))
					return
				}
				x.size = int64(len(chunk) - len(rest))
				chunk = rest
				n++
				if n&255 == 0 {
					if err := p.r.ctx.Err(); err != nil {
						yield(nil, err)
						return
					}
				}
				if !yield(&x, nil) {
					return
				}
			}
		}
		if chunks != s.chunks || size != s.bytes || n != s.records {
			yield(nil, p.r.storeFailed(spill.Lost("the store of merged log records")))
		}
	}
}

// openStore opens the store of the slice.
func (r *reader) openStore() (spill.Store, error) {
	if r.store == nil {
		s, err := r.o.Spill(r.ctx)
		if err != nil {
			return nil, r.storeFailed(err)
		}
		r.store = s
	}
	return r.store, nil
}

// storeFailed says of which slice the records were; cancellation passes unchanged.
func (r *reader) storeFailed(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return fmt.Errorf("partition %q, file group %s: %w", r.s.Partition, r.s.FileID, err)
}

// filter is a Bloom filter of keys.
type filter struct {
	seed maphash.Seed
	bits []uint64
}

// filterProbes is how many bits a key sets.
const filterProbes = 5

// newFilter makes a filter of about size bytes, between 1 KiB and 8 MiB.
func newFilter(size int64) *filter {
	return &filter{maphash.MakeSeed(), make([]uint64, min(max(size, 1<<10), 8<<20)/8)}
}

func (f *filter) probe(key []byte, each func(word uint64, bit uint64) bool) bool {
	h := maphash.Bytes(f.seed, key)
	step := h>>32 | 1
	n := uint64(len(f.bits)) * 64
	for range filterProbes {
		at := h % n
		if !each(at/64, at%64) {
			return false
		}
		h += step * 0x9e3779b97f4a7c15
	}
	return true
}

func (f *filter) add(key []byte) {
	f.probe(key, func(word, bit uint64) bool { f.bits[word] |= 1 << bit; return true })
}

func (f *filter) has(key []byte) bool {
	return f.probe(key, func(word, bit uint64) bool { return f.bits[word]>>bit&1 == 1 })
}

// ownBytes is the memory of an ordering value beside itself.
func ownBytes(o *merge.Ordering) int64 {
	n := int64(len(o.Bytes))
	for i := range o.Tuple {
		n += orderingBytes + ownBytes(&o.Tuple[i])
	}
	return n
}
