package model

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"hudiscope/core/api"
)

func TestStateRoundTrip(t *testing.T) {
	states := []State{
		{},
		{Table: "sample:mor_trips_h120", View: Timeline},
		{Table: "sample:x", View: History, Key: "a b&c=d#é", Prefix: true, Everywhere: true},
		{Table: "sample:x", View: Blocks, FileID: "f", Replay: true, MergeSteps: true, Step: 9},
		{Table: "sample:x", View: Compare, Before: "1", After: "2"},
		{Table: "sample:x", View: Metadata, Part: "files", Find: "__all*"},
		{Table: "sample:x", View: Health, Limits: JoinLimits(map[string]float64{"small.bytes": 1 << 20, "log.ratio": 0.5})},
		{Table: "sample:x", View: Rows, Query: "inc", Begin: "1", End: "2", Rules: "0.15.0"},
		{Table: "sample:x", View: Files, Anatomy: "a=1/.f_1.log.1", AnatomyFrom: 17, AnatomyLen: 4000, AnatomyPart: "3.0.2", AsOf: "20261129225100017"},
		{Table: "sample:x", View: Files, Partition: "a", FileID: "f", GroupHistory: true, Map: true},
		{Table: "sample:x", View: Timeline, Activity: true},
		{Table: "sample:x", View: Timeline, Archived: true, Zoom: "0.25-0.50"},
		{Table: "https://host:9000/a b/t#1/?x=1&y=ü", View: Rows, AsOf: "20261129225100017", HideMeta: true},
		{Table: "drop:1", View: Timeline, Instant: "20261129233447240", Action: "savepoint", Axis: "steps"},
		{Table: "sample:x", View: Files, FileID: "4475257a-0a28-4fc1-9107-ce6639a1845c-0", Slice: "20261129231416761"},
		{Table: "sample:x", View: Blocks, FileID: "f", Partition: "a=1/b=é&c%2F", Slice: "1", Log: "a=1/.f_1.log.1_0-1-0", Block: 1, Byte: 1},
		{Table: "sample:x", View: Rows, Partition: "", OnlyPartition: true},
	}
	for _, s := range states {
		frag := s.Fragment()
		if got := ParseFragment("#" + frag); got != s {
			t.Errorf("%q\n gave %+v\nwant %+v", frag, got, s)
		}
		if strings.ContainsAny(frag, " \"<>#") {
			t.Errorf("%q is not safe in an address", frag)
		}
	}
}

func TestStrangersOfAFragment(t *testing.T) {
	for frag, want := range map[string]string{
		"":                                  "",
		"#/":                                "",
		"#/t=x&v=rows&q=inc&x=steps&r=scan": "",
		"#/t=x&v=nonsense&q=all":            "v=nonsense q=all",
		"#/ls=rollback":                     "ls=rollback",
		"#/t=x&x=up&r=%C3%A9":               "x=up r=é",
		"#/t=x&a=garbage&v=rows":            "a=garbage",
		"#/t=x&a=2026-01-31%2023:59:59":     "",
		"#/t=x&later=1":                     "", // of another release
	} {
		if got := strings.Join(Strangers(frag), " "); got != want {
			t.Errorf("%s: %q, want %q", frag, got, want)
		}
	}
}

func TestExtentInAnAddress(t *testing.T) {
	for _, e := range []Extent{{0, 0.5}, {0.123456, 0.133456}, {0.9, 0.9000002}} {
		got := ParseExtent(e.String())
		if w := e.B - e.A; math.Abs(got.A-e.A) > w/50 || math.Abs(got.B-e.B) > w/50 {
			t.Errorf("%v came back as %v by %q", e, got, e.String())
		}
	}
	if Whole.String() != "" || ParseExtent("") != Whole || ParseExtent("-1-2") != Whole {
		t.Error("the whole")
	}
}

func TestParseFragmentOfStrangers(t *testing.T) {
	for frag, want := range map[string]State{
		"":                            {},
		"#":                           {},
		"#/":                          {},
		"#/v=rows":                    {},
		"#/t=sample:x":                {Table: "sample:x", View: Timeline},
		"#/t=sample:x&v=nonsense&z=1": {Table: "sample:x", View: Timeline},
		"#/t=sample:x&z=0.5-0.2":      {Table: "sample:x", View: Timeline},
		"#/t=sample:x&z=NaN-1&ar=1":   {Table: "sample:x", View: Timeline, Archived: true},
		"#/t=a%ZZ&b=-4&o=x&v=blocks":  {Table: "a%ZZ", View: Blocks},
		"#/b=99999999999&t=x":         {Table: "x", View: Timeline},
		"#/t=x&b=3&o=0&v=blocks&l=f":  {Table: "x", View: Blocks, Log: "f", Block: 4, Byte: 1},
	} {
		if got := ParseFragment(frag); got != want {
			t.Errorf("%q gave %+v, want %+v", frag, got, want)
		}
	}
}

