package app

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"hudiscope/core/api"
	"hudiscope/web/lesson"
	"hudiscope/web/model"
)

func TestFuzzy(t *testing.T) {
	for _, c := range []struct{ typed, title, marked string }{
		{"time", "Timeline", "[Time]line"},
		{"tl", "Timeline", "[T]ime[l]ine"},
		{"log bl", "Log blocks", "[Log bl]ocks"},
		{"lb", "Log blocks", "[L]og [b]locks"},
		{"meta", "The metadata table and data skipping", "The [meta]data table and data skipping"},
		{"data sk", "The metadata table and data skipping", "The metadata table and [data sk]ipping"},
		{"回滚", "回滚对日志做了什么", "[回滚]对日志做了什么"},
		{"日做", "回滚对日志做了什么", "回滚对[日]志[做]了什么"},
		{"2253", "20261129225100017 deltacommit", "2026112[9]22[5]100017 deltacommit"},
		{"emit", "Timeline", ""},
		{"x", "", ""},
	} {
		_, at, ok := fuzzy(c.typed, c.title)
		if c.marked == "" {
			if ok {
				t.Errorf("%q matches %q", c.typed, c.title)
			}
			continue
		}
		if c.typed == "2253" {
			if ok {
				t.Errorf("%q matches %q, which has no 3", c.typed, c.title)
			}
			continue
		}
		var b strings.Builder
		in := false
		k := 0
		for i, r := range []rune(c.title) {
			hit := k < len(at) && at[k] == i
			if hit != in {
				b.WriteString(map[bool]string{true: "[", false: "]"}[hit])
				in = hit
			}
			if hit {
				k++
			}
			b.WriteRune(r)
		}
		if in {
			b.WriteString("]")
		}
		if !ok || b.String() != c.marked {
			t.Errorf("%q: %q, %v, want %q", c.typed, b.String(), ok, c.marked)
		}
	}
}

// TestPaletteFindsEverything: views, instants, partitions, file groups, samples, lessons and actions.
func TestPaletteFindsEverything(t *testing.T) {
	r := NewRoot(nil)
	s := r.s
	s.state = model.State{Table: "sample:mor_trips_h120", View: model.Rows, Lesson: "rollback", LessonStep: 1}
	s.overview.val = &api.Overview{Readable: true}
	s.timeline.val = &timelineHead{list: model.InstantsOf([]api.Instant{
		{Requested: "20261129225100017", Action: "deltacommit", State: "COMPLETED"}, {Requested: "20261129225300000", Action: "clean", State: "COMPLETED"}})}
	s.partitions.val = &api.Partitions{Paths: []string{"city=chennai", "city=sao_paulo"}}
	s.files.val = &api.Files{Partitions: []api.PartitionFiles{{Partition: "city=chennai", Groups: []api.FileGroup{{FileID: "025be33a-9f31-0"}}}}}
	r.samples = []Sample{{Name: "nbcc_h120", Title: lesson.Text{"en": "Two writers at once"}, Shows: lesson.Text{"en": "Non-blocking concurrency control"}, Tags: []string{"v9"}, View: model.Timeline}}
	r.learn.all = []lesson.Lesson{{ID: "late-event", Title: lesson.Text{"en": "Why a late event loses", "zh": "为什么迟到的事件会输"}, Steps: []lesson.Step{{Go: "t=sample:x&v=history&k=a"}}}}
	for typed, want := range map[string]string{
		"health":           "t=sample:mor_trips_h120&v=health",
		"deltac":           "v=timeline&i=20261129225100017&act=deltacommit",
		"225300":           "i=20261129225300000&act=clean",
		"sao":              "v=files&p=city%3Dsao_paulo",
		"025b":             "v=files&p=city%3Dchennai&f=025be33a-9f31-0",
		"two writers":      "t=sample:nbcc_h120&v=timeline",
		"non-blocking":     "t=sample:nbcc_h120",
		"late":             "v=history&k=a&ls=late-event&ln=1",
		"rules 0.15":       "h=0.15.0",
		"another table":    "/",
		"dark":             "Dark colours",
		"export":           "Export rows to a file",
		"chinese":          "简体中文",
		"copy link":        "Copy the link to this view",
		"keyboard":         "Keyboard and help",
		"another engine":   "Read the same rows with another engine",
		"read table again": "Read the table again",
	} {
		list := search(r.commands(typed), typed)
		if len(list) == 0 {
			t.Errorf("%q finds nothing", typed)
			continue
		}
		got := list[0].title
		if list[0].to != nil {
			got = list[0].to.Fragment()
		}
		if !strings.Contains(got, want) {
			t.Errorf("%q leads to %q first, not %q", typed, got, want)
		}
	}
	if got := search(r.commands("zzzzqq"), "zzzzqq"); len(got) != 0 {
		t.Errorf("nonsense finds %d", len(got))
	}
	// Without a text everything stands in its order, no group takes all the place.
	count := map[string]int{}
	for _, f := range search(r.commands(""), "") {
		if count[f.group]++; count[f.group] > paletteShown {
			t.Errorf("%s has more than %d", f.group, paletteShown)
		}
	}
	if count["Views"] == 0 || count["Actions"] == 0 || count["Lessons"] == 0 {
		t.Errorf("groups %v", count)
	}
}

// TestPaletteBig: a large table must not make typing slow.
func TestPaletteBig(t *testing.T) {
	r := NewRoot(nil)
	r.s.state = model.State{Table: "sample:x", View: model.Files}
	r.s.overview.val = &api.Overview{Readable: true}
	var paths []string
	for i := range 20_000 {
		paths = append(paths, fmt.Sprintf("region=%05d/day=2026-11-%02d", i, i%30))
	}
	r.s.partitions.val = &api.Partitions{Paths: paths}
	start := time.Now()
	list := search(r.commands("region=01234"), "region=01234")
	if len(list) == 0 || list[0].title != paths[1234] {
		t.Errorf("found %v", list)
	}
	t.Logf("%v", time.Since(start))
}
