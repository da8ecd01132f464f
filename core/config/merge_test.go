package config_test

import (
	"strings"
	"testing"

	"hudiscope/core/config"
	"hudiscope/core/tabletest"
)

func TestMerge(t *testing.T) {
	const model = "org.apache.hudi.common.model."
	for _, tt := range []struct {
		name, props, release string
		mode, from, payload  string
		why                  string
	}{
		{"v6 stored", "version=6|P=" + model + "OverwriteWithLatestAvroPayload|hoodie.compaction.record.merger.strategy=" + config.EventTimeStrategy + "|pre=ts", "",
			config.CommitTimeOrdering, "hoodie.compaction.payload.class", "OverwriteWithLatestAvroPayload", "later commit wins (the ordering field ts is not looked at)"},
		{"v6 old package", "version=1|P=com.uber.hoodie.common.model.OverwriteWithLatestAvroPayload", "",
			config.CommitTimeOrdering, "hoodie.compaction.payload.class", "OverwriteWithLatestAvroPayload", "the later commit wins."},
		{"v6 missing, 1.x", "version=6|pre=ts", "1.2.0", config.EventTimeOrdering, "default", "DefaultHoodieRecordPayload", "higher value of ts wins"},
		{"v6 missing, 1.x, no ordering", "version=6", "", config.EventTimeOrdering, "default", "DefaultHoodieRecordPayload", "no ordering field: the later commit wins"},
		{"v6 missing, 0.15", "version=6|pre=ts", "0.15.0", config.CommitTimeOrdering, "default", "OverwriteWithLatestAvroPayload", "up to 0.15 assumes"},
		{"v6 other", "version=6|P=com.example.Mine", "", config.Custom, "hoodie.compaction.payload.class", "Mine", "rules of Mine"},
		{"v7 ignores the mode", "version=7|mode=COMMIT_TIME_ORDERING|P=" + model + "EventTimeAvroPayload|pre=ts", "", config.EventTimeOrdering, "hoodie.compaction.payload.class", "EventTimeAvroPayload", "ts"},
		{"v8 stored", "version=8|mode=event_time_ordering|P=" + model + "DefaultHoodieRecordPayload|pre=ts", "", config.EventTimeOrdering, "hoodie.record.merge.mode", "DefaultHoodieRecordPayload", "say hoodie.record.merge.mode = EVENT_TIME_ORDERING"},
		{"v8 strategy over payload", "version=8|strat=" + config.CommitTimeStrategy + "|P=" + model + "DefaultHoodieRecordPayload", "", config.CommitTimeOrdering, "hoodie.record.merge.strategy.id", "DefaultHoodieRecordPayload", "is missing"},
		{"v8 payload", "version=8|P=" + model + "PartialUpdateAvroPayload", "", config.Custom, "hoodie.compaction.payload.class", "PartialUpdateAvroPayload", "is missing"},
		{"v8 nothing, ordering", "version=8|pre=ts", "", config.EventTimeOrdering, "default", "", "ordering field has event time"},
		{"v8 nothing", "version=8", "", config.CommitTimeOrdering, "default", "", "without ordering field"},
		{"v8 own merger", "version=8|mode=CUSTOM|strat=12345678-0000-0000-0000-000000000000", "", config.Custom, "hoodie.record.merge.mode", "", "user's own code, strategy 12345678"},
		{"v9", "version=9|mode=EVENT_TIME_ORDERING|order=a,b", "", config.EventTimeOrdering, "hoodie.record.merge.mode", "", "higher value of a, b wins"},
		{"v9 legacy", "version=9|mode=COMMIT_TIME_ORDERING|legacy=" + model + "AWSDmsAvroPayload", "", config.CommitTimeOrdering, "hoodie.record.merge.mode", "", "once had the payload AWSDmsAvroPayload"},
		{"v9 unknown mode", "version=9|mode=FANCY", "", config.Custom, "hoodie.record.merge.mode", "", "no mode this program knows"},
	} {
		r := strings.NewReplacer("|", "\n", "version=", "hoodie.table.version=", "P=", "hoodie.compaction.payload.class=", "pre=", "hoodie.table.precombine.field=",
			"mode=", "hoodie.record.merge.mode=", "strat=", "hoodie.record.merge.strategy.id=", "order=", "hoodie.table.ordering.fields=", "legacy=", "hoodie.table.legacy.payload.class=")
		c, err := config.Parse([]byte(r.Replace(tt.props)), "x")
		if err != nil {
			t.Fatal(err)
		}
		d := config.Merge(c, tt.release)
		if d.Mode != tt.mode || d.From != tt.from || d.PayloadName() != tt.payload || !strings.Contains(d.Why, tt.why) || !strings.HasSuffix(d.Why, ".") {
			t.Errorf("%s: got %+v", tt.name, d)
		}
	}
}

