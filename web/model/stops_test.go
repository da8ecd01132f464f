package model

import (
	"math"
	"math/rand/v2"
	"testing"

	"hudiscope/core/api"
)

func TestStops(t *testing.T) {
	l := InstantsOf([]api.Instant{
		{Requested: "05", Action: "commit", State: "COMPLETED"}, // archived
		{Requested: "10", Action: "commit", State: "COMPLETED"},
		{Requested: "20", Action: "deltacommit", State: "INFLIGHT"},
		{Requested: "30", Action: "deltacommit", State: "COMPLETED"},
		{Requested: "30", Action: "savepoint", State: "COMPLETED"},
		{Requested: "40", Action: "clean", State: "COMPLETED"},
	})
	l.Archived = 1
	s := l.Stops()
	if s.Len() != 3 || s.Time(0) != "10" || s.Time(1) != "30" || s.Time(2) != "40" || s.Time(3) != "" || s.Time(-1) != "" {
		t.Fatalf("%+v", s.at)
	}
	if l.Action(s.Index(1)) != "deltacommit" || s.Index(3) != -1 {
		t.Errorf("the savepoint stands for its commit")
	}
	for _, c := range []struct {
		time  string
		place int
	}{{"", 3}, {"10", 0}, {"29", 0}, {"30", 1}, {"31", 1}, {"99", 2}, {"01", 0}} {
		if got := s.Place(c.time); got != c.place {
			t.Errorf("%q is at %d, want %d", c.time, got, c.place)
		}
	}
	for _, c := range []struct {
		time string
		by   int
		want string
	}{{"", -1, "40"}, {"40", 1, ""}, {"40", -1, "30"}, {"35", 1, "40"}, {"10", -1, "10"}, {"10", 9, ""}} {
		if got := s.Step(c.time, c.by); got != c.want {
			t.Errorf("%q by %d is %q, want %q", c.time, c.by, got, c.want)
		}
	}
	var none *Instants
	if none.Stops().Len() != 0 || none.Stops().Step("", -1) != "" {
		t.Error("no instants")
	}
}

func TestTreemapFillsTheField(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 2, 7, 60, 1000} {
		values := make([]float64, n)
		sum := 0.0
		for i := range values {
			if i%9 != 5 {
				values[i] = math.Exp(r.NormFloat64() * 2)
			}
			sum += values[i]
		}
		const w, h = 900, 320
		rects := Treemap(values, w, h)
		area := 0.0
		for i, x := range rects {
			area += x.W * x.H
			if values[i] == 0 && x != (Rect{}) || x.X < -1e-6 || x.Y < -1e-6 || x.X+x.W > w+1e-6 || x.Y+x.H > h+1e-6 {
				t.Fatalf("%d of %d: %+v", i, n, x)
			}
			if got := x.W * x.H / (w * h); math.Abs(got-values[i]/sum) > 1e-6 {
				t.Fatalf("%d of %d has a share of %g, want %g", i, n, got, values[i]/sum)
			}
			for j := range i {
				y := rects[j]
				if min(x.X+x.W, y.X+y.W)-max(x.X, y.X) > 1e-6 && min(x.Y+x.H, y.Y+y.H)-max(x.Y, y.Y) > 1e-6 {
					t.Fatalf("%d and %d of %d lie over each other: %+v, %+v", i, j, n, x, y)
				}
			}
		}
		if math.Abs(area-w*h) > 1e-3 {
			t.Errorf("%d values fill %g of %d", n, area, w*h)
		}
	}
	if Treemap([]float64{0, 0}, 10, 10)[0] != (Rect{}) || Treemap([]float64{1}, 0, 10)[0] != (Rect{}) {
		t.Error("nothing to draw")
	}
}

func TestLayAnatomy(t *testing.T) {
	parts := []api.AnatomyPart{{Name: "magic", Start: 0, End: 4}, {Name: "group", Start: 4, End: 900, Parts: []api.AnatomyPart{{Name: "a", Start: 4, End: 104}, {Name: "b", Start: 104, End: 900}}}, {Name: "footer", Start: 900, End: 1000}}
	cells, levels := LayAnatomy(parts, 0, 1000, 500)
	if levels != 2 || len(cells) != 5 || cells[0].W != 2 || cells[1].X != 2 || cells[3].Path != "1.1" || cells[3].X != 52 || cells[4].X+cells[4].W != 500 {
		t.Errorf("%+v", cells)
	}
	if cells, _ = LayAnatomy(parts, 104, 204, 500); len(cells) != 2 || cells[0].X != 0 || cells[0].W != 500 || cells[1].Part.Name != "b" {
		t.Errorf("%+v", cells)
	}
	if p, around := AnatomyPart(parts, "1.0"); p == nil || p.Name != "a" || len(around) != 1 || around[0].Name != "group" {
		t.Errorf("%+v", p)
	}
	for _, path := range []string{"", "3", "1.2", "0.0", "x", "1."} {
		if p, _ := AnatomyPart(parts, path); p != nil {
			t.Errorf("%q is %+v", path, p)
		}
	}
	at := ""
	var seen []string
	for range 6 {
		at = NextAnatomy(parts, at, 1)
		seen = append(seen, at)
	}
	if seen[0] != "0" || seen[2] != "1.0" || seen[4] != "2" || seen[5] != "2" || NextAnatomy(parts, "", -1) != "2" || NextAnatomy(nil, "1", 1) != "" {
		t.Errorf("%v", seen)
	}
	many := make([]api.AnatomyPart, 100_000)
	for i := range many {
		many[i] = api.AnatomyPart{Start: int64(i), End: int64(i) + 1}
	}
	if cells, _ = LayAnatomy(many, 0, 100_000, 500); len(cells) > 1000 {
		t.Errorf("%d cells in 500 pixels", len(cells))
	}
}
