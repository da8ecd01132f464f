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

// Gap says what is missing in the states of an instant, as a key of text.T, "" for nothing. Archived instants have none.
func (l *Instants) Gap(i int) string {
	if i < l.Archived {
		return ""
	}
	switch f := l.flags[i]; {
	case f&api.CompactNoRequested != 0:
		return gapRequested
	case f&api.CompactNoInflight != 0:
		return gapInflight
	case f&api.CompactNotBegun != 0:
		return gapNotBegun
	case f&api.CompactNotCompleted != 0:
		return gapNotDone
	}
	return ""
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
