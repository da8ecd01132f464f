package merge

import (
	"fmt"

	"hudiscope/core/column"
)

// Mode is a record merge mode.
type Mode string

// The merge modes, by Hudi's names.
const (
	CommitTime Mode = "COMMIT_TIME_ORDERING"
	EventTime  Mode = "EVENT_TIME_ORDERING"
	Custom     Mode = "CUSTOM"
)

// Style is the generation of merge code whose steps are followed.
type Style uint8

// The styles: record mergers (1.x), and payloads with preCombine and combineAndGetUpdateValue (0.x).
const (
	Mergers Style = iota
	Payloads
)

// Rules says how versions are merged.
type Rules struct {
	Mode  Mode
	Style Style
	// HasOrdering is false when the table has no ordering fields: every value is then the default.
	HasOrdering bool
}

// Record is one version of a record that came from a log.
type Record struct {
	// Row is the record's row; Batch is nil for an entry of a delete block.
	Row column.Row
	Ord Ordering
	// Delete marks a delete: an entry of a delete block, or a row flagged as deleted.
	Delete bool
	// Block and Index say where the record lies: the position of the block in merge order and
	// of the record in it.
	Block, Index int
}

func (r *Record) commitTimeDelete() bool { return r.Delete && r.Ord.IsDefault() }

// empty reports a delete without a row: what the payloads of 0.x call an empty payload.
func (r *Record) empty() bool { return r.Row.Batch == nil }

// Decision is the outcome of a merge step.
type Decision struct {
	// New is true when the newer record wins.
	New bool
	// Why is the rule in words; it is made on demand, since most merges are never explained.
	Why func() string
	// Mixed is set when ordering values of different classes met, which Hudi itself refuses.
	Mixed bool
}

func newer(why string) Decision { return Decision{New: true, Why: func() string { return why }} }
func older(why string) Decision { return Decision{Why: func() string { return why }} }

// Delta decides between an earlier and a later log record of one key.
func (r *Rules) Delta(old, new *Record) Decision {
	if new.Delete && new.empty() {
		return r.deltaDelete(old, new)
	}
	if r.Style == Payloads {
		// Both payload classes with their own code here compare in preCombine, OverwriteWithLatest
		// too: among log records 0.x goes by the ordering value whatever the mode.
		if old.empty() {
			return newer("the earlier version is a delete; the later record replaces it")
		}
		return r.byOrdering(old.Ord, new.Ord)
	}
	if r.Mode == CommitTime {
		return newer("the later commit wins")
	}
	if old.commitTimeDelete() || new.commitTimeDelete() {
		return newer("a delete without an ordering value is in commit order: the later one wins")
	}
	return r.byOrdering(old.Ord, new.Ord)
}

// deltaDelete decides between a log record and a later entry of a delete block (spec section 4.3).
func (r *Rules) deltaDelete(old, del *Record) Decision {
	if r.Style == Mergers {
		if r.Mode == CommitTime {
			return newer("the later commit wins: the record is deleted")
		}
		if old.commitTimeDelete() {
			return older("the record is deleted already")
		}
	}
	if del.Ord.IsDefault() {
		return newer("the delete has no ordering value: it deletes what came before")
	}
	c, same := Compare(old.Ord, del.Ord)
	if !same {
		d := newer(fmt.Sprintf("the ordering values can't be compared (%s and %s): the delete wins", old.Ord.Class, del.Ord.Class))
		d.Mixed = true
		return d
	}
	if c > 0 {
		return Decision{Why: func() string { return fmt.Sprintf("late delete: its ordering %s is below %s", del.Ord, old.Ord) }}
	}
	return Decision{New: true, Why: func() string { return fmt.Sprintf("delete: ordering %s is not below %s", del.Ord, old.Ord) }}
}

// byOrdering keeps the newer on ties.
func (r *Rules) byOrdering(old, new Ordering) Decision {
	if !r.HasOrdering {
		return newer("the table has no ordering field: the later record wins")
	}
	c, same := Compare(new, old)
	d := Decision{New: c >= 0, Mixed: !same}
	d.Why = func() string {
		switch {
		case c > 0:
			return fmt.Sprintf("ordering %s is above %s", new, old)
		case c == 0:
			return fmt.Sprintf("ordering %s is equal: the later one wins", new)
		}
		return fmt.Sprintf("late record: ordering %s is below %s", new, old)
	}
	return d
}

// Final decides between a base-file row and the merged log record of its key: New means that
// the log record counts, as a row or, when it is a delete, by removing the row.
func (r *Rules) Final(base Ordering, log *Record) Decision {
	if r.Mode == CommitTime {
		return newer("the log is later than the base file")
	}
	if log.empty() && r.Style == Payloads {
		return newer("the log deletes the record")
	}
	if log.commitTimeDelete() {
		return newer("a delete without an ordering value deletes whatever the base file has")
	}
	if r.Style == Payloads && base.IsDefault() {
		return newer("the base row has no ordering value: the log wins")
	}
	return r.byOrdering(base, log.Ord)
}
