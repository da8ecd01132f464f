package table

import "hudiscope/core/groupreader"

// ReaderOptions are the options with which a slice is read as part of the plan. The slice may be one
// that the plan itself leaves out: an older one, or one of a replaced file group.
func (p *Plan) ReaderOptions(s groupreader.Slice, ro ReadOptions) (*groupreader.Options, error) {
	return p.options(s, ro)
}

// Readable returns why the rows of a slice can't be read, nil when they can.
func (p *Plan) Readable(s *groupreader.Slice) error { return p.check(s) }
