// Package health finds what is not well with a table: damaged instants, files that are missing
// or that no instant mentions, table services that lag, writers that died. Every finding has
// its evidence, the view that shows it, and what Hudi itself would do.
//
// The checks are pure functions of an Input; whoever fills it does the reading. What an Input
// lacks makes the checks that need it "skipped", never "ok".
package health

import (
	"context"
	"fmt"
	"sort"
	"strings"
	"time"

	"hudiscope/core/api"
	"hudiscope/core/commitmeta"
	"hudiscope/core/config"
	"hudiscope/core/filegroup"
	"hudiscope/core/instants"
	"hudiscope/core/timeline"
)

// Commit is a completed commit with its metadata.
type Commit struct {
	Instant timeline.Instant
	// Meta is nil when Err says why it could not be read.
	Meta *commitmeta.CommitMetadata
	Err  error
	// SchemaErr says why the schema that it carries can't be read.
	SchemaErr error
}

// Service is an instant of a table service, or a pending write, with what its files say.
type Service struct {
	Instant timeline.Instant
	Work    *api.InstantWork
	// Errs are the parts that could not be decoded.
	Errs []error
}

// Unmarked is a partition directory that commits wrote to and that has no partition marker.
type Unmarked struct {
	Partition string
	// Files and Bytes are what lies in the directory; Commit is one that wrote there.
	Files  int
	Bytes  int64
	Commit string
}

// Input is what the checks look at.
type Input struct {
	Config   *config.Config
	Timeline *timeline.Timeline
	View     *filegroup.View
	// Commits are completed commits of the active timeline, oldest first. All is false when
	// older ones were left out.
	Commits []Commit
	All     bool
	// SchemaErr says why the table has no schema to read rows with, unless that is said of a commit.
	SchemaErr error
	// Services are all pending instants, and completed rollbacks, restores, cleans and savepoints.
	Services []Service
	Unmarked []Unmarked
	// Heartbeats holds the last heartbeat by instant; Markers counts marker files by instant.
	Heartbeats map[string]time.Time
	Markers    map[string]int
	// Now is the time, as an instant in UTC, that ages are measured to; "" leaves out what needs it.
	Now string
	// AsOf is the instant that Timeline and View end at, "" when they are whole; Whole is the view with all.
	AsOf  string
	Whole *filegroup.View
	// Limits are the thresholds by name; absent ones take their defaults.
	Limits map[string]float64
	// Metadata are the disagreements of the metadata table with the storage, as found by a
	// comparison; MetadataNote says why there was none.
	Metadata     []api.HealthFinding
	MetadataNote string
	// Keys hands out the record keys of the latest slices, until yield returns false. nil when
	// keys were not asked for.
	Keys func(ctx context.Context, yield func(KeyAt) bool) error

	ledger *ledger
	keys   int64
}

// Thresholds are the numbers that decide when a finding is made, with their defaults.
var Thresholds = []api.HealthThreshold{
	{Name: "small.bytes", Default: 100 << 20, Unit: "bytes", What: "A base file below this is small (Hudi's hoodie.parquet.small.file.limit)."},
	{Name: "small.files", Default: 10, Unit: "files", What: "More small files than this in one partition are a warning."},
	{Name: "log.ratio", Default: 1, Unit: "times", What: "Log bytes over base bytes of a slice, above which its log files are found too large."},
	{Name: "log.bytes", Default: 64 << 20, Unit: "bytes", What: "Log bytes of such a slice from which it is a warning."},
	{Name: "log.files", Default: 20, Unit: "files", What: "Log files of one slice, above which it is a warning."},
	{Name: "plan.commits", Default: 10, Unit: "commits", What: "Completed writes after a pending compaction or clustering plan, above which it is a warning."},
	{Name: "plan.hours", Default: 24, Unit: "hours", What: "Time from such a plan to the newest instant, above which it is a warning."},
	{Name: "compact.commits", Default: 20, Unit: "commits", What: "Delta commits since the last compaction, above which it lags (Hudi schedules after 5 by default)."},
	{Name: "stuck.hours", Default: 1, Unit: "hours", What: "Time from a pending instant to the newest instant, above which it is stuck."},
	{Name: "stuck.clock.hours", Default: 24, Unit: "hours", What: "Time from a pending instant to now, above which it is stuck. Instants do not store their time zone: less than 14 hours mean nothing."},
	{Name: "rollback.count", Default: 3, Unit: "rollbacks", What: "Rollbacks among the newest instants, from which they are repeated."},
	{Name: "rollback.window", Default: 50, Unit: "instants", What: "How many of the newest instants count for rollback.count."},
	{Name: "clean.commits", Default: 30, Unit: "commits", What: "Completed commits since the last clean, above which the cleaner lags (Hudi keeps 10 by default)."},
	{Name: "archive.instants", Default: 150, Unit: "instants", What: "Instants of the active timeline, above which the archiver lags (Hudi keeps 20 to 30 commits by default)."},
	{Name: "skew.hours", Default: 14, Unit: "hours", What: "How far an instant may lie in the future: the largest offset of a time zone."},
	{Name: "keys.max", Default: 8 << 20, Unit: "keys", What: "How many record keys the search for duplicates looks at; each takes 8 bytes of memory."},
}

