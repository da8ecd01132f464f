package explorer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"

	"hudiscope/core/api"
	"hudiscope/core/metatable"
)

// metadata is the metadata table of a handle, opened once.
type metadata struct {
	mu    sync.Mutex
	table *metatable.Table
}

// metadataTable opens the metadata table.
func (s *Service) metadataTable(ctx context.Context, h *handle) (*metatable.Table, error) {
	h.metadata.mu.Lock()
	defer h.metadata.mu.Unlock()
	if h.metadata.table == nil {
		h.progress(ctx, api.Progress{Phase: "Opening the metadata table"})
		m, err := h.table.OpenMetadata(ctx, s.opts.LogBytes)
		if err != nil {
			return nil, err
		}
		h.metadata.table = m
	}
	return h.metadata.table, nil
}

// defaultMetadata is how many records a page has when the request does not say, and mostMetadata how
// many at most.
const (
	defaultMetadata = 200
	mostMetadata    = 10000
)

// position is the place of a record, as a cursor tells it.
type position struct{ partition, fileID, key string }

func (p position) String() string { return p.partition + "/" + p.fileID + "/" + p.key }

func parsePosition(s string) (p position, ok bool) {
	if s == "" {
		return p, true
	}
	var rest string
	p.partition, rest, ok = strings.Cut(s, "/")
	if ok {
		p.fileID, p.key, ok = strings.Cut(rest, "/")
	}
	return p, ok
}

// Metadata returns records of the metadata table.
func (s *Service) Metadata(ctx context.Context, req api.MetadataRequest) (*api.Metadata, error) {
	h, err := s.ready(ctx, req.Table)
	if err != nil {
		return nil, err
	}
	at, ok := parsePosition(req.Cursor)
	switch {
	case !ok || req.Cursor != "" && req.Partition != "" && at.partition != req.Partition:
		return nil, invalid("The cursor %q is not one of this request's answers.", req.Cursor)
	case req.Partition == "" && (len(req.Keys) > 0 || req.Prefix != ""):
		return nil, invalid("Keys and a prefix are looked up in one partition of the metadata table: the request names none.")
	case len(req.Keys) > 0 && req.Prefix != "":
		return nil, invalid("The request asks for keys and for a prefix.")
	case req.Limit < 0:
		return nil, invalid("The limit %d is negative.", req.Limit)
	}
	m, err := s.metadataTable(ctx, h)
	if err != nil {
		return nil, err
	}
	limit := req.Limit
	if limit == 0 {
		limit = defaultMetadata
	}
	limit = min(limit, mostMetadata)
	a := &api.Metadata{Version: m.Config.Version, Records: []api.MetadataRecord{}}
	a.Trusted, a.Why = m.Trusted()
	if last := m.Timeline.Commits().Completed().Last(); last != nil {
		a.LatestInstant = last.Requested
	}
	all, err := m.Partitions(ctx)
	if err != nil {
		return nil, err
	}
	if req.Cursor == "" {
		if err := metadataPartitions(ctx, m, all, req.Partition, a); err != nil {
			return nil, err
		}
	}
	var stats metatable.Stats
	for _, p := range all {
		if req.Partition != "" && p.Name != req.Partition || req.Partition == "" && p.State != metatable.Ready || p.Name < at.partition {
			continue
		}
		if p.Name != at.partition {
			at = position{partition: p.Name}
		}
		more, err := metadataRecords(ctx, h, m, req, at, limit, &stats, a)
		var absent *metatable.Absent
		if errors.As(err, &absent) && req.Partition == "" {
			a.Findings = append(a.Findings, api.Finding{Level: "error", Title: "A partition of the metadata table is missing",
				Detail: "hoodie.table.metadata.partitions names " + p.Name + ", which readers rely on. " + absent.Why, File: m.Config.Root + "/" + p.Name, Offset: -1})
			continue
		}
		if err != nil {
			return nil, err
		}
		if req.Cursor == "" {
			if err := missingMetadata(ctx, m, p.Name, func(x *metatable.Missing) {
				f := api.Finding{Level: "error", Title: "A file of the metadata table is missing", Detail: x.Sentence(), File: x.Path, Offset: -1}
				switch {
				case x.Why != "":
					f.Level, f.Title = "note", "A file of the metadata table is not read"
				case x.Size >= 0:
					f.Title = "A file of the metadata table is too short"
				}
				a.Findings = append(a.Findings, f)
			}); err != nil {
				return nil, err
			}
		}
		if more {
			break
		}
	}
	for _, n := range stats.Notes {
		a.Findings = append(a.Findings, api.Finding{Level: "note", Title: "A log block of the metadata table is not used", Detail: n, Offset: -1})
	}
	return a, nil
}

// missingMetadata tells of files that a partition of the metadata table should have; what tells of them may be
// unreadable itself.
func missingMetadata(ctx context.Context, m *metatable.Table, partition string, tell func(*metatable.Missing)) error {
	gone, err := m.Missing(ctx, partition)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return nil
	}
	for i := range gone {
		tell(&gone[i])
	}
	return nil
}

