package query

// Retain leaves out the parts for which keep, which is asked by their place, is false. It is called before the
// first part is read.
func (p *Plan) Retain(keep func(part int) bool) {
	parts := p.Parts[:0:0]
	var changes []Changes
	for i := range p.Parts {
		if !keep(i) {
			continue
		}
		parts = append(parts, p.Parts[i])
		if i < len(p.Changes) {
			changes = append(changes, p.Changes[i])
		}
	}
	p.Parts, p.Changes = parts, changes
}

// PathValues reports whether rows show the values of partition columns as a snapshot does.
func (p *Plan) PathValues() bool { return p.table == nil || p.table.PathValues() }

// ByNumber reports whether columns are matched with those of files by number, through a schema history.
func (p *Plan) ByNumber() bool { return p.table != nil && p.table.Schema.Internal != nil }