func FuzzParseFragment(f *testing.F) {
	f.Add("#/t=sample:x&v=rows&p=&f=a&s=1&l=b&b=1&o=2&x=steps&m=0")
	f.Add("t=%")
	f.Fuzz(func(t *testing.T, frag string) {
		s := ParseFragment(frag)
		if again := ParseFragment(s.Fragment()); again != s {
			t.Fatalf("%q: %+v became %+v", frag, s, again)
		}
	})
}

func TestStripCredentials(t *testing.T) {
	for _, c := range []struct {
		in, clean string
		removed   []string
	}{
		{"sample:x", "sample:x", nil},
		{"https://h/t/", "https://h/t/", nil},
		{"https://h/t.zip?version=3", "https://h/t.zip", []string{"version"}},
		{"https://h/t/?key=SECRET&tok=2&key=3", "https://h/t/", []string{"key", "tok"}},
		{"https://h/t/?SECRET", "https://h/t/", []string{"the query"}},
		{"https://h/t/?=SECRET&", "https://h/t/", []string{"the query"}},
		{"https://h/t/#SECRET", "https://h/t/", nil},
		{"/tables/x/?key=SECRET", "/tables/x/", []string{"key"}},
		{"https://u:p@h/t/", "https://h/t/", []string{"user and password"}},
		{"https://u:p@x@h", "https://h", []string{"user and password"}},
		{"https://h/a@b/", "https://h/a@b/", nil},
		{"https://h/100%/we%20ird/?%zz=1", "https://h/100%/we%20ird/", []string{"%zz"}},
		{"https://a.blob.core.windows.net/c/t?sv=2021&sr=c&sp=rl&sig=q%2B", "https://a.blob.core.windows.net/c/t", []string{"sig", "sp", "sr", "sv"}},
		{"https://h:x/t?sig=1", "https://h:x/t", []string{"sig"}},
	} {
		clean, removed := StripCredentials(c.in)
		if clean != c.clean || !reflect.DeepEqual(removed, c.removed) {
			t.Errorf("%s gave %q %q", c.in, clean, removed)
		}
	}
}

func TestLocationInLink(t *testing.T) {
	for _, c := range []struct{ frag, want string }{
		{"#/t=http://h/we%20ird%23na%25me/", "http://h/we%20ird%23na%25me/"},
		{"#/t=http://h/we%2520ird%2523na%2525me/&v=rows", "http://h/we%20ird%23na%25me/"},
		{"#/t=/tables/we%20ird%23na%25me/", "/tables/we%20ird%23na%25me/"},
		{"#/t=/tables/we%2520ird/", "/tables/we%20ird/"},
		{"#/t=http%3A%2F%2Fh%2Ft%2F", "http://h/t/"},
		{"#/t=http://h/t.zip%3Fkey=a%20b", "http://h/t.zip?key=a b"},
		{"#/t=http://h/100%/", "http://h/100%25/"},
		{"#/t=sample:a%20b", "sample:a b"},
	} {
		st := ParseFragment(c.frag)
		if st.Table != c.want {
			t.Errorf("%s opens %q, want %q", c.frag, st.Table, c.want)
		}
		if again := ParseFragment(st.Fragment()); again != st {
			t.Errorf("%s: %+v became %+v", c.frag, st, again)
		}
	}
}

func TestNameOfEscapedLocation(t *testing.T) {
	for loc, want := range map[string]string{"/tables/we%20ird%23na%25me/": "we ird#na%me", "https://h/a%2Fb.zip?x=1": "a/b", "sample:a%20b": "a%20b"} {
		if got := TableName(loc); got != want {
			t.Errorf("%s is called %q", loc, got)
		}
	}
}

