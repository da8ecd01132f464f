package explorer

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path"
	"sort"
	"strings"
	"sync"

	"hudiscope/core/api"
	"hudiscope/core/filegroup"
	"hudiscope/core/groupreader"
	"hudiscope/core/logfile"
	"hudiscope/core/logscan"
	"hudiscope/core/release"
	"hudiscope/core/schema"
	"hudiscope/core/storage"
)

// maxBlockPage bounds the blocks of a page, not those of an answer without a limit.
const maxBlockPage = 100_000

// Blocks lists the blocks of log files, and what a snapshot scan does with each of them.
func (s *Service) Blocks(ctx context.Context, req api.BlocksRequest) (*api.Blocks, error) {
	if req.Limit > maxBlockPage {
		return nil, invalid("A page has at most %d blocks.", maxBlockPage)
	}
	if req.Find != nil {
		at, err := s.findBlock(ctx, req)
		if err != nil {
			return nil, err
		}
		req.Offset, req.Find = at, nil
	}
	files := []api.LogFile{}
	out, err := s.EachBlock(ctx, req, BlockVisitor{
		File: func(f *api.LogFile) error {
			files = append(files, *f)
			files[len(files)-1].Blocks = []api.Block{}
			return nil
		},
		Block: func(f *api.LogFile, b *api.Block) error {
			last := &files[len(files)-1]
			last.Blocks = append(last.Blocks, *b)
			return nil
		},
		End: func(f *api.LogFile) error {
			last := &files[len(files)-1]
			last.Total, last.Fault = f.Total, f.Fault
			return nil
		},
	})
	if err != nil {
		return nil, err
	}
	out.Files = files
	return out, nil
}

// errFound ends a visit.
var errFound = errors.New("found")

// findBlock returns the offset of the page that req.Find is on.
func (s *Service) findBlock(ctx context.Context, req api.BlocksRequest) (offset int, err error) {
	find, limit, found, at := *req.Find, req.Limit, false, 0
	if limit <= 0 {
		return 0, nil
	}
	req.Find, req.Offset, req.Limit = nil, 0, 0
	_, err = s.eachBlock(ctx, req, func(f *api.LogFile, b *logfile.Block) bool {
		found = (f.File.Path == find.File || f.File.Name == find.File) &&
			(find.Byte > 0 && b.Start < find.Byte && find.Byte <= b.End || find.Byte <= 0 && b.Index == find.Index)
		if !found {
			at++
		}
		return !found
	}, BlockVisitor{})
	if err != nil && !errors.Is(err, errFound) || !found {
		return 0, err
	}
	return at - at%limit, nil
}

// BlockVisitor is told of log files and their blocks, one after another, so that long lists need not be in memory. An
// error ends the visit. Fields may be nil.
type BlockVisitor struct {
	// File begins a file, without Blocks, Total and Fault, which End has.
	File func(f *api.LogFile) error
	// Block is a block of the file that began last; it is the visitor's.
	Block func(f *api.LogFile, b *api.Block) error
	End   func(f *api.LogFile) error
}

// EachBlock is Blocks for lists that are too long to be held: the answer's Files are told to the visitor.
// Find is not heeded.
func (s *Service) EachBlock(ctx context.Context, req api.BlocksRequest, visit BlockVisitor) (*api.Blocks, error) {
	return s.eachBlock(ctx, req, nil, visit)
}

// eachBlock is EachBlock; pass, if it is set, sees the frame of every block instead, until it returns false, which
// ends in errFound.
func (s *Service) eachBlock(ctx context.Context, req api.BlocksRequest, pass func(f *api.LogFile, b *logfile.Block) bool, visit BlockVisitor) (*api.Blocks, error) {
	if req.Offset < 0 || req.Limit < 0 {
		return nil, invalid("A page of blocks begins at 0 or later, and its limit is 0 or more.")
	}
	h, err := s.open(ctx, req.Table)
	if err != nil {
		return nil, err
	}
	if h.fault != nil {
		return nil, h.fault
	}
	p := &blockPager{offset: req.Offset, end: math.MaxInt, pass: pass, visit: visit}
	if req.Limit > 0 {
		p.end = req.Offset + req.Limit
	}
	out, err := h.visitBlocks(ctx, req, p)
	if err != nil {
		return nil, err
	}
	out.Offset, out.Total, out.TotalFiles = req.Offset, p.at, p.files
	return out, nil
}

