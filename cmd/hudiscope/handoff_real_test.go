package main

import (
	"archive/zip"
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"

	"hudiscope/core/api"
)

// realCase is code to run and what hudiscope gives for the same query.
type realCase struct {
	Name   string `json:"name"`
	Engine string `json:"engine"`
	Code   string `json:"code"`
	want   []string
}

// differs are the queries whose rows an engine is known to get wrong or to refuse, by engine and table,
// with the reason.
var differs = map[string]map[string]string{
	// The tables of older releases are read by 1.2.0, as the code asks.
	"Spark SQL": {
		"empty_created_h120":               "the timeline's folder is empty, and a zip does not keep it",
		"bootstrap_metadata_only_mor_h120": "the source lies at the address where the table was made",
		"log_block_hfile_h0150":            "1.2.0 can't read HFile blocks in a data table",
		"orc_base_mor_h120":                "1.2.0 fails at the ORC base files of a merge-on-read table, read-optimized",
		"part_url_encoded_h120":            "1.2.0 shows partition values of log rows as they stand in the path",
		"cdc_data_before_cow_h0150":        "1.2.0 shows images of changes in another form than 0.15.0",
	},
	"hudi-rs": {
		"mor_corrupt_tail_h120": "hudi-rs fails at a log file that was cut",
	},
}

// TestHandoffReal runs the code of hand-offs with PySpark and hudi-rs over the test tables and compares
// the rows with ours. HANDOFF_PYTHON names the Python that has the packages, HANDOFF_SPARK_JAR Hudi's
// bundle for Spark; "make handoff-real" installs both. HANDOFF_SECONDS bounds the time, HANDOFF_ENGINE and
// HANDOFF_TABLE (a part of the name) choose some.
func TestHandoffReal(t *testing.T) {
	python := os.Getenv("HANDOFF_PYTHON")
	if python == "" {
		t.Skip("HANDOFF_PYTHON is not set: make handoff-real sets it")
	}
	engines := map[string]bool{"hudi-rs": true}
	if os.Getenv("HANDOFF_SPARK_JAR") != "" {
		engines["PySpark"], engines["Spark SQL"] = true, true
	}
	if only := os.Getenv("HANDOFF_ENGINE"); only != "" {
		engines = map[string]bool{only: true}
	}
	dir := t.TempDir()
	zips, err := filepath.Glob(tables + "*.zip")
	if err != nil || len(zips) < 20 {
		t.Fatal(len(zips), err)
	}
	var cases []realCase
	refused := map[string]int{}
	sparkSQL := 0
	for _, z := range zips {
		name := strings.TrimSuffix(filepath.Base(z), ".zip")
		if only := os.Getenv("HANDOFF_TABLE"); only != "" && !strings.Contains(name, only) {
			continue
		}
		table := unzip(t, z, dir)
		for _, options := range realQueries(t, name) {
			var args []string
			for _, k := range sortedKeys(options) {
				args = append(args, "-o", k+"="+options[k])
			}
			status, out, _ := runCommand(append([]string{"handoff", table, "--json"}, args...)...)
			if status != exitOK {
				continue // refused here too
			}
			var a api.Handoff
			if err := json.Unmarshal([]byte(out), &a); err != nil {
				t.Fatal(err)
			}
			var want []string
			for _, s := range a.Snippets {
				if !engines[s.Engine] {
					continue
				}
				if s.Refused != "" {
					refused[s.Engine]++
					continue
				}
				if want == nil {
					status, out, msg := runCommand(append([]string{"rows", table, "--format", "jsonl"}, args...)...)
					if status != exitOK {
						t.Logf("%s %v: %s", name, options, msg)
						break
					}
					want = canonical(t, strings.Split(strings.TrimSpace(out), "\n"))
				}
				// The two take the same options: Spark SQL, which is slower, shows by some that its code runs.
				if s.Engine == "Spark SQL" {
					if sparkSQL++; sparkSQL%8 != 1 {
						continue
					}
				}
				cases = append(cases, realCase{fmt.Sprintf("%s %s %v", s.Engine, name, options), s.Engine, s.Code, want})
			}
		}
	}
	// In an order that mixes the tables, so that a bounded time covers many.
	sort.SliceStable(cases, func(i, j int) bool { return mixed(cases[i].Name) < mixed(cases[j].Name) })
	in, out := filepath.Join(dir, "in.jsonl"), filepath.Join(dir, "out.jsonl")
	var b bytes.Buffer
	for _, c := range cases {
		line, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(line, '\n'))
	}
	if err := os.WriteFile(in, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, "testdata/handoff.py", in, out)
	cmd.Env = append(os.Environ(), "TZ=UTC")
	t.Logf("%d cases", len(cases))
	if msg, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, msg[max(0, len(msg)-4000):])
	}
	f, err := os.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	answers := bufio.NewScanner(f)
	answers.Buffer(nil, 64<<20)
	same, known, left := map[string]int{}, map[string]int{}, map[string]int{}
	for _, c := range cases {
		if !answers.Scan() {
			if answers.Err() != nil || os.Getenv("HANDOFF_SECONDS") == "" {
				t.Fatal("answers are missing", answers.Err())
			}
			left[c.Engine]++
			continue
		}
		var a struct {
			Name, Error string
			Rows        []json.RawMessage
		}
		if err := json.Unmarshal(answers.Bytes(), &a); err != nil || a.Name != c.Name {
			t.Fatal(a.Name, c.Name, err)
		}
		var lines []string
		for _, r := range a.Rows {
			lines = append(lines, string(r))
		}
		got := canonical(t, lines)
		table := strings.Fields(strings.TrimPrefix(c.Name, c.Engine+" "))[0]
		reason := differs[strings.Replace(c.Engine, "PySpark", "Spark SQL", 1)][table]
		switch equal := a.Error == "" && slices.Equal(got, c.want); {
		case equal:
			same[c.Engine]++
		case reason != "":
			known[c.Engine]++
			t.Logf("%s: %s", c.Name, reason)
		case a.Error != "":
			t.Errorf("%s: %s", c.Name, a.Error)
		default:
			t.Errorf("%s: %d rows, want %d%s", c.Name, len(got), len(c.want), firstDifference(got, c.want))
		}
	}
	t.Logf("the same rows: %v; known to differ: %v; refused by the hand-off: %v; not run for lack of time: %v", same, known, refused, left)
}

