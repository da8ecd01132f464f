package explorer

import (
	"fmt"
	"strings"
	"testing"

	"hudiscope/core/api"
	"hudiscope/core/tabletest"
)

// TestPlanSchema: the plan tells where the schema was looked for, and what the history did to columns.
func TestPlanSchema(t *testing.T) {
	s := testService(t)
	table := api.Table{Location: "schema_on_read_mor_h120"}
	p, err := s.Plan(t.Context(), api.PlanRequest{Table: table})
	if err != nil {
		t.Fatal(err)
	}
	used := 0
	for _, x := range p.SchemaSources {
		if x.Used {
			used++
			if x.Place != p.SchemaFrom {
				t.Errorf("%q won, and the schema is from %q", x.Place, p.SchemaFrom)
			}
		}
	}
	if used != 1 || len(p.SchemaSources) < 3 {
		t.Errorf("sources %+v", p.SchemaSources)
	}
	kinds := map[string]int{}
	for _, c := range p.SchemaChanges {
		kinds[c.Kind]++
		if c.Effect == "" || c.Instant == "" || c.Kind != "dropped" && c.Column == "" {
			t.Errorf("%+v", c)
		}
	}
	if kinds["renamed"] == 0 || kinds["dropped"] == 0 || kinds["promoted"] == 0 {
		t.Errorf("changes %v of %+v", kinds, p.SchemaChanges)
	}
	// Without numbers nothing is renamed.
	if p, err = s.Plan(t.Context(), api.PlanRequest{Table: table, Options: map[string]string{"hoodie.schema.on.read.enable": "false"}}); err != nil || len(p.SchemaChanges) != 0 {
		t.Errorf("%v, %+v", err, p.SchemaChanges)
	}
}

func TestChangedColumns(t *testing.T) {
	col := func(id int, name, typ string) historyColumn {
		return historyColumn{id: id, parent: -1, name: name, path: name, typ: typ}
	}
	in := func(parent int, path string, c historyColumn) historyColumn {
		c.parent, c.path = parent, path+"."+c.name
		return c
	}
	before := []historyColumn{col(0, "a", "int"), col(1, "b", "string"), col(2, "s", ""), in(2, "s", col(3, "x", "int")), in(2, "s", col(4, "y", "int")), col(5, "c", "int")}
	now := []historyColumn{col(5, "c", "long"), col(0, "a", "int"), col(2, "t", ""), in(2, "t", col(4, "y", "int")), in(2, "t", col(3, "z", "int")), col(6, "d", "date")}
	var got []string
	for _, c := range changedColumns("7", before, now) {
		got = append(got, fmt.Sprintf("%s %s %s>%s", c.Kind, c.Column, c.Before, c.After))
	}
	want := "promoted c int>long; moved c behind s>first; renamed t s>t; moved t.z first>behind y; renamed t.z x>z; added d >date; dropped  b>"
	for _, w := range strings.Split(want, "; ") {
		found := false
		for _, g := range got {
			found = found || g == w || strings.HasPrefix(w, "moved t.z") && strings.HasPrefix(g, "moved t.")
		}
		if !found {
			t.Errorf("%q is not in %q", w, got)
		}
	}
	if len(got) != 7 {
		t.Errorf("%q", got)
	}
}

// TestEndSchema: with the option the rows have the schema of the range's last commit.
func TestEndSchema(t *testing.T) {
	s := testService(t)
	compared := 0
	for _, name := range tabletest.Names(t, "about.json") {
		if !strings.HasPrefix(name, "schema_") {
			continue
		}
		table := api.Table{Location: name}
		tl, err := s.Timeline(t.Context(), api.TimelineRequest{Table: table})
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range tl.Active {
			if i.State != "COMPLETED" || i.Action != "commit" && i.Action != "deltacommit" {
				continue
			}
			end := i.Requested
			columns := func(options map[string]string) string {
				p, err := s.Plan(t.Context(), api.PlanRequest{Table: table, Options: options})
				if err != nil {
					t.Logf("%s %v: %v", name, options, err)
					return ""
				}
				return fmt.Sprint(p.Columns)
			}
			at := columns(map[string]string{"as.of.instant": end})
			if strings.Contains(name, "h120") || strings.Contains(name, "h102") {
				end = i.Completed
			}
			got := columns(map[string]string{"hoodie.datasource.query.type": "incremental", "hoodie.datasource.read.begin.instanttime": "000", "hoodie.datasource.read.end.instanttime": end, "hoodie.datasource.read.schema.use.end.instanttime": "true"})
			if at == "" || got == "" {
				continue
			}
			compared++
			if at != got {
				t.Errorf("%s up to %s: %s, the table had %s", name, end, got, at)
			}
		}
	}
	if compared == 0 {
		t.Error("nothing compared")
	}
}