func TestTypedLocation(t *testing.T) {
	for in, want := range map[string][2]string{
		"/tables/x/":         {"/tables/x/", ""},
		"localhost:8491/x":   {"http://localhost:8491/x", "http"},
		"LOCALHOST/x":        {"http://LOCALHOST/x", "http"},
		"127.0.0.1:80/x?k=1": {"http://127.0.0.1:80/x?k=1", "http"},
		"[::1]:8080/x":       {"http://[::1]:8080/x", "http"},
		"[::1]":              {"http://[::1]", "http"},
		"h.example:8443/x":   {"https://h.example:8443/x", "https"},
		"localhost.evil/x":   {"https://localhost.evil/x", "https"},
		"//h/x":              {"https://h/x", "https"},
		"http://h/x":         {"http://h/x", ""},
		"sample:x":           {"sample:x", ""},
	} {
		if loc, assumed := TypedLocation(in); loc != want[0] || assumed != want[1] {
			t.Errorf("%s gave %q %q", in, loc, assumed)
		}
	}
}

func TestFormats(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 1: "1 B", 1023: "1,023 B", 1024: "1.00 KB", 1536: "1.50 KB", 10240: "10.0 KB", 279552: "273 KB", 1 << 20: "1.00 MB", 1<<20 - 1: "1.00 MB", -1: "?", math.MaxInt64: "8.00 EB"} {
		if got := Bytes(n); got != want {
			t.Errorf("Bytes(%d) = %q, want %q", n, got, want)
		}
	}
	for got, want := range map[string]string{KnownBytes(0, 0): "0 B", KnownBytes(0, 2): "?", KnownBytes(2048, 0): "2.00 KB", KnownBytes(1536, 1): "over 1.50 KB"} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1: "-1", -1000: "-1,000", math.MinInt64: "-9,223,372,036,854,775,808"} {
		if got := Count(n); got != want {
			t.Errorf("Count(%d) = %q, want %q", n, got, want)
		}
	}
	for want, got := range map[string]string{"1 file": Plural(1, "file"), "0 files": Plural(0, "file"), "2 entries": Plural(2, "entry"), "2 keys": Plural(2, "key"), "3 bytes": Plural(3, "byte")} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	for d, want := range map[time.Duration]string{0: "0 ms", 999 * time.Millisecond: "999 ms", 3400 * time.Millisecond: "3.4 s", 310 * time.Second: "5 min 10 s", 51 * time.Hour: "2 d 3 h", 61 * time.Minute: "1 h 1 min", -time.Second: "-1.0 s"} {
		if got := Span(d); got != want {
			t.Errorf("Span(%v) = %q, want %q", d, got, want)
		}
	}
}

func TestInstantTime(t *testing.T) {
	for in, want := range map[string]string{
		"20261129225100017": "2026-11-29 22:51:00.017",
		"20261129225100":    "2026-11-29 22:51:00",
		"00000000000001":    "00000000000001",
		"00000000000000000": "00000000000000000",
		"20261329225100017": "20261329225100017",
		"x":                 "x",
		"":                  "",
	} {
		if got := Clock(in); got != want {
			t.Errorf("Clock(%q) = %q, want %q", in, got, want)
		}
	}
	a, _ := InstantTime("20261129225100017")
	b, ok := InstantTime("20261129225101018")
	if !ok || b.Sub(a) != 1001*time.Millisecond {
		t.Errorf("distance %v", b.Sub(a))
	}
}

func TestNames(t *testing.T) {
	for in, want := range map[string]string{
		"sample:mor_trips_h120": "mor_trips_h120", "https://h/a/trips/": "trips", "https://h/trips.zip?x=1": "trips", "drop:1": "drop:1", "https://h/": "h",
	} {
		if got := TableName(in); got != want {
			t.Errorf("TableName(%q) = %q, want %q", in, got, want)
		}
	}
	if got := ShortID("4475257a-0a28-4fc1-9107-ce6639a1845c-0"); got != "4475257a…-0" {
		t.Errorf("ShortID gave %q", got)
	}
	if got := ShortID("short"); got != "short" {
		t.Errorf("ShortID gave %q", got)
	}
}

func instants() []api.Instant {
	return []api.Instant{
		{Requested: "20261129225100000", Completed: "20261129225110000", Action: "deltacommit", State: "COMPLETED"},
		{Requested: "20261129225101000", Completed: "20261129225103000", Action: "deltacommit", State: "COMPLETED"},
		{Requested: "20261129225105000", Action: "compaction", State: "REQUESTED"},
		{Requested: "20261129225120000", Completed: "20261129225200000", Action: "clean", State: "COMPLETED"},
		{Requested: "00000000000001", Completed: "00000000000002", Action: "commit", State: "COMPLETED"},
		{Requested: "20261129225130000", Action: "newaction", State: "INFLIGHT"},
	}
}

