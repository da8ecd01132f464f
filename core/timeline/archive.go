package timeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"sort"
	"strconv"
	"strings"

	"hudiscope/core/avro"
	"hudiscope/core/commitmeta"
	"hudiscope/core/config"
	"hudiscope/core/corrupt"
	"hudiscope/core/logfile"
	"hudiscope/core/schema"
	"hudiscope/core/storage"
)

// Archived are the instants that were moved out of the active timeline, in order of
// requested time, action and state. Layouts 0 and 1 keep up to three states of an
// instant, layout 2 the completed one.
type Archived struct {
	Instants []ArchivedInstant
	Findings []Finding
	// Note says why archived instants are not there although the table may have some, else "".
	Note string
	// More tells that the archive has, or may have, instants of the range besides these: a limit
	// was reached.
	More bool
}

// ArchivedInstant is one archived state of an instant.
type ArchivedInstant struct {
	// Requested and Completed are instant times. Layouts 0 and 1 store the time of the
	// state's change since 0.14; before that Completed is "".
	Requested, Completed string
	Action               Action
	State                State
	// File is the archive file that holds the instant, relative to the source.
	File string

	block, record int // in a log file
}

// HistoryRow is one row of a Parquet file of the archived timeline of layout 2 (spec
// timeline.md section 9).
type HistoryRow struct {
	Instant, Completion, Action string
	// Metadata is the content of the completed file, Plan that of the requested one; nil
	// when the column was not asked for or is null.
	Metadata, Plan []byte
}

// ReadRows reads the given columns (instantTime, completionTime, action, metadata, plan)
// of a Parquet file of the archived timeline and hands every row to yield, in file order.
// It stops at the first error of yield and returns it.
type ReadRows func(ctx context.Context, src storage.Source, path string, columns []string, yield func(HistoryRow) error) error

// Limits of the archive: what a damaged or hostile one may not exceed.
const (
	maxManifest         = 64 << 20
	maxArchiveContent   = 512 << 20
	maxArchivedInstants = 4 << 20
)

// LoadArchived reads the archived timeline of the table. The archive of layout 2 is in
// Parquet files: rows reads them; when it is nil, Archived.Note says so. Damaged files are
// findings; what could be read is returned.
func (t *Timeline) LoadArchived(ctx context.Context, cfg *config.Config, rows ReadRows) (*Archived, error) {
	return t.LoadArchivedRange(ctx, cfg, rows, Range{})
}

// keep reports whether an error is damage that the caller should note and pass over.
func keep(err error) bool { return corrupt.Is(err) || storage.IsNotExist(err) }

func (a *Archived) finding(level, title string, err error, file string) {
	f := Finding{Level: level, Title: title, Detail: err.Error(), File: file}
	var c *corrupt.Error
	if errors.As(err, &c) {
		f.Offset = max(c.Offset, 0)
	}
	a.Findings = append(a.Findings, f)
}

func (a *Archived) sort() {
	sort.SliceStable(a.Instants, func(i, j int) bool {
		x, y := &a.Instants[i], &a.Instants[j]
		if x.Requested != y.Requested {
			return x.Requested < y.Requested
		}
		if x.Action != y.Action {
			return x.Action < y.Action
		}
		return x.State < y.State
	})
}

var historyName = regexp.MustCompile(`^(\d+)_(\d+)_(\d)\.parquet$`)

// manifest is the JSON of a manifest_N file.
type manifest struct {
	Files []struct {
		Name string `json:"fileName"`
		Len  int64  `json:"fileLen"`
	} `json:"files"`
}

