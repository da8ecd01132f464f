// Package instants tells what an instant did, or is going to do, from its own metadata: a
// rollback its targets, a clean the files it removed, a savepoint what it keeps, a plan the
// file slices it reads, a pending write its workload profile.
//
// Its input is decoded metadata, wherever it was stored: files of the active timeline, or
// records of either archive. Nothing here reads a file.
//
// Source of the rules: spec timeline.md sections 4, 6 and 7.
package instants

import (
	"encoding/json"
	"fmt"
	"path"
	"sort"
	"strings"
	"time"

	"hudiscope/core/api"
	"hudiscope/core/commitmeta"
	"hudiscope/core/corrupt"
	"hudiscope/core/logfile"
	"hudiscope/core/timeline"
)

// Part is the metadata of one state of an instant.
type Part struct {
	State timeline.State
	// File is the name of the file it is from, or of the archive file.
	File string
	// Record is the name of the Avro record, "" for JSON files and when it is not known.
	Record string
	// JSON is the record, nil when the state has no content.
	JSON json.RawMessage
}

// Input is an instant with what its states hold.
type Input struct {
	Requested, Completed string
	Action               timeline.Action
	State                timeline.State
	// Planned is the pending action of a completed table service ("compaction" for a commit
	// that a compaction made), "" when it is not known or the same.
	Planned timeline.Action
	// CompletedFile is the name of the completed file, "" while pending.
	CompletedFile string
	Parts         []Part
}

// record tells the record type of a part: as its container names it, else by action and state
// (spec timeline.md section 4.2).
func (in *Input) record(p *Part) string {
	if p.Record != "" {
		return p.Record
	}
	action := in.Action
	if p.State != timeline.Completed && in.Planned != "" {
		action = in.Planned
	}
	done := p.State == timeline.Completed
	switch action {
	case timeline.Commit, timeline.DeltaCommit:
		return "HoodieCommitMetadata"
	case timeline.Compaction, timeline.LogCompaction:
		if done {
			return "HoodieCommitMetadata"
		}
		return "HoodieCompactionPlan"
	case timeline.ReplaceCommit, timeline.Clustering:
		switch p.State {
		case timeline.Requested:
			return "HoodieRequestedReplaceMetadata"
		case timeline.Inflight:
			return "HoodieCommitMetadata"
		}
		return "HoodieReplaceCommitMetadata"
	case timeline.Clean:
		if done {
			return "HoodieCleanMetadata"
		}
		return "HoodieCleanerPlan"
	case timeline.Rollback:
		if done {
			return "HoodieRollbackMetadata"
		}
		return "HoodieRollbackPlan"
	case timeline.Restore:
		if done {
			return "HoodieRestoreMetadata"
		}
		return "HoodieRestorePlan"
	case timeline.Savepoint:
		return "HoodieSavepointMetadata"
	case timeline.Indexing:
		if done {
			return "HoodieIndexCommitMetadata"
		}
		return "HoodieIndexPlan"
	}
	return ""
}

// find decodes the part that holds one of the records, the latest state first.
func find[T any](in *Input, out *api.InstantWork, records ...string) (*T, *Part) {
	for i := len(in.Parts) - 1; i >= 0; i-- {
		p := &in.Parts[i]
		if p.JSON == nil {
			continue
		}
		r := in.record(p)
		for _, want := range records {
			if r != want {
				continue
			}
			v := new(T)
			if err := json.Unmarshal(p.JSON, v); err != nil {
				out.Findings = append(out.Findings, api.Finding{Level: "warning", Title: "Metadata of unexpected shape", Detail: fmt.Sprintf("%s does not decode as %s: %v.", p.File, r, err), File: p.File})
				return nil, nil
			}
			return v, p
		}
	}
	return nil, nil
}

// Commit decodes the commit metadata of the completed file, nil when there is none.
func Commit(in *Input) *commitmeta.CommitMetadata { return commit(in, timeline.Completed) }

func commit(in *Input, s timeline.State) *commitmeta.CommitMetadata {
	for i := len(in.Parts) - 1; i >= 0; i-- {
		p := &in.Parts[i]
		if p.State != s || p.JSON == nil {
			continue
		}
		switch in.record(p) {
		case "HoodieCommitMetadata", "HoodieReplaceCommitMetadata":
			if m, err := commitmeta.CommitFromJSON(p.JSON); err == nil {
				return m
			}
		}
	}
	return nil
}

