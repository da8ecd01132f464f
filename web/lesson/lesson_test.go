package lesson_test

import (
	"context"
	"encoding/json"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"hudiscope/core/explorer"
	"hudiscope/core/storage"
	"hudiscope/fsadapter/zipfs"
	"hudiscope/web/lesson"
	"hudiscope/web/model"
)

const testdata = "../../testdata/"

func load(t *testing.T) []lesson.Lesson {
	t.Helper()
	doc, err := os.ReadFile(testdata + "lessons.json")
	if err != nil {
		t.Fatal(err)
	}
	all, err := lesson.Parse(doc)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestAnswers holds every answer of a lesson against its table.
func TestAnswers(t *testing.T) {
	s := explorer.New(func(_ context.Context, location string) (storage.Source, error) {
		b, err := os.ReadFile(testdata + "tables/" + strings.TrimPrefix(location, "sample:") + ".zip")
		if err != nil {
			return nil, err
		}
		return zipfs.FromBytes(b, location, zipfs.Options{})
	}, explorer.Options{})
	asked := 0
	for _, l := range load(t) {
		for i, st := range l.Steps {
			if st.Ask == nil {
				continue
			}
			asked++
			answer, err := s.Do(t.Context(), st.Ask.Op, st.Ask.Args, nil)
			if err != nil {
				t.Errorf("%s, step %d: %v", l.ID, i+1, err)
				continue
			}
			doc, err := json.Marshal(answer)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := lesson.Pick(doc, st.Ask.Pick); err != nil || got != st.Ask.Answer {
				t.Errorf("%s, step %d: %q, %v, want %q", l.ID, i+1, got, err, st.Ask.Answer)
			}
		}
	}
	if asked < 12 {
		t.Errorf("%d questions", asked)
	}
}

// TestComplete: at least twelve lessons, texts in both languages, tables that are embedded.
func TestComplete(t *testing.T) {
	doc, err := os.ReadFile(testdata + "samples.json")
	if err != nil {
		t.Fatal(err)
	}
	var samples []struct {
		Name               string
		Title, Shows, Look lesson.Text
	}
	if err := json.Unmarshal(doc, &samples); err != nil {
		t.Fatal(err)
	}
	embedded := map[string]bool{}
	for _, s := range samples {
		embedded[s.Name] = true
		both(t, s.Name, s.Title, s.Shows, s.Look)
	}
	all := load(t)
	if len(all) < 12 {
		t.Errorf("%d lessons", len(all))
	}
	ids := map[string]bool{}
	for _, l := range all {
		if ids[l.ID] || l.ID == "" {
			t.Errorf("the id %q is there twice, or empty", l.ID)
		}
		ids[l.ID] = true
		both(t, l.ID, l.Title, l.About)
		for i, st := range l.Steps {
			both(t, l.ID, st.Text)
			table, _, _ := strings.Cut(strings.TrimPrefix(st.Go, "t=sample:"), "&")
			if !embedded[table] {
				t.Errorf("%s, step %d: %q is not embedded", l.ID, i+1, table)
			}
			if st.Ask != nil {
				both(t, l.ID, st.Ask.Question, st.Ask.Why)
			}
		}
	}
}

// TestAddresses: every step leads to a known view of its table, and nothing of its address is lost.
func TestAddresses(t *testing.T) {
	for _, l := range load(t) {
		for i, st := range l.Steps {
			state := model.ParseFragment(st.Go)
			if want := "v=" + string(state.View); !slices.Contains(strings.Split(st.Go, "&"), want) {
				t.Errorf("%s, step %d: %q leads to the view %q", l.ID, i+1, st.Go, state.View)
			}
			if got, want := pairs(t, strings.TrimPrefix(state.Fragment(), "/")), pairs(t, st.Go); !slices.Equal(got, want) {
				t.Errorf("%s, step %d: %q is taken as %q", l.ID, i+1, want, got)
			}
			state.Lesson, state.LessonStep = l.ID, i
			if again := model.ParseFragment("#" + state.Fragment()); again != state {
				t.Errorf("%s, step %d: %+v comes back as %+v", l.ID, i+1, state, again)
			}
			if a := st.Ask; a != nil && len(a.Choices) > 0 && !slices.Contains(a.Choices, a.Answer) {
				t.Errorf("%s, step %d: %q is no choice", l.ID, i+1, a.Answer)
			}
		}
	}
}

// pairs are the parts of an address without their escapes, sorted.
func pairs(t *testing.T, fragment string) []string {
	t.Helper()
	var out []string
	for _, p := range strings.Split(fragment, "&") {
		u, err := url.PathUnescape(p)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, u)
	}
	slices.Sort(out)
	return out
}

func TestSame(t *testing.T) {
	for _, c := range []struct {
		typed, answer string
		want          bool
	}{
		{"26", "26", true}, {" 26 ", "26", true}, {"２６", "26", true}, {"26.0", "26", true}, {"1000.50", "1000.5", true}, {"1,000.5", "1000.5", true},
		{"27", "26", false}, {"", "26", false}, {" ", "26", false}, {"requested", "REQUESTED", true}, {"\"REQUESTED\"", "REQUESTED", true},
		{"inflight", "REQUESTED", false}, {"1e1000000000", "26", false}, {"52/2", "26", false}, {"2 6", "26", false},
		{"20261129235608881", "20261129235608881", true}, {"20261129235608882", "20261129235608881", false},
		{"…608881", "20261129235608881", true}, {"...608881", "20261129235608881", true}, {"608881", "20261129235608881", true}, {"…608882", "20261129235608881", false},
		{"8881", "20261129235608881", false}, {"608881", "1608881", false},
	} {
		if got := lesson.Same(c.typed, c.answer); got != c.want {
			t.Errorf("%q for %q: %v", c.typed, c.answer, got)
		}
	}
}

func both(t *testing.T, id string, texts ...lesson.Text) {
	t.Helper()
	for _, x := range texts {
		if x["en"] == "" || x["zh"] == "" || len(x) != 2 {
			t.Errorf("%s: %v lacks a language", id, x)
		}
	}
}

func TestPick(t *testing.T) {
	const doc = `{"a":[{"k":"x","n":1},{"k":"y","n":2.5},{"k":"x","n":null}],"rows":[[1,"t"],[2,"u"]],"s":"q\"r"}`
	for _, c := range []struct{ path, want string }{
		{"/a/*/#", "3"}, {"/a/k=x/#", "2"}, {"/a/k=y/n", "2.5"}, {"/rows/1=u/0", "2"}, {"/rows/0/1", "t"},
		{"/s", `q"r`}, {"/rows/*/0/+", "3"}, {"/nothing/*/#", "0"},
	} {
		if got, err := lesson.Pick([]byte(doc), c.path); err != nil || got != c.want {
			t.Errorf("%s: %q, %v, want %q", c.path, got, err, c.want)
		}
	}
	for _, path := range []string{"/a/*/k", "/a/*/k/+", "/nothing", "/rows/7"} {
		if got, err := lesson.Pick([]byte(doc), path); err == nil {
			t.Errorf("%s: %q", path, got)
		}
	}
}
