package health

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"hudiscope/core/api"
	"hudiscope/core/filegroup"
	"hudiscope/core/instants"
	"hudiscope/core/storage"
	"hudiscope/core/timeline"
)

func linkTo(x *timeline.Instant) api.HealthLink {
	return api.HealthLink{View: "timeline", Instant: x.Requested, Action: string(x.Action), File: x.File.Name}
}

func damagedInstants(in *Input) ([]api.HealthFinding, string) {
	bad := newFinding("error", "Completed commits that can't be read")
	bad.Hudi = "Every reader fails while such a file is on the active timeline, since it needs the metadata of all commits."
	for i := range in.Commits {
		c := &in.Commits[i]
		if c.Err != nil {
			bad.add(api.HealthEvidence{Text: c.Err.Error(), Instant: c.Instant.Requested, File: c.Instant.File.Name, Value: float64(c.Instant.File.Size), Unit: "bytes"})
			bad.Link = linkTo(&c.Instant)
		}
	}
	bad.Detail = fmt.Sprintf("%s can't be decoded: what was written, and with which schema, is not known from it.", plural(bad.Count, "completed commit"))

	empty := newFinding("error", "Completed commits without content")
	empty.Hudi = "It counts them as completed writes of nothing (1.x) or fails to parse them (0.x). After a crash of the storage the data files may be incomplete too."
	none := newFinding("note", "Other completed instants without content")
	none.Hudi = "It takes the plan in the requested file instead, or deletes an empty clean."
	for i := range in.Timeline.Instants {
		x := &in.Timeline.Instants[i]
		if !x.IsCompleted() || x.File.Size != 0 {
			continue
		}
		f := none
		if isWrite(x.Action) {
			f = empty
		}
		f.add(api.HealthEvidence{Text: "0 bytes", Instant: x.Requested, File: x.File.Name})
		f.Link = linkTo(x)
	}
	empty.Detail = fmt.Sprintf("%s without a byte in the file: which data files belong to it is not known.", plural(empty.Count, "completed commit"))
	none.Detail = fmt.Sprintf("%s without a byte in the file.", plural(none.Count, "completed instant"))

	plans := newFinding("warning", "Table service files that can't be read")
	plans.Hudi = "The service that needs the file fails; reading rows may go on."
	for i := range in.Services {
		s := &in.Services[i]
		for _, err := range s.Errs {
			plans.add(api.HealthEvidence{Text: err.Error(), Instant: s.Instant.Requested, File: s.Instant.File.Name})
			plans.Link = linkTo(&s.Instant)
		}
	}
	plans.Detail = fmt.Sprintf("%s of plans and results can't be decoded.", plural(plans.Count, "file"))
	return slices.Concat(bad.list(), in.badSchemas(), in.badPartitions(), empty.list(), plans.list(), none.list()), ""
}

// badSchemas tells of commits whose schema can't be read, and of the table when it has none for another reason.
func (in *Input) badSchemas() []api.HealthFinding {
	f := newFinding("error", "Schemas that can't be read")
	f.Hudi = "Readers take the schema of the newest commit that carries one, and fail when it can't be parsed."
	for i := range in.Commits {
		if c := &in.Commits[i]; c.SchemaErr != nil {
			f.add(api.HealthEvidence{Text: c.SchemaErr.Error(), Instant: c.Instant.Requested, File: c.Instant.File.Name})
			f.Link = linkTo(&c.Instant)
		}
	}
	f.Detail = fmt.Sprintf("The schema of %s can't be parsed.", plural(f.Count, "completed commit"))
	if in.SchemaErr != nil && f.Count == 0 {
		f.add(api.HealthEvidence{Text: in.SchemaErr.Error()})
		f.Detail = "There is no schema to read the table's rows with."
		f.Link = api.HealthLink{View: "schema"}
	}
	return f.list()
}

// Outside tells of a partition that is no folder below the table's: nothing may be looked for there.
func Outside(partition string) bool {
	return partition != "" && storage.CheckPath("list", partition, "") != nil
}

