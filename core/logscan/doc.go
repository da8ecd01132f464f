// Package logscan decides what the blocks of a file slice's log files mean: which are
// merged, in which order, and why the others are not (spec log-format.md sections 9 to 12).
// It reads block headers only, through package logfile, and knows the timeline only by a
// function that tells whether an instant is committed.
//
// Two algorithms exist. The first, of all releases up to 0.12 and the default up to
// 0.15, keeps one queue and walks the files once:
//
//	block of instant i > latest    the scan stops, for commands too
//	data, deletes                  pushed, unless i is not committed or out of range
//	rollback of t                  blocks of t leave the queue (up to 0.12: only from its end)
//
// The second, since 0.13, gathers blocks by instant, then walks the instants backwards so
// that blocks written by a log compaction M take the place of the newest block they
// replace:
//
//	on disk   B1  B2  rollback(B2)  B3  M(replaces B1,B3)  B4
//	order     B1          B3  M  B4
//	backward  B4 → queue;  M replaces B1, B3;  B3 → M's blocks;  B1 → in M already
//	merged    M  B4
//
// Every block that is read gets a fate with a sentence, so that a reader can be shown why
// a row is there or is not.
package logscan
