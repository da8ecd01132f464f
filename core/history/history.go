// Package history follows single records through a table: every version of a key in base files and
// log blocks, of all file groups and slices, with what became of it and why; and it records the scan
// of a slice's logs step by step.
//
//	slice of 09:12              in merge order
//	├ base row 17       superseded   the log's version takes its place
//	├ log 1, block 0    not read     rolled back by the command block 0 of log 2
//	├ log 3, block 0    lost         late record: ordering 3 is below 5
//	└ log 4, block 1    won          ordering 7 is above 5
//
// Versions are decoded and merged by the same code that reads rows (packages groupreader and
// merge), but only those of the keys that were asked for. Of a base file the key column is read
// first, and not even that when the footer tells that it can't hold a key: by the least and
// greatest record key, by Hudi's bloom filter (spec metadata-table.md section 5.3), or, row group by
// row group, by Parquet's statistics.
package history

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"

	"hudiscope/core/api"
	"hudiscope/core/corrupt"
	"hudiscope/core/filegroup"
	"hudiscope/core/metatable"
	"hudiscope/core/schema"
	"hudiscope/core/table"
)

// Request says whose history is wanted.
type Request struct {
	Key string
	// Prefix takes Key as the beginning of keys; the first Limit of them, as bytes compare, are followed.
	Prefix bool
	Limit  int
	// Query narrows the table and chooses the merge rule. It must be a snapshot query.
	Query table.Query
	// Everywhere looks into every file group, whatever the record index says.
	Everywhere bool
	// Read bounds the memory of a read.
	Read table.ReadOptions
	// Metadata opens the metadata table; nil when it must not be used.
	Metadata func(context.Context) (*metatable.Table, error)
	// Progress may be nil.
	Progress func(phase string, done, total int64, unit string)
	// Fault turns an error into the form of answers.
	Fault func(error) *api.Fault
}

// Result is what was found.
type Result struct {
	Schema   *schema.Type
	Keys     []api.KeyHistory
	More     bool
	AsOf     string
	Findings []api.Finding
	Work     Work
}

// Work counts what a search did.
type Work struct {
	// Groups are the file groups that were searched, of GroupsOf in the table's listing.
	Groups, GroupsOf int
	// Files are the base and log files searched. BaseSkipped base files were passed over by their
	// footer, of BaseScanned the key column was read.
	Files, BaseSkipped, BaseScanned int
	// Index is set when the record index named the file group.
	Index bool
}

// NoKey says that the records of a table can't be told apart.
type NoKey struct{}

// Error renders the finding.
func (*NoKey) Error() string {
	return "the records of this table have no key: it keeps no meta fields, and its properties name no record key fields"
}

// maxFindings bounds the findings of one search.
const maxFindings = 50

// Search finds the versions of a key, or of the keys with a prefix.
func Search(ctx context.Context, t *table.Table, req Request) (*Result, error) {
	s := &search{ctx: ctx, t: t, req: req, res: &Result{Keys: []api.KeyHistory{}}}
	if s.req.Progress == nil {
		s.req.Progress = func(string, int64, int64, string) {}
	}
	if !t.Config.PopulateMetaFields() && len(t.Config.RecordKeyFields()) == 0 {
		return nil, &NoKey{}
	}
	err := s.run()
	return s.res, err
}

type search struct {
	ctx  context.Context
	t    *table.Table
	req  Request
	plan *table.Plan
	view *filegroup.View
	res  *Result

	jobs        []*job
	done, total int64
	histories   map[string]*api.KeyHistory
	// visible lists the file groups that show a row of a key.
	visible map[string][]filegroup.GroupID
	dropped int
}

func (s *search) finding(level, title, detail, file string, offset int64) {
	if len(s.res.Findings) == maxFindings {
		s.dropped++
		return
	}
	s.res.Findings = append(s.res.Findings, api.Finding{Level: level, Title: title, Detail: detail, File: file, Offset: max(offset, 0)})
}

// broken turns damage of one file into a finding, so that the rest of the table is still searched.
// Errors of the storage and of cancellation come back.
func (s *search) broken(title string, err error) error {
	if s.ctx.Err() != nil {
		return s.ctx.Err()
	}
	f := s.req.Fault(err)
	switch f.Kind {
	case "corrupt", "unsupported", "internal":
	default:
		return err
	}
	s.finding("error", title, f.Message, f.File, f.Offset)
	return nil
}

