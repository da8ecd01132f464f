package query

import "hudiscope/core/table"

// Schema is the schema that the rows of slices are read by, nil for a read that has none.
func (p *Plan) Schema() *table.Schema {
	if p.table == nil {
		return nil
	}
	return p.table.Schema
}
