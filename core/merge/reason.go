package merge

import (
	"fmt"
	"strings"
)

// reason is the rule that decided. Its sentence is made on demand, since most merges are never explained.
type reason uint8

const (
	noReason reason = iota
	laterCommit
	logOverBase
	deletedAlready
	defaultDelete
	defaultDeleteNow
	deleteMixed
	deleteLate
	deleteWins
	noOrdering
	orderingAbove
	orderingEqual
	orderingBelow
	reverseAbove
	reverseBelow
	tieKeepsOlder
	afterDelete
	baseUnordered
	deletedByLog
	payloadNewer
	payloadKeepsOlder
	payloadInsertsNothing
	nonDefaults
	fillNewer
	fillOlder
	dmsDelete
	debeziumDelete
	seqBelow
	seqNotBelow
	lsnBelow
	lsnNotBelow
	inserted
	deleteOfNothing
	partialInsert
	firstInLogs
)

var sentences = map[reason]string{
	laterCommit:           "the later commit wins",
	logOverBase:           "the log is later than the base file",
	deletedAlready:        "the record is deleted already",
	defaultDelete:         "the earlier delete has no ordering value, it is in commit order: the later version wins",
	defaultDeleteNow:      "the delete has no ordering value: it deletes what came before",
	noOrdering:            "the table has no ordering field: the later version wins",
	afterDelete:           "the earlier version is a delete; the later record replaces it",
	baseUnordered:         "the earlier row has no ordering value: the later version wins",
	deletedByLog:          "the log deletes the record",
	payloadNewer:          "this payload class takes the later version",
	payloadKeepsOlder:     "this payload class keeps the earlier version",
	payloadInsertsNothing: "this payload class makes no row of the record",
	nonDefaults:           "the later version wins with every value that is not the field's default",
	fillNewer:             "the later version wins, its nulls take the earlier values",
	dmsDelete:             "Op is D: the record is deleted",
	debeziumDelete:        "_change_operation_type is d: the record is deleted",
	inserted:              "the base file has no row of this key",
	deleteOfNothing:       "a delete; the base file has no row of this key",
	firstInLogs:           "the first version in the logs",
	partialInsert:         "a partial update without an earlier version: the other columns are not known",
}

// Why is the rule in words.
func (d *Decision) Why() string {
	s := sentences[d.reason]
	if s == "" {
		s = d.compared()
	}
	if d.Outcome == New && d.Newer.Delete && d.Older != nil && !strings.Contains(s, "delete") {
		s += "; it is a delete"
	}
	if d.Outcome == Combined {
		n, of := 0, 0
		for i, c := range d.Merged.Row.Batch.Columns {
			if c != nil {
				of++
				if d.Merged.FromNew[i] {
					n++
				}
			}
		}
		s += fmt.Sprintf("; the row is made of both: %d of %d columns are the later version's", n, of)
	}
	return s
}

// compared words the rules that name the values.
func (d *Decision) compared() string {
	old, new := d.Older, d.Newer
	switch d.reason {
	case deleteMixed:
		return fmt.Sprintf("the ordering values can't be compared (%s and %s): the delete wins", old.Ord.Class, new.Ord.Class)
	case deleteLate:
		return fmt.Sprintf("late delete: its ordering %s is below %s", &new.Ord, &old.Ord)
	case deleteWins:
		return fmt.Sprintf("delete: ordering %s is not below %s", &new.Ord, &old.Ord)
	case orderingAbove:
		return fmt.Sprintf("ordering %s is above %s", &new.Ord, &old.Ord)
	case orderingEqual:
		return fmt.Sprintf("ordering %s is equal: the later one wins", &new.Ord)
	case orderingBelow:
		return fmt.Sprintf("late record: ordering %s is below %s", &new.Ord, &old.Ord)
	case reverseAbove:
		return fmt.Sprintf("ordering %s is above %s, and this payload class keeps the smallest", &new.Ord, &old.Ord)
	case reverseBelow:
		return fmt.Sprintf("ordering %s is below %s, and this payload class keeps the smallest", &new.Ord, &old.Ord)
	case tieKeepsOlder:
		return fmt.Sprintf("ordering %s is equal, and hoodie.payload.update.on.same.ordering.field keeps the earlier one", &new.Ord)
	case fillOlder:
		return fmt.Sprintf("late record: ordering %s is below %s; it only fills nulls", &new.Ord, &old.Ord)
	case seqBelow, seqNotBelow:
		a, _ := text(old, mysqlSeq)
		b, _ := text(new, mysqlSeq)
		if d.reason == seqBelow {
			return fmt.Sprintf("late record: _event_seq %s is before %s", b, a)
		}
		return fmt.Sprintf("_event_seq %s is not before %s", orNull(b), orNull(a))
	case lsnBelow, lsnNotBelow:
		a, _ := text(old, postgresLSN)
		b, _ := text(new, postgresLSN)
		if d.reason == lsnBelow {
			return fmt.Sprintf("late record: _event_lsn %s is before %s", b, a)
		}
		return fmt.Sprintf("_event_lsn %s is not before %s", orNull(b), orNull(a))
	}
	return "no rule"
}

func orNull(s string) string {
	if s == "" {
		return "null"
	}
	return s
}
