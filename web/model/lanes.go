package model

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"time"

	"hudiscope/core/api"
	"strconv"
	"strings"
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
	// Bins stand in for Bars where there are too many; Most is the largest count of them.
	Bins []Bin
	Most int
}

// Tick is a mark on the axis.
type Tick struct {
	X     float64
	Label string
	// LabelX is where the label begins: beside the mark, or as far left as it needs to be
	// seen whole. A label that has no room is "".
	LabelX float64
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
	// Inside counts the instants in the part that is seen.
	Inside int
	// XOf turns a fraction of the whole axis into pixels.
	XOf func(float64) float64
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

// Extent is the part of an axis that is seen: fractions of its whole length, 0 ≤ A < B ≤ 1.
type Extent struct{ A, B float64 }

// Whole is the extent of everything.
var Whole = Extent{0, 1}

// String writes the extent for an address: "" for the whole, else both ends as shares.
func (e Extent) String() string {
	if !e.Zoomed() {
		return ""
	}
	// As many digits as the part needs to be told apart.
	digits := 2 - int(math.Floor(math.Log10(math.Max(e.B-e.A, leastExtent))))
	return strconv.FormatFloat(e.A, 'f', digits, 64) + "-" + strconv.FormatFloat(e.B, 'f', digits, 64)
}

// ParseExtent is the inverse of String; what is no extent is the whole.
func ParseExtent(said string) Extent {
	from, to, ok := strings.Cut(said, "-")
	a, err1 := strconv.ParseFloat(from, 64)
	b, err2 := strconv.ParseFloat(to, 64)
	if !ok || err1 != nil || err2 != nil || !(a >= 0 && b <= 1 && b-a >= leastExtent) {
		return Whole
	}
	return Extent{a, b}
}

// Zoomed reports whether only a part is seen.
func (e Extent) Zoomed() bool { return e.B-e.A < 0.999 }

// leastExtent bounds how far one can zoom in.
const leastExtent = 1e-7

// Zoom makes the part smaller (factor < 1) or larger around a point of it (0 left, 1 right).
func (e Extent) Zoom(factor, around float64) Extent {
	w := math.Min(1, math.Max(leastExtent, (e.B-e.A)*factor))
	at := e.A + around*(e.B-e.A)
	return fit(at-around*w, w)
}

// Pan moves the part by a share of its own width.
func (e Extent) Pan(by float64) Extent {
	w := e.B - e.A
	return fit(e.A+by*w, w)
}

// MoveTo puts the middle of the part at a fraction of the whole.
func (e Extent) MoveTo(middle float64) Extent {
	w := e.B - e.A
	return fit(middle-w/2, w)
}

func fit(a, w float64) Extent {
	a = math.Min(math.Max(0, a), 1-w)
	return Extent{a, a + w}
}

// Bin stands for several instants of a lane that are too close to be drawn one by one.
type Bin struct {
	X, W  float64
	Count int
	// Pending counts those that are not completed.
	Pending int
	// A and B are the extent to zoom to.
	A, B float64
}

// maxBars is how many bars are drawn one by one.
const maxBars = 1500

// Chart is a list of instants on an axis, prepared once so that any part of it is laid out
// quickly.
type Chart struct {
	// Order lists instant indexes from left to right, as the keyboard walks them.
	Order []int
	// Place is the inverse of Order.
	Place []int

	instants *Instants
	axis     Axis
	from, to time.Time
	// start, end and anchor are fractions of the whole axis; start is NaN for a name without a time.
	start, end, anchor []float64
	pending            bool
	density            []int
}

// NewChart prepares instants for an axis.
func NewChart(instants *Instants, axis Axis) *Chart {
	if instants == nil {
		instants = newInstants(0)
	}
	n := instants.Len()
	c := &Chart{instants: instants, axis: axis, Order: order(instants, axis), Place: make([]int, n),
		start: make([]float64, n), end: make([]float64, n), anchor: make([]float64, n)}
	for at, i := range c.Order {
		c.Place[i] = at
	}
	for i := range n {
		if instants.Pending(i) {
			c.pending = true
			break
		}
	}
	if axis == InSteps {
		for i := range n {
			c.start[i] = float64(c.Place[i]) / float64(n)
			c.end[i] = float64(c.Place[i]+1) / float64(n)
			c.anchor[i] = c.start[i]
		}
		return c
	}
	from, to := int64(math.MaxInt64), int64(noTime)
	for _, times := range [][]int64{instants.at[:n], instants.done[:n]} {
		for _, t := range times {
			if t != noTime {
				from, to = min(from, t), max(to, t)
			}
		}
	}
	if to == noTime {
		from, to = 0, 0
	}
	to = max(to, from+1000)
	c.from, c.to = time.UnixMilli(from).UTC(), time.UnixMilli(to).UTC()
	whole := float64(to - from)
	for i := range n {
		at, done := instants.at[i], instants.done[i]
		if at == noTime {
			c.start[i], c.end[i], c.anchor[i] = math.NaN(), 0, 0
			continue
		}
		c.start[i] = float64(at-from) / whole
		c.end[i], c.anchor[i] = c.start[i], c.start[i]
		if done != noTime && done >= at {
			c.end[i] = float64(done-from) / whole
			if axis == OnCompleted {
				c.anchor[i] = c.end[i]
			}
		}
	}
	return c
}

// FractionOf is the place of a time on the axis, as Fraction; between two instants in equal steps it is that of the
// earlier one. NaN for text that holds no time.
func (c *Chart) FractionOf(instant string) float64 {
	if c.axis == InSteps {
		n := c.instants.Len()
		at := sort.Search(n, func(p int) bool { return c.instants.requested[c.Order[p]] > instant })
		if n == 0 {
			return math.NaN()
		}
		return float64(max(at-1, 0)) / float64(n)
	}
	t := millis(instant[:min(len(instant), 17)])
	if t == noTime {
		return math.NaN()
	}
	return float64(t-c.from.UnixMilli()) / float64(c.to.UnixMilli()-c.from.UnixMilli())
}

// Within are the requested times of the first and the last instant whose place lies in a part of the axis, "" and ""
// when there is none.
func (c *Chart) Within(e Extent) (first, last string) {
	for i := range c.instants.Len() {
		if f := c.Fraction(i); f >= e.A-1e-9 && f <= e.B+1e-9 {
			t := c.instants.requested[i]
			if first == "" || t < first {
				first = t
			}
			last = max(last, t)
		}
	}
	return first, last
}

// Fraction is where an instant begins on the whole axis.
func (c *Chart) Fraction(i int) float64 {
	if i < 0 || i >= len(c.start) || math.IsNaN(c.start[i]) {
		return 0
	}
	return c.start[i]
}

// Density counts instants in equal parts of the whole axis, for an overview. The answer is kept, and
// must not be changed.
func (c *Chart) Density(parts int) []int {
	if len(c.density) != parts {
		c.density = make([]int, parts)
		for i := range c.start {
			at := int(c.Fraction(i) * float64(parts))
			c.density[min(max(at, 0), parts-1)]++
		}
	}
	return c.density
}

// inside reports whether an instant is seen in a part of the axis.
func (c *Chart) inside(i int, e Extent) bool {
	s := c.start[i]
	if s != s { // NaN
		return e.A <= 0
	}
	if s > e.B {
		return false
	}
	if c.axis == InSteps {
		return s < e.B && c.end[i] > e.A
	}
	return c.end[i] >= e.A || c.instants.Pending(i)
}

// Lay draws a part of the chart within width pixels.
func (c *Chart) Lay(width float64, e Extent) Plot {
	p := Plot{Width: width, Order: c.Order}
	n := c.instants.Len()
	if n == 0 {
		return p
	}
	if width < 120 {
		p.Width = 120
	}
	if !(e.B > e.A) {
		e = Whole
	}
	left, right := edgePad, edgePad
	var room float64 // pixels for the part that is seen
	if c.axis == InSteps {
		room = p.Width - left - right
		step := room / (float64(n) * (e.B - e.A))
		if step < stepW && !e.Zoomed() && n <= maxBars {
			step = stepW
			p.Width = left + right + step*float64(n)
		}
		if step > 150 {
			step = 150
		}
		room = step * float64(n) * (e.B - e.A)
	} else {
		right = edgePad + minBar
		if c.pending {
			// Pending instants need room at the right to be seen going on.
			right = 56
		}
		room = p.Width - left - right
	}
	scale := room / (e.B - e.A)
	xOf := func(f float64) float64 { return left + (f-e.A)*scale }
	p.XOf = xOf

	for i := range n {
		if c.inside(i, e) {
			p.Inside++
		}
	}
	if c.axis == InSteps {
		p.Ticks = c.stepTicks(e, xOf)
	} else {
		whole := float64(c.to.Sub(c.from))
		p.From = c.from.Add(time.Duration(e.A * whole))
		p.To = c.from.Add(time.Duration(e.B * whole))
		if !p.To.After(p.From) {
			p.To = p.From.Add(time.Millisecond)
		}
		p.Ticks = timeTicks(p.From, p.To, func(t time.Time) float64 { return xOf(float64(t.Sub(c.from)) / whole) })
	}
	placeLabels(p.Ticks, p.Width)
	if p.Inside > maxBars {
		p.Lanes = c.bins(e, left, room)
		return p
	}
	byAction := make([][]int, len(c.instants.actions))
	for i := range n {
		if c.inside(i, e) {
			a := c.instants.action[i]
			byAction[a] = append(byAction[a], i)
		}
	}
	for _, a := range c.laneActions(func(a int) bool { return len(byAction[a]) > 0 }) {
		p.Lanes = append(p.Lanes, c.lane(c.instants.actions[a], byAction[a], p.Width, xOf))
	}
	return p
}

// labelChar is the width of a character of a tick's label, at most.
const labelChar = 6.5

// placeLabels puts labels beside their marks so that none is cut at the right edge.
func placeLabels(ticks []Tick, width float64) {
	end := 0.0 // of the label before
	for i := range ticks {
		t := &ticks[i]
		w := labelChar * float64(len(t.Label))
		t.LabelX = math.Min(t.X+3, width-w)
		if t.LabelX < end {
			t.Label = ""
			continue
		}
		end = t.LabelX + w + 2
	}
}

// CompletionNote says in a sentence what completion times of these instants are missing or
// stood in for by the times of files; "" when all are recorded.
func CompletionNote(instants *Instants) string {
	done, without, files := 0, 0, 0
	for i := range instants.Len() {
		switch {
		case instants.Pending(i):
			continue
		case instants.completed[i] == "":
			without++
		case instants.flags[i]&api.CompactFileTime != 0:
			files++
		}
		done++
	}
	switch {
	case without > 0 && without == done:
		return "No instant of this table carries a completion time: all stand where they were requested."
	case without > 0:
		return Plural(int64(without), "completed instant") + " of " + Count(int64(done)) + " without a completion time, drawn at the requested time."
	case files > 0:
		return "Completion times are those of the files (file time): this timeline layout stores none, and copying a file changes it."
	}
	return ""
}

func (c *Chart) stepTicks(e Extent, xOf func(float64) float64) []Tick {
	n := float64(c.instants.Len())
	step := xOf(1/n) - xOf(0)
	every := 1 + int(96/step)
	first := int(math.Ceil(e.A*n)) / every * every
	var out []Tick
	for at := first; at < len(c.Order) && float64(at) < e.B*n && len(out) < 400; at += every {
		if float64(at) < e.A*n {
			continue
		}
		out = append(out, Tick{X: xOf(float64(at)/n) + 2, Label: clockOfDay(c.instants.requested[c.Order[at]])})
	}
	return out
}

// lane lays out the bars of an action so that none overlaps another.
func (c *Chart) lane(action string, ids []int, width float64, xOf func(float64) float64) Lane {
	type box struct {
		x, end, anchor float64
		open, timeless bool
	}
	boxOf := func(i int) box {
		open := c.instants.Pending(i)
		if math.IsNaN(c.start[i]) {
			return box{x: 2, end: 2 + minBar, anchor: 2, timeless: true}
		}
		b := box{x: xOf(c.start[i]), end: xOf(c.end[i]), anchor: xOf(c.anchor[i]), open: open}
		if c.axis == InSteps {
			gap := math.Min(4, (b.end-b.x)*0.2)
			b.x += gap / 2
			b.end -= gap
			b.anchor = b.x
		} else {
			b.end = math.Max(b.end, b.x+minBar)
		}
		if open {
			b.end = width
		}
		// What goes on outside is cut where it can't be seen.
		b.x = math.Max(b.x, -40)
		b.end = math.Min(math.Max(b.end, b.x+1), math.Max(width, b.x+minBar))
		return b
	}
	type placed struct {
		id int
		box
	}
	boxes := make([]placed, len(ids))
	for k, i := range ids {
		boxes[k] = placed{i, boxOf(i)}
	}
	slices.SortStableFunc(boxes, func(a, b placed) int { return cmp.Compare(a.x, b.x) })
	lane := Lane{Action: action}
	var ends []float64 // end of the last bar of each sub-row
	for _, b := range boxes {
		row := -1
		for r, end := range ends {
			if b.x >= end+barGap {
				row = r
				break
			}
		}
		if row < 0 {
			row = len(ends)
			ends = append(ends, 0)
		}
		ends[row] = b.end
		lane.Bars = append(lane.Bars, Bar{Index: b.id, Order: c.Place[b.id], X: b.x, W: b.end - b.x, Row: row, Anchor: b.anchor, Open: b.open, Timeless: b.timeless})
	}
	lane.Rows = len(ends)
	return lane
}

// bins counts the instants of a part, by action, in columns of a few pixels.
func (c *Chart) bins(e Extent, left, room float64) []Lane {
	const column = 6.0
	parts := max(1, int(room/column))
	counts := make([][]Bin, len(c.instants.actions))
	w := (e.B - e.A) / float64(parts)
	for i := range c.start {
		if !c.inside(i, e) {
			continue
		}
		a := c.instants.action[i]
		if counts[a] == nil {
			counts[a] = make([]Bin, parts)
		}
		at := int((c.Fraction(i) - e.A) / w)
		b := &counts[a][min(max(at, 0), parts-1)]
		b.Count++
		if c.instants.Pending(i) {
			b.Pending++
		}
	}
	var out []Lane
	for _, a := range c.laneActions(func(a int) bool { return counts[a] != nil }) {
		lane := Lane{Action: c.instants.actions[a], Rows: 2}
		for i, b := range counts[a] {
			if b.Count == 0 {
				continue
			}
			b.X, b.W = left+float64(i)*room/float64(parts), room/float64(parts)
			b.A, b.B = e.A+float64(i)*w, e.A+float64(i+1)*w
			lane.Bins = append(lane.Bins, b)
			lane.Most = max(lane.Most, b.Count)
		}
		out = append(out, lane)
	}
	return out
}

// LayTimeline lays instants out in lanes per action within width pixels.
func LayTimeline(instants *Instants, axis Axis, width float64) Plot {
	return NewChart(instants, axis).Lay(width, Whole)
}

// order lists instants as an axis has them: by text, as Hudi compares times.
func order(l *Instants, axis Axis) []int {
	n := l.Len()
	ids := make([]int, n)
	for i := range ids {
		ids[i] = i
	}
	key := func(i int) string { return l.requested[i] }
	time := func(i int) int64 { return l.at[i] }
	if axis == OnCompleted {
		// Those that are pending come after everything that is completed.
		byCompletion := func(i int) bool { return !l.Pending(i) && l.completed[i] != "" }
		key = func(i int) string {
			if byCompletion(i) {
				return l.completed[i]
			}
			return l.requested[i]
		}
		time = func(i int) int64 {
			if byCompletion(i) {
				return l.done[i]
			}
			return l.at[i]
		}
		at, waiting := 0, []int(nil)
		for i := range n {
			if l.Pending(i) {
				waiting = append(waiting, i)
			} else {
				ids[at] = i
				at++
			}
		}
		copy(ids[at:], waiting)
		sortByText(ids[:at], key, time)
		sortByText(ids[at:], key, time)
		return ids
	}
	sortByText(ids, key, time)
	return ids
}

// sortByText sorts ids by their texts, keeping the order of equal ones. Most texts are times: these
// are sorted as numbers, digit by digit, which takes the same short time whatever order they are in.
func sortByText(ids []int, key func(int) string, time func(int) int64) {
	type place struct {
		time int64
		id   int
	}
	at := make([]place, len(ids))
	sorted, low, high := true, int64(math.MaxInt64), int64(noTime)
	for k, i := range ids {
		sorted = sorted && (k == 0 || key(ids[k-1]) <= key(i))
		t := time(i)
		at[k] = place{t, i}
		low, high = min(low, t), max(high, t)
	}
	if sorted {
		return
	}
	if low != noTime {
		const digit = 12
		buf := make([]place, len(at))
		for shift := 0; (high-low)>>shift > 0; shift += digit {
			var from [1<<digit + 1]int
			for k := range at {
				from[(at[k].time-low)>>shift&(1<<digit-1)+1]++
			}
			for d := 1; d < len(from); d++ {
				from[d] += from[d-1]
			}
			for k := range at {
				d := (at[k].time - low) >> shift & (1<<digit - 1)
				buf[from[d]] = at[k]
				from[d]++
			}
			at, buf = buf, at
		}
		for k := range at {
			ids[k] = at[k].id
		}
		// A time has two forms, with and without milliseconds, which are no equal texts.
	}
	less := func(a, b int) bool { return key(ids[a]) < key(ids[b]) }
	if !sort.SliceIsSorted(ids, less) {
		sort.SliceStable(ids, less)
	}
}

// laneActions lists the actions that are there, as the lanes are ordered.
func (c *Chart) laneActions(there func(a int) bool) []int {
	var out, rest []int
	names := c.instants.actions
	for _, known := range laneOrder {
		if a := slices.Index(names, known); a >= 0 && there(a) {
			out = append(out, a)
		}
	}
	for a, name := range names {
		if !slices.Contains(laneOrder, name) && there(a) {
			rest = append(rest, a)
		}
	}
	sort.Slice(rest, func(i, j int) bool { return names[rest[i]] < names[rest[j]] })
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