// badPartitions tells of commits that name such partitions.
func (in *Input) badPartitions() []api.HealthFinding {
	f := newFinding("error", "Commits that name a partition outside of the table")
	f.Hudi = "It puts the name behind the table's path as it is, and looks there."
	for i := range in.Commits {
		c := &in.Commits[i]
		if c.Meta == nil {
			continue
		}
		for _, p := range c.Meta.Partitions {
			if Outside(p.Partition) {
				f.add(api.HealthEvidence{Text: fmt.Sprintf("The partition %.200q is no folder of the table.", p.Partition), Instant: c.Instant.Requested, File: c.Instant.File.Name})
				f.Link = linkTo(&c.Instant)
			}
		}
	}
	f.Detail = fmt.Sprintf("%s that lead out of the table's folder, or are no path; they were not looked at.", plural(f.Count, "partition name"))
	return f.list()
}

// isPlan tells instants that wait for a table service to carry out their plan.
func (in *Input) isPlan(x *timeline.Instant) bool {
	switch x.Action {
	case timeline.Compaction, timeline.LogCompaction, timeline.Clustering:
		return true
	case timeline.ReplaceCommit:
		for i := range in.Services {
			s := &in.Services[i]
			if s.Instant.Requested == x.Requested && s.Work != nil && s.Work.Plan != nil {
				return true
			}
		}
	}
	return false
}

func stuckInstants(in *Input) ([]api.HealthFinding, string) {
	f := newFinding("warning", "Instants that do not complete")
	f.Hudi = "The next writer rolls back a failed write when its heartbeat has expired (or at once, with a single writer); pending cleans, rollbacks and restores are finished by the next run. Until then the archiver stops at the oldest of them."
	young := newFinding("note", "Instants that have not completed")
	young.Hudi = f.Hudi
	newest := in.newest()
	for i := range in.Timeline.Instants {
		x := &in.Timeline.Instants[i]
		if x.IsCompleted() || in.isPlan(x) {
			continue
		}
		later := in.laterWrites(x.Requested)
		age, ok := hours(x.Requested, newest)
		wall, okNow := hours(x.Requested, in.Now)
		stuck := ok && age > in.limit("stuck.hours") || okNow && wall > in.limit("stuck.clock.hours")
		beat, alive := in.Heartbeats[x.Requested]
		text := fmt.Sprintf("%s since %s", strings.ToLower(x.State.String()), x.Requested)
		if ok {
			text += fmt.Sprintf(", %s before the newest instant", hoursText(age))
		}
		if okNow && wall > in.limit("stuck.clock.hours") {
			text += fmt.Sprintf(", about %s ago", hoursText(wall))
		}
		text += fmt.Sprintf("; %s completed after it", plural(later, "write"))
		if alive && !beat.IsZero() {
			text += "; last heartbeat " + timeline.FormatTime(beat)
		}
		if n := in.Markers[x.Requested]; n > 0 {
			text += "; " + plural(n, "marker file")
		}
		to := young
		if stuck {
			to = f
		}
		to.add(api.HealthEvidence{Text: text, Instant: x.Requested, File: x.File.Name, Value: age, Unit: "hours"})
		if to.Count == 1 {
			to.Link = linkTo(x)
		}
	}
	f.Detail = fmt.Sprintf("%s began long ago and did not complete; the oldest holds the timeline.", plural(f.Count, "instant"))
	young.Detail = fmt.Sprintf("%s began and did not complete: the writer is at work, or it died.", plural(young.Count, "instant"))
	return slices.Concat(f.list(), young.list()), ""
}

