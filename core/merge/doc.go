// Package merge decides between versions of a record: which of two log records stays, and
// what becomes of a base-file row that meets a log record. It holds the rules as data and
// pure functions; reading blocks and keeping the map is package groupreader's.
//
// Two generations of Hudi's code are followed, see Style. In 1.x a record merger decides
// between log records (Delta) and with the base row (Final), by the table's merge mode; in
// mode CUSTOM it calls the payload class. In 0.x the payload class decides in every mode:
// preCombine among log records, combineAndGetUpdateValue with the base row.
//
//	older version ──┐
//	                ├─ Delta, Final ─→ Old │ New │ Combined (fields of both) │ Removed
//	newer version ──┘
//
// Source: spec record-merging.md sections 3 to 6 and 10.4; what Hudi releases do differently is
// chosen by Rules, not by conditions spread over the readers.
package merge
