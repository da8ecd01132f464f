package metatable

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"

	"hudiscope/core/filegroup"
	"hudiscope/core/storage"
	"hudiscope/core/storage/ahead"
	"hudiscope/core/timeline"
)

// DataPartitions lists the partitions of the data table; "" is the table itself.
func (t *Table) DataPartitions(ctx context.Context) ([]string, error) {
	out := []string{}
	for r, err := range t.Get(ctx, string(Files), []string{AllPartitions}, nil) {
		if err != nil {
			return nil, err
		}
		for _, e := range r.Files {
			out = append(out, dataPartition(e.Name))
		}
	}
	sort.Strings(out)
	return out, nil
}

// Listing lists the files of data partitions, all of them when partitions is nil: what
// filegroup.Build takes in the place of a listing of the storage. It reads the files partition
// only, and the blocks of it that hold the partitions asked for.
func (t *Table) Listing(ctx context.Context, partitions []string) (*filegroup.Listing, error) {
	if err := t.readFiles(ctx); err != nil {
		return nil, err
	}
	if partitions == nil {
		return t.whole(ctx)
	}
	out := &filegroup.Listing{Files: map[string][]storage.Entry{}, Complete: true}
	keys := make([]string, len(partitions))
	for i, p := range partitions {
		keys[i] = PartitionKey(p)
		out.Files[p] = nil
	}
	if len(keys) == 0 {
		return out, nil
	}
	var stats Stats
	for r, err := range t.Get(ctx, string(Files), keys, &stats) {
		if err != nil {
			return nil, err
		}
		out.Files[dataPartition(r.Key)] = entriesOf(r)
	}
	return out, nil
}

// whole is Listing of all partitions, in one pass.
func (t *Table) whole(ctx context.Context) (*filegroup.Listing, error) {
	out := &filegroup.Listing{Files: map[string][]storage.Entry{}, Complete: true}
	files := map[string][]storage.Entry{}
	for r, err := range t.Scan(ctx, string(Files), nil) {
		if err != nil {
			return nil, err
		}
		if r.Key == AllPartitions {
			for _, e := range r.Files {
				out.Files[dataPartition(e.Name)] = nil
			}
			continue
		}
		files[dataPartition(r.Key)] = entriesOf(r)
	}
	for p := range out.Files {
		out.Files[p] = files[p]
	}
	return out, nil
}

// readFiles asks for the files of the files partition that a listing reads, all of them at once.
func (t *Table) readFiles(ctx context.Context) error {
	if t.opt.Ahead == nil {
		return nil
	}
	groups, err := t.Slices(ctx, string(Files))
	if err != nil {
		return err
	}
	var ask []ahead.File
	for _, g := range groups {
		if g.Base != nil {
			ask = append(ask, ahead.File{Path: g.Base.Path, Size: g.Base.Size, Whole: true})
		}
		for _, l := range g.DataLogs() {
			ask = append(ask, ahead.File{Path: l.Path, Size: l.Size, Whole: true})
		}
	}
	t.opt.Ahead.Read(ctx, ask...)
	return nil
}

// dataPartition is the data partition that a key or a name of the files partition means.
func dataPartition(name string) string {
	if name == nonPartitioned {
		return ""
	}
	return name
}

func entriesOf(r *Record) []storage.Entry {
	entries := make([]storage.Entry, len(r.Files))
	for i, e := range r.Files {
		entries[i] = storage.Entry{Name: e.Name, Size: e.Size}
	}
	return entries
}

// Compare holds the metadata table's listing against the storage's: disagreements are findings, each
// with the file. view is the view over the storage's listing of the same partitions; files that it
// does not count as committed may be missing in the metadata table.
func Compare(view *filegroup.View, listing *filegroup.Listing) []timeline.Finding {
	var out []timeline.Finding
	add := func(level, title, detail, file string) {
		out = append(out, timeline.Finding{Level: level, Title: title, Detail: detail, File: file, Offset: -1})
	}
	for _, name := range listing.Partitions() {
		if view.Partition(name) == nil && view.Complete {
			if n := len(listing.Files[name]); n > 0 {
				add("error", "The metadata table lists a partition that is not there", fmt.Sprintf("It says that partition %q has %d files; the storage has no such partition. Queries that list by the metadata table fail on them.", name, n), name)
			}
		}
	}
	for _, p := range view.Partitions {
		stored := storedFiles(view, p)
		listed, ok := listing.Files[p.Path]
		if !ok {
			if n := committed(stored); n > 0 {
				add("error", "The metadata table does not list a partition", fmt.Sprintf("The storage has partition %q with %d files of completed instants; queries that list by the metadata table miss their rows.", p.Path, n), p.Path)
			}
			continue
		}
		names := map[string]bool{}
		for _, e := range listed {
			names[e.Name] = true
			path := e.Name
			if p.Path != "" {
				path = p.Path + "/" + e.Name
			}
			switch s, ok := stored[e.Name]; {
			case !ok && view.Complete:
				add("error", "A file that the metadata table lists is not there", fmt.Sprintf("It lists %s with %d bytes; the storage has no such file.", e.Name, e.Size), path)
			case ok && s.size >= 0 && s.size != e.Size:
				add("warning", "The metadata table tells another size", fmt.Sprintf("It says that %s has %d bytes; the storage has %d.", e.Name, e.Size, s.size), path)
			}
		}
		missing := make([]string, 0)
		for name, s := range stored {
			if s.committed && !names[name] {
				missing = append(missing, name)
			}
		}
		slices.Sort(missing)
		for _, name := range missing {
			add("error", "The metadata table does not list a file", fmt.Sprintf("The storage has %s, of a completed instant; queries that list by the metadata table miss its rows.", name), stored[name].path)
		}
	}
	return out
}

type storedFile struct {
	path      string
	size      int64
	committed bool
}

func committed(files map[string]storedFile) int {
	n := 0
	for _, f := range files {
		if f.committed {
			n++
		}
	}
	return n
}

// storedFiles are the files of a partition in the storage, by name.
func storedFiles(v *filegroup.View, p *filegroup.Partition) map[string]storedFile {
	out := map[string]storedFile{}
	for _, o := range p.Other {
		out[o.Name] = storedFile{path: o.Path, size: o.Size}
	}
	for _, g := range p.Groups {
		for _, s := range g.Slices {
			if s.Base != nil {
				state, _ := v.BaseState(g, s.Base)
				out[s.Base.Name] = storedFile{s.Base.Path, s.Base.Size, state == filegroup.FileCommitted}
			}
			for i := range s.Logs {
				l := &s.Logs[i]
				state, _ := v.LogState(g, s, l)
				out[l.File] = storedFile{l.Path, l.Size, state == filegroup.FileCommitted && !strings.HasSuffix(l.File, ".cdc")}
			}
		}
	}
	return out
}
