package explorer

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"
	"testing"

	"hudiscope/core/api"
	"hudiscope/core/filegroup"
	"hudiscope/core/logfile"
	"hudiscope/core/storage"
	"hudiscope/core/tabletest"
)

// covers checks that parts follow each other without a hole from start to end, and those within each.
func covers(parts []api.AnatomyPart, start, end int64, where string) error {
	at := start
	for i := range parts {
		p := &parts[i]
		if p.Start != at || p.End <= p.Start || p.Kind == "" || p.Name == "" {
			return fmt.Errorf("%s: %s %q is at %d to %d, want it to begin at %d", where, p.Kind, p.Name, p.Start, p.End, at)
		}
		at = p.End
		if len(p.Parts) > 0 && !p.Unread {
			if err := covers(p.Parts, p.Start, p.End, where+" / "+p.Name); err != nil {
				return err
			}
		}
	}
	if at != end {
		return fmt.Errorf("%s: the parts end at %d, not at %d", where, at, end)
	}
	return nil
}

func factOf(facts []api.Fact, name string) int64 {
	for _, f := range facts {
		if f.Name == name {
			n, err := strconv.ParseInt(f.Value, 10, 64)
			if err != nil {
				return -1
			}
			return n
		}
	}
	return -1
}

// anatomyFiles are the base files of a table and of its metadata table.
func anatomyFiles(t *testing.T, name string) []string {
	var out []string
	for _, p := range tabletest.Open(t, name).Paths() {
		if _, ok := filegroup.ParseBaseName(path.Base(p)); ok || strings.HasSuffix(p, ".hfile") {
			out = append(out, p)
		}
	}
	return out
}

// TestAnatomyOfAllTables: of every whole base file all bytes are accounted for, and what its parts count adds up.
func TestAnatomyOfAllTables(t *testing.T) {
	s := testService(t)
	count := map[string]int{}
	for _, name := range tabletest.Some(tabletest.Names(t, "about.json")) {
		for _, file := range anatomyFiles(t, name) {
			a, err := s.Anatomy(context.Background(), api.AnatomyRequest{Table: api.Table{Location: name}, File: file})
			if err != nil {
				t.Fatalf("%s: %s: %v", name, file, err)
			}
			damaged := false
			for _, f := range a.Findings {
				damaged = damaged || f.Level != "note"
			}
			if damaged {
				// Some tables have cut files on purpose: those no reader can open either.
				if a.Size > 0 && !strings.Contains(name, "corrupt") && !strings.Contains(name, "crash") {
					t.Errorf("%s: %s: %+v", name, file, a.Findings)
				}
				continue
			}
			if err := covers(a.Parts, 0, a.Size, name+": "+file); err != nil {
				t.Error(err)
			}
			count[a.Format]++
			if a.Format == "parquet" {
				checkParquet(t, name, file, a)
			}
		}
	}
	t.Log(count)
	if count["parquet"] < 100/tabletest.Every || count["hfile"] < 9/tabletest.Every || count["orc"] < 4/tabletest.Every-1 {
		t.Errorf("only %v files", count)
	}
}

func checkParquet(t *testing.T, name, file string, a *api.Anatomy) {
	t.Helper()
	rows := int64(0)
	keys := map[string]string{}
	for _, e := range a.Entries {
		keys[e.Key] = e.Value
		if e.Start >= 0 && e.Size > 0 {
			b := tabletest.Open(t, name).Bytes(file)
			if got := string(b[e.Start : e.Start+int64(len(e.Value))]); got != e.Value {
				t.Errorf("%s: %s: at %d stands %.40q, and not the value of %s", name, file, e.Start, got, e.Key)
			}
		} else if e.Size > 0 {
			t.Errorf("%s: %s: the place of %s is not known", name, file, e.Key)
		}
	}
	for _, g := range a.Parts {
		if g.Kind == "gap" {
			t.Errorf("%s: %s: nothing accounts for %d to %d", name, file, g.Start, g.End)
		}
		if g.Kind != "row group" {
			continue
		}
		rows += factOf(g.Facts, "rows")
		for _, c := range g.Parts {
			values := int64(0)
			for _, p := range c.Parts {
				if p.Kind == "data page" {
					values += factOf(p.Facts, "values")
				}
			}
			if values != factOf(c.Facts, "values") {
				t.Errorf("%s: %s: column %s has %d values, its pages %d", name, file, c.Name, factOf(c.Facts, "values"), values)
			}
			// Two writers of one fact: the bounds of the footer and those that Hudi keeps beside them.
			if c.Name == "_hoodie_record_key" && keys["hoodie_min_record_key"] != "" {
				for _, f := range c.Facts {
					if f.Name == "smallest" && !strings.HasSuffix(f.Value, "…") && f.Value > keys["hoodie_min_record_key"] {
						t.Errorf("%s: %s: smallest key %s in the statistics, %s in the entries", name, file, f.Value, keys["hoodie_min_record_key"])
					}
				}
			}
		}
	}
	if rows != factOf(a.Facts, "rows") {
		t.Errorf("%s: %s: %d rows, %d in its groups", name, file, factOf(a.Facts, "rows"), rows)
	}
}

