package view

import (
	"strings"
	"testing"
	"time"

	"github.com/maxence-charriere/go-app/v9/pkg/app"

	"hudiscope/core/api"
	"hudiscope/web/model"
)

func html(ui app.UI) string { return app.HTMLString(ui) }

func TestFaultPanelTellsWhatWhereAndWhatToTry(t *testing.T) {
	f := &api.Fault{Message: `The block "<b>" is cut.`, Kind: "corrupt", File: "p/.f_1.log.1_0-1-0", Offset: 1972, Part: "content length", Try: "Copy the file again."}
	link := Link("button", model.State{Table: "sample:x", View: model.Blocks, Log: f.File, Byte: f.Offset + 1}, app.Text("See the bytes"))
	got := html(FaultPanel(f, link, func(app.Context, app.Event) {}))
	for _, want := range []string{"&lt;b&gt;", "p/.f_1.log.1_0-1-0", "1,972", "content length", "Copy the file again.", "o=1972", "Try again", `role="alert"`} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
	if strings.Contains(got, "<b>") {
		t.Error("text became markup")
	}
	whole := html(FaultPanel(&api.Fault{Message: "No.", Kind: "cancelled", Offset: -1}, nil, nil))
	if strings.Contains(whole, "Byte") || strings.Contains(whole, "button") {
		t.Errorf("a fault without a place shows one:\n%s", whole)
	}
}

func TestLoadingShowsNothingUntilItIsSlow(t *testing.T) {
	p := api.Progress{Phase: "Merging slices", Done: 3, Total: 12, Unit: "slices", Requests: 40, Bytes: 2048}
	stop := func(app.Context, app.Event) {}
	if got := html(Loading("Merging", false, p, stop)); strings.Contains(got, "Cancel") {
		t.Errorf("a quick answer flickers:\n%s", got)
	}
	got := html(Loading("Merging", true, p, stop))
	for _, want := range []string{"Merging slices", "3 of 12 slices", "40 requests, 2.00 KB read", "Cancel", "width:25%"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
	for want, p := range map[string]api.Progress{
		"1 directory": {Done: 1, Unit: "directories"}, "2 directories": {Done: 2, Unit: "directories"}, "1 log file": {Done: 1, Unit: "log files"},
		"0 of 1 slice": {Total: 1, Unit: "slices"}, "1 of 3 slices": {Done: 1, Total: 3, Unit: "slices"},
	} {
		if got := html(Loading("x", true, p, nil)); !strings.Contains(got, want+"<") && !strings.Contains(got, want+"\n") {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
	if got := html(Loading("x", true, api.Progress{Done: 1 << 20, Total: 4 << 20, Unit: "bytes"}, nil)); !strings.Contains(got, "1.00 MB of 4.00 MB") || strings.Contains(got, "Cancel") {
		t.Errorf("%s", got)
	}
}

func TestPercentStaysInBounds(t *testing.T) {
	for _, c := range []struct {
		done, total int64
		want        string
	}{{0, 7, "00%"}, {7, 7, "100%"}, {9, 7, "100%"}, {1, 3, "33%"}} {
		if got := percent(c.done, c.total); got != c.want {
			t.Errorf("percent(%d, %d) = %q", c.done, c.total, got)
		}
	}
}

func TestHexNamesTheSpanOfEachByte(t *testing.T) {
	spans := []api.Span{{Name: "magic", Start: 0, End: 6}, {Name: "size", Start: 6, End: 14}}
	got := html(Hex([]byte("#HUDI#\x00\x00\x00\x00\x00\x00\x04\x68<&>"), 0, spans, 6))
	for _, want := range []string{`data-s="0"`, `data-s="1"`, "#HUDI#", "&lt;&amp;<", "&gt;", "marked", "000000"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
}

func TestPortionsAreDrawnInTurn(t *testing.T) {
	table := app.Table().Body(RowsInPortions(5, 2, func(i int) app.UI { return app.Tr().Body(app.Td().Text(i)) })...)
	d := app.NewClientTester(table)
	defer d.Close()
	first := html(table)
	if n, busy := strings.Count(first, "<tr>"), strings.Count(first, "aria-busy"); n != 2 || busy != 2 || strings.Count(first, "<tbody") != 3 {
		t.Errorf("%d rows, %d bodies that wait:\n%s", n, busy, first)
	}
	var got string
	for range 200 {
		time.Sleep(5 * time.Millisecond)
		d.Consume()
		if got = html(table); !strings.Contains(got, "aria-busy") {
			break
		}
	}
	if n := strings.Count(got, "<tr>"); n != 5 || strings.Contains(got, "aria-busy") {
		t.Errorf("%d of 5 rows are drawn in the end:\n%s", n, got)
	}
	for i := range 4 {
		if strings.Index(got, "<td>"+itoa(i)) > strings.Index(got, "<td>"+itoa(i+1)) {
			t.Errorf("row %d does not come before the next:\n%s", i, got)
		}
	}
}

func TestJSONTreeDrawsOpenLevelsOnly(t *testing.T) {
	tree := &JSONTree{Doc: `{"a":{"b":{"c":1}},"d":"<i>"}`, Label: "x", Depth: 1}
	d := app.NewClientTester(tree)
	defer d.Close()
	got := html(tree)
	if !strings.Contains(got, ">b<") || strings.Contains(got, ">c<") || !strings.Contains(got, "&lt;i&gt;") {
		t.Errorf("%s", got)
	}
	tree.open["/a/b"] = true
	tree.Update()
	d.Consume()
	if got := html(tree); !strings.Contains(got, ">c<") {
		t.Errorf("an opened node shows nothing:\n%s", got)
	}
	bad := &JSONTree{Doc: `{"a":`}
	d2 := app.NewClientTester(bad)
	defer d2.Close()
	if got := html(bad); !strings.Contains(got, "no valid JSON") || !strings.Contains(got, "{&#34;a&#34;:") {
		t.Errorf("damaged JSON is not shown:\n%s", got)
	}
}

func TestListDrawsWhatIsSeen(t *testing.T) {
	l := &List{Count: 10000, RowHeight: 30, At: -1, Row: func(i int, _ bool) app.UI { return app.P().Text(i) }, started: true, height: 600, top: 90_000}
	d := app.NewClientTester(l)
	defer d.Close()
	if n := strings.Count(html(l), "<p>"); n < 10 || n > 60 {
		t.Errorf("%d of 10,000 rows are drawn", n)
	}
	if got := html(l); !strings.Contains(got, "<p>3000</p>") || !strings.Contains(got, "300000.0px") {
		t.Errorf("row 3000 should be seen:\n%.500s", got)
	}
}
