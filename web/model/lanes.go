package model

import (
	"math"
	"sort"
	"time"

	"hudiscope/core/api"
)

// Axis is what the horizontal direction of a timeline means.
type Axis string

// The axes. OnRequested and OnCompleted are to scale in time and differ in what orders
// the instants; InSteps gives each instant the same width.
const (
	OnRequested Axis = ""
	OnCompleted Axis = "completed"
	InSteps     Axis = "steps"
)

// Bar is one instant on the timeline, in pixels of the plot.
type Bar struct {
	// Index of the instant in the list that was laid out; Order its place on this axis.
	Index, Order int
	// X and W are the extent; Row is the sub-row in the lane.
	X, W float64
	Row  int
	// Anchor is the x of the point that the axis orders by.
	Anchor float64
	// Open is true for a pending instant: the bar goes on to the right edge.
	Open bool
	// Timeless is true when the instant's name holds no time.
	Timeless bool
}

// Lane is the row of one action.
type Lane struct {
	Action string
	// Rows is how many sub-rows are needed so that no two bars overlap.
	Rows int
	Bars []Bar
}

// Tick is a mark on the axis.
type Tick struct {
	X     float64
	Label string
}

// Plot is a timeline laid out.
type Plot struct {
	Lanes []Lane
	Ticks []Tick
	// Order lists instant indexes from left to right, as the keyboard walks them.
	Order []int
	// Width is the width used: what was asked for, or more in steps.
	Width float64
	// From and To are the times at the edges of a time axis.
	From, To time.Time
}

// laneOrder is the order of lanes from top to bottom: writes, table services, undoing, keeping.
var laneOrder = []string{
	"commit", "deltacommit", "replacecommit", "clustering", "compaction", "logcompaction",
	"clean", "rollback", "restore", "savepoint", "indexing", "schemacommit",
}

const (
	minBar  = 7.0  // least width of a bar
	barGap  = 3.0  // least distance of two bars in a sub-row
	stepW   = 30.0 // least width of a step
	edgePad = 14.0
)

// LayTimeline lays instants out in lanes per action within width pixels.
func LayTimeline(instants []api.Instant, axis Axis, width float64) Plot {
	p := Plot{Width: width}
	if len(instants) == 0 {
		return p
	}
	if width < 120 {
		p.Width = 120
	}
	p.Order = order(instants, axis)
	place := make([]int, len(instants)) // instant → place in order
	for at, i := range p.Order {
		place[i] = at
	}

	type extent struct {
		x, end, anchor float64
		open, timeless bool
	}
	ext := make([]extent, len(instants))
	if axis == InSteps {
		step := (p.Width - 2*edgePad) / float64(len(instants))
		if step < stepW {
			step = stepW
			p.Width = 2*edgePad + step*float64(len(instants))
		}
		if step > 150 {
			step = 150
		}
		for i := range instants {
			x := edgePad + step*float64(place[i])
			ext[i] = extent{x: x + 2, end: x + step - 4, anchor: x + 2}
			if instants[i].Completed == "" && instants[i].State != "COMPLETED" {
				ext[i].open = true
				ext[i].end = p.Width
			}
		}
		every := 1 + int(96/step)
		for at, i := range p.Order {
			if at%every == 0 {
				p.Ticks = append(p.Ticks, Tick{X: edgePad + step*float64(at) + 2, Label: clockOfDay(instants[i].Requested)})
			}
		}
	} else {
		var from, to time.Time
		seen := false
		note := func(t time.Time) {
			if !seen || t.Before(from) {
				from = t
			}
			if !seen || t.After(to) {
				to = t
			}
			seen = true
		}
		for _, in := range instants {
			if t, ok := InstantTime(in.Requested); ok {
				note(t)
			}
			if t, ok := InstantTime(in.Completed); ok {
				note(t)
			}
		}
		if !to.After(from) {
			to = from.Add(time.Second)
		}
		p.From, p.To = from, to
		// Pending instants need room at the right to be seen going on.
		right := edgePad + minBar
		for _, in := range instants {
			if pending(in) {
				right = 56
				break
			}
		}
		scale := (p.Width - edgePad - right) / float64(to.Sub(from))
		xOf := func(t time.Time) float64 { return edgePad + float64(t.Sub(from))*scale }
		for i, in := range instants {
			t, ok := InstantTime(in.Requested)
			if !ok {
				ext[i] = extent{x: 2, end: 2 + minBar, anchor: 2, timeless: true}
				continue
			}
			e := extent{x: xOf(t)}
			e.end, e.anchor = e.x+minBar, e.x
			if c, ok := InstantTime(in.Completed); ok && !c.Before(t) {
				e.end = math.Max(xOf(c), e.x+minBar)
				if axis == OnCompleted {
					e.anchor = xOf(c)
				}
			}
			if pending(in) {
				e.open, e.end = true, p.Width
			}
			ext[i] = e
		}
		p.Ticks = timeTicks(from, to, xOf)
	}

	byAction := map[string][]int{}
	for _, i := range p.Order {
		byAction[instants[i].Action] = append(byAction[instants[i].Action], i)
	}
	for _, action := range laneActions(byAction) {
		ids := byAction[action]
		sort.SliceStable(ids, func(a, b int) bool { return ext[ids[a]].x < ext[ids[b]].x })
		lane := Lane{Action: action}
		var ends []float64 // end of the last bar of each sub-row
		for _, i := range ids {
			e := ext[i]
			row := -1
			for r, end := range ends {
				if e.x >= end+barGap {
					row = r
					break
				}
			}
			if row < 0 {
				row = len(ends)
				ends = append(ends, 0)
			}
			ends[row] = e.end
			lane.Bars = append(lane.Bars, Bar{Index: i, Order: place[i], X: e.x, W: e.end - e.x, Row: row, Anchor: e.anchor, Open: e.open, Timeless: e.timeless})
		}
		lane.Rows = len(ends)
		p.Lanes = append(p.Lanes, lane)
	}
	return p
}