// visitBlocks finds the log files that a request is about.
func (h *handle) visitBlocks(ctx context.Context, req api.BlocksRequest, p *blockPager) (*api.Blocks, error) {
	if h.table == nil {
		return h.pageFiles(ctx, []string{h.single}, logscan.Options{}, p)
	}
	if leadingDigits(req.AsOf) != req.AsOf {
		return nil, invalid("%q is no instant: an instant is 14 or 17 digits.", req.AsOf)
	}
	if req.All {
		return h.allBlocks(ctx, req.AsOf, p)
	}
	if req.File != "" {
		if !safePath(req.File) {
			return nil, invalid("%q is not a path inside the table.", req.File)
		}
		if _, ok := logfile.ParseName(path.Base(req.File)); !ok {
			return nil, invalid("%s is no log file by its name.", req.File)
		}
		// A log file is understood in its slice: a rollback may lie in a later file.
		if h.inData(req.File) {
			v, err := h.view(ctx)
			if err != nil {
				return nil, err
			}
			if slice := sliceOfFile(v, req.File); slice != nil {
				t, err := h.traceSlice(ctx, v, slice, cmp.Or(req.AsOf, v.Latest), nil)
				if err != nil {
					return nil, err
				}
				defer t.close()
				for i, file := range t.paths {
					if file == req.File {
						return t.answer(), p.page(ctx, t, i)
					}
				}
			}
		}
		return h.pageFiles(ctx, []string{req.File}, logscan.Options{}, p)
	}
	v, err := h.view(ctx)
	if err != nil {
		return nil, err
	}
	asOf := cmp.Or(req.AsOf, v.Latest)
	slice, err := wantedSlice(v, req.Partition, req.FileID, req.BaseInstant, asOf)
	if err != nil {
		return nil, err
	}
	t, err := h.traceSlice(ctx, v, slice, asOf, nil)
	if err != nil {
		return nil, err
	}
	defer t.close()
	return t.answer(), p.all(ctx, t)
}

// pageFiles scans files that belong to no slice and pages through their blocks.
func (h *handle) pageFiles(ctx context.Context, paths []string, o logscan.Options, p *blockPager) (*api.Blocks, error) {
	t, err := h.scanFiles(ctx, paths, o)
	if err != nil {
		return nil, err
	}
	defer t.close()
	return t.answer(), p.all(ctx, t)
}

// inData reports whether a path lies outside the .hoodie folder.
func (h *handle) inData(file string) bool {
	return !strings.HasPrefix(file, h.table.Config.MetaPath()+"/")
}

func sliceOfFile(v *filegroup.View, file string) *filegroup.Slice {
	dir, _ := path.Split(file)
	p := v.Partition(strings.TrimSuffix(dir, "/"))
	if p == nil {
		return nil
	}
	for _, g := range p.Groups {
		for _, s := range g.Slices {
			for i := range s.Logs {
				if s.Logs[i].Path == file {
					return s
				}
			}
		}
	}
	return nil
}

// logsScanned are log files that were scanned together; close releases them.
type logsScanned struct {
	h       *handle
	paths   []string
	objects []storage.Object
	files   []logscan.File
	// about describes the files.
	about []api.File
	// fates are those of the blocks of each file that the scan has read, in file order.
	fates [][]*logscan.Fate
	// counters are those of the scan; records is known only where the frames were read with their counts.
	counters          api.Counters
	maxInstant, rules string
}

func (t *logsScanned) close() {
	for _, o := range t.objects {
		o.Close()
	}
}

// answer is what is known of the scan beside its files.
func (t *logsScanned) answer() *api.Blocks {
	return &api.Blocks{Files: []api.LogFile{}, Counters: t.counters, MaxInstant: t.maxInstant, Rules: t.rules}
}