func TestMergeDeletes(t *testing.T) {
	for _, tt := range []struct{ props, field, marker, partial, unavailable string }{
		{"hoodie.table.version=6\nhoodie.compaction.payload.class=org.apache.hudi.common.model.AWSDmsAvroPayload", "Op", "D", "", ""},
		{"hoodie.table.version=8\nhoodie.record.merge.mode=CUSTOM\nhoodie.compaction.payload.class=org.apache.hudi.common.model.debezium.PostgresDebeziumAvroPayload", "_change_operation_type", "d", "", ""},
		{"hoodie.table.version=9\nhoodie.record.merge.mode=EVENT_TIME_ORDERING\nhoodie.table.partial.update.mode=FILL_UNAVAILABLE\nhoodie.record.merge.property.hoodie.payload.delete.field=f\nhoodie.record.merge.property.hoodie.payload.delete.marker=m\nhoodie.record.merge.property.hoodie.write.partial.update.unavailable.value=__u", "f", "m", "FILL_UNAVAILABLE", "__u"},
		{"hoodie.table.version=9", "", "", "", ""},
	} {
		c, err := config.Parse([]byte(tt.props), "x")
		if err != nil {
			t.Fatal(err)
		}
		d := config.Merge(c, "")
		if d.DeleteField != tt.field || d.DeleteMarker != tt.marker || d.PartialMode != tt.partial || d.UnavailableValue != tt.unavailable {
			t.Errorf("%q: %+v", tt.props, d)
		}
	}
}

// TestMergeReal checks the decision on tables that Hudi wrote.
func TestMergeReal(t *testing.T) {
	for _, tt := range []struct{ table, release, mode string }{
		{"v0_mor_h0150", "0.15.0", config.CommitTimeOrdering},
		{"merge_commit_time_mor_h0150", "", config.CommitTimeOrdering},
		{"merge_event_time_mor_h120", "", config.EventTimeOrdering},
		{"mor_trips_h120", "", config.EventTimeOrdering},
		{"cow_trips_h102", "", config.EventTimeOrdering},
		{"all_types_cow_h0150", "", config.EventTimeOrdering},
		{"all_types_cow_h0150", "0.15.0", config.CommitTimeOrdering},
	} {
		c, err := config.Load(t.Context(), tabletest.Open(t, tt.table), "")
		if err != nil {
			t.Fatal(err)
		}
		if d := config.Merge(c, tt.release); d.Mode != tt.mode {
			t.Errorf("%s by %q: %+v", tt.table, tt.release, d)
		}
	}
}

// TestUnknownMode: a mode that is none of Hudi's is named with its place.
func TestUnknownMode(t *testing.T) {
	f := table(map[string]string{".hoodie/hoodie.properties": "hoodie.table.version=9\nhoodie.record.merge.mode=BANANA\n"})
	c, err := config.Load(t.Context(), f, "")
	if err != nil {
		t.Fatal(err)
	}
	d := config.Merge(c, "")
	if got := c.UnknownMode(d); d.Mode != config.Custom || !strings.HasPrefix(got, `.hoodie/hoodie.properties, line 2: hoodie.record.merge.mode is "BANANA", want `) {
		t.Errorf("%+v: %s", d, got)
	}
	if got := c.UnknownMode(config.MergeDecision{Mode: config.Custom}); got != "" {
		t.Error(got)
	}
}