func TestLayTimeline(t *testing.T) {
	list := instants()
	for _, axis := range []Axis{OnRequested, OnCompleted, InSteps} {
		p := LayTimeline(InstantsOf(list), axis, 800)
		var actions []string
		seen := map[int]bool{}
		for _, l := range p.Lanes {
			actions = append(actions, l.Action)
			type box struct{ x, end float64 }
			rows := map[int][]box{}
			for _, b := range l.Bars {
				if list[b.Index].Action != l.Action || seen[b.Index] {
					t.Errorf("%q: bar %+v is in lane %s", axis, b, l.Action)
				}
				seen[b.Index] = true
				if b.X < 0 || b.X+b.W > p.Width+0.01 || b.W < 6.9 && axis != InSteps {
					t.Errorf("%q: bar %+v leaves the plot of %v", axis, b, p.Width)
				}
				if b.Row >= l.Rows {
					t.Errorf("%q: bar %+v in a lane of %d rows", axis, b, l.Rows)
				}
				for _, o := range rows[b.Row] {
					if b.X < o.end && o.x < b.X+b.W {
						t.Errorf("%q: bars of %s overlap in row %d", axis, l.Action, b.Row)
					}
				}
				rows[b.Row] = append(rows[b.Row], box{b.X, b.X + b.W})
			}
		}
		if want := []string{"commit", "deltacommit", "compaction", "clean", "newaction"}; !reflect.DeepEqual(actions, want) {
			t.Errorf("%q: lanes %v", axis, actions)
		}
		if len(seen) != len(list) || len(p.Order) != len(list) {
			t.Errorf("%q: %d of %d drawn", axis, len(seen), len(list))
		}
	}
	// The first two overlap in time: two rows.
	p := LayTimeline(InstantsOf(list), OnRequested, 800)
	if p.Lanes[1].Rows != 2 {
		t.Errorf("overlapping delta commits in %d rows", p.Lanes[1].Rows)
	}
	if want := []int{4, 0, 1, 2, 3, 5}; !reflect.DeepEqual(p.Order, want) {
		t.Errorf("order by request %v", p.Order)
	}
	// The second was requested later and completed earlier; pending ones come last.
	if want := []int{4, 1, 0, 3, 2, 5}; !reflect.DeepEqual(LayTimeline(InstantsOf(list), OnCompleted, 800).Order, want) {
		t.Errorf("order by completion %v", LayTimeline(InstantsOf(list), OnCompleted, 800).Order)
	}
	for _, l := range p.Lanes {
		for _, b := range l.Bars {
			if open := list[b.Index].State != "COMPLETED"; open != b.Open {
				t.Errorf("bar %+v", b)
			}
		}
	}
}

func TestLayTimelineToScale(t *testing.T) {
	list := []api.Instant{
		{Requested: "20261129225000000", Completed: "20261129225100000", Action: "commit", State: "COMPLETED"},
		{Requested: "20261129225200000", Completed: "20261129225400000", Action: "commit", State: "COMPLETED"},
	}
	b := LayTimeline(InstantsOf(list), OnRequested, 1000).Lanes[0].Bars
	if r := b[1].W / b[0].W; math.Abs(r-2) > 0.01 {
		t.Errorf("two minutes are %.2f times as wide as one", r)
	}
	if d := (b[1].X - b[0].X) / b[0].W; math.Abs(d-2) > 0.01 {
		t.Errorf("they begin %.2f minutes apart", d)
	}
}

func TestLayTimelineExtremes(t *testing.T) {
	if p := LayTimeline(nil, OnRequested, 800); len(p.Lanes) != 0 {
		t.Error("lanes of nothing")
	}
	one := []api.Instant{{Requested: "20261129225000000", Action: "commit", State: "INFLIGHT"}}
	for _, axis := range []Axis{OnRequested, OnCompleted, InSteps} {
		p := LayTimeline(InstantsOf(one), axis, 10)
		b := p.Lanes[0].Bars[0]
		if math.IsNaN(b.X) || math.IsInf(b.X, 0) || b.W <= 0 {
			t.Errorf("%q: %+v", axis, b)
		}
	}
	only := []api.Instant{{Requested: "garbage", Action: "commit", State: "COMPLETED"}}
	if b := LayTimeline(InstantsOf(only), OnRequested, 500).Lanes[0].Bars[0]; !b.Timeless || math.IsNaN(b.X) {
		t.Errorf("%+v", b)
	}
	var many []api.Instant
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range 10000 {
		many = append(many, api.Instant{Requested: at.Add(time.Duration(i)*time.Hour).Format("20060102150405") + "000", Action: "commit", State: "COMPLETED"})
	}
	began := time.Now()
	p := LayTimeline(InstantsOf(many), OnRequested, 1600)
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("10,000 instants took %v", took)
	}
	if len(p.Ticks) == 0 || len(p.Ticks) > 40 {
		t.Errorf("%d ticks", len(p.Ticks))
	}
	if w := LayTimeline(InstantsOf(many[:1000]), InSteps, 1600).Width; w < 1000*stepW {
		t.Errorf("steps are squeezed: %v", w)
	}
}

