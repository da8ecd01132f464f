package merge

import (
	"strconv"
	"strings"

	"hudiscope/core/schema"
)

// payload is a payload class of Hudi as steps between two versions (spec record-merging.md
// section 6). In style Payloads an empty record is a delete without a row.
type payload struct {
	// preCombine decides between log records in 0.x.
	preCombine func(m *Merger, old, new *Record) Decision
	// preCombines is set where 1.x calls preCombine among log records, too.
	preCombines bool
	// combine is combineAndGetUpdateValue: current is the row that is stored, in the one that comes.
	combine func(m *Merger, current, in *Record) Decision
	// inserts is getInsertValue where it looks at more than the delete flags, nil elsewhere.
	inserts func(in *Record) bool
	// fields are the columns the class reads by name.
	fields []string
}

// The columns of change data capture tools.
const (
	dmsOp       = "Op"
	debeziumOp  = "_change_operation_type"
	mysqlSeq    = "_event_seq"
	postgresLSN = "_event_lsn"
	// debeziumUnavailable stands for a TOASTed value that did not change.
	debeziumUnavailable = "__debezium_unavailable_value"
)

var (
	byDefault  = payload{preCombine: preCombineDefault, combine: combineDefault}
	overwrite  = payload{preCombine: preCombineDefault, combine: combineOverwrite}
	ownRow     = payload{preCombine: takeNewer, combine: combineOverwrite}
	expression = payload{preCombine: preCombineDefault, preCombines: true, combine: combineDefault}
)

// payloads are the classes by name, without the package.
var payloads = map[string]*payload{
	"OverwriteWithLatestAvroPayload":            &overwrite,
	"DefaultHoodieRecordPayload":                &byDefault,
	"EventTimeAvroPayload":                      &byDefault,
	"OverwriteNonDefaultsWithLatestAvroPayload": {preCombine: preCombineDefault, combine: combineNonDefaults},
	"PartialUpdateAvroPayload":                  {preCombine: preCombinePartial, combine: combinePartial},
	"AWSDmsAvroPayload":                         {preCombine: preCombineDefault, combine: combineDms, inserts: insertsDms, fields: []string{dmsOp}},
	"MySqlDebeziumAvroPayload":                  {preCombine: preCombineDefault, combine: combineMySQL, inserts: insertsDebezium, fields: []string{debeziumOp, mysqlSeq}},
	"PostgresDebeziumAvroPayload":               {preCombine: preCombineDefault, combine: combinePostgres, inserts: insertsDebezium, fields: []string{debeziumOp, postgresLSN}},
	"ExpressionPayload":                         &expression,
	"BootstrapRecordPayload":                    &ownRow,
	"RewriteAvroPayload":                        &ownRow,
	"HoodieAvroPayload":                         &ownRow,
	"EmptyHoodieRecordPayload":                  {preCombine: keepOlder, combine: combineEmpty, inserts: insertsNothing},
	"ReverseOrderHoodieRecordPayload":           {preCombine: preCombineReverse, combine: combineReverse},
}

func insertsNothing(*Record) bool { return false }

func takeNewer(_ *Merger, old, new *Record) Decision { return take(payloadNewer, old, new) }
func keepOlder(_ *Merger, old, new *Record) Decision { return keep(payloadKeepsOlder, old, new) }

// preCombineDefault orders by the ordering value. OverwriteWithLatestAvroPayload of 0.x does so
// too: among log records the value counts, whatever the mode. The Debezium classes inherit it, so
// that 0.x compares "9.999" and "10.1" as texts here.
func preCombineDefault(m *Merger, old, new *Record) Decision {
	if old.empty() {
		return take(afterDelete, old, new)
	}
	return m.byOrdering(old, new)
}

func preCombineReverse(m *Merger, old, new *Record) Decision {
	if old.empty() {
		return take(afterDelete, old, new)
	}
	return m.byReverse(old, new)
}

// byReverse is byOrdering with the smaller value winning.
func (m *Merger) byReverse(old, new *Record) Decision {
	if !m.rules.HasOrdering {
		return take(noOrdering, old, new)
	}
	c, same := Compare(&new.Ord, &old.Ord)
	d := Decision{Older: old, Newer: new, Mixed: !same, reason: reverseAbove}
	switch {
	case c < 0:
		d.Outcome, d.reason = New, reverseBelow
	case c == 0:
		d.Outcome, d.reason = New, orderingEqual
	}
	return d
}

func combineOverwrite(m *Merger, current, in *Record) Decision {
	if in.Delete {
		return take(deletedByLog, current, in)
	}
	return take(laterCommit, current, in)
}

func combineDefault(m *Merger, current, in *Record) Decision {
	if in.empty() && m.rules.Style == Payloads {
		return take(deletedByLog, current, in)
	}
	switch {
	case in.commitTimeDelete():
		return take(defaultDeleteNow, current, in)
	case current.Ord.IsDefault():
		return take(baseUnordered, current, in)
	}
	d := m.byOrdering(current, in)
	if d.reason == orderingEqual && m.rules.OlderOnTie {
		return keep(tieKeepsOlder, current, in)
	}
	return d
}