func hollowCommits(in *Input) ([]api.HealthFinding, string) {
	level := "note"
	hudi := "From version 8 on readers order commits by completion time, so nothing is passed over when it completes."
	if in.View.Version < 8 {
		level = "warning"
		hudi = "An incremental read that has gone past it never gives its rows once it completes, unless hoodie.read.timeline.holes.resolution.policy says otherwise; time travel past it changes its answer then."
	}
	f := newFinding(level, "Pending writes older than completed ones")
	f.Hudi = hudi
	for i := range in.Timeline.Instants {
		x := &in.Timeline.Instants[i]
		if x.IsCompleted() || !isWrite(x.Action) || in.isPlan(x) {
			continue
		}
		if n := in.laterWrites(x.Requested); n > 0 {
			f.add(api.HealthEvidence{Text: fmt.Sprintf("%s completed after this %s was requested", plural(n, "write"), x.Action), Instant: x.Requested, File: x.File.Name, Value: float64(n), Unit: "commits"})
			if f.Count == 1 {
				f.Link = linkTo(x)
			}
		}
	}
	f.Detail = fmt.Sprintf("%s: later writes have completed already.", plural(f.Count, "pending write"))
	return f.list(), ""
}

func repeatedRollbacks(in *Input) ([]api.HealthFinding, string) {
	window, many := int(in.limit("rollback.window")), int(in.limit("rollback.count"))
	from := ""
	if n := len(in.Timeline.Instants); n > window {
		from = in.Timeline.Instants[n-window].Requested
	}
	f := newFinding("warning", "Repeated rollbacks")
	f.Hudi = "Each failed write is rolled back before the next; many in a row say that writers fail for a lasting reason, or that several writers roll back each other's instants (check hoodie.cleaner.policy.failed.writes and the lock provider)."
	targets := map[string]int{}
	again := false
	for i := range in.Services {
		s := &in.Services[i]
		if s.Instant.Action != timeline.Rollback || s.Instant.Requested < from || s.Work == nil {
			continue
		}
		var names []string
		if s.Work.Rollback != nil {
			for _, t := range s.Work.Rollback.Targets {
				names = append(names, t.Requested)
				targets[t.Requested]++
				again = again || targets[t.Requested] > 1
			}
		}
		f.add(api.HealthEvidence{Text: strings.ToLower(s.Instant.State.String()) + ", rolls back " + strings.Join(names, ", "), Instant: s.Instant.Requested, File: s.Instant.File.Name})
		f.Link = linkTo(&s.Instant)
	}
	if f.Count < many && !again {
		return nil, ""
	}
	f.Detail = fmt.Sprintf("%s among the newest %s.", plural(f.Count, "rollback"), plural(min(window, len(in.Timeline.Instants)), "instant"))
	if again {
		f.Detail += " The same instant was rolled back more than once."
	}
	return f.list(), ""
}

func pendingPlans(in *Input) ([]api.HealthFinding, string) {
	newest := in.newest()
	var out []api.HealthFinding
	for i := range in.Services {
		s := &in.Services[i]
		x := &s.Instant
		if x.IsCompleted() || s.Work == nil || !in.isPlan(x) {
			continue
		}
		f := newFinding("note", "A "+string(x.Action)+" waits to be carried out")
		slices := 0
		if p := s.Work.Plan; p != nil {
			if p.Kind == "clustering" {
				f.Title = "A clustering waits to be carried out"
			}
			slices = len(p.Slices)
			for _, sl := range p.Slices {
				text := plural(len(sl.Logs), "log file") + " in the plan"
				if g := in.View.Group(sl.Partition, sl.FileID); g != nil {
					if n := logsOf(g, x.Requested); n > 0 {
						text += ", " + plural(n, "log file") + " written since"
					}
				}
				f.add(api.HealthEvidence{Text: text, Instant: sl.BaseInstant, Partition: sl.Partition, FileID: sl.FileID, File: sl.Base})
			}
		}
		f.Count = max(slices, 1)
		later := in.laterWrites(x.Requested)
		age, ok := hours(x.Requested, newest)
		if later > int(in.limit("plan.commits")) || ok && age > in.limit("plan.hours") {
			f.worse("warning")
		}
		f.Detail = fmt.Sprintf("%s %s is %s: %s, %s completed since", x.Action, x.Requested, strings.ToLower(x.State.String()), plural(slices, "file slice"), plural(later, "write"))
		if ok {
			f.Detail += fmt.Sprintf(", %s up to the newest instant", hoursText(age))
		}
		f.Detail += "."
		f.Detail = strings.ToUpper(f.Detail[:1]) + f.Detail[1:]
		f.Hudi = "It stays until a writer with the service inline, or a separate job, runs it. Readers merge its slices with the log files written since."
		f.Link = linkTo(x)
		out = append(out, f.list()...)
	}
	return out, ""
}

