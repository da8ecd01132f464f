package explorer

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
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

// Blocks lists the blocks of log files, and what a snapshot scan does with each of them.
func (s *Service) Blocks(ctx context.Context, req api.BlocksRequest) (*api.Blocks, error) {
	h, err := s.open(ctx, req.Table)
	if err != nil {
		return nil, err
	}
	if h.fault != nil {
		return nil, h.fault
	}
	if h.table == nil {
		return h.scanFiles(ctx, []string{h.single}, logscan.Options{})
	}
	if leadingDigits(req.AsOf) != req.AsOf {
		return nil, invalid("%q is no instant: an instant is 14 or 17 digits.", req.AsOf)
	}
	if req.All {
		return h.allBlocks(ctx, req.AsOf)
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
				a, err := h.traceSlice(ctx, v, slice, cmp.Or(req.AsOf, v.Latest), nil)
				if err != nil {
					return nil, err
				}
				for _, f := range a.Files {
					if f.File.Path == req.File {
						a.Files = []api.LogFile{f}
						return a, nil
					}
				}
			}
		}
		return h.scanFiles(ctx, []string{req.File}, logscan.Options{})
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
	return h.traceSlice(ctx, v, slice, asOf, nil)
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

// traceSlice scans the logs of a slice as a snapshot as of an instant does, with the steps told to trace.
func (h *handle) traceSlice(ctx context.Context, v *filegroup.View, s *filegroup.Slice, asOf string, trace logscan.Recorder) (*api.Blocks, error) {
	g := v.Group(s.Partition, s.FileID)
	var paths []string
	files := map[string]api.File{}
	for i := range s.Logs {
		l := &s.Logs[i]
		state, why := v.LogState(g, s, l)
		files[l.Path] = api.File{Name: l.File, Path: l.Path, Size: l.Size, Instant: l.Instant, State: string(state), Why: why}
		paths = append(paths, l.Path)
	}
	o := h.table.ScanOptions(v.Timeline, asOf)
	o.Trace = trace
	// From version 8 on the view leaves out files of uncommitted instants; here they are shown, so
	// the blocks themselves are checked.
	o.CheckCommitted = true
	a, err := h.scanFiles(ctx, paths, o)
	if err != nil {
		return nil, err
	}
	for i := range a.Files {
		if f, ok := files[a.Files[i].File.Path]; ok {
			a.Files[i].File = f
		}
	}
	a.MaxInstant, a.Rules = asOf, h.table.Rules.Name()
	return a, nil
}

// allBlocks lists the log files of the whole table, slice by slice.
func (h *handle) allBlocks(ctx context.Context, asOf string) (*api.Blocks, error) {
	v, err := h.storageView(ctx)
	if err != nil {
		return nil, err
	}
	asOf = cmp.Or(asOf, v.Latest)
	out := &api.Blocks{Files: []api.LogFile{}, MaxInstant: asOf, Rules: h.table.Rules.Name()}
	for _, p := range v.Partitions {
		for _, g := range p.Groups {
			for _, s := range g.Slices {
				if len(s.Logs) == 0 {
					continue
				}
				a, err := h.traceSlice(ctx, v, s, asOf, nil)
				if err != nil {
					return nil, err
				}
				out.Files = append(out.Files, a.Files...)
				out.Counters.LogFiles += a.Counters.LogFiles
				out.Counters.Blocks += a.Counters.Blocks
				out.Counters.Records += a.Counters.Records
				out.Counters.Rollbacks += a.Counters.Rollbacks
				out.Counters.CorruptBlocks += a.Counters.CorruptBlocks
				h.progress(ctx, api.Progress{Phase: "Reading block headers", Done: int64(len(out.Files)), Unit: "log files"})
			}
		}
	}
	sort.SliceStable(out.Files, func(i, j int) bool { return out.Files[i].File.Path < out.Files[j].File.Path })
	return out, nil
}

