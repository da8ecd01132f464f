package main

import "testing"

func TestTableLink(t *testing.T) {
	for name, want := range map[string]string{
		"trips":        "/tables/trips/",
		"we ird#na%me": "/tables/we%2520ird%2523na%2525me/",
	} {
		if got := tableLink(name); got != want {
			t.Errorf("%q: want %s, got %s", name, want, got)
		}
	}
}

func TestTableName(t *testing.T) {
	taken := map[string]bool{}
	for _, c := range []struct{ location, want string }{
		{"/data/trips", "trips"}, {"/other/trips/", "trips-2"}, {"/x/trips.zip", "trips-3"}, {"https://a.example/lake/t?sig=1", "t"},
	} {
		if got := tableName(c.location, taken); got != c.want {
			t.Errorf("%s: want %s, got %s", c.location, c.want, got)
		}
	}
}