// metadataPartitions describes the partitions, and the file groups of the one that was asked for.
func metadataPartitions(ctx context.Context, m *metatable.Table, all []metatable.Partition, asked string, a *api.Metadata) error {
	a.Partitions = []api.MetadataPartition{}
	found := asked == ""
	for _, p := range all {
		out := api.MetadataPartition{Name: p.Name, Kind: string(p.Kind), State: string(p.State)}
		d, err := m.Definition(ctx, p.Name)
		if err != nil {
			if ctx.Err() != nil {
				return err
			}
			// Without their definitions the partitions can still be read.
			f := ToFault(err)
			if len(a.Findings) == 0 {
				a.Findings = append(a.Findings, api.Finding{Level: "warning", Title: "The index definitions can't be read", Detail: f.Message, File: f.File, Offset: f.Offset})
			}
		}
		if d != nil {
			out.Definition = &api.IndexDefinition{Name: d.Name, Type: d.Type, Function: d.Function, Fields: d.Fields, Options: d.Options, Version: d.Version}
		}
		if p.Name == asked {
			found = true
			slices, err := m.Slices(ctx, p.Name)
			if err != nil {
				return err
			}
			for _, s := range slices {
				g := api.MetadataGroup{FileID: s.FileID, BaseInstant: s.BaseInstant, Bytes: s.Bytes()}
				if s.Base != nil {
					g.BaseFile = s.Base.Path
				}
				for _, l := range s.DataLogs() {
					g.LogFiles = append(g.LogFiles, l.Path)
				}
				out.Groups = append(out.Groups, g)
			}
		}
		a.Partitions = append(a.Partitions, out)
	}
	if !found {
		return &api.Fault{Kind: "not found", Offset: -1, Message: fmt.Sprintf("The metadata table has no partition %q.", asked), Try: "Ask without a partition to see which there are."}
	}
	return nil
}

// metadataRecords adds the records of one partition from behind a position on, until the page is full;
// more tells that it is and a record is left.
func metadataRecords(ctx context.Context, h *handle, m *metatable.Table, req api.MetadataRequest, at position, limit int, stats *metatable.Stats, a *api.Metadata) (more bool, err error) {
	var seq iter.Seq2[*metatable.Record, error]
	switch {
	case len(req.Keys) > 0:
		seq = m.Get(ctx, at.partition, req.Keys, stats)
	case req.Prefix != "":
		seq = m.Prefix(ctx, at.partition, req.Prefix, stats)
	default:
		seq = m.ScanAfter(ctx, at.partition, at.fileID, at.key, stats)
	}
	for r, err := range seq {
		if err != nil {
			return false, err
		}
		if at.fileID != "" && (r.FileID < at.fileID || r.FileID == at.fileID && r.Key <= at.key) {
			continue
		}
		if len(a.Records) == limit {
			last := &a.Records[limit-1]
			a.Next = position{last.Partition, last.FileID, last.Key}.String()
			return true, nil
		}
		a.Records = append(a.Records, metadataRecord(at.partition, r, req.Raw))
		h.progress(ctx, api.Progress{Phase: "Reading the metadata table", Done: int64(len(a.Records)), Unit: "records"})
	}
	return false, nil
}

func metadataRecord(partition string, r *metatable.Record, raw bool) api.MetadataRecord {
	out := api.MetadataRecord{Partition: partition, FileID: r.FileID, Key: r.Key, Type: int32(r.Type), TypeName: r.Type.String()}
	for _, e := range r.Files {
		out.Files = append(out.Files, api.MetadataFile{Name: e.Name, Size: e.Size})
	}
	if s := r.Stats; s != nil {
		st := &api.MetadataStats{Min: s.Min.AppendValue(nil, s.ValueType), Max: s.Max.AppendValue(nil, s.ValueType), ValueType: s.ValueType.String(), Wrapper: s.Min.Wrapper.String(),
			Values: s.ValueCount, Nulls: s.NullCount, Bytes: s.TotalSize, UncompressedBytes: s.TotalUncompressed, TightBound: s.TightBound}
		if s.FileName != nil {
			st.File = *s.FileName
		}
		if s.Column != nil {
			st.Column = *s.Column
		}
		out.Stats = st
	}
	if b := r.Bloom; b != nil {
		out.Bloom = &api.MetadataBloom{TypeCode: b.TypeCode, Instant: b.Timestamp, Bytes: len(b.Text)}
		if f, err := b.Filter(); err != nil {
			out.Fault = ToFault(err)
		} else {
			out.Bloom.Hash, out.Bloom.Hashes, out.Bloom.Bits, out.Bloom.Rows = f.Hash.String(), f.Hashes, f.Bits, f.Rows()
		}
	}
	if l := r.Location; l != nil {
		out.Location = &api.MetadataLocation{FileID: l.FileID(), InstantMillis: l.InstantTime, Position: l.Position}
		if l.Partition != nil {
			out.Location.Partition = *l.Partition
		}
	}
	if r.Secondary != nil {
		value, key, ok := metatable.SplitSecondaryKey(r.Key)
		if ok {
			out.Secondary = &api.MetadataSecondary{Value: value, RecordKey: key}
		}
	}
	if raw {
		out.Raw = json.RawMessage(r.AppendJSON(nil))
	}
	return out
}