// Describe tells what an instant did.
func Describe(in *Input) *api.InstantWork {
	out := &api.InstantWork{Relations: []api.Relation{}}
	plan := in.State != timeline.Completed
	link := func(kind, to, note string) {
		if to != "" && (to != in.Requested || kind == api.RelSaves) {
			out.Relations = append(out.Relations, api.Relation{Kind: kind, From: in.Requested, FromAction: string(in.Action), To: to, Note: note, Plan: plan})
		}
	}
	switch in.Action {
	case timeline.Rollback:
		out.Rollback = rollback(in, out)
		for _, t := range out.Rollback.Targets {
			link(api.RelRollsBack, t.Requested, t.Action)
		}
		out.Sentence = rollbackSentence(in, out.Rollback)
	case timeline.Restore:
		out.Restore = restore(in, out)
		for _, t := range out.Restore.Targets {
			link(api.RelRestores, t.Requested, t.Action)
		}
		link(api.RelRestoresTo, out.Restore.Savepoint, "")
		out.Sentence = verb(plan, "Restores", "Restored") + " the table"
		if out.Restore.Savepoint != "" {
			out.Sentence += " to " + out.Restore.Savepoint
		}
		out.Sentence += fmt.Sprintf(" by undoing %s.", count(len(out.Restore.Targets), "instant"))
	case timeline.Clean:
		out.Clean = clean(in, out)
		link(api.RelRetains, out.Clean.EarliestRetained, "")
		out.Sentence = fmt.Sprintf("%s %s in %s", verb(plan, "Removes", "Removed"), count(int(out.Clean.FilesDeleted), "file"), count(len(out.Clean.Partitions), "partition"))
		if out.Clean.EarliestRetained != "" {
			out.Sentence += "; keeps what is needed from " + out.Clean.EarliestRetained + " on"
		}
		out.Sentence += "."
	case timeline.Savepoint:
		out.Savepoint = savepoint(in, out)
		link(api.RelSaves, in.Requested, "")
		out.Sentence = fmt.Sprintf("Keeps %s of the table as of this instant from being cleaned.", count(out.Savepoint.Files, "file"))
	case timeline.Indexing:
		m, _ := find[commitmeta.IndexMetadata](in, out, "HoodieIndexCommitMetadata", "HoodieIndexPlan")
		var names []string
		if m != nil {
			for _, p := range m.Partitions {
				out.Indexing = append(out.Indexing, api.IndexingWork{Partition: p.Partition, UpTo: p.UpTo})
				names = append(names, p.Partition)
				link(api.RelIndexes, p.UpTo, p.Partition)
			}
		}
		out.Sentence = verb(plan, "Builds", "Built") + " the index partitions " + strings.Join(names, ", ") + " of the metadata table."
	default:
		write(in, out, link)
	}
	if plan {
		out.Pending = &api.Pending{Since: in.Requested, AgeSeconds: -1, What: pendingWhat(in, out), Blocks: pendingBlocks(in.Action)}
	}
	return out
}

