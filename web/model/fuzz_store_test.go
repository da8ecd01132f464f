package model

import (
	"strings"
	"testing"
)

// FuzzStore: the address that a form makes of a store is taken apart to the same again, and what stands in a link has no
// query, no user and nothing more to be taken out.
func FuzzStore(f *testing.F) {
	for _, s := range []string{"s3://bucket/a/b?endpoint=https://h:9000&region=eu&style=path&requester_pays=true", "gs://b/p?project=x", "abfss://c@acc.dfs.core.windows.net/p",
		"https://acc.blob.core.windows.net/c/p%20q?sv=1&sig=SECRET", "signer+https://h/sign?key=SECRET#a/b", "https://user:SECRET@h/x?y#z", "s3://k:SECRET@b/x", "sample:x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, location string) {
		if at := ParseStore(location).Location(); at != "" {
			if again := ParseStore(at).Location(); again != at {
				t.Errorf("%q gives %q, and that %q", location, at, again)
			}
		}
		clean, _ := StripCredentials(location)
		if again, removed := StripCredentials(clean); again != clean || len(removed) > 0 {
			t.Errorf("%q gives %q, and that %q without %v", location, clean, again, removed)
		}
		if scheme, rest, ok := strings.Cut(clean, "://"); ok && (scheme == "http" || scheme == "https") && strings.ContainsRune(rest, '?') {
			t.Errorf("%q keeps a query: %q", location, clean)
		}
	})
}
