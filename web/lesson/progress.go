package lesson

import (
	"slices"
	"strconv"
	"strings"
)

// Progress is which steps of the lessons were shown: numbers from 0, in order, by the lesson's ID.
type Progress map[string][]int

// mostRemembered bounds what is read of a stored progress: steps of a lesson, and lessons.
const mostRemembered = 200

// ParseProgress reads what [Progress.String] wrote. What it does not understand is left out: the text may be another
// release's, or anybody's.
func ParseProgress(s string) Progress {
	p := Progress{}
	for part := range strings.SplitSeq(s, ";") {
		id, steps, ok := strings.Cut(part, ":")
		if !ok || id == "" || len(p) == mostRemembered {
			continue
		}
		for n := range strings.SplitSeq(steps, ",") {
			if i, err := strconv.Atoi(n); err == nil && i >= 0 && i < mostRemembered {
				p.See(id, i)
			}
		}
	}
	return p
}

// String writes the progress: "rollback:0,1,2;cdc:0".
func (p Progress) String() string {
	ids := make([]string, 0, len(p))
	for id := range p {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	var b strings.Builder
	for _, id := range ids {
		if b.Len() > 0 {
			b.WriteByte(';')
		}
		b.WriteString(id + ":")
		for i, n := range p[id] {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(strconv.Itoa(n))
		}
	}
	return b.String()
}

// See notes that a step was shown, and reports whether it is the first time.
func (p Progress) See(id string, step int) bool {
	at, was := slices.BinarySearch(p[id], step)
	if !was {
		p[id] = slices.Insert(p[id], at, step)
	}
	return !was
}

// Seen is how many of a lesson's steps were shown.
func (p Progress) Seen(l *Lesson) int {
	n := 0
	for _, step := range p[l.ID] {
		if step < len(l.Steps) {
			n++
		}
	}
	return n
}

// Finished reports whether every step of a lesson was shown.
func (p Progress) Finished(l *Lesson) bool { return len(l.Steps) > 0 && p.Seen(l) == len(l.Steps) }

// FinishedOf counts the finished lessons.
func (p Progress) FinishedOf(all []Lesson) int {
	n := 0
	for i := range all {
		if p.Finished(&all[i]) {
			n++
		}
	}
	return n
}

// Next is where to go on: the first lesson that is not finished, and its first step that was not shown. nil after the
// last one.
func (p Progress) Next(all []Lesson) (l *Lesson, step int) {
	for i := range all {
		if l = &all[i]; p.Finished(l) {
			continue
		}
		for step = range l.Steps {
			if _, seen := slices.BinarySearch(p[l.ID], step); !seen {
				return l, step
			}
		}
	}
	return nil, 0
}