func verb(plan bool, now, done string) string {
	if plan {
		return now
	}
	return done
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func name(p string) string { return path.Base(p) }

func names(paths []string) []string {
	out := make([]string, len(paths))
	for i, p := range paths {
		out[i] = name(p)
	}
	return out
}

// write describes commits, deltacommits, replacecommits and the plans of table services.
func write(in *Input, out *api.InstantWork, link func(kind, to, note string)) {
	done := commit(in, timeline.Completed)
	out.Plan = plan(in, out)
	service := ""
	if in.Planned != in.Action {
		service = string(in.Planned)
	}
	if done != nil {
		switch done.Operation {
		case commitmeta.OpCompact:
			service = "compaction"
		case commitmeta.OpLogCompact:
			service = "logcompaction"
		case commitmeta.OpCluster:
			service = "clustering"
		}
	}
	if service == "" && out.Plan != nil {
		service = out.Plan.Kind
	}
	if in.State == timeline.Completed {
		out.Service = service
	}
	if out.Plan != nil {
		if in.State == timeline.Completed {
			out.Plan.Output, out.Plan.OutputFile = in.Requested, in.CompletedFile
		}
		kind := api.RelCompacts
		if out.Plan.Kind == "clustering" {
			kind = api.RelClusters
		}
		read := map[string]int{}
		for _, s := range out.Plan.Slices {
			seen := map[string]bool{s.BaseInstant: true}
			for _, f := range append([]string{s.Base}, s.Logs...) {
				seen[fileInstant(f)] = true
			}
			for t := range seen {
				read[t]++
			}
		}
		for _, t := range sortedKeys(read) {
			link(kind, t, count(read[t], "file slice"))
		}
	}
	if in.State == timeline.Completed && service != "" && in.Planned != "" && in.Planned != in.Action {
		out.Relations = append(out.Relations, api.Relation{Kind: api.RelCompleted, From: in.Requested, FromAction: string(in.Action), To: in.Requested, Note: string(in.Planned)})
	}
	if profile := commit(in, timeline.Inflight); profile != nil && hasProfile(profile) {
		out.Workload = WorkloadOf(profile, inflightFile(in), in.State.String())
	}
	if done != nil {
		over := map[string]int{}
		var errs int64
		for _, p := range done.Partitions {
			for i := range p.Stats {
				if c := p.Stats[i].PrevCommit; c != "" && c != "null" {
					over[c]++
				}
				errs += p.Stats[i].TotalWriteErrors
			}
		}
		for _, t := range sortedKeys(over) {
			link(api.RelWritesOver, t, count(over[t], "file group"))
		}
		for _, p := range done.Replaced {
			for _, id := range p.FileIDs {
				out.Replaced = append(out.Replaced, api.ReplacedGroup{Partition: p.Partition, FileID: id})
			}
		}
		if errs > 0 {
			out.Findings = append(out.Findings, api.Finding{Level: "warning", Title: "Records could not be written", Detail: fmt.Sprintf("%d records had write errors; the commit went through without them.", errs), File: in.CompletedFile})
		}
		extra(done, out)
	}
	out.Sentence = writeSentence(in, out, done, service)
}

func writeSentence(in *Input, out *api.InstantWork, done *commitmeta.CommitMetadata, service string) string {
	if done == nil {
		switch {
		case out.Plan != nil && out.Plan.Kind == "clustering":
			return fmt.Sprintf("Is going to rewrite %s in %s.", count(len(out.Plan.Slices), "file slice"), count(out.Plan.Groups, "group"))
		case out.Plan != nil:
			return fmt.Sprintf("Is going to merge the log files of %s.", count(len(out.Plan.Slices), "file slice"))
		case out.Workload != nil:
			return fmt.Sprintf("Is going to write %s and %s.", count(int(out.Workload.Inserts), "insert"), count(int(out.Workload.Updates), "update"))
		case in.State == timeline.Completed:
			return "Completed; its file holds no metadata, so what it wrote is not known from it."
		}
		return "Has begun; its files do not tell yet what it is going to write."
	}
	var ins, upd, del, files int64
	for _, p := range done.Partitions {
		for i := range p.Stats {
			s := &p.Stats[i]
			ins, upd, del, files = ins+s.NumInserts, upd+s.NumUpdateWrites, del+s.NumDeletes, files+1
		}
	}
	what := done.Operation
	if service != "" {
		what += " (" + service + ")"
	}
	s := fmt.Sprintf("%s: wrote %s in %s: %s, %s, %s", what, count(int(files), "file"), count(len(done.Partitions), "partition"),
		count(int(ins), "insert"), count(int(upd), "update"), count(int(del), "delete"))
	if len(out.Replaced) > 0 {
		s += "; replaced " + count(len(out.Replaced), "file group")
	}
	return s + "."
}

// fileInstant is the instant in the name of a data file, "" when it has none.
func fileInstant(file string) string {
	file = name(file)
	if log, rest, ok := strings.Cut(file, ".log."); ok && strings.HasPrefix(file, ".") && rest != "" {
		return digitsOnly(log[strings.LastIndexByte(log, '_')+1:])
	}
	i := strings.LastIndexByte(file, '_')
	if i < 0 {
		return ""
	}
	t, _, _ := strings.Cut(file[i+1:], ".")
	return digitsOnly(t)
}

func digitsOnly(s string) string {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return ""
		}
	}
	return s
}

func sortedKeys[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	sort.Strings(out)
	return out
}