// limit returns a threshold.
func (in *Input) limit(name string) float64 {
	if v, ok := in.Limits[name]; ok {
		return v
	}
	for _, t := range Thresholds {
		if t.Name == name {
			return t.Default
		}
	}
	panic("health: no threshold " + name) // a misspelt name in this package
}

// Check is one check.
type Check struct {
	ID, Title string
	// Deep checks read data files and run only when asked for.
	Deep bool
	// Now checks compare with what lies there now, and have no answer as of an earlier instant.
	Now bool
	// run returns findings, and why it was skipped ("" when it ran).
	run func(ctx context.Context, in *Input) ([]api.HealthFinding, string, error)
}

// Checks are all checks, in the order in which they run.
var Checks = []Check{
	{ID: "damaged-instants", Title: "Instants whose files are empty or damaged", run: pure(damagedInstants)},
	{ID: "missing-files", Title: "Files that an instant or a pending plan names and that are not there", Now: true, run: pure(missingFiles)},
	{ID: "cut-files", Title: "Files that are shorter than when they were written", Now: true, run: pure(cutFiles)},
	{ID: "orphan-files", Title: "Files that no instant mentions", Now: true, run: pure(orphanFiles)},
	{ID: "duplicate-base-files", Title: "Several base files of one slice", Now: true, run: pure(duplicateBases)},
	{ID: "partition-markers", Title: "Partitions without a marker", Now: true, run: pure(partitionMarkers)},
	{ID: "view", Title: "What building file groups and slices found", Now: true, run: pure(viewFindings)},
	{ID: "stuck-instants", Title: "Instants that do not complete", Now: true, run: pure(stuckInstants)},
	{ID: "hollow-commits", Title: "Pending writes older than completed ones", run: pure(hollowCommits)},
	{ID: "repeated-rollbacks", Title: "Repeated rollbacks", run: pure(repeatedRollbacks)},
	{ID: "pending-plans", Title: "Slices that wait for compaction or clustering", run: pure(pendingPlans)},
	{ID: "compaction-lag", Title: "Compaction lag", run: pure(compactionLag)},
	{ID: "log-ratio", Title: "Log files beside base files", run: pure(logRatio)},
	{ID: "small-files", Title: "Small files", run: pure(smallFiles)},
	{ID: "cleaner-lag", Title: "Cleaner lag", run: pure(cleanerLag)},
	{ID: "archiver-lag", Title: "Archiver lag", Now: true, run: pure(archiverLag)},
	{ID: "clock-skew", Title: "Clock skew", run: pure(clockSkew)},
	{ID: "write-errors", Title: "Commits with write errors", run: pure(writeErrors)},
	{ID: "metadata-table", Title: "Metadata table in step with the storage", Now: true, run: pure(metadataTable)},
	{ID: "duplicate-keys", Title: "Record keys in several places", Deep: true, run: duplicateKeys},
}

func pure(f func(*Input) ([]api.HealthFinding, string)) func(context.Context, *Input) ([]api.HealthFinding, string, error) {
	return func(_ context.Context, in *Input) ([]api.HealthFinding, string, error) {
		found, skipped := f(in)
		return found, skipped, nil
	}
}

// Run runs checks: those of ids, or all but the deep ones, which deep adds. progress may be nil.
func Run(ctx context.Context, in *Input, ids []string, deep bool, progress func(check string)) (*api.Health, error) {
	out := &api.Health{Level: "ok", Findings: []api.HealthFinding{}, Checks: []api.HealthCheck{}}
	known := map[string]bool{}
	for _, t := range Thresholds {
		t.Value = in.limit(t.Name)
		out.Thresholds = append(out.Thresholds, t)
		known[t.Name] = true
	}
	for name := range in.Limits {
		if !known[name] {
			return nil, &api.Fault{Kind: "invalid request", Offset: -1, Message: fmt.Sprintf("There is no threshold %q.", name), Try: "The answer of this request lists those there are."}
		}
	}
	want := map[string]bool{}
	for _, id := range ids {
		want[id] = true
	}
	for i := range Checks {
		c := &Checks[i]
		switch {
		case len(ids) > 0 && !want[c.ID]:
			continue
		case len(ids) == 0 && c.Deep && !deep:
			out.Checks = append(out.Checks, api.HealthCheck{ID: c.ID, Title: c.Title, Status: "skipped", Note: "This check reads data files; it runs when asked for.", Deep: true})
			continue
		}
		delete(want, c.ID)
		if progress != nil {
			progress(c.Title)
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if in.AsOf != "" && c.Now {
			out.Checks = append(out.Checks, api.HealthCheck{ID: c.ID, Title: c.Title, Status: "skipped", Deep: c.Deep,
				Note: "What lies there now can't tell how this was as of " + in.AsOf + "."})
			continue
		}
		found, skipped, err := c.run(ctx, in)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			// Only deep checks read. What they can't read leaves the other checks as they are.
			skipped = "It could not be carried out: " + err.Error() + "."
		}
		k := api.HealthCheck{ID: c.ID, Title: c.Title, Status: "ok", Deep: c.Deep}
		switch {
		case len(found) > 0:
			k.Status, k.Note = "found", skipped
		case skipped != "":
			k.Status, k.Note = "skipped", skipped
		}
		for j := range found {
			found[j].Check = c.ID
			if found[j].Evidence == nil {
				found[j].Evidence = []api.HealthEvidence{}
			}
		}
		out.Checks = append(out.Checks, k)
		out.Findings = append(out.Findings, found...)
	}
	for id := range want {
		return nil, &api.Fault{Kind: "invalid request", Offset: -1, Message: fmt.Sprintf("There is no check %q.", id)}
	}
	sort.SliceStable(out.Findings, func(i, j int) bool { return rank[out.Findings[i].Level] > rank[out.Findings[j].Level] })
	if len(out.Findings) > 0 {
		out.Level = out.Findings[0].Level
	}
	out.Looked = in.scope()
	return out, nil
}