func (s *search) run() error {
	s.req.Progress("Planning the search", 0, 0, "")
	listing := func(dirs int) { s.req.Progress("Listing partitions", int64(dirs), 0, "directories") }
	var err error
	if s.plan, err = s.t.Plan(s.ctx, s.req.Query, listing); err != nil {
		return err
	}
	if s.view, err = s.t.View(s.ctx, listing); err != nil {
		return err
	}
	s.res.Schema, s.res.AsOf = s.plan.Schema.Type, s.plan.AsOf
	for _, n := range s.plan.Remarks {
		s.finding("warning", "How the versions are merged", n, "", 0)
	}
	for _, n := range s.plan.Notes {
		s.finding("warning", "Versions may be missing", n, "", 0)
	}
	if err := s.follow(); err != nil {
		return err
	}
	s.duplicates()
	if s.dropped > 0 {
		s.res.Findings = append(s.res.Findings, api.Finding{Level: "note", Title: "More findings", Detail: fmt.Sprintf("%d more were left out.", s.dropped)})
	}
	return nil
}

// follow searches the file group that the record index names, or else all.
func (s *search) follow() error {
	// What a first pass finds wrong, the second one finds again.
	mark := len(s.res.Findings)
	forget := func() { s.res.Findings, s.dropped = s.res.Findings[:mark], 0 }
	if !s.req.Prefix && s.req.Metadata != nil && !s.req.Everywhere && s.req.Query.AsOf == "" && s.req.Query.FileID == "" && len(s.req.Query.Partitions) == 0 {
		at, err := s.index()
		if err != nil {
			return err
		}
		if at != nil {
			s.res.Work.Index = true
			if err := s.searchIn(at, &selector{keys: []string{s.req.Key}}); err != nil {
				return err
			}
			missed := ""
			for id := range at {
				if !s.holds(id) {
					missed = id.FileID
				}
			}
			if missed == "" {
				s.finding("note", "Found by the record index", fmt.Sprintf("The record index of the metadata table names the file group of this key. Of %d file groups, %d were searched: that one, and those that no query reads any more. Versions that other live file groups may hold, which the index denies, were not looked for.",
					s.res.Work.GroupsOf, s.res.Work.Groups), "", 0)
				return nil
			}
			forget()
			s.finding("error", "The record index is wrong", fmt.Sprintf("The record index says that the key is in file group %s, which has no version of it. All file groups were searched instead.", missed), "", 0)
			s.jobs, s.res.Work = nil, Work{}
		}
	}
	if !s.req.Prefix {
		return s.searchIn(nil, &selector{keys: []string{s.req.Key}})
	}
	// First which keys there are, then their versions: the keys that are followed are the first of all.
	first := &selector{prefix: s.req.Key, prefixed: true, collect: s.req.Limit + 1}
	if err := s.searchIn(nil, first); err != nil {
		return err
	}
	keys := first.found
	if len(keys) > s.req.Limit {
		keys, s.res.More = keys[:s.req.Limit], true
	}
	if len(keys) == 0 {
		return nil
	}
	forget()
	return s.searchIn(nil, &selector{keys: keys})
}

// holds reports whether the key was found in a file group.
func (s *search) holds(id filegroup.GroupID) bool {
	for _, k := range s.res.Keys {
		for _, c := range k.Copies {
			if c.Partition == id.Partition && c.FileID == id.FileID {
				return true
			}
		}
	}
	return false
}

// index asks the record index of the metadata table for the file groups of the key; nil when there
// is none to ask, or the index does not know the key: then it may have been deleted.
func (s *search) index() (map[filegroup.GroupID]bool, error) {
	const partition = string(metatable.RecordIndex)
	if !slices.Contains(s.t.Config.MetadataPartitions(), partition) || slices.Contains(s.t.Config.MetadataPartitionsInflight(), partition) {
		return nil, nil
	}
	s.req.Progress("Asking the record index", 0, 0, "")
	passOver := func(err error) (map[filegroup.GroupID]bool, error) {
		var absent *metatable.Absent
		if s.ctx.Err() != nil {
			return nil, s.ctx.Err()
		}
		if errors.As(err, &absent) || corrupt.Is(err) || errors.Is(err, metatable.ErrLogBytes) || s.req.Fault(err).Kind == "unsupported" {
			s.finding("warning", "The record index can't be read", s.req.Fault(err).Message+" All file groups were searched.", "", 0)
			return nil, nil
		}
		return nil, err
	}
	m, err := s.req.Metadata(s.ctx)
	if err != nil {
		return passOver(err)
	}
	if ok, _ := m.Trusted(); !ok {
		return nil, nil
	}
	var out map[filegroup.GroupID]bool
	for rec, err := range m.Get(s.ctx, partition, []string{s.req.Key}, nil) {
		if err != nil {
			return passOver(err)
		}
		if rec.Location == nil || rec.Location.Partition == nil || rec.Location.FileID() == "" {
			continue
		}
		if out == nil {
			out = map[filegroup.GroupID]bool{}
		}
		out[filegroup.GroupID{Partition: *rec.Location.Partition, FileID: rec.Location.FileID()}] = true
	}
	if out == nil {
		s.finding("note", "Not in the record index", "The record index of the metadata table does not know this key: there is no row of it, and its versions were looked for in all file groups.", "", 0)
	}
	return out, nil
}

