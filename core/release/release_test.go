package release

import (
	"errors"
	"testing"
)

func TestFor(t *testing.T) {
	for _, c := range []struct {
		version  string
		scanner  Scanner
		payloads bool
		// differs lists the other differences: m skip_merge merges logs, p the path is the partition value, t logs by
		// time, d default deletes fail, h HFile blocks fail, u unavailable values stay.
		differs string
	}{
		{"", Scan1x, false, "h"}, {"default", Scan1x, false, "h"}, {"fixed", Scan1x, false, ""},
		{"1.2.0", Scan1x, false, "thu"}, {"1.1.1", Scan1x, false, "thu"}, {"1.0.2", Scan1x, false, "tdhu"},
		{"0.15.0", ScanV1, true, "mp"}, {"0.13.0", ScanV1, true, "mp"}, {"0.12.3", ScanTop, true, "mp"}, {"0.14.1-rc1", ScanV1, true, "mp"},
	} {
		r, err := For(c.version)
		if err != nil || r.Scanner != c.scanner || r.Payloads != c.payloads {
			t.Errorf("%q: %+v, %v", c.version, r, err)
		}
		got := ""
		for _, d := range []struct {
			on   bool
			name string
		}{{r.SkipMergesLogs, "m"}, {r.PathIsPartitionValue, "p"}, {r.LogsByModTime, "t"}, {r.DefaultDeleteFails, "d"}, {r.HFileBlocksFail, "h"}, {r.UnavailableStays, "u"}} {
			if d.on {
				got += d.name
			}
		}
		if got != c.differs {
			t.Errorf("%q: differences %q, want %q", c.version, got, c.differs)
		}
	}
	for _, bad := range []string{"x", "2.0.0", "1.3.0", "-1"} {
		var u *UnknownError
		if _, err := For(bad); !errors.As(err, &u) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
