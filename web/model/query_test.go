package model

import (
	"maps"
	"reflect"
	"slices"
	"testing"

	"hudiscope/core/api"
)

func TestListsAndOptionsComeBack(t *testing.T) {
	for _, l := range [][]string{nil, {"a"}, {"a", "b.c"}, {"a,b", `c\d`, `\`, ",", "ü;="}} {
		if got := SplitList(JoinList(l)); !slices.Equal(got, l) {
			t.Errorf("%q came back as %q", l, got)
		}
	}
	for _, o := range []map[string]string{nil, {"read.start-commit": "earliest"}, {"a": "b;c", "d": `e\f=g`, "h": ""}} {
		if got := SplitOptions(JoinOptions(o)); !maps.Equal(got, o) {
			t.Errorf("%q came back as %q", o, got)
		}
	}
	if got := SplitList(",,a,"); !slices.Equal(got, []string{"a"}) {
		t.Errorf("got %q", got)
	}
	if got := SplitOptions("=x;y"); !maps.Equal(got, map[string]string{"y": ""}) {
		t.Errorf("got %q", got)
	}
	if a, b := JoinOptions(map[string]string{"b": "1", "a": "2"}), "a=2;b=1"; a != b {
		t.Errorf("%q, want %q", a, b)
	}
}

func TestQueryStateComesBack(t *testing.T) {
	s := State{Table: "sample:x", View: Plan, Query: "inc", Begin: "1", Rules: "0.15.0", Options: "ds=false;pg=/2026/*/{a,b}", Where: "a = 'x & y=z #%' AND\nb > 1;", Columns: `a,b\,c`, Limit: 20,
		MaxPartition: "1000", OpenCost: "1", Parallelism: "4", Flink: "read.tasks=2;read.start-commit=earliest", Seen: "20260101000000000", Batch: true, StreamRows: true}
	if got := ParseFragment("#" + s.Fragment()); got != s {
		t.Errorf("%+v came back as %+v", s, got)
	}
	bad := ParseFragment("#/t=sample:x&v=stream&sm=1e5&so=-1&sp=x&lim=-3&fb=yes")
	if want := (State{Table: "sample:x", View: Stream}); bad != want {
		t.Errorf("%+v, want %+v", bad, want)
	}
}

func TestWrongPart(t *testing.T) {
	for _, c := range []struct {
		text                 string
		at                   int64
		before, wrong, after string
	}{
		{"fare >> 3", 6, "fare >", ">", " 3"},
		{"far > 3", 0, "", "far", " > 3"},
		{"a.b.c = 1", 0, "", "a.b.c", " = 1"},
		{"a = 'x y' AND", 4, "a = ", "'x y'", " AND"},
		{"a = 'x", 4, "a = ", "'x", ""},
		{"a =", 3, "a =", "", ""},
		{"a =", 99, "a =", "", ""},
		{"a =", -1, "", "a", " ="},
		{"größe = 1", 3, "gr", "größe"[2:], " = 1"}, // inside of a letter: from its beginning
		{"→ 1", 0, "", "→", " 1"},
	} {
		b, w, a := WrongPart(c.text, c.at)
		if b != c.before || w != c.wrong || a != c.after {
			t.Errorf("%q at %d: %q %q %q", c.text, c.at, b, w, a)
		}
	}
}

func TestTaskBoxesAreToScale(t *testing.T) {
	tasks := []api.Task{{Bytes: 30, Pieces: []api.Piece{{Length: 10}, {Length: 20}}}, {Bytes: 5, Pieces: []api.Piece{{Length: 5}}}}
	rows, limit := TaskBoxes(tasks, 40, 5)
	if want := [][]TaskBox{{{0, 0.25, 0.125}, {0.375, 0.5, 0.125}}, {{0, 0.125, 0.125}}}; !reflect.DeepEqual(rows, want) || limit != 1 {
		t.Errorf("%v %v", rows, limit)
	}
	rows, limit = TaskBoxes(tasks, 60, 0)
	if rows[0][1].Start != 1.0/3 || limit != 2 {
		t.Errorf("%v %v", rows, limit)
	}
	if rows, _ = TaskBoxes([]api.Task{{}}, 0, 0); len(rows) != 1 || len(rows[0]) != 0 {
		t.Errorf("%v", rows)
	}
	rounds := []api.TaskRound{{First: 0, Tasks: 1}, {First: 1, Tasks: 4}}
	for task, want := range map[int]int{0: 0, 1: 1, 4: 1, 5: -1} {
		if got := RoundOf(rounds, task); got != want {
			t.Errorf("task %d is in round %d", task, got)
		}
	}
}

func TestPlanDifferences(t *testing.T) {
	a := &api.Plan{Instants: []api.ChosenInstant{{Requested: "1"}, {Requested: "2", Why: "w"}}, Parts: []api.PlanPart{
		{Partition: "p", FileID: "f", Base: "p/f.parquet", Logs: []string{"p/.f.log.1"}}, {FileID: "g", Base: "g.parquet"}}}
	b := &api.Plan{Instants: []api.ChosenInstant{{Requested: "1"}}, Parts: []api.PlanPart{
		{Partition: "p", FileID: "f", Base: "p/f.parquet", Logs: []string{"p/.f.log.2"}}, {FileID: "h", Base: "h.parquet", Logs: []string{".h.log.1"}}}}
	want := []PlanDifference{{"instant", true, "2", "w"}, {"files", true, "p/f", ".f.log.1"}, {"slice", true, "g", "1 file"},
		{"files", false, "p/f", ".f.log.2"}, {"slice", false, "h", "2 files"}}
	if got := PlanDifferences(a, b); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	if got := PlanDifferences(a, a); got != nil {
		t.Errorf("a plan differs from itself: %v", got)
	}
}

func TestCompletionTimesAndQueues(t *testing.T) {
	got := CompletionTimes([]api.Instant{{Action: "deltacommit", State: "COMPLETED", Completed: "5"}, {Action: "commit", State: "COMPLETED", Completed: "3"},
		{Action: "clean", State: "COMPLETED", Completed: "4"}, {Action: "commit", State: "INFLIGHT"}, {Action: "commit", State: "COMPLETED", Completed: "3"}})
	if !slices.Equal(got, []string{"3", "5"}) {
		t.Errorf("%v", got)
	}
	q := ReaderQueues([]api.Split{{Num: 0, Task: 1}, {Num: 1, Task: 0}, {Num: 2, Task: 1}, {Num: 3, Task: 3}}, 2)
	if len(q) != 4 || len(q[0]) != 1 || len(q[1]) != 2 || q[1][1].Num != 2 || len(q[2]) != 0 || q[3][0].Num != 3 {
		t.Errorf("%v", q)
	}
	if q = ReaderQueues([]api.Split{{Task: -1}, {Task: -1}}, 0); len(q) != 1 || len(q[0]) != 2 {
		t.Errorf("%v", q)
	}
}

func TestTimed(t *testing.T) {
	if _, ok := (*Instants)(nil).Timed("1", true); ok {
		t.Error("a timeline that is not read has an instant")
	}
	l := InstantsOf([]api.Instant{{Requested: "1", Completed: "4", Action: "commit", State: "COMPLETED"}, {Requested: "2", Completed: "3", Action: "deltacommit", State: "COMPLETED"}, {Requested: "5", Action: "commit", State: "INFLIGHT"}})
	for _, x := range []struct {
		time      string
		requested bool
		want      string
	}{{"1", true, "1"}, {"4", false, "1"}, {"3", false, "2"}, {"4", true, ""}, {"5", true, ""}, {"", false, ""}} {
		if in, _ := l.Timed(x.time, x.requested); in.Requested != x.want {
			t.Errorf("%+v: %q", x, in.Requested)
		}
	}
}

func TestMetaLast(t *testing.T) {
	for in, want := range map[string]string{
		`{"_hoodie_commit_time": "1", "b": {"_hoodie_x": 1}, "a": 1.50, "_hoodie_record_key": null}`: `{"b":{"_hoodie_x": 1},"a":1.50,"_hoodie_commit_time":"1","_hoodie_record_key":null}`,
		`{"b": 1}`:             `{"b": 1}`,
		`[1]`:                  `[1]`,
		`{"_hoodie_x": 1, "b"`: `{"_hoodie_x": 1, "b"`,
		``:                     ``,
		`no JSON`:              `no JSON`,
	} {
		if got := MetaLast(in); got != want {
			t.Errorf("%s became %s, want %s", in, got, want)
		}
	}
}
