package explorer

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"hudiscope/core/api"
	"hudiscope/core/tabletest"
)

// flinkCase is one of Flink's own reads.
type flinkCase struct {
	Options map[string]string `json:"options"`
	Error   string            `json:"error"`
}

// TestGoldFlink holds the rows and splits of Flink's reads against those of Flink itself, read by the
// rules of the release that made them; the fixed cases by those of no release.
func TestGoldFlink(t *testing.T) {
	s := testService(t)
	rows, splits := 0, 0
	for _, name := range tabletest.Names(t, "about.json") {
		if !strings.HasPrefix(name, "flink_") {
			continue
		}
		dir := filepath.Join(tabletest.Dir(), "gold", name)
		var about struct {
			Hudi    string               `json:"hudi_version"`
			Table   map[string]string    `json:"table_options"`
			Queries map[string]flinkCase `json:"queries"`
		}
		tabletest.Gold(t, name, "about.json", &about)
		type run struct {
			file, hudi string
			c          flinkCase
		}
		var runs []run
		for k, c := range about.Queries {
			runs = append(runs, run{k, about.Hudi, c})
		}
		if b, err := os.ReadFile(filepath.Join(dir, "about_fixed18848.json")); err == nil {
			var fixed map[string]json.RawMessage
			if err := json.Unmarshal(b, &fixed); err != nil {
				t.Fatal(err)
			}
			if q, ok := fixed["queries"]; ok {
				fixed = nil
				if err := json.Unmarshal(q, &fixed); err != nil {
					t.Fatal(err)
				}
			}
			for k, text := range fixed {
				var c flinkCase
				if json.Unmarshal(text, &c) == nil {
					runs = append(runs, run{strings.TrimSuffix(k, ".fixed18848") + ".fixed18848", "fixed", c})
				}
			}
		}
		sort.Slice(runs, func(i, j int) bool { return runs[i].file < runs[j].file })
		for _, r := range runs {
			if strings.HasPrefix(r.file, "sqlstream_") || r.c.Error != "" {
				continue
			}
			options := map[string]string{}
			for _, m := range []map[string]string{about.Table, r.c.Options} {
				for k, v := range m {
					options[k] = v
				}
			}
			table := api.Table{Location: name, Hudi: r.hudi}
			batch := !strings.HasPrefix(r.file, "stream_")
			if want, err := os.ReadFile(filepath.Join(dir, r.file+".jsonl")); err == nil {
				rows++
				t.Run(name+"/"+r.file, func(t *testing.T) {
					got, err := pages(func(offset int64, limit int) (*api.Rows, error) {
						return s.Stream(t.Context(), api.StreamRequest{Table: table, Options: options, Batch: batch, Offset: offset, Limit: limit})
					})
					if err != nil {
						t.Fatal(err)
					}
					compareRows(t, plainTimes(want), textLines(plainTimes([]byte(strings.Join(got, "\n")))))
				})
			}
			want, err := os.ReadFile(filepath.Join(dir, "splits_"+r.file+".json"))
			if errors.Is(err, os.ErrNotExist) {
				want, err = os.ReadFile(filepath.Join(dir, "splits_"+strings.TrimPrefix(r.file, "stream_")+".json"))
			}
			if err != nil {
				continue
			}
			splits++
			t.Run(name+"/splits_"+r.file, func(t *testing.T) {
				got, err := s.Splits(t.Context(), api.SplitsRequest{Table: table, Options: options, Batch: batch})
				if err != nil {
					t.Fatal(err)
				}
				compareSplits(t, want, got)
			})
		}
	}
	if rows < 25 || splits < 25 {
		t.Errorf("only %d answers and %d plans compared", rows, splits)
	}
}

func textLines(b []byte) []string {
	if len(b) == 0 {
		return nil
	}
	return strings.Split(string(b), "\n")
}

// plainTimes takes the trailing zeros and zone mark off timestamps, which Flink's gold does not have.
func plainTimes(b []byte) []byte {
	var out []string
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		var m map[string]any
		d := json.NewDecoder(strings.NewReader(line))
		d.UseNumber()
		if d.Decode(&m) == nil {
			for k, v := range m {
				if s, ok := v.(string); ok && len(s) > 19 && s[4] == '-' && s[10] == 'T' {
					s = strings.TrimSuffix(s, "Z")
					m[k] = strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
				}
			}
		}
		out = append(out, canonical(m))
	}
	return []byte(strings.Join(out, "\n"))
}