// logsOf counts the log files of a group in slices that begin at or after an instant.
func logsOf(g *filegroup.Group, instant string) int {
	n := 0
	for _, s := range g.Slices {
		if s.BaseInstant >= instant {
			n += len(s.Logs)
		}
	}
	return n
}

func compactionLag(in *Input) ([]api.HealthFinding, string) {
	if !in.Config.MergeOnRead() {
		return nil, ""
	}
	if len(in.Commits) == 0 {
		return nil, ""
	}
	since, last := 0, ""
	var first *timeline.Instant
	for i := len(in.Commits) - 1; i >= 0; i-- {
		c := &in.Commits[i]
		if c.Instant.IsCompaction() || c.Meta != nil && c.Meta.Operation == "COMPACT" {
			last = c.Instant.Requested
			break
		}
		if c.Instant.Action == timeline.DeltaCommit {
			since++
			first = &c.Instant
		}
	}
	most := int(in.limit("compact.commits"))
	logs := 0
	in.latest(func(_ *filegroup.Group, s *filegroup.Slice) { logs += len(s.Logs) })
	if since <= most || logs == 0 {
		return nil, ""
	}
	f := newFinding("warning", "Compaction lags")
	f.Hudi = "Compaction is scheduled inline after hoodie.compact.inline.max.delta.commits delta commits (5 by default), or by a separate job; neither happened."
	text := "no compaction on the active timeline"
	if last != "" {
		text = "last compaction " + last
	}
	f.add(api.HealthEvidence{Text: fmt.Sprintf("%s since; %s", plural(since, "delta commit"), text), Instant: last, Value: float64(since), Unit: "commits"})
	f.add(api.HealthEvidence{Text: plural(logs, "log file") + " in the latest slices", Value: float64(logs), Unit: "files"})
	f.Count = since
	f.Detail = fmt.Sprintf("%s since the last compaction (%s).", plural(since, "delta commit"), text)
	f.Link = linkTo(first)
	if last != "" {
		f.Link = api.HealthLink{View: "timeline", Instant: last}
	}
	return f.list(), ""
}

func cleanerLag(in *Input) ([]api.HealthFinding, string) {
	last, retained := "", ""
	for i := range in.Services {
		s := &in.Services[i]
		if s.Instant.Action == timeline.Clean && s.Instant.IsCompleted() && s.Instant.Requested > last {
			last = s.Instant.Requested
			if s.Work != nil && s.Work.Clean != nil {
				retained = s.Work.Clean.EarliestRetained
			}
		}
	}
	n := 0
	for i := range in.Timeline.Instants {
		if x := &in.Timeline.Instants[i]; x.IsCompleted() && isWrite(x.Action) && x.Requested > last {
			n++
		}
	}
	if n <= int(in.limit("clean.commits")) {
		return nil, ""
	}
	var old int64
	slices := 0
	for _, p := range in.View.Partitions {
		for _, g := range p.Groups {
			live := in.View.MergedSliceBeforeOrOn(g, in.View.Latest)
			for _, s := range g.Slices {
				if g.ReplacedBy != "" || live != nil && s.BaseInstant < live.BaseInstant {
					slices++
					old += s.Bytes()
				}
			}
		}
	}
	f := newFinding("warning", "The cleaner lags")
	f.Hudi = "A clean runs after each commit (hoodie.clean.automatic) and keeps the files of the last 10 commits (hoodie.cleaner.commits.retained), unless savepoints or pending plans hold it."
	text := "no clean on the active timeline"
	if last != "" {
		text = "last clean " + last
		f.Link = api.HealthLink{View: "timeline", Instant: last, Action: "clean"}
	} else {
		f.Link = api.HealthLink{View: "timeline"}
	}
	if retained != "" {
		text += ", which kept what is needed from " + retained + " on"
	}
	f.add(api.HealthEvidence{Text: fmt.Sprintf("%s since; %s", plural(n, "commit"), text), Instant: last, Value: float64(n), Unit: "commits"})
	f.add(api.HealthEvidence{Text: fmt.Sprintf("%s in %s that are older than the latest or replaced", bytesText(old), plural(slices, "slice")), Value: float64(old), Unit: "bytes"})
	f.Count = n
	f.Detail = fmt.Sprintf("%s completed since the last clean (%s); %s lie in older or replaced slices.", plural(n, "commit"), text, bytesText(old))
	return f.list(), ""
}