func combineReverse(m *Merger, current, in *Record) Decision {
	if in.empty() && m.rules.Style == Payloads || in.commitTimeDelete() {
		return take(deletedByLog, current, in)
	}
	if current.Ord.IsDefault() {
		return take(baseUnordered, current, in)
	}
	return m.byReverse(current, in)
}

func combineEmpty(m *Merger, current, in *Record) Decision {
	return m.removed(payloadInsertsNothing, current, in)
}

// combineNonDefaults keeps the current value of every field whose new value is the default.
func combineNonDefaults(m *Merger, current, in *Record) Decision {
	if in.Delete {
		return take(deletedByLog, current, in)
	}
	if current.Delete {
		return m.removed(deletedAlready, current, in)
	}
	d := m.fieldwise(take(nonDefaults, current, in), in, current, m.isDefault, nil)
	return m.reorder(d)
}

// combinePartial fills the nulls of the version with the higher ordering value from the other.
func combinePartial(m *Merger, current, in *Record) Decision {
	if in.Delete {
		return take(deletedByLog, current, in)
	}
	return m.fillNulls(current, in)
}

func preCombinePartial(m *Merger, old, new *Record) Decision {
	if old.empty() {
		return take(afterDelete, old, new)
	}
	return m.fillNulls(old, new)
}

// fillNulls makes a row of two versions; the meta fields are always those of the newer.
func (m *Merger) fillNulls(old, new *Record) Decision {
	d := take(fillNewer, old, new)
	c, same := Compare(&old.Ord, &new.Ord)
	if !same || c <= 0 || !m.rules.HasOrdering {
		return m.reorder(m.fieldwise(d, new, old, isNull, nil))
	}
	d.reason = fillOlder
	m.fromNew = append(m.fromNew[:0], make([]bool, len(m.typ.Fields))...)
	for i := range m.typ.Fields {
		hi, lo := old, new
		meta := schema.IsMetaField(m.typ.Fields[i].Name)
		if meta {
			hi, lo = lo, hi
		}
		c := hi.Row.Batch.Columns[i]
		fromHi := c == nil || !c.IsNull(hi.Row.Index)
		m.fromNew[i] = fromHi == meta
	}
	return m.reorder(m.combine(d, old.Ord, nil))
}

// reorder reads the ordering value of a combined row from the row itself.
func (m *Merger) reorder(d Decision) Decision {
	if d.Outcome == Combined && m.rules.HasOrdering {
		d.Merged.Ord = m.ordering(d.Merged.Row)
	}
	return d
}

func insertsDms(in *Record) bool {
	op, _ := text(in, dmsOp)
	return !strings.EqualFold(op, "D")
}

func combineDms(m *Merger, current, in *Record) Decision {
	switch {
	case in.Delete:
		return take(deletedByLog, current, in)
	case !insertsDms(in):
		return m.removed(dmsDelete, current, in)
	}
	return take(laterCommit, current, in)
}

func insertsDebezium(in *Record) bool {
	op, _ := text(in, debeziumOp)
	return op != "d"
}

// combineMySQL orders by binlog file and position.
func combineMySQL(m *Merger, current, in *Record) Decision {
	if in.empty() {
		return take(deletedByLog, current, in)
	}
	a, okA := text(current, mysqlSeq)
	b, okB := text(in, mysqlSeq)
	if okA && okB && seqLater(a, b) {
		return keep(seqBelow, current, in)
	}
	return m.debezium(current, in, seqNotBelow)
}

// seqLater reports whether binlog position a, "file.position", is later than b.
func seqLater(a, b string) bool {
	fileA, posA := splitSeq(a)
	fileB, posB := splitSeq(b)
	if fileA != fileB {
		return fileA > fileB
	}
	return posA > posB
}

func splitSeq(s string) (file, pos int64) {
	f, p, _ := strings.Cut(s, ".")
	file, _ = strconv.ParseInt(f, 10, 64)
	pos, _ = strconv.ParseInt(p, 10, 64)
	return file, pos
}

// combinePostgres orders by log sequence number; values the source did not send are the current ones.
func combinePostgres(m *Merger, current, in *Record) Decision {
	if in.empty() {
		return take(deletedByLog, current, in)
	}
	a, okA := number(current, postgresLSN)
	b, okB := number(in, postgresLSN)
	if okA && okB && a > b {
		return keep(lsnBelow, current, in)
	}
	d := m.debezium(current, in, lsnNotBelow)
	if d.Outcome != New || in.Delete || m.rules.UnavailableStays {
		return d
	}
	return m.reorder(m.fieldwise(d, in, current, func(i int, r *Record) bool { return holds(i, r, debeziumUnavailable) }, nil))
}

func (m *Merger) debezium(current, in *Record, why reason) Decision {
	switch {
	case in.Delete:
		return take(deletedByLog, current, in)
	case !insertsDebezium(in):
		return m.removed(debeziumDelete, current, in)
	}
	return take(why, current, in)
}
