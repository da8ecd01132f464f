package r2

import (
	"strings"
	"testing"
)

// FuzzPlaces: settings are places or refused. What a location of this package names is in a place exactly where its bucket
// is one and its prefix is that place or lies below it; the address of a request that is sent is never outside of it.
func FuzzPlaces(f *testing.F) {
	f.Add("LAKE OTHER/tables", "r2://OTHER/tables/t")
	f.Add("LAKE/a/b,X", "r2://LAKE?prefix=a%2Fb%2F&delimiter=%2F")
	f.Add("LAKE/a", "r2://LAKE/a%2F..%2Fx")
	f.Add("A-B", "r2://A-B/")
	f.Fuzz(func(t *testing.T, text, address string) {
		places, err := ParsePlaces(text)
		if err != nil {
			if len(places) > 0 || !strings.Contains(err.Error(), "binding") {
				t.Fatalf("%q: %v, %v", text, places, err)
			}
			return
		}
		for _, p := range places {
			if !isBinding(p.binding) || !strings.Contains(text, p.binding) || strings.HasPrefix(p.prefix, "/") || strings.HasSuffix(p.prefix, "/") {
				t.Fatalf("%q: %+v", text, p)
			}
			own := strings.TrimSuffix(scheme+p.binding+"/"+p.prefix, "/")
			if !places.Contains(own) || !places.Contains(own+"/x") {
				t.Fatalf("%q does not hold %q", text, own)
			}
			if p.prefix != "" && len(places) == 1 && (places.Contains(own+"x") || places.Contains(scheme+p.binding)) {
				t.Fatalf("%q holds more than %q", text, own)
			}
		}
		if places.Contains(address) {
			binding, prefix, err := ParseLocation(address)
			if err != nil || !places.has(binding, prefix) {
				t.Fatalf("%q: %v", address, err)
			}
		}
		if places.Sends(address) {
			binding, key, list, err := split(address)
			if err != nil || !strings.Contains(text, binding) {
				t.Fatalf("%q: %v", address, err)
			}
			if list != nil {
				key = list.Get("prefix")
			}
			for _, p := range places {
				if p.binding == binding && (p.prefix == "" || key == p.prefix || strings.HasPrefix(key, p.prefix+"/")) {
					return
				}
			}
			t.Fatalf("%q is sent with %q", address, text)
		}
	})
}