// realQueries are the snapshot and the queries that Hudi's own answers were made by.
func realQueries(t *testing.T, name string) []map[string]string {
	out := []map[string]string{{}}
	b, err := os.ReadFile(filepath.Join("../../testdata/gold", name, "about.json"))
	if err != nil {
		return out
	}
	var about struct {
		Queries json.RawMessage `json:"queries"`
	}
	if err := json.Unmarshal(b, &about); err != nil {
		t.Fatal(name, err)
	}
	var list []struct {
		File    string            `json:"file"`
		Options map[string]string `json:"options"`
	}
	if json.Unmarshal(about.Queries, &list) != nil {
		return out // of Flink
	}
	for _, q := range list {
		if len(q.Options) > 0 {
			out = append(out, q.Options)
		}
	}
	return out
}

func mixed(name string) uint32 { return crc32.ChecksumIEEE([]byte(name)) }

func firstDifference(got, want []string) string {
	for i := range want {
		if i >= len(got) || got[i] != want[i] {
			g := "nothing"
			if i < len(got) {
				g = got[i]
			}
			return "\n got " + g + "\nwant " + want[i]
		}
	}
	return ""
}

// canonical sorts rows, with their numbers and keys in one form.
func canonical(t *testing.T, lines []string) []string {
	var out []string
	for _, l := range lines {
		if l == "" {
			continue
		}
		d := json.NewDecoder(strings.NewReader(l))
		d.UseNumber()
		var v any
		if err := d.Decode(&v); err != nil {
			t.Fatal(l, err)
		}
		b, err := json.Marshal(plain(v))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, string(b))
	}
	sort.Strings(out)
	return out
}

func plain(v any) any {
	switch x := v.(type) {
	case json.Number:
		if !strings.ContainsAny(string(x), ".eE") {
			return x
		}
		f, _ := x.Float64()
		return "float " + strconv.FormatFloat(f, 'g', -1, 64)
	case []any:
		for i := range x {
			x[i] = plain(x[i])
		}
	case map[string]any:
		for k := range x {
			x[k] = plain(x[k])
		}
	}
	return v
}

func unzip(t *testing.T, name, dir string) string {
	z, err := zip.OpenReader(name)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	for _, f := range z.File {
		p := filepath.Join(dir, filepath.FromSlash(f.Name))
		if !strings.HasPrefix(p, dir) {
			t.Fatal(f.Name)
		}
		if f.FileInfo().IsDir() {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(r)
		r.Close()
		if err == nil {
			err = os.WriteFile(p, b, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
		// Hudi up to 0.15 compares modification times.
		if err := os.Chtimes(p, f.Modified, f.Modified); err != nil {
			t.Fatal(err)
		}
	}
	// The table is the folder named as the zip; sources of bootstraps lie beside it.
	return filepath.Join(dir, strings.TrimSuffix(filepath.Base(name), ".zip"))
}