// HistoryFiles lists the Parquet files of the newest snapshot of the archived timeline in
// dir: those of the manifest that _version_ names, else of the newest manifest.
func (t *Timeline) HistoryFiles(ctx context.Context, dir string) (names []string, findings []Finding, err error) {
	l, err := t.src.List(ctx, dir)
	if storage.IsNotExist(err) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	newest := -1
	for _, e := range l.Entries {
		if n, ok := strings.CutPrefix(e.Name, "manifest_"); ok && !e.Dir {
			if v, err := strconv.Atoi(n); err == nil {
				newest = max(newest, v)
			}
		}
	}
	version := newest
	path := dir + "/_version_"
	if data, err := storage.ReadAll(ctx, t.src, path, 1<<10); err == nil {
		v, err := strconv.Atoi(strings.TrimSpace(string(data)))
		if err != nil || v < 0 {
			findings = append(findings, Finding{Level: "warning", Title: "Version of the archived timeline can't be read", Detail: fmt.Sprintf("%s holds %.40q; the newest manifest is used.", path, data), File: path})
		} else {
			version = v
		}
	} else if !storage.IsNotExist(err) {
		return nil, nil, err
	}
	if version < 0 {
		return nil, findings, nil
	}
	path = dir + "/manifest_" + strconv.Itoa(version)
	data, err := storage.ReadAll(ctx, t.src, path, maxManifest)
	if storage.IsNotExist(err) && newest >= 0 && newest != version {
		findings = append(findings, Finding{Level: "warning", Title: "Manifest of the archived timeline is absent", Detail: path + " is absent; the newest manifest is used.", File: path})
		path = dir + "/manifest_" + strconv.Itoa(newest)
		data, err = storage.ReadAll(ctx, t.src, path, maxManifest)
	}
	if err != nil {
		return nil, findings, err
	}
	var m manifest
	if err := json.Unmarshal(data, &m); err != nil {
		e := &corrupt.Error{File: path, Offset: corrupt.Unknown, Part: "manifest of the archived timeline", Err: err}
		var s *json.SyntaxError
		if errors.As(err, &s) {
			e.Offset = s.Offset
		}
		return nil, findings, e
	}
	for _, f := range m.Files {
		if !historyName.MatchString(f.Name) {
			return nil, findings, &corrupt.Error{File: path, Offset: corrupt.Unknown, Part: "fileName", Want: "MIN_MAX_LEVEL.parquet", Got: strconv.Quote(f.Name)}
		}
		names = append(names, f.Name)
	}
	return names, append(findings, unlistedHistory(l, names, path)...), nil
}

// unlistedHistory tells of files that hold instants before or after all those that a manifest names: the manifest is
// an old one, or a crash has kept the next from being written. Other files that it does not name were compacted.
func unlistedHistory(l storage.Listing, names []string, manifest string) []Finding {
	first, last := "", ""
	named := map[string]bool{}
	for _, n := range names {
		m := historyName.FindStringSubmatch(n)
		named[n] = true
		if first == "" || m[1] < first {
			first = m[1]
		}
		last = max(last, m[2])
	}
	var out []string
	for _, e := range l.Entries {
		if m := historyName.FindStringSubmatch(e.Name); m != nil && !e.Dir && !named[e.Name] && (first == "" || m[1] < first || m[2] > last) {
			out = append(out, e.Name)
		}
	}
	if len(out) == 0 {
		return nil
	}
	return []Finding{{Level: "warning", Title: "The manifest of the archived timeline leaves files out", File: manifest,
		Detail: fmt.Sprintf("%s does not name %d files that hold earlier or later instants than all that it names, among them %s: their instants are not shown. The manifest is an old one, or archiving was interrupted.", manifest, len(out), out[0])}}
}

