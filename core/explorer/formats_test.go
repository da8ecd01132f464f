package explorer

import (
	"context"
	"strings"
	"testing"

	"hudiscope/core/api"
	"hudiscope/core/storage"
	"hudiscope/core/table"
	"hudiscope/core/tabletest"
)

// TestNeedsPart: without the part for ORC the fault names it, for the page to load it.
func TestNeedsPart(t *testing.T) {
	s := New(func(_ context.Context, location string) (storage.Source, error) {
		return tabletest.Open(t, location), nil
	}, Options{})
	_, err := s.Rows(t.Context(), api.RowsRequest{Table: api.Table{Location: "orc_base_mor_h120"}})
	if f := ToFault(err); f == nil || f.Kind != "needs part" || f.Part != "orc" || !strings.HasSuffix(f.File, ".orc") {
		t.Errorf("%+v", ToFault(err))
	}
}

// TestBootstrapSource: the fault names the source file and the option, and the option helps.
func TestBootstrapSource(t *testing.T) {
	const name = "bootstrap_metadata_only_mor_h120"
	files := tabletest.Open(t, name)
	source := files.Beside(name + "_source")
	files.RemoveBeside(name + "_source")
	s := New(func(_ context.Context, location string) (storage.Source, error) {
		if location == "elsewhere" {
			return source, nil
		}
		return files, nil
	}, Options{})
	req := api.RowsRequest{Table: api.Table{Location: name}}
	_, err := s.Rows(t.Context(), req)
	f := ToFault(err)
	if f == nil || f.Kind != "bootstrap source" || f.Part != table.BootstrapBaseOption || !strings.Contains(f.Message, name+"_source/city=") || !strings.Contains(f.Try, f.Part+"=LOCATION") {
		t.Fatalf("%+v", f)
	}
	req.Options = map[string]string{table.BootstrapBaseOption: "elsewhere"}
	r, err := s.Rows(t.Context(), req)
	if err != nil || r.Total != 15 {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestSchemaSources: the answer tells where a schema was looked for, which won, and the history.
func TestSchemaSources(t *testing.T) {
	s := testService(t)
	a, err := s.Schema(t.Context(), api.SchemaRequest{Table: api.Table{Location: "schema_on_read_mor_h120"}})
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Sources) != 4 || !a.Sources[0].Used || !a.Sources[1].Found || a.Sources[1].Used || !a.Sources[3].Found {
		t.Errorf("%+v", a.Sources)
	}
	names := map[string]bool{}
	for _, v := range a.History {
		for _, c := range v.Columns {
			if c.ID == 6 {
				names[c.Name] = true
			}
		}
	}
	if len(a.History) != 9 || a.History[0].Instant != "0" || !names["name"] || !names["title"] || len(names) != 2 || !strings.HasSuffix(a.HistoryFile, ".schemacommit") {
		t.Errorf("%d versions of %s, column 6 is %v", len(a.History), a.HistoryFile, names)
	}
	if a, err = s.Schema(t.Context(), api.SchemaRequest{Table: api.Table{Location: "empty_created_h120"}}); err != nil || len(a.Sources) != 3 || !a.Sources[1].Used || a.History != nil {
		t.Errorf("%+v, %v", a, err)
	}
}
