package timeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sort"
	"sync"

	"hudiscope/core/commitmeta"
	"hudiscope/core/config"
	"hudiscope/core/corrupt"
)

// Range bounds archived instants by requested time, both ends inclusive; "" does not bound.
// Limit keeps the newest instants of the range; 0 keeps all.
type Range struct {
	From, To string
	Limit    int
}

func (r Range) contains(t string) bool {
	return (r.From == "" || t >= r.From) && (r.To == "" || t <= r.To)
}

// LoadArchivedRange is LoadArchived for a part of the archived timeline. Of layout 2 only the
// files whose names overlap the range are read, of layouts 0 and 1, whose names tell no
// times, the newest files down to the first that is older than the range.
func (t *Timeline) LoadArchivedRange(ctx context.Context, cfg *config.Config, rows ReadRows, want Range) (*Archived, error) {
	if t.Layout >= 2 {
		return t.loadHistory(ctx, cfg.HistoryPath(), rows, want)
	}
	return t.loadArchiveLogs(ctx, cfg.ArchiveFolder(), want)
}

// archiveSpan is the smallest and largest requested time in an archive file.
type archiveSpan struct{ first, last string }

// archiveSpans remembers the spans of archive files, whose names do not tell them. Archive files do
// not change once they are written.
type archiveSpans struct {
	mu sync.Mutex
	m  map[string]archiveSpan
}

func (s *archiveSpans) get(path string) (archiveSpan, bool) {
	if s == nil {
		return archiveSpan{}, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	x, ok := s.m[path]
	return x, ok
}

func (s *archiveSpans) put(path string, x archiveSpan) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.m == nil {
		s.m = map[string]archiveSpan{}
	}
	s.m[path] = x
}

// newest returns the requested time of the n-th newest instant so far.
func (a *Archived) newest(n int) string {
	times := make([]string, len(a.Instants))
	for i := range a.Instants {
		times[i] = a.Instants[i].Requested
	}
	sort.Strings(times)
	return times[len(times)-n]
}

// cut keeps the newest instants, and all states of the oldest one kept; the instants are sorted.
func (a *Archived) cut(limit int) {
	if limit <= 0 || len(a.Instants) <= limit {
		return
	}
	n := len(a.Instants) - limit
	for n > 0 && a.Instants[n-1].Requested == a.Instants[n].Requested {
		n--
	}
	a.More = a.More || n > 0
	a.Instants = a.Instants[n:]
}

// ArchivedPart is what the archive holds of one state of an instant.
type ArchivedPart struct {
	// State is that of the file the content was in.
	State State
	// Record is the name of the Avro record: "HoodieCommitMetadata".
	Record string
	// JSON is the record, nil when the archive has none; Err says why it can't be decoded.
	JSON json.RawMessage
	Err  error
}

// archivedRecords names the records in the fields of HoodieArchivedMetaEntry.
var archivedRecords = map[string]string{
	"hoodieCommitMetadata":           "HoodieCommitMetadata",
	"hoodieCleanMetadata":            "HoodieCleanMetadata",
	"hoodieCleanerPlan":              "HoodieCleanerPlan",
	"hoodieRollbackMetadata":         "HoodieRollbackMetadata",
	"hoodieSavePointMetadata":        "HoodieSavepointMetadata",
	"hoodieCompactionPlan":           "HoodieCompactionPlan",
	"hoodieCompactionMetadata":       "HoodieCommitMetadata",
	"hoodieRequestedReplaceMetadata": "HoodieRequestedReplaceMetadata",
	"hoodieInflightReplaceMetadata":  "HoodieCommitMetadata",
	"HoodieInflightReplaceMetadata":  "HoodieCommitMetadata",
	"hoodieReplaceCommitMetadata":    "HoodieReplaceCommitMetadata",
	"hoodieIndexCommitMetadata":      "HoodieIndexCommitMetadata",
}

