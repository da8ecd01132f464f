package main

import (
	"bytes"
	"context"
	"encoding/json"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"hudiscope/core/api"
	"hudiscope/core/tabletest"
)

func TestParseOrder(t *testing.T) {
	for s, want := range map[string][]api.SortKey{
		"":                                nil,
		"fare":                            {{Column: "fare"}},
		"city asc, fare DESC":             {{Column: "city"}, {Column: "fare", Desc: true}},
		"a Nulls Last,b desc nulls first": {{Column: "a", Nulls: "last"}, {Column: "b", Desc: true, Nulls: "first"}},
		"`a, b``c` desc,`d`":              {{Column: "a, b`c", Desc: true}, {Column: "d"}},
	} {
		if got, err := parseOrder(s); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %+v, %v", s, got, err)
		}
	}
	for _, s := range []string{",", "a,", "a up", "a desc nulls", "`a", "a nulls never", "`` desc"} {
		if got, err := parseOrder(s); err == nil {
			t.Errorf("%q: %+v", s, got)
		}
	}
}

func TestRowsOrderedAndStats(t *testing.T) {
	zip := filepath.Join(tabletest.Dir(), "tables", "mor_trips_h120.zip")
	call := func(args ...string) (string, string, int) {
		var out, errs bytes.Buffer
		code := run(context.Background(), append([]string{"rows", zip}, args...), &out, &errs)
		return out.String(), errs.String(), code
	}
	out, errs, code := call("--json", "--order-by", "fare desc", "--limit", "4", "--columns", "fare")
	if code != 0 {
		t.Fatal(errs)
	}
	last := 1e300
	for _, line := range strings.Fields(out) {
		var row struct{ Fare float64 }
		if err := json.Unmarshal([]byte(line), &row); err != nil || row.Fare > last {
			t.Errorf("%s after %v: %v", line, last, err)
		}
		last = row.Fare
	}
	out, errs, code = call("--stats", "--columns", "city,fare", "--where", "fare > 0")
	if code != 0 || !strings.Contains(out, "2 columns") || !strings.Contains(out, "\nfare  double\n  0 nulls, ") || !strings.Contains(out, "  mean ") {
		t.Errorf("%d %s%s", code, out, errs)
	}
	if _, errs, code = call("--order-by", "fare up"); code != exitUsage || !strings.Contains(errs, "ASC or DESC") {
		t.Errorf("%d %s", code, errs)
	}
	if _, errs, code = call("--order-by", "nope"); code != exitFailed || !strings.Contains(errs, "nope") {
		t.Errorf("%d %s", code, errs)
	}
	if _, _, code = call("--order-by", "fare", "--stats"); code != exitUsage {
		t.Errorf("%d", code)
	}
}
