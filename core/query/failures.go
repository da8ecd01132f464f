package query

import (
	"slices"

	"hudiscope/core/groupreader"
	"hudiscope/core/release"
)

// Failed says that some releases fail on a read; Detail what of this read makes them.
type Failed struct {
	ID     release.FailureID
	Detail string
}

// fail notes what some releases fail on, once for each kind.
func (p *Plan) fail(id release.FailureID, detail string) {
	if !slices.ContainsFunc(p.Failures, func(f Failed) bool { return f.ID == id }) {
		p.Failures = append(p.Failures, Failed{id, detail})
	}
}

// Met lists what some releases fail on in a read, by what reading one of its parts has met.
func (p *Plan) Met(st *groupreader.Stats) []release.FailureID {
	out := slices.Clone(st.Failures)
	if st.Partials && p.Query.Incremental != nil && !p.Query.Incremental.CDC {
		out = append(out, release.PartialIncremental)
	}
	return out
}