func logFiles() []api.LogFile {
	return []api.LogFile{
		{File: api.File{Path: "p/.f.log.1", Name: ".f.log.1"}, Blocks: []api.Block{
			{Index: 0, Start: 0, End: 10000, Type: "AVRO_DATA_BLOCK", Instant: "1", Fate: "rolled back"},
			{Index: 1, Instant: "2", Start: 10000, End: 10050, Type: "DELETE_BLOCK", Fate: "merged"},
			{Index: 2, Start: 10100, End: 10150, Type: "CORRUPT_BLOCK", Fate: "corrupt"},
		}},
		{File: api.File{Path: "p/.f.log.2", Name: ".f.log.2"}, Blocks: []api.Block{
			{Index: 0, Start: 0, End: 105, Type: "COMMAND_BLOCK", Instant: "3", Target: "1", Fate: "command"},
			{Index: 1, Start: 105, End: 5105, Type: "AVRO_DATA_BLOCK", Instant: "1", Fate: "merged"},
		}},
		{File: api.File{Path: "p/.f.log.3"}},
	}
}

func TestLayStrips(t *testing.T) {
	s := LayStrips(logFiles(), 800, 24)
	if len(s.Strips) != 3 || len(s.Strips[0].Cells) != 3 || len(s.Strips[2].Cells) != 0 {
		t.Fatalf("%+v", s)
	}
	for _, strip := range s.Strips {
		x := 0.0
		for _, c := range strip.Cells {
			if c.W < 24 || c.X < x-0.01 {
				t.Errorf("cell %+v after %v", c, x)
			}
			x = c.X + c.W
		}
		if strip.Width > 800+10 {
			t.Errorf("strip of %v", strip.Width)
		}
	}
	big, half := s.Strips[0].Cells[0].W, s.Strips[1].Cells[1].W
	if r := big / half; math.Abs(r-2) > 0.02 {
		t.Errorf("10,000 bytes are %.3f times as wide as 5,000", r)
	}
	if w := s.Strips[0].Width; w < 795 {
		t.Errorf("the widest strip uses %v of 800", w)
	}
	if s.Stretched != 3 || len(s.Strips[0].Gaps) != 1 {
		t.Errorf("stretched %d, gaps %d", s.Stretched, len(s.Strips[0].Gaps))
	}
	if want := []Arc{{FromStrip: 1, FromCell: 0, ToStrip: 0, ToCell: 0}}; !reflect.DeepEqual(s.Arcs, want) {
		t.Errorf("arcs %+v", s.Arcs)
	}
	if !s.Strips[0].Cells[0].Struck || s.Strips[0].Cells[1].Struck {
		t.Error("the wrong block is struck")
	}
	if LayStrips(nil, 800, 24).Strips != nil {
		t.Error("strips of nothing")
	}
	// More blocks than fit: every block keeps its least width.
	var many api.LogFile
	for i := range 100 {
		many.Blocks = append(many.Blocks, api.Block{Index: i, Start: int64(i), End: int64(i) + 1})
	}
	if w := LayStrips([]api.LogFile{many}, 800, 24).Strips[0].Width; math.Abs(w-2400) > 1 {
		t.Errorf("100 blocks in %v", w)
	}
}

func TestKindOf(t *testing.T) {
	seen := map[string]bool{}
	for _, typ := range []string{"AVRO_DATA_BLOCK", "DELETE_BLOCK", "COMMAND_BLOCK", "CORRUPT_BLOCK", "HFILE_DATA_BLOCK", "PARQUET_DATA_BLOCK", "CDC_DATA_BLOCK", "FUTURE_BLOCK"} {
		k := KindOf(typ)
		if seen[k.Letter] || k.Letter == "" || k.Class == "" {
			t.Errorf("%s: %+v", typ, k)
		}
		seen[k.Letter] = true
	}
}