func (t *Timeline) loadHistory(ctx context.Context, dir string, rows ReadRows, want Range) (*Archived, error) {
	a := &Archived{}
	names, findings, err := t.HistoryFiles(ctx, dir)
	a.Findings = append(a.Findings, findings...)
	if err != nil {
		if !keep(err) {
			return nil, err
		}
		a.finding("error", "Archived timeline can't be read", err, dir)
		a.Note = "The archived timeline can't be read: " + err.Error() + "."
		return a, nil
	}
	if len(names) > 0 && rows == nil {
		a.Note = fmt.Sprintf("The archived timeline is in %d Parquet files of %s, which were not read.", len(names), dir)
		return a, nil
	}
	// The newest instants come first, so that a limit can end the reading.
	sort.SliceStable(names, func(i, j int) bool { return newest(names[i]) > newest(names[j]) })
	seen := map[string]int{} // requested time → index in a.Instants
	levels := []string{}
	for _, name := range names {
		m := historyName.FindStringSubmatch(name)
		if want.From != "" && m[2] < want.From || want.To != "" && m[1] > want.To {
			continue
		}
		if want.Limit > 0 && len(a.Instants) >= want.Limit && m[2] < a.newest(want.Limit) {
			a.More = true
			break
		}
		path := dir + "/" + name
		err := rows(ctx, t.src, path, []string{"instantTime", "completionTime", "action"}, func(r HistoryRow) error {
			if !want.contains(r.Instant) {
				return nil
			}
			i := ArchivedInstant{Requested: r.Instant, Completed: r.Completion, Action: Action(r.Action), State: Completed, File: path}
			if n, ok := seen[r.Instant]; ok {
				// Level 0 holds the newest batches: of two rows the one of the lower level counts.
				if m[3] < levels[n] {
					a.Instants[n], levels[n] = i, m[3]
				}
				return nil
			}
			if len(seen) >= maxArchivedInstants {
				return &storage.Fault{Op: "read", Path: path, Kind: storage.Refused, Err: fmt.Errorf("more than %d archived instants", maxArchivedInstants)}
			}
			seen[r.Instant] = len(a.Instants)
			a.Instants, levels = append(a.Instants, i), append(levels, m[3])
			return nil
		})
		if err != nil {
			if !keep(err) {
				return nil, err
			}
			a.finding("warning", "A file of the archived timeline can't be read", err, path)
		}
	}
	a.sort()
	a.cut(want.Limit)
	return a, nil
}

// newest is the largest requested time in a file of the archived timeline, by its name.
func newest(name string) string { return historyName.FindStringSubmatch(name)[2] }

// HistoryMetadata reads the metadata and plan of an archived instant of layout 2.
func (t *Timeline) HistoryMetadata(ctx context.Context, i *ArchivedInstant, rows ReadRows) (HistoryRow, error) {
	var out HistoryRow
	found := errors.New("found")
	err := rows(ctx, t.src, i.File, []string{"instantTime", "completionTime", "action", "metadata", "plan"}, func(r HistoryRow) error {
		if r.Instant != i.Requested {
			return nil
		}
		out = r
		return found
	})
	if err != nil && !errors.Is(err, found) {
		return out, err
	}
	if err == nil {
		return out, &corrupt.Error{File: i.File, Offset: corrupt.Unknown, Part: "archived timeline", Want: "instant " + i.Requested, Got: "no such row"}
	}
	return out, nil
}

var archiveName = regexp.MustCompile(`^\.commits_\.archive\.([0-9]+).*`)

// loadArchiveLogs reads the archive of layouts 0 and 1: log files whose records are
// HoodieArchivedMetaEntry (spec timeline.md section 8).
func (t *Timeline) loadArchiveLogs(ctx context.Context, dir string, want Range) (*Archived, error) {
	a := &Archived{}
	l, err := t.src.List(ctx, dir)
	if storage.IsNotExist(err) {
		return a, nil
	}
	if err != nil {
		return nil, err
	}
	type file struct {
		name string
		n    int
	}
	var files []file
	merged := ""
	for _, e := range l.Entries {
		if e.Dir {
			continue
		}
		if e.Name == "mergeArchivePlan" {
			merged = t.mergeTarget(ctx, dir+"/"+e.Name, a)
			continue
		}
		if m := archiveName.FindStringSubmatch(e.Name); m != nil && !strings.HasSuffix(e.Name, ".crc") {
			n, err := strconv.Atoi(m[1])
			if err != nil {
				continue
			}
			files = append(files, file{e.Name, n})
		}
	}
	if l.DotsHidden && merged == "" {
		// The files are numbered from 1, and there is none behind the first that is not there.
		for n := len(files) + 1; ; n++ {
			name := fmt.Sprintf(".commits_.archive.%d_1-0-1", n)
			o, err := t.src.Open(ctx, dir+"/"+name)
			if err == nil {
				_, err = o.Size(ctx)
				o.Close()
			}
			if storage.IsNotExist(err) {
				break
			}
			if err != nil {
				return nil, err
			}
			files = append(files, file{name, n})
		}
	} else if !l.Complete {
		a.Note = "The listing of " + dir + " is not complete: archived instants may be missing."
	}
	sort.SliceStable(files, func(i, j int) bool { return files[i].n > files[j].n })
	active := map[instantState]bool{}
	for i := range t.Whole().Instants {
		for _, f := range t.Whole().Instants[i].Files {
			active[instantState{f.Requested, f.Action, f.State}] = true
		}
	}
	seen := map[instantState]bool{}
	for n, f := range files {
		path := dir + "/" + f.name
		if span, ok := t.spans.get(path); ok && (span.last < want.From || want.To != "" && span.first > want.To) {
			continue
		}
		first, last, err := t.archiveLog(ctx, path, a, seen, active, want)
		if err == nil {
			t.spans.put(path, archiveSpan{first, last})
		} else {
			switch {
			case !keep(err):
				return nil, err
			case f.name == merged:
				// The merge of archive files was interrupted: its sources still hold the instants.
				a.finding("note", "An unfinished merge of archive files was passed over", err, path)
			default:
				a.finding("warning", "An archive file can't be read whole", err, path)
			}
			continue
		}
		// Names do not tell times. Files are appended in order of time, but for a few instants: a
		// file all of which is older than the range ends the reading, as in Hudi.
		if last != "" && last < want.From {
			break
		}
		if want.Limit > 0 && len(a.Instants) >= want.Limit && last < a.newest(want.Limit) {
			a.More = n+1 < len(files)
			break
		}
	}
	a.sort()
	a.cut(want.Limit)
	return a, nil
}

