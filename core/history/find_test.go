package history

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"hudiscope/core/basefile"
	"hudiscope/core/tabletest"
)

// TestFooters: a base file is never passed over for a key that it holds, nor for a prefix of one, and
// is passed over for nearly all others.
func TestFooters(t *testing.T) {
	ctx := t.Context()
	files, keys, absent, wrong := 0, 0, 0, 0
	for _, name := range tabletest.Names(t, "snapshot.jsonl") {
		src := tabletest.Open(t, name)
		for _, p := range src.Paths() {
			if !strings.HasSuffix(p, ".parquet") || strings.HasPrefix(p, ".hoodie/") {
				continue
			}
			obj, err := src.Open(ctx, p)
			if err != nil {
				t.Fatal(err)
			}
			f, err := basefile.Open(ctx, obj, p)
			if err != nil {
				t.Fatal(err)
			}
			const field = "_hoodie_record_key"
			if f.Type().FieldIndex(field) < 0 {
				continue
			}
			files++
			for b, err := range f.Batches(ctx, func(n string) bool { return n == field }) {
				if err != nil {
					t.Fatal(err)
				}
				for i := range b.Len {
					k, _ := b.Column(field).Text(i)
					keys++
					if s := (&selector{keys: []string{k}}); !s.mayHold(f.Lookup) {
						t.Errorf("%s: the key %q is denied", p, k)
					}
					for n := range len(k) + 1 {
						if s := (&selector{prefix: k[:n], prefixed: true}); !s.mayHold(f.Lookup) {
							t.Errorf("%s: the prefix %q of %q is denied", p, k[:n], k)
						}
					}
				}
			}
			for i := range 50 {
				absent++
				if s := (&selector{keys: []string{fmt.Sprintf("trip-0%02d?", i)}}); s.mayHold(f.Lookup) {
					wrong++
				}
			}
			obj.Close()
		}
	}
	t.Logf("%d files, %d keys; %d of %d absent keys may be there", files, keys, wrong, absent)
	if files < 30 || keys < 100 || wrong*4 > absent {
		t.Errorf("%d files, %d keys, %d of %d absent keys may be there", files, keys, wrong, absent)
	}
}

// TestPrefixByRange: a prefix is sought by the least and greatest key alone.
func TestPrefixByRange(t *testing.T) {
	for _, c := range []struct {
		least, most, prefix string
		may                 bool
	}{
		{"b1", "d9", "a", false}, {"b1", "d9", "b", true}, {"b1", "d9", "b0", false}, {"b1", "d9", "c", true}, {"b1", "d9", "d", true},
		{"b1", "d9", "d9", true}, {"b1", "d9", "d99", false}, {"b1", "d9", "e", false}, {"b1", "d9", "", true}, {"b1", "b1", "b12", false},
		// In UTF-16 a surrogate sorts before U+FB00, in UTF-8 behind it.
		{"a", "😀", "ﬀ", false}, {"a", "ﬀ", "😀", true}, {"😀", "ﬀ", "😀", true},
	} {
		s := selector{prefix: c.prefix, prefixed: true}
		lookup := func(key string) (string, bool) {
			v, ok := map[string]string{footerMin: c.least, footerMax: c.most}[key]
			return v, ok
		}
		if got := s.mayHold(lookup); got != c.may {
			t.Errorf("%q to %q, prefix %q: %v", c.least, c.most, c.prefix, got)
		}
		if !s.mayHold(func(string) (string, bool) { return "", false }) {
			t.Error("without a footer nothing is ruled out")
		}
	}
}

// TestCollect: the first keys of a prefix are gathered, whatever the order in which they come.
func TestCollect(t *testing.T) {
	s := selector{prefix: "k", prefixed: true, collect: 3}
	for _, k := range []string{"k5", "x", "k2", "k9", "k2", "k1", "k", "j"} {
		if s.match([]byte(k)) {
			t.Errorf("%s is matched by a selector that gathers", k)
		}
	}
	if !slices.Equal(s.found, []string{"k", "k1", "k2"}) || !s.any {
		t.Errorf("gathered %q", s.found)
	}
	exact := selector{keys: s.found}
	least, most := exact.bounds()
	if !exact.match([]byte("k1")) || exact.match([]byte("k5")) || !bytes.Equal(least, []byte("k")) || !bytes.Equal(most, []byte("k2")) {
		t.Errorf("exact keys: %q to %q", least, most)
	}
}