// compareSplits compares what Flink's own splits say. The order within a round, and the offsets of
// releases that take them from file times, are left out.
func compareSplits(t *testing.T, gold []byte, got *api.Splits) {
	t.Helper()
	type goldSplit struct {
		FileID, PartitionPath, BasePath, LatestCommit, MergeType, Path string
		LogPaths                                                       []string
		InstantRange                                                   *struct {
			Class                          string
			Instants                       []string
			StartInstant, EndInstant       string
			StartInstantOpt, EndInstantOpt string
		}
	}
	var want struct {
		Rounds []struct {
			EndInstant, Offset, IssuedOffset string
			Splits                           []goldSplit
		}
	}
	if err := json.Unmarshal(gold, &want); err != nil {
		t.Fatal(err)
	}
	line := func(v ...any) string { b, _ := json.Marshal(v); return string(b) }
	if len(want.Rounds) != len(got.Rounds) {
		t.Fatalf("want %d rounds, got %d", len(want.Rounds), len(got.Rounds))
	}
	for n := range want.Rounds {
		w, g := &want.Rounds[n], &got.Rounds[n]
		if w.EndInstant != g.EndInstant || !got.ByRequestedTime && (w.Offset != g.Offset || w.IssuedOffset != g.IssuedOffset) {
			t.Errorf("round %d: want end %s, offset %s after %s, got %s, %s, %s", n, w.EndInstant, w.Offset, w.IssuedOffset, g.EndInstant, g.Offset, g.IssuedOffset)
		}
		var a, b []string
		for _, x := range w.Splits {
			in := ""
			if r := x.InstantRange; r != nil {
				in = line(r.Class, r.Instants, r.StartInstant+r.StartInstantOpt, r.EndInstant+r.EndInstantOpt)
			}
			a = append(a, line(x.FileID, x.BasePath+x.Path, append([]string{}, x.LogPaths...), x.LatestCommit, x.MergeType, in))
		}
		for _, x := range g.Splits {
			in := ""
			if r := x.Range; r != nil {
				in = line(r.Class, r.Instants, r.Start, r.End)
			}
			id := x.FileID
			if x.Class == "FileInputSplit" {
				id = "" // Flink's split of a file does not say
			}
			if x.Iterator == "" || x.Why == "" {
				t.Errorf("round %d: split %d does not say how it is read", n, x.Num)
			}
			b = append(b, line(id, x.Base, append([]string{}, x.Logs...), x.LatestCommit, x.MergeType, in))
		}
		sort.Strings(a)
		sort.Strings(b)
		if strings.Join(a, "\n") != strings.Join(b, "\n") {
			t.Errorf("round %d: want\n%s\ngot\n%s", n, strings.Join(a, "\n"), strings.Join(b, "\n"))
		}
	}
}

// TestPoll steps a stream commit by commit, through a saved state, and gets the splits of one go.
func TestPoll(t *testing.T) {
	s := testService(t)
	table := api.Table{Location: "flink_mor_changelog_1.2.0", Hudi: "1.2.0"}
	options := map[string]string{"read.start-commit": "20000101000000000", "read.commits.limit": "1", "read.splits.limit": "1", "changelog.enabled": "true"}
	all, err := s.Splits(t.Context(), api.SplitsRequest{Table: table, Options: map[string]string{"read.start-commit": "20000101000000000", "read.commits.limit": "1", "changelog.enabled": "true"}})
	if err != nil {
		t.Fatal(err)
	}
	var want, got []string
	for _, r := range all.Rounds {
		for _, x := range r.Splits {
			want = append(want, x.FileID+" "+x.LatestCommit)
		}
	}
	tl, err := s.Timeline(t.Context(), api.TimelineRequest{Table: table})
	if err != nil {
		t.Fatal(err)
	}
	var state *api.StreamState
	for _, i := range tl.Active {
		for empty := false; !empty; {
			a, err := s.Splits(t.Context(), api.SplitsRequest{Table: table, Options: options, Seen: i.Completed, Poll: true, State: state})
			if err != nil {
				t.Fatal(err)
			}
			// A checkpoint is JSON.
			b, err := json.Marshal(a.State)
			if err != nil {
				t.Fatal(err)
			}
			state = new(api.StreamState)
			if err := json.Unmarshal(b, state); err != nil {
				t.Fatal(err)
			}
			if len(a.Rounds) != 1 || len(a.Rounds[0].Splits) > 1 {
				t.Fatalf("one poll gave %d rounds", len(a.Rounds))
			}
			empty = len(a.Rounds[0].Splits) == 0
			for _, x := range a.Rounds[0].Splits {
				got = append(got, x.FileID+" "+x.LatestCommit)
			}
		}
	}
	if len(want) < 5 || strings.Join(want, "\n") != strings.Join(got, "\n") {
		t.Errorf("want\n%s\ngot\n%s", strings.Join(want, "\n"), strings.Join(got, "\n"))
	}
}