var rank = map[string]int{"note": 1, "warning": 2, "error": 3}

func (in *Input) scope() api.HealthScope {
	s := api.HealthScope{Instants: len(in.Timeline.Instants), Commits: len(in.Commits), Partitions: len(in.View.Partitions), Keys: in.keys}
	for _, p := range in.View.Partitions {
		s.Bytes += p.Bytes
		s.Groups += len(p.Groups)
		s.Files += len(p.Other)
		for _, g := range p.Groups {
			s.Slices += len(g.Slices)
			for _, sl := range g.Slices {
				s.Files += len(sl.Logs)
				if sl.Base != nil {
					s.Files++
				}
			}
		}
	}
	return s
}

// maxEvidence bounds the evidence listed with one finding.
const maxEvidence = 20

// finding collects evidence.
type finding struct {
	api.HealthFinding
}

func newFinding(level, title string) *finding {
	return &finding{api.HealthFinding{Level: level, Title: title, Evidence: []api.HealthEvidence{}}}
}

func (f *finding) add(e api.HealthEvidence) {
	f.Count++
	if len(f.Evidence) < maxEvidence {
		f.Evidence = append(f.Evidence, e)
	}
}

// worse raises the level.
func (f *finding) worse(level string) {
	if rank[level] > rank[f.Level] {
		f.Level = level
	}
}

func (f *finding) list() []api.HealthFinding {
	if f.Count == 0 {
		return nil
	}
	return []api.HealthFinding{f.HealthFinding}
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// bytesText writes a size for people.
func bytesText(n int64) string {
	for _, u := range []struct {
		size int64
		name string
	}{{1 << 40, "TiB"}, {1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}} {
		if n >= u.size {
			return fmt.Sprintf("%.1f %s", float64(n)/float64(u.size), u.name)
		}
	}
	return plural(int(n), "byte")
}

// hours between two instants; ok is false when one of them is no time.
func hours(from, to string) (float64, bool) {
	a, ok := instants.Time(from)
	b, ok2 := instants.Time(to)
	return b.Sub(a).Hours(), ok && ok2
}

func hoursText(h float64) string {
	switch {
	case h < 1.0/60:
		return fmt.Sprintf("%.0f seconds", h*3600)
	case h < 1:
		return fmt.Sprintf("%.0f minutes", h*60)
	case h < 48:
		return fmt.Sprintf("%.1f hours", h)
	}
	return fmt.Sprintf("%.0f days", h/24)
}

// newest is the newest time on the timeline, requested or completed by its name.
func (in *Input) newest() string {
	out := ""
	for i := range in.Timeline.Instants {
		x := &in.Timeline.Instants[i]
		out = max(out, x.Requested)
		if x.CompletedFrom == "name" {
			out = max(out, x.Completed)
		}
	}
	return out
}

// laterWrites counts completed writes requested after an instant.
func (in *Input) laterWrites(requested string) int {
	n := 0
	for i := range in.Timeline.Instants {
		x := &in.Timeline.Instants[i]
		if x.IsCompleted() && x.Requested > requested && isWrite(x.Action) {
			n++
		}
	}
	return n
}

func isWrite(a timeline.Action) bool {
	return a == timeline.Commit || a == timeline.DeltaCommit || a == timeline.ReplaceCommit
}

// latest returns the slices that a snapshot reads.
func (in *Input) latest(each func(*filegroup.Group, *filegroup.Slice)) {
	if in.View.Latest == "" {
		return
	}
	for _, p := range in.View.Partitions {
		for _, g := range p.Groups {
			if g.ReplacedBy != "" {
				continue
			}
			if s := in.View.MergedSliceBeforeOrOn(g, in.View.Latest); s != nil && !s.Empty() {
				each(g, s)
			}
		}
	}
}

func where(partition string) string {
	if partition == "" {
		return "the table"
	}
	return "partition " + partition
}

func base(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }
