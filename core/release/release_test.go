package release

import "testing"

func TestFor(t *testing.T) {
	for _, c := range []struct {
		version  string
		scanner  Scanner
		payloads bool
	}{
		{"", Scan1x, false}, {"fixed", Scan1x, false}, {"1.2.0", Scan1x, false}, {"1.0.2", Scan1x, false},
		{"0.15.0", ScanV1, true}, {"0.13.0", ScanV1, true}, {"0.12.3", ScanTop, true}, {"0.14.1-rc1", ScanV1, true},
	} {
		r, err := For(c.version)
		if err != nil || r.Scanner != c.scanner || r.Payloads != c.payloads {
			t.Errorf("%q: %+v, %v", c.version, r, err)
		}
	}
	for _, bad := range []string{"x", "2.0.0", "1.3.0", "-1"} {
		if _, err := For(bad); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}
