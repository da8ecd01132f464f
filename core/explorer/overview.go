package explorer

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"hudiscope/core/api"
	"hudiscope/core/evolve"
	"hudiscope/core/schema"
	"hudiscope/core/storage"
	"hudiscope/core/table"
)

// Overview says what lies at a location; of a table only hoodie.properties is read.
func (s *Service) Overview(ctx context.Context, req api.OverviewRequest) (*api.Overview, error) {
	h, err := s.open(ctx, req.Table)
	if err != nil {
		return nil, err
	}
	if h.table == nil {
		return &api.Overview{Kind: "log file", Location: h.src.Location(), Name: h.single, Version: -1, TimelineLayout: -1, Readable: true,
			RecordKeys: []string{}, Partitions: []string{}, Merge: api.Merge{OrderingFields: []string{}},
			Support: []api.Support{{Level: "note", What: "A single log file", Note: "Its blocks are shown with the schemas they carry. Which of them count is known only together with the table's timeline."}}}, nil
	}
	t, c := h.table, h.table.Config
	o := &api.Overview{
		Kind: "table", Location: h.src.Location(), Name: c.TableName(), Database: c.Database(),
		Version: c.Version, VersionFrom: c.VersionFrom, Type: c.Type(), BaseFormat: c.BaseFormat(), LogFormat: c.LogFormat(),
		TimelineLayout: c.TimelineLayout,
		Merge:          mergeOf(t),
		RecordKeys:     list(c.RecordKeyFields()), Partitions: list(c.PartitionFields()), KeyGenerator: c.KeyGenerator(),
		MetaFields: c.PopulateMetaFields(), MetadataTable: c.MetadataPartitions(), Bootstrap: c.BootstrapBasePath(), CDC: c.CDC(),
		Readable: true, Support: []api.Support{},
	}
	add := func(level, what, note string) {
		o.Support = append(o.Support, api.Support{Level: level, What: what, Note: note})
	}
	if h.fault != nil {
		o.Readable = false
		o.Merge = api.Merge{OrderingFields: []string{}} // by whose rules is not known
		if o.Version < 0 {
			o.VersionFrom = "the property holds " + h.fault.Value
		}
		add("no", fmt.Sprintf("%s = %s", h.fault.Key, h.fault.Value), sentence(h.fault.Error())+" "+h.fault.Try)
		return o, nil
	}
	switch c.BaseFormat() {
	case "PARQUET":
	case "ORC":
		if s.opts.ORC != nil {
			add("note", "ORC base files", "They are read with zlib, Snappy or no compression, as Hudi writes them; files compressed otherwise are named and refused.")
		} else {
			add("note", "ORC base files", "They are read by a part of their own, orc, which is loaded when rows are asked for.")
		}
	case "LANCE":
		add("part", "LANCE base files", "Rows of Lance base files can't be read: Hudi reads them through a native library. The timeline, the files and the log blocks can.")
	default:
		add("part", "Base files of format "+c.BaseFormat(), "This format is not known here; rows can't be read. The timeline, the files and the log blocks can.")
	}
	if err := t.MergeSupport(); err != nil && c.MergeOnRead() {
		add("part", "Merge mode "+t.Merge.Mode, sentence(err.Error())+" Rows of file slices with log files are shown only by another rule, chosen with the option hudiscope.merge.fallback=commit_time or event_time; read-optimized rows, blocks and their records are shown as they are.")
	}
	if c.BootstrapBasePath() != "" {
		add("note", "A bootstrapped table", "Rows that no write has touched since the bootstrap are in the source "+c.BootstrapBasePath()+". It is looked for beside the table; the option "+table.BootstrapBaseOption+"=LOCATION says where else it is.")
	}
	for _, n := range c.Notes {
		add("note", "hoodie.properties", n)
	}
	if c.Checksum.State == "wrong" {
		add("note", "The checksum of hoodie.properties is wrong", "It "+c.Checksum.String()+". The file may have been edited by hand or belong to another table.")
	}
	// Releases that find log files by modification times do so below table version 8, and their note is about that.
	if t.Rules.Note != "" && !(t.Rules.LogsByModTime && c.Version >= 8) {
		add("note", "Read as "+t.Rules.Name()+" reads", t.Rules.Note)
	}
	return o, nil
}

// list makes nil an empty list, for JSON.
func list(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}