// TestAnatomyOfDamage: whatever is cut off or turned over, the answer comes, covers the file, and tells of what can't
// be read with an offset within it.
func TestAnatomyOfDamage(t *testing.T) {
	for _, c := range []struct{ name, suffix string }{{"mor_trips_h120", ".parquet"}, {"mdt_full_h120", ".hfile"}, {"orc_base_h120", ".orc"}} {
		src := tabletest.Open(t, c.name)
		file := ""
		for _, p := range anatomyFiles(t, c.name) {
			if strings.HasSuffix(p, c.suffix) {
				file = p
			}
		}
		whole := src.Bytes(file)
		if len(whole) == 0 {
			t.Fatalf("%s has no %s file", c.name, c.suffix)
		}
		found := 0
		look := func(what string, b []byte) {
			f := src.Clone()
			f.Put(file, b)
			s := testService(t)
			s.resolve = func(context.Context, string) (storage.Source, error) { return f, nil }
			a, err := s.Anatomy(context.Background(), api.AnatomyRequest{Table: api.Table{Location: "x"}, File: file})
			if err != nil {
				t.Fatalf("%s, %s: %v", c.suffix, what, err)
			}
			if len(a.Findings) > 0 {
				found++
			}
			for _, x := range a.Findings {
				if x.Offset < 0 || x.Offset > int64(len(b)) || x.File != file {
					t.Errorf("%s, %s: a finding of %s at %d of %d", c.suffix, what, x.File, x.Offset, len(b))
				}
			}
			if len(a.Findings) == 0 {
				if err := covers(a.Parts, 0, int64(len(b)), what); err != nil {
					t.Errorf("%s, %s: no finding, but %v", c.suffix, what, err)
				}
			}
		}
		cuts := 0
		for n := 0; n < len(whole); n += max(1, len(whole)/150) {
			cuts++
			look(fmt.Sprintf("cut to %d", n), whole[:n])
		}
		if found != cuts {
			t.Errorf("%s: %d of %d cut files have a finding", c.suffix, found, cuts)
		}
		for at := 0; at < len(whole); at += max(1, len(whole)/400) {
			b := append([]byte(nil), whole...)
			b[at] ^= 0xff
			look(fmt.Sprintf("byte %d turned over", at), b)
		}
	}
}

// TestAnatomyRequests: one chunk's pages, a log block's content, and requests that can't be met.
func TestAnatomyRequests(t *testing.T) {
	s := testService(t)
	ctx := context.Background()
	tab := api.Table{Location: "mor_trips_h120"}
	file := anatomyFiles(t, tab.Location)[0]
	a, err := s.Anatomy(ctx, api.AnatomyRequest{Table: tab, File: file, Chunk: 3})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range a.Parts {
		for _, c := range p.Parts {
			if (c.Chunk == 3) == c.Unread || (c.Chunk == 3) != (len(c.Parts) > 0) {
				t.Errorf("chunk %d: unread %v, %d pages", c.Chunk, c.Unread, len(c.Parts))
			}
		}
	}
	logs := 0
	for _, name := range []string{"log_block_hfile_h0150", "mor_trips_h120"} {
		b, err := s.Blocks(ctx, api.BlocksRequest{Table: api.Table{Location: name}, All: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range b.Files {
			for _, x := range f.Blocks {
				if x.Type != logfile.HFileDataBlock.String() && x.Type != logfile.ParquetDataBlock.String() {
					continue
				}
				logs++
				a, err := s.Anatomy(ctx, api.AnatomyRequest{Table: api.Table{Location: name}, File: f.File.Path, Offset: x.ContentOffset, Length: x.ContentSize})
				if err != nil {
					t.Fatal(err)
				}
				if err := covers(a.Parts, x.ContentOffset, x.ContentOffset+x.ContentSize, f.File.Path); err != nil || a.Format == "" || len(a.Findings) > 0 {
					t.Errorf("%v, %q, %+v", err, a.Format, a.Findings)
				}
			}
		}
	}
	if logs == 0 {
		t.Error("no log block with a file in it")
	}
	for _, req := range []api.AnatomyRequest{{File: "../x"}, {File: file, Chunk: -1}, {File: file, Offset: -1}, {File: file, Offset: 1 << 40}, {File: file, Length: 1 << 40}, {File: "no such file"}} {
		req.Table = tab
		var f *api.Fault
		if _, err := s.Anatomy(ctx, req); err == nil || errors.As(err, &f) && f.Kind != "invalid request" {
			t.Errorf("%+v: %v", req, err)
		}
	}
	a, err = s.Anatomy(ctx, api.AnatomyRequest{Table: tab, File: ".hoodie/hoodie.properties"})
	if err != nil || a.Format != "" || len(a.Findings) != 1 {
		t.Errorf("a file that is none: %+v, %v", a, err)
	}
}