// plan reads the plan of a compaction or clustering, nil when there is none.
func plan(in *Input, out *api.InstantWork) *api.PlanWork {
	if c, _ := find[commitmeta.CompactionPlan](in, out, "HoodieCompactionPlan"); c != nil {
		p := &api.PlanWork{Kind: "compaction", Slices: []api.PlanSlice{}, MissingPartition: c.MissingPartition}
		if in.Planned == timeline.LogCompaction || in.Action == timeline.LogCompaction {
			p.Kind = "logcompaction"
		}
		if c.Strategy != nil {
			p.Strategy, p.Params = c.Strategy.Compactor, params(c.Strategy.Params)
		}
		for i := range c.Operations {
			o := &c.Operations[i]
			p.Slices = append(p.Slices, api.PlanSlice{Partition: o.Partition, FileID: o.FileID, BaseInstant: o.BaseInstant, Base: o.DataFile(), Logs: o.DeltaFiles(), Metrics: o.Metrics})
		}
		return p
	}
	if r, _ := find[commitmeta.RequestedReplace](in, out, "HoodieRequestedReplaceMetadata"); r != nil && r.Clustering != nil {
		c := r.Clustering
		p := &api.PlanWork{Kind: "clustering", Slices: []api.PlanSlice{}, Groups: len(c.Groups), MissingPartition: c.MissingPartition}
		if c.Strategy != nil {
			p.Strategy, p.Params = c.Strategy.Clustering, params(c.Strategy.Params)
		}
		for i, g := range c.Groups {
			n := 1
			if g.OutputGroups != nil {
				n = *g.OutputGroups
			}
			p.OutputGroups += n
			for _, s := range g.Slices {
				x := api.PlanSlice{Partition: s.Partition, FileID: s.FileID, Logs: names(s.DeltaPaths), Group: i, Metrics: g.Metrics}
				if s.DataPath != nil && *s.DataPath != "" {
					x.Base = name(*s.DataPath)
					x.BaseInstant = fileInstant(x.Base)
				}
				p.Slices = append(p.Slices, x)
			}
		}
		return p
	}
	return nil
}

func params(m map[string]*string) []api.ExtraEntry {
	var out []api.ExtraEntry
	for _, k := range sortedKeys(m) {
		if m[k] != nil {
			out = append(out, api.ExtraEntry{Key: k, Value: *m[k]})
		}
	}
	return out
}

func instantNames(refs []commitmeta.InstantRef, times []string) []api.InstantName {
	out := []api.InstantName{}
	for _, r := range refs {
		if r.Time() != "" {
			out = append(out, api.InstantName{Requested: r.Time(), Action: r.Action})
		}
	}
	if len(out) == 0 {
		for _, t := range times {
			out = append(out, api.InstantName{Requested: t})
		}
	}
	return out
}

func rollback(in *Input, out *api.InstantWork) *api.RollbackWork {
	if m, _ := find[commitmeta.RollbackMetadata](in, out, "HoodieRollbackMetadata"); m != nil {
		return rollbackDone(m)
	}
	w := &api.RollbackWork{Targets: []api.InstantName{}, Partitions: []api.RollbackPartition{}}
	m, _ := find[commitmeta.RollbackPlan](in, out, "HoodieRollbackPlan")
	if m == nil {
		return w
	}
	if m.Target != nil {
		w.Targets = instantNames([]commitmeta.InstantRef{*m.Target}, nil)
	}
	for _, r := range m.Requests {
		p := api.RollbackPartition{Partition: r.Partition, Deleted: names(r.Delete), FileID: r.FileID, BaseInstant: r.BaseInstant}
		p.WriteLogs, p.UnnamedLogs = logSizes(r.LogBlocks)
		w.FilesDeleted += int64(len(r.Delete))
		w.Partitions = append(w.Partitions, p)
	}
	return w
}

func rollbackDone(m *commitmeta.RollbackMetadata) *api.RollbackWork {
	w := &api.RollbackWork{Targets: instantNames(m.Instants, m.Commits), FilesDeleted: m.FilesDeleted, Milliseconds: m.TimeTakenMs, Partitions: []api.RollbackPartition{}}
	for _, k := range sortedKeys(m.Partitions) {
		p := m.Partitions[k]
		q := api.RollbackPartition{Partition: k, Deleted: names(p.Deleted), Failed: names(p.Failed), CommandLogs: sizes(p.RollbackLogs)}
		q.WriteLogs, q.UnnamedLogs = logSizes(p.LogsFromWrite)
		w.Partitions = append(w.Partitions, q)
	}
	return w
}

