package logscan

import (
	"fmt"
	"strings"
)

// RangeKind is the kind of an InstantRange.
type RangeKind uint8

// The kinds (spec log-format.md section 12.5).
const (
	OpenClosed   RangeKind = iota // (Start, End]
	ClosedClosed                  // [Start, End]
	ExactMatch                    // one of Instants
	Composition                   // in any of Parts
)

// InstantRange is a set of instants, compared as text. An empty Start or End is unbounded.
type InstantRange struct {
	Kind       RangeKind
	Start, End string
	Instants   map[string]bool
	Parts      []InstantRange
}

// Contains reports whether an instant is in the range.
func (r *InstantRange) Contains(instant string) bool {
	switch r.Kind {
	case ExactMatch:
		return r.Instants[instant]
	case Composition:
		for i := range r.Parts {
			if r.Parts[i].Contains(instant) {
				return true
			}
		}
		return false
	}
	if r.End != "" && instant > r.End {
		return false
	}
	if r.Kind == OpenClosed {
		return r.Start == "" || instant > r.Start
	}
	return instant >= r.Start
}

// String writes the range for people.
func (r *InstantRange) String() string {
	switch r.Kind {
	case ExactMatch:
		if len(r.Instants) == 1 {
			for i := range r.Instants {
				return i
			}
		}
		return fmt.Sprintf("%d given instants", len(r.Instants))
	case Composition:
		parts := make([]string, len(r.Parts))
		for i := range r.Parts {
			parts[i] = r.Parts[i].String()
		}
		return strings.Join(parts, " or ")
	}
	open := "("
	if r.Kind == ClosedClosed {
		open = "["
	}
	if r.Start == "" {
		open = "(-∞"
	}
	if r.End == "" {
		return open + r.Start + ", ∞)"
	}
	return open + r.Start + ", " + r.End + "]"
}