// Config returns hoodie.properties.
func (s *Service) Config(ctx context.Context, req api.ConfigRequest) (*api.ConfigAnswer, error) {
	h, err := s.open(ctx, req.Table)
	if err != nil {
		return nil, err
	}
	if h.table == nil {
		return nil, unsupported("A single log file has no hoodie.properties.", "Open the table's directory.")
	}
	c := h.table.Config
	return &api.ConfigAnswer{Properties: c.Props.Map(), File: c.File, Checksum: c.Checksum.String()}, nil
}

// Schema returns the table schema.
func (s *Service) Schema(ctx context.Context, req api.SchemaRequest) (*api.SchemaAnswer, error) {
	h, err := s.ready(ctx, req.Table)
	if err != nil {
		return nil, err
	}
	h.progress(ctx, api.Progress{Phase: "Looking for the table schema"})
	sc, err := h.table.Schema(ctx)
	if err != nil {
		return nil, err
	}
	a := &api.SchemaAnswer{Avro: json.RawMessage(sc.Type.JSON()), From: sc.From, Columns: columnsOf(sc.Type, nil), Sources: []api.SchemaSource{}}
	for _, p := range sc.Sources {
		a.Sources = append(a.Sources, api.SchemaSource(p))
	}
	if sc.Internal == nil {
		return a, nil
	}
	past, err := h.table.SchemaHistory(ctx)
	if err != nil {
		return nil, err
	}
	versions := []*evolve.Schema{sc.Internal}
	if past != nil {
		a.HistoryFile, versions = past.File, past.Schemas
	}
	for _, v := range versions {
		a.History = append(a.History, api.SchemaVersion{Instant: strconv.FormatInt(v.Version, 10), Columns: numbered(nil, "", v.Root)})
	}
	return a, nil
}

// numbered lists the columns of an internal schema, nested ones behind their record.
func numbered(out []api.NumberedName, path string, n *evolve.Node) []api.NumberedName {
	for i, k := range n.Kids {
		name := path + "element"
		switch n.Type.Kind {
		case schema.Record:
			name = path + n.Type.Fields[i].Name
		case schema.Map:
			name = path + "value"
		}
		out = numbered(append(out, api.NumberedName{ID: k.ID, Name: name, Type: k.Type.Display()}), name+".", k)
	}
	return out
}

// columnsOf describes the fields of a record type that want (nil = all) chooses.
func columnsOf(t *schema.Type, want func(string) bool) []api.Column {
	out := []api.Column{}
	for i := range t.Fields {
		f := &t.Fields[i]
		if want == nil || want(f.Name) {
			out = append(out, api.Column{Name: f.Name, Type: f.Type.Display(), Meta: schema.IsMetaField(f.Name)})
		}
	}
	return out
}

// maxBytes bounds one answer of Bytes.
const maxBytes = 64 << 10

// Bytes returns raw bytes of a file of the table.
func (s *Service) Bytes(ctx context.Context, req api.BytesRequest) (*api.Bytes, error) {
	h, err := s.open(ctx, req.Table)
	if err != nil {
		return nil, err
	}
	if req.Length < 0 || req.Length > maxBytes || req.Offset < 0 {
		return nil, invalid("Bytes can be asked for in pieces of at most %d, from an offset that is not negative.", maxBytes)
	}
	if !safePath(req.File) {
		return nil, invalid("%q is not a path inside the table.", req.File)
	}
	o, err := h.src.Open(ctx, req.File)
	if err != nil {
		return nil, err
	}
	defer o.Close()
	size, err := o.Size(ctx)
	if err != nil {
		return nil, err
	}
	n := int64(req.Length)
	if req.Offset > size {
		n = 0
	} else if req.Offset+n > size {
		n = size - req.Offset
	}
	p := make([]byte, n)
	if err := storage.ReadFull(ctx, o, p, req.Offset); err != nil {
		return nil, err
	}
	return &api.Bytes{Offset: req.Offset, Size: size, Data: p}, nil
}

// safePath reports whether a path stays inside the table.
func safePath(p string) bool {
	if p == "" || strings.HasPrefix(p, "/") || strings.ContainsAny(p, "\x00\\") {
		return false
	}
	for _, part := range strings.Split(p, "/") {
		if part == "" || part == "." || part == ".." {
			return false
		}
	}
	return true
}