// traceSlice scans the logs of a slice as a snapshot as of an instant does, with the steps told to trace.
func (h *handle) traceSlice(ctx context.Context, v *filegroup.View, s *filegroup.Slice, asOf string, trace logscan.Recorder) (*logsScanned, error) {
	if err := h.nameLogs(ctx, v, []string{s.Partition}, false); err != nil {
		return nil, err
	}
	g := v.Group(s.Partition, s.FileID)
	var paths []string
	about := make([]api.File, len(s.Logs))
	for i := range s.Logs {
		l := &s.Logs[i]
		state, why := v.WriterState(g, s, l)
		about[i] = api.File{Name: l.File, Path: l.Path, Size: l.Size, Instant: l.Instant, State: string(state), Why: why}
		paths = append(paths, l.Path)
	}
	o := h.table.ScanOptions(v.Timeline, asOf)
	o.Trace = trace
	// From version 8 on the view leaves out files of uncommitted instants; here they are shown, so
	// the blocks themselves are checked.
	o.CheckCommitted = true
	t, err := h.scanFiles(ctx, paths, o)
	if err != nil {
		return nil, err
	}
	t.about, t.maxInstant, t.rules = about, asOf, h.table.Rules.Name()
	return t, nil
}

// allBlocks goes over the log files of the whole table, by their paths.
func (h *handle) allBlocks(ctx context.Context, asOf string, p *blockPager) (*api.Blocks, error) {
	v, err := h.storageView(ctx)
	if err != nil {
		return nil, err
	}
	asOf = cmp.Or(asOf, v.Latest)
	type place struct {
		path  string
		slice *filegroup.Slice
		log   int
	}
	var list []place
	for _, part := range v.Partitions {
		for _, g := range part.Groups {
			for _, s := range g.Slices {
				for i := range s.Logs {
					list = append(list, place{s.Logs[i].Path, s, i})
				}
			}
		}
	}
	sort.SliceStable(list, func(i, j int) bool { return list[i].path < list[j].path })
	out := &api.Blocks{Files: []api.LogFile{}, MaxInstant: asOf, Rules: h.table.Rules.Name()}
	// A slice is scanned as a whole, and let go after the last one of its files, which lie close to each other.
	type scanned struct {
		*logsScanned
		left int
	}
	open := map[*filegroup.Slice]*scanned{}
	defer func() {
		for _, t := range open {
			t.close()
		}
	}()
	for n, at := range list {
		t := open[at.slice]
		if t == nil {
			s, err := h.traceSlice(ctx, v, at.slice, asOf, nil)
			if err != nil {
				return nil, err
			}
			t = &scanned{s, len(at.slice.Logs)}
			open[at.slice] = t
			out.Counters.LogFiles += s.counters.LogFiles
			out.Counters.Blocks += s.counters.Blocks
			out.Counters.Records += s.counters.Records
			out.Counters.Rollbacks += s.counters.Rollbacks
			out.Counters.CorruptBlocks += s.counters.CorruptBlocks
		}
		if err := p.page(ctx, t.logsScanned, at.log); err != nil {
			return nil, err
		}
		if t.left--; t.left == 0 {
			t.close()
			delete(open, at.slice)
		}
		h.progress(ctx, api.Progress{Phase: "Reading block headers", Done: int64(n + 1), Unit: "log files"})
	}
	return out, nil
}

