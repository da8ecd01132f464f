package merge

import (
	"fmt"

	"hudiscope/core/column"
	"hudiscope/core/schema"
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

// PartialMode is the partial update mode of a version 9 table.
type PartialMode string

// The partial update modes, by Hudi's names.
const (
	IgnoreDefaults  PartialMode = "IGNORE_DEFAULTS"
	FillUnavailable PartialMode = "FILL_UNAVAILABLE"
)

// Rules says how versions are merged.
type Rules struct {
	Mode  Mode
	Style Style
	// HasOrdering is false when the table has no ordering fields: every value is then the default.
	HasOrdering bool
	// Payload is the payload class, without its package. It decides in mode CUSTOM, and in every
	// mode in style Payloads.
	Payload string
	// Partial builds rows from two versions; Unavailable is the marker of FILL_UNAVAILABLE.
	Partial     PartialMode
	Unavailable string
	// OlderOnTie keeps the earlier version of equal ordering values
	// (hoodie.payload.update.on.same.ordering.field=false; DefaultHoodieRecordPayload only).
	OlderOnTie bool
	// UnavailableStays is set for releases whose PostgresDebeziumAvroPayload loses the values that it
	// fills in.
	UnavailableStays bool
}

// Check returns an error when the rules are code that is not part of Hudi, or is unknown.
func (r *Rules) Check() error {
	switch {
	case r.Mode != CommitTime && r.Mode != EventTime && r.Mode != Custom:
		return fmt.Errorf("the merge mode %s is not known", r.Mode)
	case r.Partial != "" && r.Partial != IgnoreDefaults && r.Partial != FillUnavailable:
		return fmt.Errorf("the partial update mode %s is not known", r.Partial)
	case r.Partial == FillUnavailable && r.Unavailable == "":
		return fmt.Errorf("the partial update mode %s needs a value that stands for an unavailable one, and the table names none", r.Partial)
	case r.Mode == Custom && r.Payload == "":
		return fmt.Errorf("the table names no payload class")
	case r.Mode == Custom && payloads[r.Payload] == nil:
		return fmt.Errorf("the payload class %s is not part of Hudi", r.Payload)
	}
	return nil
}

// Fields lists the columns that merging reads beside the record key, the ordering fields and
// the delete flags.
func (r *Rules) Fields() []string {
	if p := r.payload(); p != nil {
		return p.fields
	}
	return nil
}

// payload is the class whose steps are followed, nil where record mergers decide.
func (r *Rules) payload() *payload {
	if r.Mode == Custom || r.Style == Payloads {
		if p := payloads[r.Payload]; p != nil {
			return p
		}
		if r.Mode == CommitTime {
			return payloads["OverwriteWithLatestAvroPayload"]
		}
		return payloads["DefaultHoodieRecordPayload"]
	}
	return nil
}

// Presence tells which fields of the reader's type a partial update holds.
type Presence struct{ Has []bool }

// InBase is the Block of a record that is a row of the base file.
const InBase = -1

// Record is one version of a record.
type Record struct {
	// Row is the record's row, of the reader's type; Batch is nil for an entry of a delete block.
	Row column.Row
	Ord Ordering
	// Partial is set for partial updates: only the fields it names are known, the others are null in Row.
	Partial *Presence
	// Block and Index say where the record lies: the position of the block in merge order, or
	// InBase, and of the record in it. Of a row built from two versions they are those of the newer.
	Block, Index int32
	// Delete marks a delete: an entry of a delete block, or a row flagged as deleted.
	Delete bool
}

func (r *Record) commitTimeDelete() bool { return r.Delete && r.Ord.IsDefault() }

// empty reports a delete without a row: what the payloads of 0.x call an empty payload.
func (r *Record) empty() bool { return r.Row.Batch == nil }

// Outcome is what became of two versions of a record.
type Outcome uint8

// The outcomes.
const (
	Old      Outcome = iota // the older version stays
	New                     // the newer version takes its place; when it is a delete, the record is deleted
	Combined                // a row made of both takes their place
	Removed                 // neither stays: the rule says that the record is deleted
)

// Merged is what Combined and Removed put in the place of two versions.
type Merged struct {
	Record
	// FromNew tells for every field of the reader's type whether its value is the newer version's.
	FromNew []bool
}

// Decision is the outcome of a merge step. It is valid until either record changes or the next
// step is decided.
type Decision struct {
	Outcome Outcome
	// Mixed is set when ordering values of different classes met, which Hudi itself refuses.
	Mixed  bool
	reason reason
	// Older and Newer are the versions that met; Older is nil for a log record without a base row.
	Older, Newer *Record
	// Merged is set for Combined and Removed.
	Merged *Merged
}

// Winner is the record that is left: Older, Newer or Merged.
func (d *Decision) Winner() *Record {
	switch d.Outcome {
	case New:
		return d.Newer
	case Combined, Removed:
		return &d.Merged.Record
	}
	return d.Older
}

// Merger merges the records of one file slice. It is not safe for concurrent use.
type Merger struct {
	rules Rules
	typ   *schema.Type
	pay   *payload
	// ordering reads the ordering value of a row that was made of two.
	ordering func(column.Row) Ordering
	// partials is set once a block of partial updates was seen: Hudi then merges by the fields that
	// a version has, and no longer by the table's partial update mode.
	partials bool

	fromNew  []bool
	merged   Merged
	out      *column.Batch
	made     int64
	defaults []fieldDefault
	union    struct{ a, b, u *Presence }
}

// NewMerger returns a merger of rows of the reader's type. ordering returns the ordering value of a row.
func NewMerger(r Rules, reader *schema.Type, ordering func(column.Row) Ordering) *Merger {
	return &Merger{rules: r, typ: reader, pay: r.payload(), ordering: ordering}
}

// SawPartials tells that the slice has partial updates (blocks with IS_PARTIAL), which change how
// it is merged from here on. It is an error in mode CUSTOM: no payload class can merge them.
func (m *Merger) SawPartials() error {
	if m.rules.Mode == Custom {
		return fmt.Errorf("partial updates can't be merged by %s: no Hudi release does", m.rules.Payload)
	}
	m.partials = true
	return nil
}

func keep(why reason, old, new *Record) Decision {
	return Decision{reason: why, Older: old, Newer: new}
}
func take(why reason, old, new *Record) Decision {
	return Decision{Outcome: New, reason: why, Older: old, Newer: new}
}

// Bytes is about the memory that all rows made of two versions so far were given.
func (m *Merger) Bytes() int64 {
	if m.out == nil {
		return 0
	}
	return m.made + m.out.Bytes()
}

// First is the step of a key's first log record: it stays.
func (m *Merger) First(new *Record) Decision { return take(firstInLogs, nil, new) }

// Delta decides between an earlier and a later log record of one key.
func (m *Merger) Delta(old, new *Record) Decision {
	if m.rules.Style == Payloads {
		if new.Delete && new.empty() {
			return m.lateDelete(old, new)
		}
		return m.pay.preCombine(m, old, new)
	}
	switch {
	case m.rules.Mode == Custom && m.pay.preCombines && !new.empty():
		return m.pay.preCombine(m, old, new)
	case m.rules.Mode == Custom:
		return m.custom(old, new)
	case m.rules.Mode == CommitTime:
		return m.overlay(take(laterCommit, old, new))
	case new.Delete && new.empty():
		if old.commitTimeDelete() {
			return keep(deletedAlready, old, new)
		}
		return m.lateDelete(old, new)
	}
	return m.eventTime(old, new)
}

// Final decides between a base-file row and the merged log record of its key: New means that
// the log record counts, as a row or, when it is a delete, by removing the row.
func (m *Merger) Final(base, log *Record) Decision {
	switch {
	case m.rules.Style == Payloads:
		return m.pay.combine(m, base, log)
	case m.rules.Mode == Custom:
		return m.custom(base, log)
	case m.rules.Mode == CommitTime:
		return m.overlay(take(logOverBase, base, log))
	}
	return m.eventTime(base, log)
}

// Insert decides about a merged log record without a base row: New means that it is a row of the
// table, when it is no delete.
func (m *Merger) Insert(log *Record) Decision {
	if m.pay != nil && m.pay.inserts != nil && !m.pay.inserts(log) {
		m.merged = Merged{Record: Record{Ord: log.Ord, Block: log.Block, Index: log.Index, Delete: true}}
		return Decision{Outcome: Removed, reason: payloadInsertsNothing, Newer: log, Merged: &m.merged}
	}
	if log.Delete {
		return take(deleteOfNothing, nil, log)
	}
	if log.Partial != nil {
		return take(partialInsert, nil, log)
	}
	return take(inserted, nil, log)
}

// eventTime is EVENT_TIME_ORDERING of the record mergers (spec record-merging.md section 3).
func (m *Merger) eventTime(old, new *Record) Decision {
	if old.commitTimeDelete() || new.commitTimeDelete() {
		d := take(defaultDelete, old, new)
		if new.Delete {
			d.reason = defaultDeleteNow
		} else {
			d.Mixed = new.Ord.Class != Integer
		}
		return d
	}
	return m.overlay(m.byOrdering(old, new))
}

// lateDelete decides between a record and a later entry of a delete block by their ordering
// values (spec section 4.3).
func (m *Merger) lateDelete(old, del *Record) Decision {
	if del.Ord.IsDefault() {
		return take(defaultDeleteNow, old, del)
	}
	c, same := Compare(&old.Ord, &del.Ord)
	if !same {
		d := take(deleteMixed, old, del)
		d.Mixed = true
		return d
	}
	if c > 0 {
		return keep(deleteLate, old, del)
	}
	return take(deleteWins, old, del)
}

// byOrdering keeps the newer on ties.
func (m *Merger) byOrdering(old, new *Record) Decision {
	if !m.rules.HasOrdering {
		return take(noOrdering, old, new)
	}
	c, same := Compare(&new.Ord, &old.Ord)
	d := Decision{Older: old, Newer: new, Mixed: !same, reason: orderingBelow}
	switch {
	case c > 0:
		d.Outcome, d.reason = New, orderingAbove
	case c == 0:
		d.Outcome, d.reason = New, orderingEqual
	}
	return d
}

// custom is the merge of 1.x by a payload class (spec section 6), between log records and with
// the base row.
func (m *Merger) custom(old, new *Record) Decision {
	switch {
	case old.commitTimeDelete() || new.commitTimeDelete():
		d := take(defaultDelete, old, new)
		if new.Delete {
			d.reason = defaultDeleteNow
		}
		return d
	case old.empty():
		return take(afterDelete, old, new)
	}
	d := m.pay.combine(m, old, new)
	if d.Outcome != Removed {
		return d
	}
	switch {
	case new.Delete:
		d.Outcome, d.Merged = New, nil
	case old.Delete:
		d.Outcome, d.Merged = Old, nil
	}
	return d
}

// removed is the outcome that neither version stays; the ordering value is the greater one.
func (m *Merger) removed(why reason, old, new *Record) Decision {
	m.merged = Merged{Record: Record{Ord: new.Ord, Block: new.Block, Index: new.Index, Delete: true}}
	if c, _ := Compare(&old.Ord, &new.Ord); c > 0 {
		m.merged.Ord = old.Ord
	}
	return Decision{Outcome: Removed, reason: why, Older: old, Newer: new, Merged: &m.merged}
}