func pending(in api.Instant) bool { return in.State != "COMPLETED" }

func order(instants []api.Instant, axis Axis) []int {
	ids := make([]int, len(instants))
	for i := range ids {
		ids[i] = i
	}
	key := func(in api.Instant) string {
		if axis == OnCompleted {
			if pending(in) {
				return "~" + in.Requested // after everything that is completed
			}
			if in.Completed != "" {
				return in.Completed
			}
		}
		return in.Requested
	}
	sort.SliceStable(ids, func(a, b int) bool { return key(instants[ids[a]]) < key(instants[ids[b]]) })
	return ids
}

func laneActions(by map[string][]int) []string {
	var out []string
	known := map[string]bool{}
	for _, a := range laneOrder {
		known[a] = true
		if len(by[a]) > 0 {
			out = append(out, a)
		}
	}
	var rest []string
	for a := range by {
		if !known[a] {
			rest = append(rest, a)
		}
	}
	sort.Strings(rest)
	return append(out, rest...)
}

func clockOfDay(instant string) string {
	t, ok := InstantTime(instant)
	if !ok {
		return instant
	}
	return t.Format("15:04:05")
}

// timeTicks chooses round times at distances of at least 90 pixels.
func timeTicks(from, to time.Time, xOf func(time.Time) float64) []Tick {
	steps := []time.Duration{
		time.Millisecond, 5 * time.Millisecond, 10 * time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond, 500 * time.Millisecond,
		time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 15 * time.Second, 30 * time.Second,
		time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute,
		time.Hour, 2 * time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour,
	}
	for d := 2; d <= 4096; d *= 2 {
		steps = append(steps, time.Duration(d)*24*time.Hour)
	}
	const least = 90.0
	perNano := (xOf(to) - xOf(from)) / float64(to.Sub(from))
	step := steps[len(steps)-1]
	for _, s := range steps {
		if float64(s)*perNano >= least {
			step = s
			break
		}
	}
	layout := "15:04:05"
	switch {
	case step < time.Second:
		layout = "15:04:05.000"
	case step >= 24*time.Hour:
		layout = "2006-01-02"
	case to.Sub(from) > 24*time.Hour:
		layout = "01-02 15:04"
	case step >= time.Minute:
		layout = "15:04"
	}
	var out []Tick
	for t := from.Truncate(step); !t.After(to) && len(out) < 200; t = t.Add(step) {
		if t.Before(from) {
			continue
		}
		out = append(out, Tick{X: xOf(t), Label: t.Format(layout)})
	}
	return out
}

// Took is the time from request to completion, and whether it is known.
func Took(in api.Instant) (time.Duration, bool) {
	a, ok := InstantTime(in.Requested)
	if !ok {
		return 0, false
	}
	b, ok := InstantTime(in.Completed)
	if !ok || b.Before(a) {
		return 0, false
	}
	return b.Sub(a), true
}