func TestScrollWindow(t *testing.T) {
	for _, total := range []int64{0, 1, 5, 100, 1_000_000, 3_000_000_000} {
		const rowH, viewH = 27.0, 600.0
		h := ScrollWindow(total, rowH, viewH, 0, 4).Height
		if h > MaxScroll {
			t.Errorf("%d rows: height %v", total, h)
		}
		for _, part := range []float64{0, 0.1, 0.5, 0.999, 1, 2} {
			top := part * math.Max(0, h-viewH)
			w := ScrollWindow(total, rowH, viewH, top, 4)
			if total == 0 {
				if w.Count != 0 {
					t.Errorf("rows of nothing: %+v", w)
				}
				continue
			}
			if w.First < 0 || w.Count < 1 || w.First+w.Count > total {
				t.Errorf("%d rows at %v: %+v", total, part, w)
			}
			// What is drawn covers what is seen.
			seen := math.Min(top, math.Max(0, h-viewH))
			if w.Top > seen+0.5 {
				t.Errorf("%d rows at %v: a gap above, %+v", total, part, w)
			}
			bottom := w.Top + float64(w.Count)*rowH
			if need := math.Min(seen+viewH, float64(total)*rowH); bottom < need-0.5 {
				t.Errorf("%d rows at %v: drawn to %v, seen to %v", total, part, bottom, need)
			}
			if w.Count > 40 {
				t.Errorf("%d rows drawn", w.Count)
			}
		}
		end := ScrollWindow(total, rowH, viewH, h, 0)
		if total > 0 && end.First+end.Count != total {
			t.Errorf("%d rows: the end shows up to %d", total, end.First+end.Count)
		}
	}
}

func TestScrollToShowsTheRow(t *testing.T) {
	const rowH, viewH = 27.0, 600.0
	for _, total := range []int64{10, 1000, 1_000_000} {
		for _, row := range []int64{0, total / 3, total - 1} {
			top := ScrollTo(total, row, rowH, viewH, 0)
			w := ScrollWindow(total, rowH, viewH, top, 0)
			if row < w.First || row >= w.First+w.Count {
				t.Errorf("row %d of %d: %+v", row, total, w)
			}
		}
	}
	if got := ScrollTo(1000, 10, rowH, viewH, 100); got != 100 {
		t.Errorf("a row in sight moved the view to %v", got)
	}
}

func TestPagesAndColumns(t *testing.T) {
	if got := Pages(Window{First: 150, Count: 100}, 200); !reflect.DeepEqual(got, []int64{0, 1}) {
		t.Errorf("pages %v", got)
	}
	if got := Pages(Window{}, 200); got != nil {
		t.Errorf("pages %v", got)
	}
	widths := make([]float64, 100)
	sum := 0.0
	for i := range widths {
		widths[i] = 100
		sum += 100
	}
	for _, left := range []float64{0, 950, 5000, 9400, 20000} {
		first, end, before, after := Columns(widths, left, 600)
		in := 0.0
		for _, w := range widths[first:end] {
			in += w
		}
		if math.Abs(before+in+after-sum) > 0.01 {
			t.Errorf("at %v: %v + %v + %v", left, before, in, after)
		}
		if left <= 9400 && (before > left || before+in < math.Min(left+600, sum)) {
			t.Errorf("at %v: columns %d to %d do not cover it", left, first, end)
		}
		if end-first > 12 {
			t.Errorf("at %v: %d columns", left, end-first)
		}
	}
	if first, end, _, _ := Columns(nil, 0, 600); first != 0 || end != 0 {
		t.Errorf("columns of nothing: %d %d", first, end)
	}
}

