package timeline

import (
	"strings"
	"testing"
)

// FuzzParseName: a name that is taken is an instant's, and its parts are in it.
func FuzzParseName(f *testing.F) {
	for _, s := range []string{"20240101000000000.commit", "20240101000000000_20240101000001000.deltacommit", "20240101000000000.inflight", "001.compaction.requested", "20240101000000000.clustering.inflight", "x.commit", "1_2_3.commit", "99999999999999999999999999.savepoint"} {
		f.Add(s, 1)
		f.Add(s, 2)
	}
	f.Fuzz(func(t *testing.T, name string, layout int) {
		n, ok := ParseName(layout, name)
		if !ok {
			return
		}
		if n.Name != name || n.Requested == "" || !strings.HasPrefix(name, n.Requested) || n.Completion != "" && (n.State != Completed || layout < 2) || digits(n.Requested) != len(n.Requested) {
			t.Fatalf("%q of layout %d: %+v", name, layout, n)
		}
	})
}
