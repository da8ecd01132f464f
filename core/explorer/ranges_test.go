package explorer

import (
	"testing"

	"hudiscope/core/api"
)

// TestRanges: the times that the service says a range takes are those that a plan then takes: a range up to the
// newest write by that time is all of it, and one after it is nothing.
func TestRanges(t *testing.T) {
	const (
		kind    = "hoodie.datasource.query.type"
		format  = "hoodie.datasource.query.incremental.format"
		begin   = "hoodie.datasource.read.begin.instanttime"
		end     = "hoodie.datasource.read.end.instanttime"
		version = "hoodie.datasource.read.incr.table.version"
		hollow  = "hoodie.read.timeline.holes.resolution.policy"
	)
	for _, x := range []struct {
		table     string
		more      map[string]string
		requested bool
	}{
		{"mor_trips_h0150", nil, true},
		{"mor_trips_h0150", map[string]string{hollow: "use_transition_time"}, false},
		{"cdc_data_before_cow_h0150", map[string]string{format: "cdc", hollow: "USE_TRANSITION_TIME"}, true},
		{"mor_trips_h102", nil, false},
		{"mor_trips_h120", nil, false},
		{"mor_trips_h120", map[string]string{version: "6"}, true},
		{"cdc_op_key_only_mor_h120", map[string]string{format: "cdc"}, false},
	} {
		s := testService(t)
		tab := api.Table{Location: x.table}
		options := func(more ...string) map[string]string {
			o := map[string]string{kind: "incremental", begin: "000"}
			for k, v := range x.more {
				o[k] = v
			}
			for i := 0; i < len(more); i += 2 {
				o[more[i]] = more[i+1]
			}
			return o
		}
		r, err := s.Ranges(t.Context(), api.RangesRequest{Table: tab, Options: options(), Releases: []string{"", "0.15.0", "1.0.2", "1.2.0"}})
		if err != nil {
			t.Fatalf("%+v: %v", x, err)
		}
		if r.ByRequestedTime != x.requested {
			t.Errorf("%+v: by requested time %v", x, r.ByRequestedTime)
		}
		want := []api.ReleaseRanges{{Hudi: ""}, {Hudi: "0.15.0"}, {Hudi: "1.0.2", StartIncluded: !x.requested}, {Hudi: "1.2.0"}}
		if x.table[len(x.table)-5:] == "h0150" {
			want[0].FlinkByRequestedTime, want[1].FlinkByRequestedTime = true, true
		}
		for i, w := range want {
			if r.Releases[i] != w {
				t.Errorf("%+v: %+v, want %+v", x, r.Releases[i], w)
			}
		}
		all, err := s.Plan(t.Context(), api.PlanRequest{Table: tab, Options: options()})
		if err != nil || len(all.Instants) < 2 {
			t.Fatalf("%+v: %+v, %v", x, all, err)
		}
		newest := ""
		for _, i := range all.Instants {
			at := i.Completed
			if x.requested {
				at = i.Requested
			}
			newest = max(newest, at)
		}
		if newest == "" {
			// Below version 8 completion times are times of files, and instants do not hold them.
			if x.requested {
				t.Errorf("%+v: instants without a requested time", x)
			}
			continue
		}
		if up, err := s.Plan(t.Context(), api.PlanRequest{Table: tab, Options: options(end, newest)}); err != nil || len(up.Instants) != len(all.Instants) {
			t.Errorf("%+v: up to %s: %v, %v; want %v", x, newest, up, err, all.Instants)
		}
		if after, err := s.Plan(t.Context(), api.PlanRequest{Table: tab, Options: options(begin, newest)}); err != nil || len(after.Instants) != 0 {
			t.Errorf("%+v: after %s: %v, %v", x, newest, after, err)
		}
	}
	if _, err := testService(t).Ranges(t.Context(), api.RangesRequest{Table: api.Table{Location: "mor_trips_h120"}, Releases: []string{"2.x"}}); err == nil {
		t.Error("a release that is none has ranges")
	}
}