// ArchivedParts reads what the archive holds of the given instants, each file once, and hands
// the parts of every instant to yield, in no particular order. It stops at the first error of
// yield. A part that can't be decoded has its Err set; a damaged file is an error.
func (t *Timeline) ArchivedParts(ctx context.Context, list []ArchivedInstant, rows ReadRows, yield func(*ArchivedInstant, []ArchivedPart) error) error {
	files := map[string][]*ArchivedInstant{}
	var order []string
	for i := range list {
		f := list[i].File
		if files[f] == nil {
			order = append(order, f)
		}
		files[f] = append(files[f], &list[i])
	}
	for _, f := range order {
		var err error
		if t.Layout >= 2 {
			err = t.historyParts(ctx, f, files[f], rows, yield)
		} else {
			err = t.archiveLogParts(ctx, f, files[f], yield)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// errAll ends the reading of a file when all that was wanted has been found.
var errAll = errors.New("all instants were found")

func (t *Timeline) historyParts(ctx context.Context, file string, list []*ArchivedInstant, rows ReadRows, yield func(*ArchivedInstant, []ArchivedPart) error) error {
	want := map[string]*ArchivedInstant{}
	for _, i := range list {
		want[i.Requested] = i
	}
	err := rows(ctx, t.src, file, []string{"instantTime", "completionTime", "action", "metadata", "plan"}, func(r HistoryRow) error {
		i := want[r.Instant]
		if i == nil {
			return nil
		}
		delete(want, r.Instant)
		var parts []ArchivedPart
		for _, p := range []struct {
			state State
			data  []byte
		}{{Requested, r.Plan}, {Completed, r.Metadata}} {
			if p.data == nil {
				continue
			}
			d, err := commitmeta.Decode(p.data)
			if p.state == Requested && d.SchemaName == "HoodieCommitMetadata" {
				p.state = Inflight // the archiver stores the inflight content over the requested one
			}
			parts = append(parts, ArchivedPart{p.state, d.SchemaName, d.JSON, corrupt.InFile(shiftless(err), file)})
		}
		if err := yield(i, parts); err != nil {
			return err
		}
		if len(want) == 0 {
			return errAll
		}
		return nil
	})
	if errors.Is(err, errAll) {
		return nil
	}
	if err == nil && len(want) > 0 {
		return missing(file, len(want))
	}
	return err
}

// shiftless drops the offset of an error inside a column value: it is no offset of the file.
func shiftless(err error) error {
	var e *corrupt.Error
	if !errors.As(err, &e) {
		return err
	}
	c := *e
	c.Offset = corrupt.Unknown
	return &c
}

func missing(file string, n int) error {
	return &corrupt.Error{File: file, Offset: corrupt.Unknown, Part: "archived timeline", Want: fmt.Sprintf("%d more instants", n), Got: "no such rows: the file changed"}
}

func (t *Timeline) archiveLogParts(ctx context.Context, file string, list []*ArchivedInstant, yield func(*ArchivedInstant, []ArchivedPart) error) error {
	type place struct{ block, record int }
	want := map[place]*ArchivedInstant{}
	blocks := map[int]bool{}
	for _, i := range list {
		want[place{i.block, i.record}] = i
		blocks[i.block] = true
	}
	err := t.archiveRecords(ctx, file, func(n int) bool { return blocks[n] }, nil, func(block, record int, text []byte) error {
		k := place{block, record}
		i := want[k]
		if i == nil {
			return nil
		}
		delete(want, k)
		var entry map[string]json.RawMessage
		if err := json.Unmarshal(text, &entry); err != nil {
			return err
		}
		var parts []ArchivedPart
		for _, f := range archivedFields(i.Action, i.State) {
			if v := entry[f]; v != nil && string(v) != "null" {
				parts = append(parts, ArchivedPart{State: i.State, Record: archivedRecords[f], JSON: v})
				break
			}
		}
		if err := yield(i, parts); err != nil {
			return err
		}
		if len(want) == 0 {
			return errAll
		}
		return nil
	})
	if errors.Is(err, errAll) {
		return nil
	}
	if err == nil && len(want) > 0 {
		return missing(file, len(want))
	}
	return err
}
