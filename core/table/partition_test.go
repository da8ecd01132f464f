package table

import (
	"maps"
	"testing"

	"hudiscope/core/config"
)

// TestPartitionValues takes partition paths apart (spec file-view.md section 9.2).
func TestPartitionValues(t *testing.T) {
	for _, c := range []struct {
		fields, path, version string
		want                  map[string]string
		bad                   bool
	}{
		{"a", "a=1", "9", map[string]string{"a": "1"}, false},
		{"a", "x%2Fy", "9", map[string]string{"a": "x/y"}, false},
		{"a", "2024/01/17", "9", map[string]string{"a": "2024/01/17"}, false},
		{"a", "a=2024/01/17", "9", map[string]string{"a": "2024/01/17"}, false},
		{"a,b", "a=1/b=2", "9", map[string]string{"a": "1", "b": "2"}, false},
		{"a,b", "1/2", "9", map[string]string{"a": "1", "b": "2"}, false},
		{"a,b", "a=2024/01/b=x=y", "9", map[string]string{"a": "2024/01", "b": "x=y"}, false},
		{"a,b", "a=1/2/3", "9", map[string]string{}, true},
		{"a,b", "1/2/3", "9", map[string]string{}, true},
		{"a,b", "a=__HIVE_DEFAULT_PARTITION__/b=default", "9", map[string]string{"b": "default"}, false},
		{"a", "default", "4", map[string]string{}, false},
	} {
		cfg, err := config.Parse([]byte("hoodie.table.name=t\nhoodie.table.type=COPY_ON_WRITE\nhoodie.table.version="+c.version+"\nhoodie.table.partition.fields="+c.fields+"\n"), "p")
		if err != nil {
			t.Fatal(err)
		}
		got, ok := (&Table{Config: cfg}).partitionValues(c.path)
		if !maps.Equal(got, c.want) || ok == c.bad {
			t.Errorf("%s of %s: %v, %v", c.path, c.fields, got, ok)
		}
	}
}
