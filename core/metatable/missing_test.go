package metatable_test

import (
	"errors"
	"strings"
	"testing"

	"hudiscope/core/metatable"
	"hudiscope/core/table"
	"hudiscope/core/tabletest"
)

// openIndex opens the metadata table of a table, nil where there is none.
func openIndex(t *testing.T, f *tabletest.Files) *metatable.Table {
	t.Helper()
	tab, err := table.Open(t.Context(), f, "")
	if err != nil {
		t.Fatal(err)
	}
	m, err := tab.OpenMetadata(t.Context(), 0)
	var absent *metatable.Absent
	if errors.As(err, &absent) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestNothingMissing finds no file missing, or cut, in the metadata tables of whole tables.
func TestNothingMissing(t *testing.T) {
	looked := 0
	for _, name := range tabletest.Names(t, "") {
		f := tabletest.Open(t, name)
		if f.Bytes(".hoodie/metadata/.hoodie/hoodie.properties") == nil {
			continue
		}
		m := openIndex(t, f)
		if m == nil {
			continue
		}
		parts, err := m.Partitions(t.Context())
		if err != nil {
			t.Fatal(name, err)
		}
		for _, p := range parts {
			gone, err := m.Missing(t.Context(), p.Name)
			if err != nil {
				t.Errorf("%s, %s: %v", name, p.Name, err)
			}
			for _, g := range gone {
				if g.Why == "" {
					t.Errorf("%s: %s", name, g.Sentence())
				}
			}
			looked++
		}
	}
	if looked < 10 {
		t.Errorf("only %d partitions", looked)
	}
}

// TestMissing removes and cuts, one after another, the files that are read of metadata tables.
func TestMissing(t *testing.T) {
	for _, name := range []string{"mdt_full_h102", "mdt_full_h0150", "mdt_full_h120"} {
		whole := tabletest.Open(t, name)
		m := openIndex(t, whole)
		parts, err := m.Partitions(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		told, files := 0, 0
		for _, p := range parts {
			list, err := m.Slices(t.Context(), p.Name)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range list {
				for _, l := range s.DataLogs() {
					for _, cut := range []bool{false, true} {
						f := whole.Clone()
						if cut {
							f.Put(l.Path, f.Bytes(l.Path)[:l.Size-1])
						} else {
							f.Remove(l.Path)
						}
						gone, err := openIndex(t, f).Missing(t.Context(), p.Name)
						if err != nil {
							var absent *metatable.Absent
							if !errors.As(err, &absent) {
								t.Fatal(err)
							}
							continue
						}
						files++
						for _, g := range gone {
							if g.Path == l.Path && strings.Contains(g.Sentence(), l.Path) && (g.Size == l.Size-1) == cut && g.Want == l.Size {
								told++
							}
						}
					}
				}
			}
		}
		// The first files of a partition may have been written before the newest commits.
		if told == 0 || told < files/2 {
			t.Errorf("%s: %d of %d told", name, told, files)
		}
		t.Logf("%s: %d of %d told", name, told, files)
	}
}
