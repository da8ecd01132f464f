package lesson_test

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"hudiscope/core/explorer"
	"hudiscope/core/storage"
	"hudiscope/fsadapter/zipfs"
	"hudiscope/web/lesson"
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
	var samples []struct{ Name string }
	if err := json.Unmarshal(doc, &samples); err != nil {
		t.Fatal(err)
	}
	embedded := map[string]bool{}
	for _, s := range samples {
		embedded[s.Name] = true
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
