package explorer

import (
	"context"
	"sort"
	"strconv"
	"strings"

	"hudiscope/core/api"
	"hudiscope/core/evolve"
	"hudiscope/core/query"
	"hudiscope/core/schema"
	"hudiscope/core/table"
)

// planSchema tells where the schema of a plan's rows was looked for, which place won, and what the schema
// history makes of the columns of older files.
func (h *handle) planSchema(ctx context.Context, p *query.Plan, options map[string]string, out *api.Plan) error {
	sc := p.Schema()
	if sc == nil {
		return nil
	}
	for _, x := range sc.Sources {
		out.SchemaSources = append(out.SchemaSources, api.SchemaSource(x))
	}
	given, ok := options[table.SchemaOnReadOption]
	if on := strings.EqualFold(given, "true"); sc.Internal == nil || ok && !on || !ok && h.table.Rules.HistoryByOption && h.table.Config.Version < 8 {
		return nil
	}
	past, err := h.table.SchemaHistory(ctx)
	if err != nil || past == nil {
		return err
	}
	var before []historyColumn
	for i, v := range past.Schemas {
		if v.Version > sc.Internal.Version {
			break
		}
		now := columnsIn(nil, "", -1, v.Root)
		if i > 0 {
			out.SchemaChanges = append(out.SchemaChanges, changedColumns(strconv.FormatInt(v.Version, 10), before, now)...)
		}
		before = now
	}
	return nil
}

// historyColumn is a column of one schema of the history.
type historyColumn struct {
	id, parent int
	// name is its own, path with those of the columns that it lies in; typ is "" for a column with others in it.
	name, path, typ string
}

func columnsIn(out []historyColumn, path string, parent int, n *evolve.Node) []historyColumn {
	for i, k := range n.Kids {
		name := "element"
		switch n.Type.Kind {
		case schema.Record:
			name = n.Type.Fields[i].Name
		case schema.Map:
			name = "value"
		}
		c := historyColumn{id: k.ID, parent: parent, name: name, path: path + name}
		if len(k.Kids) == 0 {
			c.typ = k.Type.Display()
		}
		out = columnsIn(append(out, c), c.path+".", k.ID, k)
	}
	return out
}

// changedColumns are the differences between two schemas, column by column.
func changedColumns(instant string, before, now []historyColumn) []api.SchemaRename {
	was, is := map[int]*historyColumn{}, map[int]*historyColumn{}
	place := map[int]int{}
	for i := range before {
		was[before[i].id] = &before[i]
		place[before[i].id] = i
	}
	for i := range now {
		is[now[i].id] = &now[i]
	}
	var out []api.SchemaRename
	add := func(kind, column, from, to, effect string) {
		out = append(out, api.SchemaRename{Kind: kind, Instant: instant, Column: column, Before: from, After: to, Effect: effect})
	}
	moved := movedColumns(place, now)
	for i := range now {
		c := &now[i]
		old := was[c.id]
		if old == nil {
			add("added", c.path, "", c.typ, "Rows of files written before show null.")
			continue
		}
		if old.name != c.name {
			add("renamed", c.path, old.name, c.name, "Files written before have it as "+old.name+"; their values are shown under the new name.")
		}
		if old.typ != c.typ && old.typ != "" && c.typ != "" {
			add("promoted", c.path, old.typ, c.typ, "Values in files written before are converted.")
		}
		if moved[c.id] || old.parent != c.parent {
			add("moved", c.path, behind(before, old), behind(now, c), "The order of the columns changed; values are found by number.")
		}
	}
	for i := range before {
		if c := &before[i]; is[c.id] == nil && (c.parent < 0 || is[c.parent] != nil) {
			add("dropped", "", c.path, "", "Values in files written before are not shown.")
		}
	}
	return out
}

// behind says where a column stands.
func behind(list []historyColumn, c *historyColumn) string {
	last := ""
	for i := range list {
		if &list[i] == c || list[i].id == c.id {
			break
		}
		if list[i].parent == c.parent {
			last = list[i].name
		}
	}
	if last == "" {
		return "first"
	}
	return "behind " + last
}

// movedColumns are the fewest columns whose moving explains the new order: those that are not in a longest
// run of columns that kept their order, in each record.
func movedColumns(place map[int]int, now []historyColumn) map[int]bool {
	byParent := map[int][]int{}
	for i := range now {
		if _, ok := place[now[i].id]; ok {
			byParent[now[i].parent] = append(byParent[now[i].parent], now[i].id)
		}
	}
	moved := map[int]bool{}
	for _, ids := range byParent {
		var ends []int // positions in ids: the end of the best run of each length
		prev := make([]int, len(ids))
		for i, id := range ids {
			n := sort.Search(len(ends), func(k int) bool { return place[ids[ends[k]]] >= place[id] })
			prev[i] = -1
			if n > 0 {
				prev[i] = ends[n-1]
			}
			if n == len(ends) {
				ends = append(ends, i)
			} else {
				ends[n] = i
			}
		}
		kept := map[int]bool{}
		if len(ends) > 0 {
			for i := ends[len(ends)-1]; i >= 0; i = prev[i] {
				kept[ids[i]] = true
			}
		}
		for _, id := range ids {
			if !kept[id] {
				moved[id] = true
			}
		}
	}
	return moved
}
