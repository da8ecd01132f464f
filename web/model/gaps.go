package model

import (
	"hudiscope/core/api"
	"hudiscope/web/text"
)

// The gaps in the states of an instant, as text.T says them.
var (
	gapRequested = text.Key("its .requested file is missing")
	gapInflight  = text.Key("completed without an .inflight file")
	gapNotBegun  = text.Key("requested and never begun: no .inflight file, and later writes are completed")
	gapNotDone   = text.Key("begun and never completed: no completed file, and later writes are completed")
)

// Gap says what is missing in the states of an instant, as a key of text.T, "" for nothing: a file of a state that should be
// there, or the states after the one where it stands still while later writes were completed. Of archived instants
// the archive keeps what it likes: they have none. A plan waits for its service by itself, so it is never one that was not begun.
func (l *Instants) Gap(i int) string {
	if i < l.Archived {
		return ""
	}
	f, action := l.flags[i], l.Action(i)
	switch {
	case f&api.CompactNoRequested != 0 && action != "savepoint":
		return gapRequested // savepoints have none
	case f&api.CompactNoInflight != 0:
		return gapInflight
	case !l.Pending(i) || l.requested[i] >= l.lastWrite():
		return ""
	case f&api.CompactInflight != 0:
		return gapNotDone
	case action == "compaction" || action == "logcompaction" || action == "clustering" || action == "replacecommit" || action == "clean" || action == "indexing":
		return ""
	}
	return gapNotBegun
}

// lastWrite is the requested time of the latest completed write, "" when there is none.
func (l *Instants) lastWrite() string {
	if !l.lastKnown {
		l.lastKnown = true
		for i := range l.requested {
			if l.requested[i] > l.last && l.Write(i) {
				l.last = l.requested[i]
			}
		}
	}
	return l.last
}

// Gaps counts the instants with gaps in their states, first is the index of the first of them.
func (l *Instants) Gaps() (n, first int) {
	for i := range l.requested {
		if l.Gap(i) != "" {
			if n == 0 {
				first = i
			}
			n++
		}
	}
	return n, first
}