// searchIn looks for the selected keys in all file groups, or in those of at and the ones that no
// query reads.
func (s *search) searchIn(at map[filegroup.GroupID]bool, sel *selector) error {
	if s.jobs == nil || at != nil {
		s.jobs = s.list(at)
	}
	s.histories, s.visible = map[string]*api.KeyHistory{}, map[string][]filegroup.GroupID{}
	s.done, s.total = 0, 0
	s.res.Work.BaseSkipped, s.res.Work.BaseScanned = 0, 0
	for _, j := range s.jobs {
		s.total += int64(j.files())
	}
	for lo := 0; lo < len(s.jobs); {
		hi := lo + 1
		for hi < len(s.jobs) && s.jobs[hi].group == s.jobs[lo].group {
			hi++
		}
		if err := s.group(s.jobs[lo:hi], sel); err != nil {
			return err
		}
		lo = hi
	}
	s.res.Keys = []api.KeyHistory{}
	for _, k := range s.histories {
		s.res.Keys = append(s.res.Keys, *k)
	}
	sort.Slice(s.res.Keys, func(i, j int) bool { return s.res.Keys[i].Key < s.res.Keys[j].Key })
	return nil
}

// group searches the slices of one file group, oldest first.
func (s *search) group(jobs []*job, sel *selector) error {
	g := jobs[0].group
	copies := map[string]*api.KeyInGroup{}
	for _, j := range jobs {
		if err := s.ctx.Err(); err != nil {
			return err
		}
		if j.none {
			s.progress(j.files())
			continue
		}
		findings := len(s.res.Findings) + s.dropped
		found, err := s.slice(j, sel)
		if err != nil {
			return err
		}
		if sel.collect > 0 {
			// The second pass passes over slices without any key of the prefix, unless there is
			// something to tell of them.
			j.none = !sel.any && findings == len(s.res.Findings)+s.dropped
			sel.any = false
			continue
		}
		for key, h := range found {
			c := copies[key]
			if c == nil {
				c = &api.KeyInGroup{Partition: g.Partition, FileID: g.FileID, ReplacedBy: g.ReplacedBy}
				copies[key] = c
			}
			c.Slices = append(c.Slices, *h)
			if j.latest && h.Result == resultRow {
				c.Visible, c.Row = true, h.Row
			}
		}
	}
	for key, c := range copies {
		k := s.histories[key]
		if k == nil {
			k = &api.KeyHistory{Key: key}
			s.histories[key] = k
		}
		k.Copies = append(k.Copies, *c)
		if c.Visible {
			s.visible[key] = append(s.visible[key], g.GroupID)
		}
	}
	return nil
}

// duplicates names the keys of which a query shows more than one row.
func (s *search) duplicates() {
	for _, k := range s.res.Keys {
		at := s.visible[k.Key]
		if len(at) < 2 {
			continue
		}
		names := make([]string, len(at))
		for i, id := range at {
			names[i] = fmt.Sprintf("file group %s of partition %q", id.FileID, id.Partition)
		}
		detail := fmt.Sprintf("The key %s has a row in %s.", k.Key, strings.Join(names, " and in "))
		partitions := map[string]bool{}
		for _, id := range at {
			partitions[id.Partition] = true
		}
		if len(partitions) == len(at) {
			s.finding("warning", "One key in several partitions", detail+" That is as it should be where keys are unique within a partition only; with a global index it is not.", "", 0)
		} else {
			s.finding("error", "One key in several file groups", detail+" A query shows all of them: a write went wrong, or the table takes duplicates.", "", 0)
		}
	}
}

func (s *search) progress(files int) {
	s.done += int64(files)
	s.req.Progress("Looking for the key", s.done, s.total, "files")
}