type instantState struct {
	requested string
	action    Action
	state     State
}

// mergeTarget reads which file a running or broken merge of archive files writes.
func (t *Timeline) mergeTarget(ctx context.Context, path string, a *Archived) string {
	data, err := storage.ReadAll(ctx, t.src, path, maxManifest)
	if err == nil {
		var d commitmeta.Decoded
		if d, err = commitmeta.Decode(data); err == nil && d.JSON != nil {
			var plan struct {
				Merged string `json:"mergedArchiveFileName"`
			}
			if err = json.Unmarshal(d.JSON, &plan); err == nil {
				return plan.Merged[strings.LastIndexByte(plan.Merged, '/')+1:]
			}
		}
	}
	if err != nil {
		a.finding("note", "The plan of an archive merge can't be read", corrupt.InFile(err, path), path)
	}
	return ""
}

// archiveLog reads one archive file; first and last are the smallest and largest requested time in it.
func (t *Timeline) archiveLog(ctx context.Context, path string, a *Archived, seen, active map[instantState]bool, want Range) (first, last string, err error) {
	err = t.archiveRecords(ctx, path, nil, func(name string) bool {
		switch name {
		case "commitTime", "actionType", "actionState", "stateTransitionTime":
			return true
		}
		return false
	}, func(block, record int, text []byte) error {
		var e struct {
			Time       string  `json:"commitTime"`
			Action     string  `json:"actionType"`
			State      *string `json:"actionState"`
			Transition *string `json:"stateTransitionTime"`
		}
		if err := json.Unmarshal(text, &e); err != nil {
			return &corrupt.Error{File: path, Offset: corrupt.Unknown, Part: fmt.Sprintf("archived instant, block %d record %d", block, record), Err: err}
		}
		i := ArchivedInstant{Requested: e.Time, Action: Action(e.Action), State: Completed, File: path, block: block, record: record}
		if e.State != nil {
			switch *e.State {
			case "REQUESTED":
				i.State = Requested
			case "INFLIGHT":
				i.State = Inflight
			}
		}
		if e.Transition != nil {
			i.Completed = *e.Transition
		}
		if first == "" || i.Requested < first {
			first = i.Requested
		}
		last = max(last, i.Requested)
		k := instantState{i.Requested, i.Action, i.State}
		if e.Time == "" || !want.contains(i.Requested) || seen[k] || active[k] {
			return nil
		}
		if len(seen) >= maxArchivedInstants {
			return &storage.Fault{Op: "read", Path: path, Kind: storage.Refused, Err: fmt.Errorf("more than %d archived instants", maxArchivedInstants)}
		}
		seen[k] = true
		a.Instants = append(a.Instants, i)
		return nil
	})
	return first, last, err
}

