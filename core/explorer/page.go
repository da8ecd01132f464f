package explorer

import (
	"fmt"
	"slices"
	"strings"

	"hudiscope/core/api"
	"hudiscope/core/timeline"
)

// maxFindings bounds the findings of one timeline answer.
const maxFindings = 1000

// maxIgnored bounds the names that are no instants in an answer that does not ask for everything.
const maxIgnored = 200

// page puts the wanted instants of the active timeline into the answer.
func page(a *api.Timeline, tl *timeline.Timeline, req api.TimelinePage) error {
	if req.Limit < 0 {
		return invalid("A page has at least one instant; 0 asks for all of them.")
	}
	a.Total, a.Active = len(tl.Instants), []api.Instant{}
	if !req.Bare {
		a.Counts = counts(tl)
		a.Ignored = tl.Ignored
		if n := len(a.Ignored); n > maxIgnored && req.Limit > 0 {
			a.Ignored = append(slices.Clone(a.Ignored[:maxIgnored]), fmt.Sprintf("and %d more", n-maxIgnored))
		}
	}
	from := req.Offset
	if from < 0 {
		from = max(a.Total+from, 0)
	}
	from = min(from, a.Total)
	to := a.Total
	if req.Limit > 0 {
		to = min(from+req.Limit, a.Total)
	}
	a.Offset = from
	if req.Compact {
		a.Compact = compact(tl.Instants[from:to], tl.LastWrite())
		return nil
	}
	a.Active = make([]api.Instant, 0, to-from)
	for i := from; i < to; i++ {
		a.Active = append(a.Active, instantOf(&tl.Instants[i]))
	}
	return nil
}

// counts counts instants by action and state.
func counts(tl *timeline.Timeline) map[string]int {
	type kind struct {
		action timeline.Action
		state  timeline.State
	}
	by := map[kind]int{}
	for i := range tl.Instants {
		by[kind{tl.Instants[i].Action, tl.Instants[i].State}]++
	}
	out := make(map[string]int, len(by))
	for k, n := range by {
		out[string(k.action)+" "+k.state.String()] = n
	}
	return out
}

// gapFlags are the flags of gaps.
var gapFlags = [...]uint8{timeline.GapRequested: api.CompactNoRequested, timeline.GapInflight: api.CompactNoInflight,
	timeline.GapNotBegun: api.CompactNotBegun, timeline.GapNotCompleted: api.CompactNotCompleted}

// compact puts instants into columns; lastWrite is that of their timeline.
func compact(list []timeline.Instant, lastWrite string) *api.CompactTimeline {
	n := len(list)
	c := &api.CompactTimeline{Action: make([]uint8, n), Actions: []string{}, Flags: make([]uint8, n)}
	var requested, completed strings.Builder
	requested.Grow(18 * n)
	completed.Grow(18 * n)
	at := map[timeline.Action]uint8{}
	for i := range list {
		x := &list[i]
		k, ok := at[x.Action]
		if !ok {
			k = uint8(len(c.Actions))
			at[x.Action] = k
			c.Actions = append(c.Actions, string(x.Action))
		}
		c.Action[i] = k
		requested.WriteString(x.Requested)
		requested.WriteByte(' ')
		completed.WriteString(x.Completed)
		completed.WriteByte(' ')
		var f uint8
		switch x.State {
		case timeline.Inflight:
			f = api.CompactInflight
		case timeline.Completed:
			f = api.CompactCompleted
		}
		if x.CompletedFrom == "mtime" {
			f |= api.CompactFileTime
		}
		if x.IsCompaction() {
			f |= api.CompactCompaction
		}
		c.Flags[i] = f | gapFlags[x.Gap(lastWrite)]
	}
	c.Requested, c.Completed = requested.String(), completed.String()
	return c
}