func archiverLag(in *Input) ([]api.HealthFinding, string) {
	n := len(in.Timeline.Instants)
	if n <= int(in.limit("archive.instants")) {
		return nil, ""
	}
	f := newFinding("warning", "The archiver lags")
	f.Hudi = "After each commit it moves instants beyond hoodie.keep.max.commits (30) to the archive, up to the oldest pending instant, savepoint or uncompacted metadata. Every reader lists all active instants."
	f.add(api.HealthEvidence{Text: plural(n, "instant") + " on the active timeline", Value: float64(n), Unit: "instants"})
	first := in.Timeline.First()
	f.Link = linkTo(first)
	held := ""
	for i := range in.Timeline.Instants {
		x := &in.Timeline.Instants[i]
		if !x.IsCompleted() || x.Action == timeline.Savepoint {
			held = fmt.Sprintf(" The oldest instant that holds it is %s %s (%s).", x.Action, x.Requested, strings.ToLower(x.State.String()))
			f.add(api.HealthEvidence{Text: "holds the archiver", Instant: x.Requested, File: x.File.Name})
			f.Link = linkTo(x)
			break
		}
	}
	f.Count = n
	f.Detail = fmt.Sprintf("%s are on the active timeline, from %s on.%s", plural(n, "instant"), first.Requested, held)
	return f.list(), ""
}

func clockSkew(in *Input) ([]api.HealthFinding, string) {
	back := newFinding("warning", "Instants that completed before they were requested")
	back.Hudi = "From version 8 on slices and incremental reads go by completion times: with clocks that differ, log files go to the wrong slice and reads pass commits over."
	future := newFinding("warning", "Instants in the future")
	future.Hudi = "New instants must be later than all others: writers with a right clock fail or wait until the time has come."
	now, okNow := instants.Time(in.Now)
	for i := range in.Timeline.Instants {
		x := &in.Timeline.Instants[i]
		if x.CompletedFrom == "name" {
			if h, ok := hours(x.Requested, x.Completed); ok && x.Completed < x.Requested {
				back.add(api.HealthEvidence{Text: fmt.Sprintf("completed %s, %s earlier", x.Completed, hoursText(-h)), Instant: x.Requested, File: x.File.Name, Value: -h, Unit: "hours"})
				back.Link = linkTo(x)
			}
		}
		for _, t := range []string{x.Requested, x.Completed} {
			if when, ok := instants.Time(t); ok && okNow && when.Sub(now).Hours() > in.limit("skew.hours") {
				future.add(api.HealthEvidence{Text: fmt.Sprintf("%s from now", hoursText(when.Sub(now).Hours())), Instant: x.Requested, File: x.File.Name, Value: when.Sub(now).Hours(), Unit: "hours"})
				future.Link = linkTo(x)
				break
			}
		}
	}
	back.Detail = fmt.Sprintf("%s: the clocks of the machines that wrote the two times differ.", plural(back.Count, "instant"))
	future.Detail = fmt.Sprintf("%s lie further in the future than time zones explain.", plural(future.Count, "instant"))
	sort.SliceStable(future.Evidence, func(i, j int) bool { return future.Evidence[i].Value > future.Evidence[j].Value })
	return slices.Concat(back.list(), future.list()), ""
}
