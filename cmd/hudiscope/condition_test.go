package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"hudiscope/core/api"
)

func TestColumnList(t *testing.T) {
	for in, want := range map[string][]string{
		"":                   nil,
		"a":                  {"a"},
		" a , b,,c ":         {"a", "b", "c"},
		"`a,b` ,c":           {"a,b", "c"},
		"`with ``tick`` `,d": {"with `tick` ", "d"},
	} {
		if got := columnList(in); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// TestConditionFlags: rows and plan heed a condition, and show where a bad one goes wrong.
func TestConditionFlags(t *testing.T) {
	table := "../../testdata/tables/mor_trips_h120.zip"
	command := func(args ...string) (code int, stdout, stderr string) {
		var o, e bytes.Buffer
		code = run(t.Context(), args, &o, &e)
		return code, o.String(), e.String()
	}
	code, all, errs := command("rows", table, "--format", "csv", "--columns", "FARE,rider")
	if code != exitOK || !strings.HasPrefix(all, "fare,rider\n") {
		t.Fatalf("%d %s %s", code, all, errs)
	}
	code, some, _ := command("rows", table, "--format", "csv", "--columns", "fare,rider", "--where", "fare >= 50")
	code2, rest, _ := command("rows", table, "--format", "csv", "--columns", "fare,rider", "--where", "NOT fare >= 50 OR fare IS NULL")
	n := func(s string) int { return strings.Count(s, "\n") - 1 }
	if code != exitOK || code2 != exitOK || n(some) == 0 || n(rest) == 0 || n(some)+n(rest) != n(all) {
		t.Errorf("%d and %d of %d rows", n(some), n(rest), n(all))
	}
	code, out, errs := command("rows", table, "--where", "fare > 1 AND ridr = 'ü'")
	if code != exitFailed || out != "" || !strings.Contains(errs, "Did you mean rider?\n  fare > 1 AND ridr = 'ü'\n  "+strings.Repeat(" ", 13)+"^\n") {
		t.Errorf("%d %q %q", code, out, errs)
	}
	if code, out, errs := command("plan", table, "--where", "fare > '60'"); code != exitOK || !strings.Contains(out, "fare > CAST('60' AS double)") {
		t.Errorf("plan: %d %s %s", code, out, errs)
	}
	if code, _, errs := command("timeline", table, "--where", "a = 1"); code != exitUsage {
		t.Errorf("timeline takes a condition: %d %s", code, errs)
	}
	f := conditionFlags{where: "a =\nb +"}
	var w bytes.Buffer
	f.mark(&w, &api.Fault{Part: "where", Offset: 6})
	if w.String() != "  b +\n    ^\n" {
		t.Errorf("%q", w.String())
	}
}

// TestElements: conditions on elements of arrays and maps, CASE and regular expressions over a table with logs that Hudi
// wrote. What Spark answers to each form is in core/predicate/testdata.
func TestElements(t *testing.T) {
	for where, want := range map[string]string{
		"c_ints[1] IS NOT NULL":                      "id03 id04 id07 id08 id09 id10",
		"c_structs[0].a > 1":                         "id08 id11",
		"size(c_map) > 0":                            "id01 id03 id04 id11 id12",
		"size(c_map) = -1":                           "id02 id08", // null, as Spark has it
		"c_map['k1'].x = 1.5":                        "id03 id04",
		"c_map.k1.y[0] = 'a'":                        "id03 id04",
		"array_contains(c_ints, 1)":                  "id03 id04 id11",
		"CASE WHEN c_int > 0 THEN true END":          "id03 id04 id07 id09 id10",
		"id RLIKE '^id0[0-2]$'":                      "id00 id01 id02",
		"id ILIKE 'ID1%' AND if(ts > 0, true, NULL)": "id10 id11 id12",
		"c_ints[9] IS NULL AND NOT c_ints[0] = 1 AND nvl(c_ints[2], 0) = 5": "id07 id10",
	} {
		var out, errs bytes.Buffer
		if code := run(t.Context(), []string{"rows", "../../testdata/tables/all_types_mor_h120.zip", "--format", "csv", "--columns", "id", "--where", where}, &out, &errs); code != exitOK {
			t.Errorf("%s: %s", where, errs.String())
			continue
		}
		got := strings.Fields(out.String())[1:]
		slices.Sort(got)
		if g := strings.Join(got, " "); g != want {
			t.Errorf("%s: %s, want %s", where, g, want)
		}
	}
}
