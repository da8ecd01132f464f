package explorer

import (
	"cmp"
	"container/heap"
	"encoding/json"
	"hash/maphash"
	"math"
	"math/bits"
	"slices"

	"hudiscope/core/api"
	"hudiscope/core/column"
)

// counter counts different values and finds the frequent ones. It is exact while the values fit its memory; after
// that the number of values comes from the longest runs of zeros in their hashes (HyperLogLog), and frequent values
// from a fixed number of counters, of which the least gives way to a value that has none (Space-Saving).
type counter struct {
	room  int
	exact map[string]*tally
	// registers are of the estimate, nil while the count is exact.
	registers []uint8
	seed      maphash.Seed
	few       map[string]*tally
	least     tallyHeap
}

// tally is how often a value was counted; up to error of it may be of other values.
type tally struct {
	key          string
	count, error int64
	value        json.RawMessage
	cut          bool
	at           int
}

func newTally(key []byte, v *column.Vector, i int) *tally {
	t := &tally{key: string(key), count: 1}
	t.value, t.cut = cutJSON(v.AppendJSON(nil, i))
	return t
}

const (
	registerBits = 14 // 16,384 registers: a standard error of 0.8 %
	fewValues    = 256
)

func newCounter(room int) counter { return counter{room: room, exact: map[string]*tally{}} }

// add counts a value by its bytes; slot i of v is told as its JSON.
func (c *counter) add(key []byte, v *column.Vector, i int) {
	if c.registers == nil {
		if t := c.exact[string(key)]; t != nil {
			t.count++
			return
		}
		t := newTally(key, v, i)
		cost := len(t.key) + len(t.value) + entryBytes
		if len(c.exact) < maxDistinct && cost <= c.room {
			c.room -= cost
			c.exact[t.key] = t
			return
		}
		c.estimate()
	}
	c.register(maphash.Bytes(c.seed, key))
	if t := c.few[string(key)]; t != nil {
		t.count++
		heap.Fix(&c.least, t.at)
		return
	}
	if len(c.least) < fewValues {
		t := newTally(key, v, i)
		heap.Push(&c.least, t)
		c.few[t.key] = t
		return
	}
	t := c.least[0]
	delete(c.few, t.key)
	t.key, t.error = string(key), t.count
	t.count++
	t.value, t.cut = cutJSON(v.AppendJSON(t.value[:0], i))
	c.few[t.key] = t
	heap.Fix(&c.least, 0)
}

// estimate goes on without knowing all values.
func (c *counter) estimate() {
	c.seed = maphash.MakeSeed()
	c.registers = make([]uint8, 1<<registerBits)
	all := make([]*tally, 0, len(c.exact))
	for _, t := range c.exact {
		c.register(maphash.String(c.seed, t.key))
		all = append(all, t)
	}
	slices.SortFunc(all, func(a, b *tally) int { return cmp.Compare(b.count, a.count) })
	c.exact, c.few = nil, map[string]*tally{}
	for _, t := range all[:min(len(all), fewValues)] {
		heap.Push(&c.least, t)
		c.few[t.key] = t
	}
}

func (c *counter) register(h uint64) {
	r := &c.registers[h>>(64-registerBits)]
	*r = max(*r, uint8(bits.LeadingZeros64(h<<registerBits|1<<(registerBits-1)))+1)
}

// distinct is the number of different values, and whether it is an estimate.
func (c *counter) distinct() (n int64, approximate bool) {
	if c.registers == nil {
		return int64(len(c.exact)), false
	}
	m := float64(len(c.registers))
	sum, zero := 0.0, 0.0
	for _, r := range c.registers {
		sum += math.Ldexp(1, -int(r))
		if r == 0 {
			zero++
		}
	}
	e := 0.7213 / (1 + 1.079/m) * m * m / sum
	if e <= 2.5*m && zero > 0 {
		e = m * math.Log(m/zero)
	}
	return int64(math.Round(e)), true
}

// top are the most frequent values: of an estimate those that are certain to be more frequent than any value that
// has no counter.
func (c *counter) top(n int) []api.ValueCount {
	var list []*tally
	floor := int64(0)
	if c.registers == nil {
		for _, t := range c.exact {
			list = append(list, t)
		}
	} else {
		if len(c.least) == fewValues {
			floor = c.least[0].count
		}
		for _, t := range c.least {
			if t.count-t.error > floor {
				list = append(list, t)
			}
		}
	}
	slices.SortFunc(list, func(a, b *tally) int {
		return cmp.Or(cmp.Compare(b.count-b.error, a.count-a.error), cmp.Compare(a.key, b.key))
	})
	var out []api.ValueCount
	for _, t := range list[:min(n, len(list))] {
		x := api.ValueCount{Value: t.value, Count: t.count, Cut: t.cut}
		if t.error > 0 {
			x.Least = t.count - t.error
		}
		out = append(out, x)
	}
	return out
}

