package model

import (
	"errors"
	"math"
	"sort"
	"strings"

	"hudiscope/core/api"
)

// Instants is a list of instants in columns, so that a hundred thousand of them take little memory
// and are searched quickly. It does not change once it is made.
type Instants struct {
	// Archived counts the archived instants; they are the first.
	Archived int

	requested, completed []string
	// at and done are these times in milliseconds since 1970, noTime for text that holds none.
	at, done []int64
	// action indexes actions.
	action  []int32
	actions []string
	flags   []uint8

	// The instant that was looked for last, and where it is.
	sought  struct{ requested, action string }
	foundAt int
}

const noTime = math.MinInt64

func newInstants(n int) *Instants {
	return &Instants{requested: make([]string, 0, n), completed: make([]string, 0, n), at: make([]int64, 0, n), done: make([]int64, 0, n),
		action: make([]int32, 0, n), flags: make([]uint8, 0, n), foundAt: -1}
}

func millis(instant string) int64 {
	if t, ok := InstantTime(instant); ok {
		return t.UnixMilli()
	}
	return noTime
}

// InstantsOf makes columns of a list.
func InstantsOf(list []api.Instant) *Instants {
	l := newInstants(len(list))
	known := map[string]int32{}
	for i := range list {
		in := &list[i]
		var f uint8
		switch in.State {
		case "INFLIGHT":
			f = api.CompactInflight
		case "COMPLETED":
			f = api.CompactCompleted
		}
		if in.CompletedFrom == "mtime" {
			f |= api.CompactFileTime
		}
		if in.Operation == "COMPACT" {
			f |= api.CompactCompaction
		}
		l.add(in.Requested, in.Completed, l.actionOf(known, in.Action), f)
	}
	return l
}

// InstantsIn makes columns of a page of a compact timeline. The texts of the page are kept, not copied.
func InstantsIn(c *api.CompactTimeline) (*Instants, error) {
	n := len(c.Action)
	if len(c.Flags) != n {
		return nil, errors.New("the columns of the timeline differ in length")
	}
	l := newInstants(n)
	known := map[string]int32{}
	local := make([]int32, len(c.Actions))
	for i, a := range c.Actions {
		local[i] = l.actionOf(known, a)
	}
	requested, completed := c.Requested, c.Completed
	for i := range n {
		r, c1, ok1 := strings.Cut(requested, " ")
		d, c2, ok2 := strings.Cut(completed, " ")
		if !ok1 || !ok2 || int(c.Action[i]) >= len(local) {
			return nil, errors.New("the columns of the timeline differ in length")
		}
		requested, completed = c1, c2
		l.add(r, d, local[c.Action[i]], c.Flags[i])
	}
	return l, nil
}

func (l *Instants) actionOf(known map[string]int32, action string) int32 {
	k, ok := known[action]
	if !ok {
		k = int32(len(l.actions))
		known[action] = k
		l.actions = append(l.actions, action)
	}
	return k
}

func (l *Instants) add(requested, completed string, action int32, flags uint8) {
	l.requested, l.completed = append(l.requested, requested), append(l.completed, completed)
	l.at, l.done = append(l.at, millis(requested)), append(l.done, millis(completed))
	l.action, l.flags = append(l.action, action), append(l.flags, flags)
}

// JoinInstants puts lists one after the other.
func JoinInstants(lists ...*Instants) *Instants {
	n := 0
	for _, x := range lists {
		n += x.Len()
	}
	l := newInstants(n)
	known := map[string]int32{}
	for _, x := range lists {
		l.requested, l.completed = append(l.requested, x.requested...), append(l.completed, x.completed...)
		l.at, l.done, l.flags = append(l.at, x.at...), append(l.done, x.done...), append(l.flags, x.flags...)
		here := make([]int32, len(x.actions))
		for i, a := range x.actions {
			here[i] = l.actionOf(known, a)
		}
		for _, a := range x.action {
			l.action = append(l.action, here[a])
		}
	}
	return l
}

// Len is the number of instants; a nil list has none.
func (l *Instants) Len() int {
	if l == nil {
		return 0
	}
	return len(l.requested)
}

// At is an instant, without its files.
func (l *Instants) At(i int) api.Instant {
	in := api.Instant{Requested: l.requested[i], Completed: l.completed[i], Action: l.Action(i), State: "REQUESTED"}
	f := l.flags[i]
	switch {
	case f&api.CompactCompleted != 0:
		in.State = "COMPLETED"
	case f&api.CompactInflight != 0:
		in.State = "INFLIGHT"
	}
	if in.Completed != "" {
		in.CompletedFrom = "name"
		if f&api.CompactFileTime != 0 {
			in.CompletedFrom = "mtime"
		}
	}
	if f&api.CompactCompaction != 0 {
		in.Operation = "COMPACT"
	}
	return in
}

// Requested is the requested time of an instant, Action its action.
func (l *Instants) Requested(i int) string { return l.requested[i] }

// Action is the action of an instant.
func (l *Instants) Action(i int) string { return l.actions[l.action[i]] }

