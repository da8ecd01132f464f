package r2

import "testing"

func TestPlaces(t *testing.T) {
	p, err := ParsePlaces("LAKE, OTHER/tables/")
	if err != nil {
		t.Fatal(err)
	}
	for location, want := range map[string]bool{
		"r2://LAKE": true, "r2://LAKE/a/b": true, "r2://OTHER/tables": true, "r2://OTHER/tables/x": true,
		"r2://OTHER": false, "r2://OTHER/tablesandmore": false, "r2://lake/a": false, "r2://ALLOWED_ORIGINS/x": false,
		"https://LAKE/a": false, "r2:///a": false, "": false, "r2://LAKE?x": false,
	} {
		if got := p.Contains(location); got != want {
			t.Errorf("%q: %v", location, got)
		}
	}
	for address, want := range map[string]bool{
		"r2://LAKE/a%20b": true, "r2://LAKE?prefix=": true, "r2://OTHER/tables/x": true, "r2://OTHER?prefix=tables%2F": true,
		"r2://OTHER?prefix=tables%2Fx%2F&delimiter=%2F": true, "r2://OTHER?prefix=": false, "r2://OTHER?prefix=table": false,
		"r2://OTHER/private/x": false, "r2://OTHER/tables%2Fx": true, "r2://NO/x": false, "r2://OTHER": false, "http://OTHER/tables/x": false,
	} {
		if got := p.Sends(address); got != want {
			t.Errorf("%q: %v", address, got)
		}
	}
	for _, bad := range []string{"a-b", "/x", "LAKE //"} {
		if _, err := ParsePlaces(bad); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}
