package explorer

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"hudiscope/core/api"
	"hudiscope/core/groupreader"
	"hudiscope/core/query"
	"hudiscope/core/release"
	"hudiscope/core/storage"
	"hudiscope/core/table"
)

// Plan says what a Spark read will do. Only the timeline, commit metadata and listings are read.
func (s *Service) Plan(ctx context.Context, req api.PlanRequest) (*api.Plan, error) {
	h, err := s.ready(ctx, req.Table)
	if err != nil {
		return nil, err
	}
	settings, err := query.ParseScan(req.Spark)
	if err != nil {
		return nil, invalid("%s.", err)
	}
	if req.Limit < 0 {
		return nil, invalid("A limit is not negative.")
	}
	h.progress(ctx, api.Progress{Phase: "Planning the read"})
	p, err := s.prepare(ctx, h, readRequest{req.Options, req.Partitions, req.FileID, req.Condition}, true, func(dirs int) {
		h.progress(ctx, api.Progress{Phase: "Listing partitions", Done: int64(dirs), Unit: "directories"})
	})
	if err != nil {
		return nil, err
	}
	sizes := p.sizes
	out := &api.Plan{Relation: relationOf(&p.Relation), Columns: shownColumns(p.Plan), SchemaFrom: p.From, AsOf: p.AsOf, Rules: h.table.Rules.Name(),
		Range: p.Range, Filter: p.Filter, Instants: chosenOf(p.Instants), Parts: []api.PlanPart{}, Pruning: p.pruning}
	for i := range p.Parts {
		sl := &p.Parts[i].Slice
		part := api.PlanPart{Partition: sl.Partition, FileID: sl.FileID, BaseInstant: sl.BaseInstant, Base: sl.Base, Logs: sl.Logs, How: p.Parts[i].How}
		for _, f := range filesOf(sl) {
			part.Bytes += max(sizes[f], 0)
		}
		if i < len(p.Changes) {
			part.Changes = changesOf(p.Changes[i].Changes)
		}
		out.Parts = append(out.Parts, part)
	}
	rules := &h.table.Rules
	if pieces := settings.Pieces(scanFiles(p.Plan, sizes)); pieces > query.MaxPieces {
		return nil, invalid("By these settings the files are cut into %d pieces; at most %d are planned. Give spark.sql.files.maxPartitionBytes or spark.sql.files.openCostInBytes a larger value, such as 1m.", pieces, query.MaxPieces)
	}
	out.Tasks = tasksOf(p.Plan, sizes, settings, req.Limit, rules.ByRequestedTime && !rules.HollowCommits && strings.HasPrefix(p.Relation.Name(), "MergeOnRead"))
	out.Findings = p.allFindings(&h.table.Rules)
	if err := h.planSchema(ctx, p.Plan, req.Options, out); err != nil {
		return nil, err
	}
	return out, nil
}

// filesOf are the files of a slice, nil for none.
func filesOf(s *groupreader.Slice) []string {
	if s == nil {
		return nil
	}
	var out []string
	if s.Base != "" {
		out = append(out, s.Base)
	}
	return append(out, s.Logs...)
}

