package model

import (
	"slices"
	"sort"
	"strings"
)

// Stops are the places of a time cursor: the completed instants of the active timeline by their requested times, and
// after them the latest state, which has no time of its own.
type Stops struct {
	list *Instants
	// at indexes list, one entry for each requested time.
	at []int32
}

// Stops lists the places of a cursor.
func (l *Instants) Stops() *Stops {
	s := &Stops{list: l}
	for i := range l.Len() {
		if i < l.Archived || l.Pending(i) {
			continue
		}
		if n := len(s.at); n > 0 && l.requested[s.at[n-1]] == l.requested[i] {
			// A savepoint has the time of its commit, which is what it is about.
			if l.Write(i) {
				s.at[n-1] = int32(i)
			}
			continue
		}
		s.at = append(s.at, int32(i))
	}
	by := func(a, b int32) int { return strings.Compare(l.requested[a], l.requested[b]) }
	if !slices.IsSortedFunc(s.at, by) { // as a rule they are
		slices.SortStableFunc(s.at, by)
	}
	return s
}

// Len is the number of instants, and the place of the latest state.
func (s *Stops) Len() int {
	if s == nil {
		return 0
	}
	return len(s.at)
}

// Time is the requested time at a place, "" at that of the latest state.
func (s *Stops) Time(place int) string {
	if place < 0 || place >= s.Len() {
		return ""
	}
	return s.list.requested[s.at[place]]
}

// Index is the index in the list of instants of a place, -1 of the latest state.
func (s *Stops) Index(place int) int {
	if place < 0 || place >= s.Len() {
		return -1
	}
	return int(s.at[place])
}

// Place is that of a time: of the last instant at or before it, or the first. "" is the latest state.
func (s *Stops) Place(time string) int {
	if time == "" {
		return s.Len()
	}
	n := sort.Search(s.Len(), func(i int) bool { return s.list.requested[s.at[i]] > time })
	return max(n-1, 0)
}

// Step is the time a number of instants after another, "" for the latest state. A time between two instants counts
// as that of the earlier one.
func (s *Stops) Step(time string, by int) string {
	return s.Time(min(max(s.Place(time)+by, 0), s.Len()))
}
