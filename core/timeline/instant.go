package timeline

import (
	"fmt"
	"strings"
	"time"
)

// Action is what an instant does.
type Action string

// The actions (spec timeline.md section 4.2).
const (
	Commit        Action = "commit"
	DeltaCommit   Action = "deltacommit"
	Compaction    Action = "compaction"
	LogCompaction Action = "logcompaction"
	ReplaceCommit Action = "replacecommit"
	Clustering    Action = "clustering"
	Clean         Action = "clean"
	Rollback      Action = "rollback"
	Restore       Action = "restore"
	Savepoint     Action = "savepoint"
	Indexing      Action = "indexing"
)

// Comparable is the action under which the states of one instant meet: a compaction
// completes as a commit, a log compaction as a deltacommit, a clustering as a replacecommit.
func (a Action) Comparable() Action {
	switch a {
	case Compaction:
		return Commit
	case LogCompaction:
		return DeltaCommit
	case Clustering:
		return ReplaceCommit
	}
	return a
}

// State is how far an instant got.
type State uint8

// The states, in order.
const (
	Requested State = iota
	Inflight
	Completed
)

// String returns Hudi's name of the state.
func (s State) String() string {
	switch s {
	case Requested:
		return "REQUESTED"
	case Inflight:
		return "INFLIGHT"
	case Completed:
		return "COMPLETED"
	}
	return fmt.Sprintf("state %d", uint8(s))
}

// MarshalText renders the state by name in JSON.
func (s State) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// File is one file of the timeline: one state of an instant.
type File struct {
	Name string
	// Path is relative to the source.
	Path   string
	Action Action
	State  State
	// Requested is the instant's time, Completion the second time of a completed file's name
	// (layout 2), "" when the name has none.
	Requested, Completion string
	// Size in bytes, storage.SizeUnknown when the listing does not tell it.
	Size    int64
	ModTime time.Time
}

// Instant is one action on the timeline in its latest state.
type Instant struct {
	// Requested is the instant's time, as its digits. Completed is the completion time, ""
	// while the instant is pending or when nothing tells it.
	Requested, Completed string
	// CompletedFrom is "name" (layout 2) or "mtime": the modification time of the file in
	// UTC, which copying a table loses. It is never used to build file slices.
	CompletedFrom string
	// Action is that of the latest state's file: a finished compaction is a commit, a
	// finished clustering a replacecommit.
	Action Action
	State  State
	// File is the latest state's file; Files are all files of the instant, by state.
	File  File
	Files []File
}

// IsCompleted reports whether the instant is completed.
func (i *Instant) IsCompleted() bool { return i.State == Completed }

// FileOf returns the instant's file of a state.
func (i *Instant) FileOf(s State) (File, bool) {
	for _, f := range i.Files {
		if f.State == s {
			return f, true
		}
	}
	return File{}, false
}

// IsCompaction reports whether the instant is a compaction in any state, as far as its
// files tell: a completed one is a commit that was requested as a compaction.
func (i *Instant) IsCompaction() bool {
	for _, f := range i.Files {
		if f.Action == Compaction {
			return true
		}
	}
	return i.Action == Compaction
}

// String names the instant for errors: "20240101000000000 commit COMPLETED".
func (i *Instant) String() string {
	return fmt.Sprintf("%s %s %s", i.Requested, i.Action, i.State)
}

// extension is what follows the times in a file name.
type extension struct {
	action Action
	state  State
}

var extensions = func() map[string]extension {
	m := map[string]extension{".inflight": {Commit, Inflight}, ".commit.requested": {Commit, Requested}, ".commit": {Commit, Completed}}
	for _, a := range []Action{DeltaCommit, ReplaceCommit, Clean, Rollback, Restore, Indexing} {
		m["."+string(a)+".requested"] = extension{a, Requested}
		m["."+string(a)+".inflight"] = extension{a, Inflight}
		m["."+string(a)] = extension{a, Completed}
	}
	for _, a := range []Action{Compaction, LogCompaction} { // completed under another name
		m["."+string(a)+".requested"] = extension{a, Requested}
		m["."+string(a)+".inflight"] = extension{a, Inflight}
	}
	m[".savepoint.inflight"] = extension{Savepoint, Inflight} // never requested
	m[".savepoint"] = extension{Savepoint, Completed}
	return m
}()

// ParseName parses the name of a file in the timeline folder: TIME.action[.state], and in
// layout 2 TIME_COMPLETION.action for completed ones (spec timeline.md section 4.1). ok is
// false for names that are no instants. Only the fields that the name tells are set.
func ParseName(layout int, name string) (f File, ok bool) {
	n := digits(name)
	if n == 0 {
		return f, false
	}
	f.Name, f.Requested = name, name[:n]
	rest := name[n:]
	if layout >= 2 && strings.HasPrefix(rest, "_") {
		n := digits(rest[1:])
		if n == 0 {
			return File{}, false
		}
		f.Completion, rest = rest[1:1+n], rest[1+n:]
	}
	e, ok := extensions[rest]
	if !ok && layout >= 2 {
		switch rest {
		case ".clustering.requested":
			e, ok = extension{Clustering, Requested}, true
		case ".clustering.inflight":
			e, ok = extension{Clustering, Inflight}, true
		}
	}
	if !ok || f.Completion != "" && e.state != Completed {
		return File{}, false
	}
	f.Action, f.State = e.action, e.state
	return f, true
}

func digits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}

// FormatTime writes a time in the form of an instant, 17 digits in UTC.
func FormatTime(t time.Time) string {
	t = t.UTC()
	return t.Format("20060102150405") + fmt.Sprintf("%03d", t.Nanosecond()/1e6)
}
