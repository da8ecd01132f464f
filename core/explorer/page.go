package explorer

import (
	"hudiscope/core/api"
	"hudiscope/core/timeline"
)

// maxFindings bounds the findings of one timeline answer.
const maxFindings = 1000

// page puts the wanted instants of the active timeline into the answer.
func page(a *api.Timeline, tl *timeline.Timeline, req api.TimelinePage) error {
	if req.Limit < 0 {
		return invalid("A page has at least one instant; 0 asks for all of them.")
	}
	a.Total, a.Counts = len(tl.Instants), map[string]int{}
	for i := range tl.Instants {
		a.Counts[string(tl.Instants[i].Action)+" "+tl.Instants[i].State.String()]++
	}
	if req.Compact {
		a.Compact = compact(tl)
		if req.Limit == 0 {
			return nil
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
	a.Active = make([]api.Instant, 0, to-from)
	for i := from; i < to; i++ {
		a.Active = append(a.Active, instantOf(&tl.Instants[i]))
	}
	return nil
}

// compact puts the active timeline into columns.
func compact(tl *timeline.Timeline) *api.CompactTimeline {
	n := len(tl.Instants)
	c := &api.CompactTimeline{Requested: make([]string, n), Completed: make([]string, n), Action: make([]uint8, n), State: make([]uint8, n), Missing: make([]uint8, n), Actions: []string{}}
	at := map[timeline.Action]uint8{}
	from := map[string]bool{}
	for i := range tl.Instants {
		x := &tl.Instants[i]
		k, ok := at[x.Action]
		if !ok {
			k = uint8(len(c.Actions))
			at[x.Action] = k
			c.Actions = append(c.Actions, string(x.Action))
		}
		c.Requested[i], c.Completed[i], c.Action[i], c.State[i] = x.Requested, x.Completed, k, uint8(x.State)
		if x.CompletedFrom != "" {
			from[x.CompletedFrom] = true
		}
		if _, ok := x.FileOf(timeline.Requested); !ok {
			c.Missing[i] |= 1
		}
		if _, ok := x.FileOf(timeline.Inflight); !ok && x.State == timeline.Completed {
			c.Missing[i] |= 2
		}
	}
	for f := range from {
		c.CompletedFrom = f
	}
	if len(from) > 1 {
		c.CompletedFrom = "mixed"
	}
	return c
}
