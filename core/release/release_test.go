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
		{"", Scan1x, false, ""}, {"default", Scan1x, false, ""}, {"fixed", Scan1x, false, ""},
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
		}{{r.SkipMergesLogs, "m"}, {r.PathIsPartitionValue, "p"}, {r.LogsByModTime, "t"}, {r.Fails(DefaultDelete), "d"}, {r.Fails(HFileBlocks), "h"}, {r.UnavailableStays, "u"}} {
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

// TestQueries holds what the releases choose to read: r requested times, i the start is included, h hollow
// commits are refused, t time travel is checked, f full scan by default, l such a scan skips logs, s stored
// and e encoded partition values, k Flink skips, o its end counts once, L it loses rows, c
// changes come from compactions.
func TestQueries(t *testing.T) {
	for version, want := range map[string]string{"": "htfk", "fixed": "htfk", "1.2.0": "htfekLc", "1.1.0": "htfekLc", "1.0.2": "ihtflekLc",
		"0.15.0": "rhtsoL", "0.14.1": "rhtsoL", "0.13.1": "rsoL", "0.12.3": "rsoL"} {
		r, err := For(version)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, d := range []struct {
			on   bool
			name string
		}{{r.ByRequestedTime, "r"}, {r.StartIncluded, "i"}, {r.HollowCommits, "h"}, {r.TimeTravelChecks, "t"}, {r.FullScan, "f"}, {r.FullScanSkipsLogs, "l"},
			{r.StoredPartitions, "s"}, {r.EncodedPartitions, "e"}, {r.FlinkSkips, "k"}, {r.FlinkEndOnce, "o"}, {r.FlinkLosesRows, "L"}, {r.FlinkFromChangelog, "c"}} {
			if d.on {
				got += d.name
			}
		}
		if got != want {
			t.Errorf("%q: %q, want %q", version, got, want)
		}
	}
}