// scanFiles reads the headers of log files and the fate of each block.
func (h *handle) scanFiles(ctx context.Context, paths []string, o logscan.Options) (*api.Blocks, error) {
	files := make([]logscan.File, len(paths))
	for i, p := range paths {
		name, ok := logfile.ParseName(path.Base(p))
		if !ok {
			return nil, invalid("%s is no log file by its name.", p)
		}
		obj, err := h.src.Open(ctx, p)
		if err != nil {
			return nil, err
		}
		defer obj.Close()
		files[i] = logscan.File{Name: name, Reader: logfile.Open(obj, p)}
	}
	a := &api.Blocks{Files: make([]api.LogFile, len(paths)), Rules: "Hudi " + release.Default}
	res, err := logscan.Scan(ctx, files, o)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	var sf *storage.Fault
	if errors.As(err, &sf) {
		return nil, err
	}
	// Every block that the scan read has one fate, in file order.
	fates := make([][]*logscan.Fate, len(paths))
	if res != nil {
		for i := range res.Fates {
			f := &res.Fates[i]
			fates[f.File] = append(fates[f.File], f)
		}
		c := res.Counters
		a.Counters = api.Counters{LogFiles: c.LogFiles, Blocks: c.LogBlocks, Rollbacks: c.Rollbacks, CorruptBlocks: c.CorruptBlocks}
	}
	for i, p := range paths {
		f := &a.Files[i]
		if err := h.describe(ctx, p, f); err != nil {
			return nil, err
		}
		if err := fileBlocks(ctx, files[i], paths, f, fates[i]); err != nil {
			return nil, err
		}
		for _, b := range f.Blocks {
			if b.Fate == string(logscan.Merged) && b.Records > 0 {
				a.Counters.Records += b.Records
			}
		}
	}
	return a, nil
}

// describe fills in what is known of a log file by its name and size.
func (h *handle) describe(ctx context.Context, p string, out *api.LogFile) error {
	name, _ := logfile.ParseName(path.Base(p))
	out.File = api.File{Name: path.Base(p), Path: p, Instant: name.Instant, State: "committed"}
	if name.CDC {
		out.File.State = "cdc"
	}
	obj, err := h.src.Open(ctx, p)
	if err != nil {
		return err
	}
	defer obj.Close()
	out.File.Size, err = obj.Size(ctx)
	return err
}

// fileBlocks lists the blocks of one file in file order. fates tell of the blocks that the scan has read;
// a file that it could not read to the end, or does not merge, is read here.
func fileBlocks(ctx context.Context, file logscan.File, paths []string, out *api.LogFile, fates []*logscan.Fate) error {
	out.Blocks = make([]api.Block, 0, len(fates))
	add := func(b *logfile.Block) error {
		ab := blockAPI(b)
		if count, err := file.Reader.RecordCount(ctx, b); err == nil {
			ab.Records = count
		} else if ctx.Err() != nil {
			return ctx.Err()
		}
		if b.Index < len(fates) {
			f := fates[b.Index]
			ab.Fate, ab.FateWhy, ab.FateBy = string(f.Outcome), f.Why, f.By
			if f.ByBlock >= 0 && f.ByFile >= 0 && f.ByFile < len(paths) {
				ab.FateFile, ab.FateBlock = paths[f.ByFile], f.ByBlock
			}
		} else if file.Name.CDC {
			ab.Fate, ab.FateWhy = "change data", "Change data capture blocks are read by CDC queries only."
		}
		out.Blocks = append(out.Blocks, ab)
		return nil
	}
	start := int64(0)
	for _, f := range fates {
		if err := add(f.Block); err != nil {
			return err
		}
		start = f.Block.End
	}
	for b, err := range file.Reader.BlocksFrom(ctx, start, len(fates)) {
		if err == nil {
			err = add(b)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			out.Fault = ToFault(err)
			return nil
		}
	}
	return nil
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