func rollbackSentence(in *Input, w *api.RollbackWork) string {
	var t []string
	for _, x := range w.Targets {
		t = append(t, strings.TrimSpace(x.Action+" "+x.Requested))
	}
	if len(t) == 0 {
		return "Neither its result nor its plan tells what it rolls back."
	}
	logs := 0
	for _, p := range w.Partitions {
		logs += len(p.CommandLogs)
		if in.State != timeline.Completed {
			logs += len(p.WriteLogs) + p.UnnamedLogs
		}
	}
	s := fmt.Sprintf("%s %s: %s deleted", verb(in.State != timeline.Completed, "Rolls back", "Rolled back"), strings.Join(t, ", "), count(int(w.FilesDeleted), "file"))
	if logs > 0 {
		s += ", blocks cancelled in " + count(logs, "log file")
	}
	return s + "."
}

// logSizes are the log files that metadata names, and how many entries name none: releases before 1.0 write the path of the table
// in place of the log files whose blocks a rollback cancels.
func logSizes(m map[string]int64) (named []api.FileSize, unnamed int) {
	for _, f := range sizes(m) {
		if _, ok := logfile.ParseName(path.Base(f.Path)); ok {
			named = append(named, f)
		} else {
			unnamed++
		}
	}
	return named, unnamed
}

func sizes(m map[string]int64) []api.FileSize {
	var out []api.FileSize
	for _, k := range sortedKeys(m) {
		out = append(out, api.FileSize{Path: name(k), Size: m[k]})
	}
	return out
}

func restore(in *Input, out *api.InstantWork) *api.RestoreWork {
	w := &api.RestoreWork{Targets: []api.InstantName{}}
	if m, _ := find[commitmeta.RestorePlan](in, out, "HoodieRestorePlan"); m != nil {
		w.Targets = instantNames(m.Instants, nil)
		if m.Savepoint != nil {
			w.Savepoint = *m.Savepoint
		}
	}
	if m, _ := find[commitmeta.RestoreMetadata](in, out, "HoodieRestoreMetadata"); m != nil {
		w.Milliseconds = m.TimeTakenMs
		if t := instantNames(m.Infos, m.Instants); len(t) >= len(w.Targets) {
			w.Targets = t
		}
		for _, k := range sortedKeys(m.Rollbacks) {
			for i := range m.Rollbacks[k] {
				w.Rollbacks = append(w.Rollbacks, *rollbackDone(&m.Rollbacks[k][i]))
			}
		}
	}
	return w
}

func clean(in *Input, out *api.InstantWork) *api.CleanWork {
	w := &api.CleanWork{Partitions: []api.CleanPartition{}}
	if m, _ := find[commitmeta.CleanMetadata](in, out, "HoodieCleanMetadata"); m != nil {
		w.EarliestRetained, w.LastCompleted, w.FilesDeleted, w.Milliseconds = m.EarliestRetained, m.LastCompleted, m.FilesDeleted, m.TimeTakenMs
		for _, k := range sortedKeys(m.Partitions) {
			p := m.Partitions[k]
			w.Policy = p.Policy
			w.Partitions = append(w.Partitions, api.CleanPartition{Partition: k, Deleted: names(p.Deleted), Failed: names(p.Failed), Gone: p.Gone})
		}
		return w
	}
	m, _ := find[commitmeta.CleanerPlan](in, out, "HoodieCleanerPlan")
	if m == nil {
		return w
	}
	w.LastCompleted, w.Policy = m.LastCompleted, m.Policy
	if m.Earliest != nil {
		w.EarliestRetained = m.Earliest.Time()
	}
	files := map[string][]string{}
	for k, list := range m.Files {
		files[k] = append(files[k], names(list)...)
	}
	for k, list := range m.FilePaths {
		for _, f := range list {
			if f.Path != nil {
				files[k] = append(files[k], name(*f.Path))
			}
		}
	}
	gone := map[string]bool{}
	for _, p := range m.Partitions {
		gone[p] = true
		if files[p] == nil {
			files[p] = []string{}
		}
	}
	for _, k := range sortedKeys(files) {
		w.FilesDeleted += int64(len(files[k]))
		w.Partitions = append(w.Partitions, api.CleanPartition{Partition: k, Deleted: files[k], Gone: gone[k]})
	}
	return w
}

