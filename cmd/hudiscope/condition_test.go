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