// Pending reports whether an instant is not completed.
func (l *Instants) Pending(i int) bool { return l.flags[i]&api.CompactCompleted == 0 }

// Write reports whether an instant is a completed write of rows or files.
func (l *Instants) Write(i int) bool {
	if l.Pending(i) {
		return false
	}
	switch l.Action(i) {
	case "commit", "deltacommit", "replacecommit":
		return true
	}
	return false
}

// Find is the index of the instant with a requested time and, unless it is "", an action; -1 when
// there is none.
func (l *Instants) Find(requested, action string) int {
	if l.Len() == 0 || requested == "" {
		return -1
	}
	if l.sought.requested == requested && l.sought.action == action {
		return l.foundAt
	}
	l.sought.requested, l.sought.action, l.foundAt = requested, action, -1
	for i := range l.requested {
		if l.requested[i] == requested && (action == "" || l.Action(i) == action) {
			l.foundAt = i
			break
		}
	}
	return l.foundAt
}

// Seek is Find for instants of the active timeline, of which there may be many to find.
func (l *Instants) Seek(requested, action string) int {
	if l.Len() == 0 {
		return -1
	}
	for i := l.Archived + sort.SearchStrings(l.requested[l.Archived:], requested); i < len(l.requested) && l.requested[i] == requested; i++ {
		if action == "" || l.Action(i) == action {
			return i
		}
	}
	return -1
}

// Search is what a user looks for among instants: the beginning of a requested or completion time,
// and words in the action or state.
type Search struct {
	// Time are the first digits of a time.
	Time  string
	words []string
}

// ParseSearch reads what was typed: "2026-05-01 12:30 rollback", "20260501", "pending clean".
func ParseSearch(text string) Search {
	var s Search
	for _, w := range strings.Fields(strings.ToLower(text)) {
		digits := strings.Map(func(r rune) rune {
			if strings.ContainsRune("-:./tz", r) {
				return -1
			}
			return r
		}, w)
		if digits != "" && strings.Trim(digits, "0123456789") == "" {
			s.Time += digits
			continue
		}
		s.words = append(s.words, w)
	}
	return s
}

// Empty reports whether there is nothing to look for.
func (s Search) Empty() bool { return s.Time == "" && len(s.words) == 0 }

// TimeOnly reports whether a time is all that is looked for.
func (s Search) TimeOnly() bool { return s.Time != "" && len(s.words) == 0 }

// filter prepares a search for a list: what it accepts.
func (l *Instants) filter(s Search) func(i int) bool {
	// Whether the words fit an action in a state.
	const states = 3
	fit := make([]bool, len(l.actions)*states)
	for a, action := range l.actions {
		for state, name := range [states]string{"requested pending", "inflight pending", "completed"} {
			ok := true
			for _, w := range s.words {
				ok = ok && (strings.Contains(action, w) || strings.Contains(name, w))
			}
			fit[a*states+state] = ok
		}
	}
	return func(i int) bool {
		return fit[int(l.action[i])*states+int(l.flags[i]&3)%states] &&
			(s.Time == "" || strings.HasPrefix(l.requested[i], s.Time) || strings.HasPrefix(l.completed[i], s.Time))
	}
}

// Count counts the instants that a search finds.
func (l *Instants) Count(s Search) int {
	n := 0
	ok := l.filter(s)
	for i := range l.Len() {
		if ok(i) {
			n++
		}
	}
	return n
}

// Next is the place in order of the next instant after place (by 1) or before it (by -1) that a search
// finds, going round at the ends; -1 when it finds none.
func (l *Instants) Next(s Search, order []int, place, by int) int {
	n := len(order)
	ok := l.filter(s)
	at := place
	if at < 0 {
		at = n
		if by > 0 {
			at = -1
		}
	}
	for range n {
		at = (at + by + n) % n
		if ok(order[at]) {
			return at
		}
	}
	return -1
}

// Nearest is the first instant that was requested at a time, given by its first digits, or later; -1
// when there is none.
func (l *Instants) Nearest(time string) int {
	best := -1
	for i := range l.Len() {
		if l.requested[i] >= time && (best < 0 || l.requested[i] < l.requested[best]) {
			best = i
		}
	}
	return best
}

// Timed is a completed write by the time that ranges take ([TimeOf]); false when none has that time.
func (l *Instants) Timed(time string, requested bool) (api.Instant, bool) {
	if l == nil {
		return api.Instant{}, false
	}
	times := l.completed
	if requested {
		times = l.requested
	}
	for i := len(times) - 1; i >= 0 && time != ""; i-- {
		if times[i] == time && l.Write(i) {
			return l.At(i), true
		}
	}
	return api.Instant{}, false
}

// Writes lists completed writes, newest first, up to a number: those whose requested time begins with
// the digits given.
func (l *Instants) Writes(time string, most int) (list []api.Instant, more bool) {
	for i := l.Len() - 1; i >= 0; i-- {
		if !l.Write(i) || !strings.HasPrefix(l.requested[i], time) {
			continue
		}
		if len(list) == most {
			return list, true
		}
		list = append(list, l.At(i))
	}
	return list, false
}