// scanFiles reads the headers of log files and the fate of each block.
func (h *handle) scanFiles(ctx context.Context, paths []string, o logscan.Options) (_ *logsScanned, err error) {
	t := &logsScanned{h: h, paths: paths, files: make([]logscan.File, len(paths)), about: make([]api.File, len(paths)), fates: make([][]*logscan.Fate, len(paths)), rules: "Hudi " + release.Default}
	defer func() {
		if err != nil {
			t.close()
		}
	}()
	for i, p := range paths {
		name, ok := logfile.ParseName(path.Base(p))
		if !ok {
			return nil, invalid("%s is no log file by its name.", p)
		}
		obj, err := h.src.Open(ctx, p)
		if err != nil {
			return nil, err
		}
		t.objects = append(t.objects, obj)
		t.files[i] = logscan.File{Name: name, Reader: logfile.Open(obj, p)}
		t.about[i] = api.File{Name: path.Base(p), Path: p, Instant: name.Instant, State: "committed"}
		if name.CDC {
			t.about[i].State = "cdc"
		}
		if t.about[i].Size, err = obj.Size(ctx); err != nil {
			return nil, err
		}
	}
	res, err := logscan.Scan(ctx, t.files, o)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	var sf *storage.Fault
	if errors.As(err, &sf) {
		return nil, err
	}
	if res == nil {
		return t, nil
	}
	c := res.Counters
	t.counters = api.Counters{LogFiles: c.LogFiles, Blocks: c.LogBlocks, Rollbacks: c.Rollbacks, CorruptBlocks: c.CorruptBlocks}
	for i := range res.Fates {
		f := &res.Fates[i]
		t.fates[f.File] = append(t.fates[f.File], f)
		if f.Outcome == logscan.Merged {
			n, err := t.files[f.File].Reader.RecordCount(ctx, f.Block)
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if err == nil && n > 0 {
				t.counters.Records += n
			}
		}
	}
	return t, nil
}

// blockPager goes over blocks, file by file, and tells those of a page.
type blockPager struct {
	// The page is from offset on, up to end; at is the place of the next block, files counts the files so far.
	offset, end, at, files int
	pass                   func(f *api.LogFile, b *logfile.Block) bool
	visit                  BlockVisitor
}

// all goes over all files of a scan.
func (p *blockPager) all(ctx context.Context, t *logsScanned) error {
	for i := range t.files {
		if err := p.page(ctx, t, i); err != nil {
			return err
		}
	}
	return nil
}

// page goes over one file of a scan. The scan has read its blocks, unless it could not read to the end, or does not
// merge the file; those are read here.
func (p *blockPager) page(ctx context.Context, t *logsScanned, i int) error {
	f := &api.LogFile{File: t.about[i]}
	p.files++
	begun := false
	begin := func() error {
		if begun || p.visit.File == nil {
			return nil
		}
		begun = true
		return p.visit.File(f)
	}
	add := func(b *logfile.Block, fate *logscan.Fate) error {
		if p.pass != nil && !p.pass(f, b) {
			return errFound
		}
		f.Total++
		p.at++
		if p.at <= p.offset || p.at > p.end || p.visit.Block == nil {
			return nil
		}
		if err := begin(); err != nil {
			return err
		}
		ab, err := t.block(ctx, i, b, fate)
		if err != nil {
			return err
		}
		return p.visit.Block(f, ab)
	}
	start := int64(0)
	for _, fate := range t.fates[i] {
		if err := add(fate.Block, fate); err != nil {
			return err
		}
		start = fate.Block.End
	}
	for b, err := range t.files[i].Reader.BlocksFrom(ctx, start, len(t.fates[i])) {
		if err == nil {
			if err := add(b, nil); err != nil {
				return err
			}
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			f.Fault = ToFault(err)
			break
		}
	}
	if f.Total == 0 && (p.at > p.offset || p.at == 0 && p.offset == 0) && p.at <= p.end {
		if err := begin(); err != nil {
			return err
		}
	}
	if begun && p.visit.End != nil {
		return p.visit.End(f)
	}
	return nil
}

// block describes a block of file i of a scan; fate is nil where the scan has not read it.
func (t *logsScanned) block(ctx context.Context, i int, b *logfile.Block, fate *logscan.Fate) (*api.Block, error) {
	ab := blockAPI(b)
	if count, err := t.files[i].Reader.RecordCount(ctx, b); err == nil {
		ab.Records = count
	} else if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	switch {
	case fate != nil:
		ab.Fate, ab.FateWhy, ab.FateBy = string(fate.Outcome), fate.Why, fate.By
		if fate.ByBlock >= 0 && fate.ByFile >= 0 && fate.ByFile < len(t.paths) {
			ab.FateFile, ab.FateBlock = t.paths[fate.ByFile], fate.ByBlock
		}
	case t.files[i].Name.CDC:
		ab.Fate, ab.FateWhy = "change data", "Change data capture blocks are read by CDC queries only."
	}
	return &ab, nil
}

