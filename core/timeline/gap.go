package timeline

// Gap is what is missing in the states of an instant (spec timeline.md: an instant is requested, inflight, then completed,
// and each state leaves its file in the active timeline).
type Gap uint8

// The gaps.
const (
	NoGap Gap = iota
	// GapRequested: the .requested file is missing. GapInflight: it is completed without an .inflight file.
	GapRequested
	GapInflight
	// GapNotBegun: a write was requested and never begun, GapNotCompleted: something was begun and never completed, though
	// later writes are completed.
	GapNotBegun
	GapNotCompleted
)

// LastWrite is the requested time of the latest completed write, "" when there is none.
func (t *Timeline) LastWrite() string {
	last := ""
	for i := range t.Instants {
		x := &t.Instants[i]
		if x.IsCompleted() && x.Requested > last && (x.Action == Commit || x.Action == DeltaCommit || x.Action == ReplaceCommit) {
			last = x.Requested
		}
	}
	return last
}

// Gap tells what is missing in the states of an instant of the active timeline, whose LastWrite is given. A savepoint has no
// request, and the plan of a service waits until it is run.
func (i *Instant) Gap(lastWrite string) Gap {
	_, requested := i.FileOf(Requested)
	_, inflight := i.FileOf(Inflight)
	switch {
	case !requested && i.Action != Savepoint:
		return GapRequested
	case i.IsCompleted() && !inflight:
		return GapInflight
	case i.IsCompleted() || i.Requested >= lastWrite:
		return NoGap
	case i.State == Inflight:
		return GapNotCompleted
	}
	switch i.Action {
	case Compaction, LogCompaction, Clustering, ReplaceCommit, Clean, Indexing:
		return NoGap
	}
	return GapNotBegun
}
