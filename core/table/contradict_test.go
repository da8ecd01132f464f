package table

import (
	"strings"
	"testing"

	"hudiscope/core/tabletest"
)

// TestContradictionsAreSaid changes properties of real tables so that they contradict the files, and holds the notes and remarks of
// a snapshot against what they should tell.
func TestContradictionsAreSaid(t *testing.T) {
	const file = ".hoodie/hoodie.properties"
	for _, tt := range []struct{ table, from, to, want string }{
		{"mor_trips_h120", "", "", ""},
		{"mor_trips_h120", "base.file.format=PARQUET", "base.file.format=ORC", "hoodie.table.base.file.format is ORC"},
		{"mor_trips_h120", "base.file.format=PARQUET", "base.file.format=ORC\nhoodie.table.multiple.base.file.formats.enable=true", "hoodie.table.multiple.base.file.formats.enable twice"},
		{"part_none_h120", "base.file.format=PARQUET", "base.file.format=HFILE", "hoodie.table.base.file.format is HFILE"},
		{"orc_base_mor_h120", "base.file.format=ORC", "base.file.format=PARQUET", "hoodie.table.base.file.format is PARQUET"},
		{"cow_trips_h102", "base.file.format=PARQUET", "base.file.format=ORC", "hoodie.table.base.file.format is ORC"},
		{"mor_trips_h120", "base.file.format=PARQUET", "base.file.format=banana", `error: .hoodie/hoodie.properties: hoodie.table.base.file.format (line`},
		{"mor_trips_h120", "table.type=MERGE_ON_READ", "table.type=COPY_ON_WRITE", "log files of 4 file groups"},
		{"mor_trips_h120", "table.type=MERGE_ON_READ", "table.type=MERGE_ON_READ\nhoodie.table.type=COPY_ON_WRITE", "hoodie.table.type twice"},
		{"cow_trips_h102", "table.type=COPY_ON_WRITE", "table.type=MERGE_ON_READ", ""},
		{"mor_trips_h120", "hoodie.table.version=9", "hoodie.table.version=6", "hoodie.table.version=6 and hoodie.timeline.layout.version=2"},
		{"mor_trips_h0150", "hoodie.table.version=6", "hoodie.table.version=9", "hoodie.table.version=9 and hoodie.timeline.layout.version=1"},
		{"mor_trips_h120", "ordering.fields=ts", "ordering.fields=nocolumn", "ordering.fields is nocolumn"},
		{"mor_trips_h120", "partition.fields=city", "partition.fields=nocolumn", "hoodie.table.partition.fields names nocolumn"},
		{"part_hive_two_level_h120", "partition.fields=", "partition.fields=rider,", "is not named after them"},
		{"part_dropped_columns_h120", "drop.partition.columns=true", "drop.partition.columns=false", "drop.partition.columns is false"},
		{"mor_trips_h120", "populate.meta.fields=true", "populate.meta.fields=false", "hoodie.populate.meta.fields is false"},
		{"virtual_keys_mor_h120", "", "", ""},
	} {
		f := tabletest.Open(t, tt.table)
		text := string(f.Bytes(file))
		if !strings.Contains(text, tt.from) {
			t.Fatalf("%s: no %s", tt.table, tt.from)
		}
		f.Put(file, []byte(strings.Replace(text, tt.from, tt.to, 1)))
		tb, err := Open(t.Context(), f, "")
		if err != nil {
			t.Fatal(err)
		}
		p, err := tb.Plan(t.Context(), Query{Type: Snapshot}, nil)
		said := ""
		if err != nil {
			said = "error: " + err.Error()
		} else {
			said = strings.Join(append(p.Notes, p.Remarks...), "\n")
			for i := range p.Gone {
				said += p.Gone[i].Sentence()
			}
		}
		if tt.want == "" && said != "" || !strings.Contains(said, tt.want) || strings.Contains(said, "is not there") {
			t.Errorf("%s with %s: want %q, got %q", tt.table, tt.to, tt.want, said)
		}
	}
}

// TestInstantWithoutFilesIsSaid removes all files of a delta commit in the middle of the timeline: its rows are passed over, with
// a note. Where nothing is removed nothing is said.
func TestInstantWithoutFilesIsSaid(t *testing.T) {
	for instant, want := range map[string]bool{"20261129225257593": true, "20991231000000000": false} {
		f := tabletest.Open(t, "mor_trips_h120")
		for _, p := range f.Paths() {
			if strings.HasPrefix(p, ".hoodie/timeline/"+instant) {
				f.Remove(p)
			}
		}
		tb, err := Open(t.Context(), f, "")
		if err != nil {
			t.Fatal(err)
		}
		p, err := tb.Plan(t.Context(), Query{Type: Snapshot}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if notes := strings.Join(p.Notes, "\n"); strings.Contains(notes, "1 instants that the timeline does not have") != want || want && !strings.Contains(notes, instant) {
			t.Errorf("%s: %q", instant, notes)
		}
	}
}