func savepoint(in *Input, out *api.InstantWork) *api.SavepointWork {
	w := &api.SavepointWork{Partitions: []api.SavepointPartition{}, Note: "A savepoint keeps the files that a read as of this instant needs; it does not keep the instants after it from being read."}
	m, _ := find[commitmeta.SavepointMetadata](in, out, "HoodieSavepointMetadata")
	if m == nil {
		return w
	}
	w.By, w.AtMs, w.Comments = m.By, m.AtMs, m.Comments
	for _, k := range sortedKeys(m.Partitions) {
		f := names(m.Partitions[k].Files)
		w.Files += len(f)
		w.Partitions = append(w.Partitions, api.SavepointPartition{Partition: k, Files: f})
	}
	return w
}

// checkpoints are the keys of extra metadata that ingestion tools store.
var checkpoints = map[string]string{
	"deltastreamer.checkpoint.key":       "checkpoint of Hudi Streamer (to resume from)",
	"deltastreamer.checkpoint.reset_key": "the checkpoint the user reset to",
	"streamer.checkpoint.key.v2":         "checkpoint of Hudi Streamer by completion time",
	"streamer.checkpoint.reset.key.v2":   "the checkpoint the user reset to",
	"checkpoint":                         "checkpoint of a Flink writer",
	"_hudi_streaming_sink_checkpoint":    "batch of Spark structured streaming",
	"latest_schema":                      "schema with field ids, for schema evolution",
	"schemaCommitTime":                   "the commit that brought the schema",
}

// extra lists the extra metadata of a commit.
func extra(m *commitmeta.CommitMetadata, out *api.InstantWork) {
	for _, k := range sortedKeys(m.Extra) {
		v := m.Extra[k]
		if k == "schema" {
			if json.Valid([]byte(v)) {
				out.Schema = json.RawMessage(v)
			}
			continue
		}
		what := checkpoints[k]
		if what == "" && strings.Contains(strings.ToLower(k), "checkpoint") {
			what = "a checkpoint"
		}
		if what == "" && strings.HasPrefix(k, "_") {
			what = "stored by the writer's user"
		}
		out.Extra = append(out.Extra, api.ExtraEntry{Key: k, Value: v, What: what})
	}
}

func pendingWhat(in *Input, out *api.InstantWork) string {
	state := "was requested and has not begun"
	if in.State == timeline.Inflight {
		state = "has begun and has not completed"
	}
	s := fmt.Sprintf("The %s %s.", in.Action, state)
	if out.Plan != nil {
		s += fmt.Sprintf(" Its plan names %s.", count(len(out.Plan.Slices), "file slice"))
	}
	return s
}

func pendingBlocks(a timeline.Action) string {
	switch a {
	case timeline.Compaction:
		return "Its file slices gain new log files beside the plan until it runs; the archiver can't move past it."
	case timeline.LogCompaction:
		return "A compaction of the same file groups waits for it; the archiver can't move past it."
	case timeline.Clustering, timeline.ReplaceCommit:
		return "If it is a clustering, updates of its input file groups are refused or made to wait; the archiver can't move past it."
	case timeline.Rollback, timeline.Restore:
		return "Writers finish it before they write; the archiver can't move past it."
	case timeline.Indexing:
		return "The metadata partitions it builds are not used until it completes."
	case timeline.Clean:
		return "The next clean finishes it first."
	}
	return "Later writers roll it back when its heartbeat has expired; the archiver and, before version 8, incremental reads can't move past it."
}

// Time turns an instant into a time, as if it were UTC: the writer's zone is not stored. Instants
// have 14 digits, or 17 with milliseconds; those of the metadata table may have more.
func Time(instant string) (time.Time, bool) {
	if len(instant) < 14 {
		return time.Time{}, false
	}
	t, err := time.Parse("20060102150405", instant[:14])
	if err != nil {
		return time.Time{}, false
	}
	if len(instant) >= 17 {
		ms := 0
		for _, c := range instant[14:17] {
			if c < '0' || c > '9' {
				return t, true
			}
			ms = ms*10 + int(c-'0')
		}
		t = t.Add(time.Duration(ms) * time.Millisecond)
	}
	return t, true
}

// Tolerable reports whether an error of one part is a finding about it, not a failure.
func Tolerable(err error) bool { return corrupt.Is(err) }