// sizes lists the directories of the parts' files for their sizes.
func (h *handle) sizes(ctx context.Context, parts []query.Part) (map[string]int64, error) {
	dirs := map[string]bool{}
	for i := range parts {
		for _, f := range filesOf(&parts[i].Slice) {
			dirs[f[:max(strings.LastIndexByte(f, '/'), 0)]] = true
		}
	}
	out := map[string]int64{}
	for d := range dirs {
		l, err := h.src.List(ctx, d)
		if storage.IsNotExist(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, e := range l.Entries {
			name := e.Name
			if d != "" {
				name = d + "/" + name
			}
			out[name] = e.Size
		}
	}
	return out, nil
}

func relationOf(r *query.Relation) api.QueryRelation {
	in := &r.Inputs
	out := api.QueryRelation{Taken: r.Taken, Name: r.Name(), Inputs: []api.Fact{
		{Name: "table type", Value: in.TableType}, {Name: "query type", Value: in.QueryType}, {Name: "format", Value: map[bool]string{false: "latest_state", true: "cdc"}[in.CDC]},
		{Name: "bootstrapped", Value: strconv.FormatBool(in.Bootstrapped)}, {Name: "has a completed commit", Value: strconv.FormatBool(in.Commits)},
		{Name: "table logs changes", Value: strconv.FormatBool(in.CDCEnabled)}, {Name: "table version", Value: strconv.Itoa(in.Version)}}}
	for _, x := range r.Rules {
		name := x.Relation
		if name == "" {
			name = "error"
		}
		out.Rules = append(out.Rules, api.RelationRule{When: x.When, Relation: name, Reads: x.Reads, Holds: x.Holds})
	}
	return out
}

func chosenOf(list []query.Chosen) []api.ChosenInstant {
	var out []api.ChosenInstant
	for _, c := range list {
		out = append(out, api.ChosenInstant(c))
	}
	return out
}

// maxGone bounds the missing files that are told of one by one.
const maxGone = 20

// goneFindings are those of files that a read needs and that are not there.
func goneFindings(gone []table.MissingFile) []api.Finding {
	var out []api.Finding
	for i := range gone {
		if i == maxGone {
			out = append(out, api.Finding{Level: "error", Title: "A file is missing", Detail: fmt.Sprintf("%d more files are not there; the health checks list them.", len(gone)-i), Offset: -1})
			break
		}
		out = append(out, api.Finding{Level: "error", Title: "A file is missing", Detail: gone[i].Sentence(), File: gone[i].Path, Offset: -1})
	}
	return out
}

func findingsOf(p *query.Plan, rules *release.Rules) []api.Finding {
	out := goneFindings(p.Gone)
	for _, f := range p.Failures {
		out = append(out, failure(rules, f.ID, f.Detail))
	}
	for _, n := range p.Remarks {
		out = append(out, api.Finding{Level: "warning", Title: "How these rows are read", Detail: n})
	}
	for _, h := range p.Hints {
		out = append(out, api.Finding{Level: "note", Title: h.Title, Detail: h.Detail})
	}
	for _, n := range p.Notes {
		out = append(out, api.Finding{Level: "warning", Title: "Rows may be missing", Detail: n})
	}
	return out
}

// scanFiles are the plan's parts as Spark packs them: base files alone are split, slices with logs are not.
func scanFiles(p *query.Plan, sizes map[string]int64) []query.ScanFile {
	var files []query.ScanFile
	for i := range p.Parts {
		sl := &p.Parts[i].Slice
		f := query.ScanFile{Path: sl.Base, Splittable: len(sl.Logs) == 0 && strings.HasSuffix(sl.Base, ".parquet"), Part: i}
		for _, name := range filesOf(sl) {
			f.Length += max(sizes[name], 0)
		}
		if f.Path == "" && len(sl.Logs) > 0 {
			f.Path = sl.Logs[0]
		}
		files = append(files, f)
	}
	return files
}

// tasksOf packs the plan's files as Spark does: base files alone are split, slices with logs are not.
// The merge-on-read relations up to 0.13 make one task per slice.
func tasksOf(p *query.Plan, sizes map[string]int64, s query.ScanSettings, limit int, perSlice bool) api.Tasks {
	files := scanFiles(p, sizes)
	out := api.Tasks{MaxSplitBytes: s.MaxSplitBytes(files), Tasks: []api.Task{}}
	var total int64
	for _, f := range files {
		total += f.Length + s.OpenCost
	}
	out.Sum = fmt.Sprintf("min(%d, max(%d, %d / %d))", s.MaxPartitionBytes, s.OpenCost, total, s.Parallelism)
	tasks := s.Pack(files)
	if perSlice {
		tasks = nil
		out.Sum = "one task per file slice"
		for _, f := range files {
			tasks = append(tasks, query.Task{{ScanFile: f, Bytes: f.Length}})
		}
	}
	for _, t := range tasks {
		task := api.Task{}
		for _, x := range t {
			task.Bytes += x.Bytes
			task.Pieces = append(task.Pieces, api.Piece{Part: x.Part, File: x.Path, Start: x.Start, Length: x.Bytes})
		}
		out.Tasks = append(out.Tasks, task)
	}
	if limit > 0 {
		for _, r := range s.Take(limit, len(out.Tasks), func(int) int { return 0 }) {
			out.Rounds = append(out.Rounds, api.TaskRound{First: r.First, Tasks: r.Tasks})
		}
	}
	return out
}