// tallyHeap has the least count on top.
type tallyHeap []*tally

func (h tallyHeap) Len() int           { return len(h) }
func (h tallyHeap) Less(i, j int) bool { return h[i].count < h[j].count }
func (h tallyHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].at, h[j].at = i, j
}
func (h *tallyHeap) Push(x any) {
	t := x.(*tally)
	t.at = len(*h)
	*h = append(*h, t)
}
func (h *tallyHeap) Pop() any {
	old := *h
	t := old[len(old)-1]
	*h = old[:len(old)-1]
	return t
}

// histogram counts numbers in intervals whose width is a power of two and whose edges are its multiples. When
// values lie farther apart than maxBins intervals, two at a time become one: no count is a guess.
type histogram struct {
	// whole tells that values are integers: no interval is narrower than one.
	whole bool
	// first are different values before a width is chosen.
	first map[point]int64
	exp   int
	low   float64 // number of the first interval
	bins  []int64
}

// point is a value: i where the histogram is of integers, else f.
type point struct {
	i int64
	f float64
}

func (p point) float() float64 { return p.f + float64(p.i) }

func (h *histogram) addInt(x int64) { h.add(point{i: x}, 1) }

func (h *histogram) addFloat(x float64) {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return
	}
	if x == 0 {
		x = 0 // -0
	}
	h.add(point{f: x}, 1)
}

func (h *histogram) add(x point, n int64) {
	if h.bins == nil {
		if h.first == nil {
			h.first = map[point]int64{}
		}
		h.first[x] += n
		if len(h.first) > maxBins {
			h.begin()
		}
		return
	}
	at := h.number(x)
	for {
		lo, hi := math.Min(h.low, at), math.Max(h.low+float64(len(h.bins))-1, at)
		if hi-lo < maxBins {
			break
		}
		h.widen()
		at = h.number(x)
	}
	if at < h.low {
		h.bins = append(make([]int64, int(h.low-at)), h.bins...)
		h.low = at
	}
	for int(at-h.low) >= len(h.bins) {
		h.bins = append(h.bins, 0)
	}
	h.bins[int(at-h.low)] += n
}

// number is the number of the interval that a value lies in.
func (h *histogram) number(x point) float64 {
	if h.whole {
		return float64(x.i >> min(h.exp, 63))
	}
	return math.Floor(math.Ldexp(x.f, -h.exp))
}

// begin chooses a width for the values so far.
func (h *histogram) begin() {
	lo, hi := point{}, point{}
	for x := range h.first {
		lo, hi = x, x
		break
	}
	for x := range h.first {
		if x.i < lo.i || x.f < lo.f {
			lo = x
		}
		if x.i > hi.i || x.f > hi.f {
			hi = x
		}
	}
	// Half of each, for their difference may be more than a double holds.
	_, h.exp = math.Frexp((hi.float()/2 - lo.float()/2) / histogramBins)
	h.exp++
	h.exp = max(h.exp, -1022)
	if h.whole {
		h.exp = max(h.exp, 0)
	}
	for math.Abs(h.number(lo)) > 1<<52 || math.Abs(h.number(hi)) > 1<<52 {
		h.exp++ // below this width neighbours are one double
	}
	first := h.first
	h.first, h.low, h.bins = nil, h.number(lo), make([]int64, 1)
	for x, n := range first {
		h.add(x, n)
	}
}

// widen makes one interval of two.
func (h *histogram) widen() {
	h.exp++
	low := math.Floor(h.low / 2)
	bins := make([]int64, 0, len(h.bins)/2+1)
	for i, n := range h.bins {
		at := int(math.Floor((h.low+float64(i))/2) - low)
		for at >= len(bins) {
			bins = append(bins, 0)
		}
		bins[at] += n
	}
	h.low, h.bins = low, bins
}

// intervals are the counts, with edges, which are n times two to the power of exp, written by edge; nil for fewer than two different values.
func (h *histogram) intervals(edge func(n float64, exp int) json.RawMessage) []api.Interval {
	if h.bins == nil {
		if len(h.first) < 2 {
			return nil
		}
		h.begin()
	}
	for len(h.bins) > histogramBins {
		h.widen()
	}
	out := make([]api.Interval, len(h.bins))
	for i, n := range h.bins {
		at := h.low + float64(i)
		out[i] = api.Interval{From: edge(at, h.exp), To: edge(at+1, h.exp), Count: n}
	}
	return out
}