// blockAPI describes a block by its frame.
func blockAPI(b *logfile.Block) api.Block {
	out := api.Block{Index: b.Index, Start: b.Start, End: b.End, ContentOffset: b.ContentOffset, ContentSize: b.ContentSize,
		Type: b.Type.String(), Instant: b.Instant(), Target: b.Target(), Records: -1, Header: []api.HeaderEntry{}, Layout: []api.Span{}, FateBlock: -1}
	for _, e := range b.Header {
		out.Header = append(out.Header, api.HeaderEntry{Key: e.Key.String(), Value: e.Value})
	}
	for _, e := range b.Footer {
		out.Footer = append(out.Footer, api.HeaderEntry{Key: e.Key.String(), Value: e.Value})
	}
	if b.IsRollback() {
		out.Command = "ROLLBACK_BLOCK"
	}
	if b.Corruption != nil {
		out.Corrupt = b.Corruption.Reason
	}
	if b.Damage != nil {
		out.Corrupt = sentence(b.Damage.Error())
	}
	for _, s := range b.Layout() {
		out.Layout = append(out.Layout, api.Span(s))
	}
	return out
}

// defaultRecords is how many records of a block come when the request does not say.
const defaultRecords = 100

// Block returns one block with its content decoded.
func (s *Service) Block(ctx context.Context, req api.BlockRequest) (*api.BlockDetail, error) {
	h, err := s.open(ctx, req.Table)
	if err != nil {
		return nil, err
	}
	file := req.File
	if h.table == nil {
		file = h.single
	}
	if !safePath(file) {
		return nil, invalid("%q is not a path inside the table.", file)
	}
	obj, err := h.src.Open(ctx, file)
	if err != nil {
		return nil, err
	}
	defer obj.Close()
	r := logfile.Open(obj, file)
	b, err := h.starts.find(ctx, r, req.Index)
	if err != nil {
		return nil, err
	}
	if b != nil {
		return h.blockDetail(ctx, r, b, req)
	}
	return nil, &api.Fault{Kind: "not found", File: file, Offset: -1, Message: fmt.Sprintf("%s has no block %d.", path.Base(file), req.Index)}
}

// blockStarts remembers where the blocks of log files begin: frames lead from one block to the next only,
// and whoever looks at one block after another would read all frames before each of them.
type blockStarts struct {
	mu    sync.Mutex
	files map[string][]int64 // by path: the starts of the first blocks
	count int
}

// maxStarts bounds the starts that are remembered, 8 bytes each.
const maxStarts = 1 << 20

// find returns the block of an index, nil when the file has no such block.
func (s *blockStarts) find(ctx context.Context, r *logfile.Reader, index int) (*logfile.Block, error) {
	if index < 0 {
		return nil, nil
	}
	s.mu.Lock()
	known := s.files[r.Path()]
	s.mu.Unlock()
	if len(known) > 0 {
		b, err := s.walk(ctx, r, known, index)
		if err == nil && b != nil || ctx.Err() != nil {
			return b, err
		}
		// The file may be another one by now.
		s.mu.Lock()
		s.count -= len(s.files[r.Path()])
		delete(s.files, r.Path())
		s.mu.Unlock()
	}
	return s.walk(ctx, r, nil, index)
}