func TestHexRows(t *testing.T) {
	data := []byte("#HUDI#\x00\x00\x00\x00\x00\x00\x04\x68\x00\x00\x00\x01")
	spans := []api.Span{{Name: "block", Start: 4, End: 22}, {Name: "magic", Start: 4, End: 10}, {Name: "size", Start: 10, End: 18}, {Name: "elsewhere", Start: 100, End: 200}}
	rows := HexRows(data, 4, spans)
	if len(rows) != 2 || rows[0].Offset != 0 || rows[1].Offset != 16 {
		t.Fatalf("%+v", rows)
	}
	var hex, text string
	for _, r := range rows {
		for _, run := range r.Runs {
			hex += run.Hex
			text += run.Text
			if run.Span == 3 {
				t.Error("a run of a span that is not in sight")
			}
		}
	}
	if want := "            23 48 55 44 49 23 00 00 00 00 00 00 04 68 00 00 00 01 "; hex != want {
		t.Errorf("hex %q", hex)
	}
	if !strings.HasPrefix(strings.TrimSpace(text), "#HUDI#") {
		t.Errorf("text %q", text)
	}
	if r := rows[0].Runs[1]; r.Span != 1 || r.Text != "#HUDI#" || !r.First {
		t.Errorf("the shortest span must win: %+v", r)
	}
	if r := rows[1].Runs[0]; r.Span != 2 || r.First {
		t.Errorf("%+v", r)
	}
	if last := rows[1].Runs[len(rows[1].Runs)-1]; last.Span != 0 || rows[1].Pad != 10 {
		t.Errorf("%+v pad %d", last, rows[1].Pad)
	}
	if HexRows(nil, 0, nil) != nil {
		t.Error("rows of nothing")
	}
}

func TestTree(t *testing.T) {
	doc := `{"b":1,"a":{"x/y":[1,2.50,-3e4,9007199254740993],"n":null,"t":true},"s":"{\"k\":[1]}","e":{},"text":"{not json"}`
	root, err := ParseTree([]byte(doc))
	if err != nil {
		t.Fatal(err)
	}
	closed, _ := Lines(root, func(string, int) bool { return false }, 100)
	var names []string
	for _, l := range closed {
		names = append(names, l.Node.Name())
	}
	if want := []string{"b", "a", "s", "e", "text"}; !reflect.DeepEqual(names, want) {
		t.Errorf("order %v", names)
	}
	all, cut := Lines(root, func(string, int) bool { return true }, 100)
	var paths []string
	for _, l := range all {
		paths = append(paths, l.Path)
	}
	want := []string{"/b", "/a", "/a/x~1y", "/a/x~1y/0", "/a/x~1y/1", "/a/x~1y/2", "/a/x~1y/3", "/a/n", "/a/t", "/s", "/s/k", "/s/k/0", "/e", "/text"}
	if !reflect.DeepEqual(paths, want) || cut {
		t.Errorf("paths %v", paths)
	}
	if all[6].Node.Text != "9007199254740993" || all[4].Node.Text != "2.50" {
		t.Errorf("numbers must stay as written: %+v", all[6].Node)
	}
	if !all[12].Leaf || all[9].Leaf || !all[13].Leaf {
		t.Error("leaves")
	}
	if some, cut := Lines(root, func(string, int) bool { return true }, 3); len(some) != 3 || !cut {
		t.Errorf("%d lines, cut %v", len(some), cut)
	}
	for _, bad := range []string{"", "{", "[1,]", `{"a":1} x`, strings.Repeat("[", 10000) + strings.Repeat("]", 10000)} {
		if _, err := ParseTree([]byte(bad)); err == nil {
			t.Errorf("%.20q was taken", bad)
		}
	}
}

func TestCell(t *testing.T) {
	for in, want := range map[string]CellText{
		`null`:                    {"null", NullNode, false},
		``:                        {"null", NullNode, false},
		`"null"`:                  {"null", StringNode, false},
		`""`:                      {"", StringNode, false},
		`"a\nb\tc"`:               {"a↵b⇥c", StringNode, false},
		`12345678901234567890.10`: {"12345678901234567890.10", NumberNode, false},
		`true`:                    {"true", BoolNode, false},
		`{"a": [1, 2]}`:           {`{"a":[1,2]}`, ObjectNode, false},
		`[ ]`:                     {`[]`, ArrayNode, false},
		`"<script>alert(1)"`:      {"<script>alert(1)", StringNode, false},
	} {
		if got := Cell(json.RawMessage(in)); got != want {
			t.Errorf("Cell(%s) = %+v, want %+v", in, got, want)
		}
	}
	long := Cell(json.RawMessage(`"` + strings.Repeat("é", 1000) + `"`))
	if !long.Cut || len([]rune(long.Text)) != maxCell+1 {
		t.Errorf("%d runes, cut %v", len([]rune(long.Text)), long.Cut)
	}
	if got := Pretty([]byte(`{"a":1}`)); got != "{\n  \"a\": 1\n}" {
		t.Errorf("Pretty gave %q", got)
	}
}