// archiveRecords decodes the records of an archive file (of some blocks when block is not nil)
// as JSON with the wanted fields. A block that is damaged ends the file's records; blocks
// that the log format calls corrupt are passed over, as Hudi does.
func (t *Timeline) archiveRecords(ctx context.Context, path string, block func(int) bool, want func(string) bool, each func(block, record int, text []byte) error) error {
	o, err := t.src.Open(ctx, path)
	if err != nil {
		return err
	}
	defer o.Close()
	r := logfile.Open(o, path).LimitContent(maxArchiveContent)
	for b, err := range r.Blocks(ctx) {
		if err != nil {
			return err
		}
		if b.Type != logfile.AvroDataBlock || b.Corruption != nil || block != nil && !block(b.Index) {
			continue
		}
		if b.Damage != nil {
			return corrupt.InFile(b.Damage, path)
		}
		typ, err := schema.Parse(b.SchemaText())
		if err != nil {
			return &corrupt.Error{File: path, Offset: b.Start, Part: "SCHEMA of the block", Err: err}
		}
		d, err := avro.Compile(typ, want)
		if err != nil {
			return &corrupt.Error{File: path, Offset: b.Start, Part: "SCHEMA of the block", Err: err}
		}
		content, err := r.Content(ctx, b)
		if err != nil {
			return err
		}
		batch := d.NewBatch(1)
		for rec, err := range logfile.DataRecords(content, b.ContentOffset) {
			if err != nil {
				return corrupt.InFile(err, path)
			}
			d.Reset(batch)
			damaged := func(err error) error {
				return &corrupt.Error{File: path, Offset: rec.Offset, Part: fmt.Sprintf("archived instant, record %d", rec.Index), Err: err}
			}
			if err := d.AppendWithin(batch, rec.Data, commitmeta.MaxSlots); err != nil {
				return damaged(err)
			}
			text, err := commitmeta.Text(batch, 0)
			if err != nil {
				return damaged(err)
			}
			if err := each(b.Index, rec.Index, text); err != nil {
				return err
			}
		}
	}
	return nil
}

// ArchivedMetadata reads the metadata of an archived instant of layouts 0 and 1 as JSON:
// the one field of HoodieArchivedMetaEntry that holds it, by action and state. field is
// its name; text is nil when the archive holds no content for that state.
func (t *Timeline) ArchivedMetadata(ctx context.Context, i *ArchivedInstant) (field string, text json.RawMessage, err error) {
	found := errors.New("found")
	var entry map[string]json.RawMessage
	err = t.archiveRecords(ctx, i.File, func(n int) bool { return n == i.block }, nil, func(block, record int, text []byte) error {
		if record != i.record {
			return nil
		}
		if err := json.Unmarshal(text, &entry); err != nil {
			return err
		}
		return found
	})
	if err == nil {
		return "", nil, &corrupt.Error{File: i.File, Offset: corrupt.Unknown, Part: "archived timeline", Want: "instant " + i.Requested, Got: "no such record: the file changed"}
	}
	if !errors.Is(err, found) {
		return "", nil, err
	}
	for _, f := range archivedFields(i.Action, i.State) {
		if v := entry[f]; v != nil && string(v) != "null" {
			return f, v, nil
		}
	}
	return "", nil, nil
}

func archivedFields(a Action, s State) []string {
	switch a {
	case Clean:
		if s == Completed {
			return []string{"hoodieCleanMetadata"}
		}
		return []string{"hoodieCleanerPlan"}
	case Commit, DeltaCommit:
		return []string{"hoodieCommitMetadata"}
	case Rollback:
		return []string{"hoodieRollbackMetadata"}
	case Savepoint:
		return []string{"hoodieSavePointMetadata"}
	case Compaction, LogCompaction:
		return []string{"hoodieCompactionPlan", "hoodieCompactionMetadata"}
	case Indexing:
		return []string{"hoodieIndexCommitMetadata"}
	case ReplaceCommit, Clustering:
		switch s {
		case Requested:
			return []string{"hoodieRequestedReplaceMetadata"}
		case Inflight:
			return []string{"hoodieInflightReplaceMetadata", "HoodieInflightReplaceMetadata"}
		}
		return []string{"hoodieReplaceCommitMetadata"}
	}
	return nil
}