// walk reads frames from the known one that is nearest before the block of an index.
func (s *blockStarts) walk(ctx context.Context, r *logfile.Reader, known []int64, index int) (found *logfile.Block, err error) {
	start, from := int64(0), min(index, max(0, len(known)-1))
	if len(known) > 0 {
		start = known[from]
	}
	var more []int64
	for b, err := range r.BlocksFrom(ctx, start, from) {
		if err != nil {
			return nil, err
		}
		if b.Index >= len(known) {
			more = append(more, b.Start)
		}
		if b.Index == index {
			found = b
			break
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if old := s.files[r.Path()]; len(old) == len(known) && len(more) > 0 {
		if s.count += len(more); s.count > maxStarts || s.files == nil {
			s.files, s.count, old = map[string][]int64{}, len(more), nil
			if len(known) > 0 {
				s.count = 0
				return found, nil
			}
		}
		s.files[r.Path()] = append(old, more[:min(len(more), maxStarts)]...)
	}
	return found, nil
}

func (h *handle) blockDetail(ctx context.Context, r *logfile.Reader, b *logfile.Block, req api.BlockRequest) (*api.BlockDetail, error) {
	d := &api.BlockDetail{Block: blockAPI(b)}
	limit := req.Limit
	if limit <= 0 {
		limit = defaultRecords
	}
	lo := max(req.Offset, 0)
	var err error
	switch {
	case b.Type == logfile.DeleteBlock:
		err = deleteDetail(ctx, r, b, d, lo, limit)
	case b.Type == logfile.AvroDataBlock, b.Type == logfile.ParquetDataBlock, b.Type == logfile.CDCDataBlock, b.Type == logfile.HFileDataBlock:
		err = h.dataDetail(ctx, r, b, d, lo, limit)
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		d.Fault = ToFault(err)
	}
	d.Block.Records = d.Total
	if text, ok := b.Header.Get(logfile.RecordPositions); ok {
		d.Positions, err = logfile.DecodePositions(text)
		if err != nil && d.Fault == nil {
			d.Fault = ToFault(err)
		}
	}
	return d, nil
}

func deleteDetail(ctx context.Context, r *logfile.Reader, b *logfile.Block, d *api.BlockDetail, lo int64, limit int) error {
	_, list, err := groupreader.Deletes(ctx, r, b)
	if err != nil {
		return err
	}
	d.Total = int64(len(list))
	d.Deletes = []api.DeleteRecord{}
	for i := lo; i < d.Total && i < lo+int64(limit); i++ {
		x := &list[i]
		ord, err := json.Marshal(x.Ordering)
		if err != nil {
			return err
		}
		d.Deletes = append(d.Deletes, api.DeleteRecord{Key: x.Key, Partition: x.Partition, Ordering: ord, OrderingType: x.Ordering.Kind.String()})
		d.Spans = append(d.Spans, api.Span{Name: fmt.Sprintf("delete %d", i), Start: x.Start, End: x.End})
	}
	return nil
}

func (h *handle) dataDetail(ctx context.Context, r *logfile.Reader, b *logfile.Block, d *api.BlockDetail, lo int64, limit int) error {
	batch, spans, err := groupreader.DataBlock(ctx, r, b, nil)
	if err != nil {
		return err
	}
	d.Total = int64(batch.Len)
	d.Columns = columnsOf(batch.Type, nil)
	d.Records = [][]json.RawMessage{}
	keys := batch.Column(schema.RecordKeyField)
	field, marker := "", ""
	if h.table != nil {
		field, marker = h.table.Merge.DeleteField, h.table.Merge.DeleteMarker
	}
	flagged, any := groupreader.DeleteFlags(batch, field, marker), false
	for i := lo; i < d.Total && i < lo+int64(limit); i++ {
		d.Records = append(d.Records, batch.RowJSON(int(i)))
		if spans != nil {
			d.Spans = append(d.Spans, api.Span{Name: fmt.Sprintf("record %d", i), Start: spans[i].Start, End: spans[i].End})
		}
		var key *string
		if keys != nil {
			if k, ok := keys.Text(int(i)); ok {
				key = &k
			}
		}
		d.Keys = append(d.Keys, key)
		f := flagged(int(i))
		d.DeleteFlags, any = append(d.DeleteFlags, f), any || f
	}
	if !any {
		d.DeleteFlags = nil
	}
	return nil
}