func TestColumnWidths(t *testing.T) {
	w := ColumnWidths([]string{"a", "a_rather_long_column_name"}, []string{"int", "string"}, [][]CellText{{{Text: "1"}, {Text: strings.Repeat("x", 500)}}})
	if w[0] != 64 || w[1] != 320 {
		t.Errorf("%v", w)
	}
}

func TestTook(t *testing.T) {
	list := instants()
	if d, ok := Took(list[0]); !ok || d != 10*time.Second {
		t.Errorf("%v %v", d, ok)
	}
	if _, ok := Took(list[2]); ok {
		t.Error("a pending instant took no time yet")
	}
}

func TestCompletionNote(t *testing.T) {
	in := func(state, completed, from string) api.Instant {
		return api.Instant{Requested: "20260101000000000", State: state, Completed: completed, CompletedFrom: from}
	}
	done, at := "COMPLETED", "20260101000001000"
	for want, list := range map[string][]api.Instant{
		"":                                 {in(done, at, "name"), in("INFLIGHT", "", "")},
		"No instant of this table carries": {in(done, "", ""), in("REQUESTED", "", "")},
		"1 completed instant of 2 without": {in(done, "", ""), in(done, at, "name")},
		"Completion times are those of the files (f": {in(done, at, "mtime")},
	} {
		got := CompletionNote(InstantsOf(list))
		if !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("want %q, got %q", want, got)
		}
	}
}

func TestTickLabelsAreSeenWhole(t *testing.T) {
	var list []api.Instant
	for i := range 50 {
		list = append(list, api.Instant{Requested: fmt.Sprintf("202601%02d%02d3000000", 1+i/24, i%24), Action: "commit", State: "COMPLETED"})
	}
	for _, axis := range []Axis{OnRequested, InSteps} {
		labels := 0
		for width := 300.0; width < 1500; width += 7 {
			p := NewChart(InstantsOf(list), axis).Lay(width, Whole)
			end := 0.0
			for _, k := range p.Ticks {
				if k.Label == "" {
					continue
				}
				labels++
				if k.LabelX < end || k.LabelX+labelChar*float64(len(k.Label)) > p.Width+0.01 {
					t.Fatalf("axis %q, width %v: label %q at %v, after %v", axis, width, k.Label, k.LabelX, end)
				}
				end = k.LabelX + labelChar*float64(len(k.Label))
			}
		}
		if labels < 300 {
			t.Errorf("axis %q: only %d labels", axis, labels)
		}
	}
}

func TestLimits(t *testing.T) {
	text := JoinLimits(map[string]float64{"small.bytes": 1048576, "log.ratio": 0.25})
	if text != "log.ratio=0.25;small.bytes=1048576" {
		t.Errorf("%q", text)
	}
	if got := ParseLimits(text + ";odd=;worse=x;inf=+Inf;nan=NaN;neg=-1"); !reflect.DeepEqual(got, map[string]float64{"small.bytes": 1048576, "log.ratio": 0.25}) {
		t.Errorf("%v", got)
	}
	if JoinLimits(nil) != "" || ParseLimits("") != nil {
		t.Error("none")
	}
	for text, want := range map[string]float64{"0": 0, "1,024": 1024, "64 MiB": 64 << 20, "1.5gib": 1.5 * (1 << 30), "10 kB": 10240, "100 MB": 100 << 20, "7B": 7, "100 bytes": 100} {
		if got, ok := ParseAmount(text, "bytes"); !ok || got != want {
			t.Errorf("%q is %v, %v", text, got, ok)
		}
	}
	for _, c := range [][2]string{{"", "bytes"}, {"x", "bytes"}, {"-1", "bytes"}, {"1 MiB", "hours"}, {"1e999", "hours"}, {"NaN", "hours"}, {"5 files", "hours"}} {
		if got, ok := ParseAmount(c[0], c[1]); ok {
			t.Errorf("%q %s is %v", c[0], c[1], got)
		}
	}
	if got, ok := ParseAmount("2.5 hours", "hours"); !ok || got != 2.5 {
		t.Errorf("%v", got)
	}
}

func TestWholeTime(t *testing.T) {
	for in, want := range map[string]string{
		"20260501": "20260501000000", "2026050112": "20260501120000", "202605011230": "20260501123000",
		"20260501123000": "20260501123000", "202605011230001": "20260501123000100", "20260501123000123": "20260501123000123",
		"": "", "2026": "", "202605": "", "202605011": "", "202605011230001234": "",
	} {
		if got := WholeTime(in); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}
