package groupreader_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"hudiscope/core/groupreader"
	"hudiscope/core/logfile/logfiletest"
	"hudiscope/core/schema"
)

// TestFits reads files whose columns are not those that their writer says they have, and files that have other columns for
// good reasons.
func TestFits(t *testing.T) {
	written := func(text string) func(context.Context, string) (*schema.Type, error) {
		return func(context.Context, string) (*schema.Type, error) { return schema.Parse([]byte(text)) }
	}
	renamed := strings.Replace(fullSchema, `"price"`, `"pricf"`, 1)
	older := strings.Replace(fullSchema, `"price"`, `"cost"`, 1) // a column that was dropped before price came
	footer := func(text string) []byte {
		type row struct {
			Key   string  `parquet:"_hoodie_record_key"`
			Pricf float64 `parquet:"pricf"`
		}
		var b bytes.Buffer
		w := parquet.NewGenericWriter[row](&b)
		w.SetKeyValueMetadata("parquet.avro.schema", text)
		if _, err := w.Write([]row{{"a", 1}}); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	block := func(text string) *logfiletest.File {
		return file().Data("002", text, [][]byte{full("002", "a", int64(1), "n", 2.0)})
	}
	for name, c := range map[string]struct {
		base []byte
		log  *logfiletest.File
		set  func(o *groupreader.Options)
		want string
	}{
		"block":          {log: block(renamed), set: func(o *groupreader.Options) { o.Written = written(fullSchema) }, want: `the block at byte 0 of .f_001.log.1_0-0-0 has a column "pricf", which the table does not know, and no column "price", though the commit metadata of 002 says so: a name in its schema is damaged, and its rows are shown without the values.`},
		"older block":    {log: block(older), set: func(o *groupreader.Options) { o.Written = written(older) }},
		"unknown commit": {log: block(renamed)},
		"meta column":    {log: block(fullSchema), set: func(o *groupreader.Options) { o.MetaFields = true }, want: "the block at byte 0 of .f_001.log.1_0-0-0 has no column _hoodie_commit_seqno, which every row of this table has (hoodie.populate.meta.fields is not false): it is another table's, or a name in its schema is damaged."},
		"key":            {log: block(fullSchema), set: func(o *groupreader.Options) { o.KeyField = "name" }, want: `the first row of the block at byte 0 of .f_001.log.1_0-0-0 has the record key "a", and "n" in the field name, which the key is made of: the content is damaged, or a name in its schema.`},
		"key with name":  {log: file().Data("002", fullSchema, [][]byte{full("002", "name:n", int64(1), "n", 2.0)}), set: func(o *groupreader.Options) { o.KeyField = "name" }},
		"footer":         {base: footer(fullSchema), want: baseFile + ` has a column "pricf", which the table does not know, and no column "ts", though the schema in its footer says so: a name in its schema is damaged, and its rows are shown without the values.`},
		"older footer":   {base: footer(`{"type":"record","name":"r","fields":[{"name":"_hoodie_record_key","type":"string"},{"name":"pricf","type":"double"}]}`)},
	} {
		s := newSlice(t)
		if c.base != nil {
			s.files.Put(baseFile, c.base)
			s.s.Base = baseFile
		}
		if c.log != nil {
			s.log(1, c.log)
		}
		s.o.Scan.CheckCommitted = true // the log has blocks of another instant than its name's
		if c.set != nil {
			c.set(&s.o)
		}
		var stats groupreader.Stats
		n := 0
		for _, err := range groupreader.Rows(t.Context(), s.s, &s.o, &stats) {
			if err != nil {
				t.Fatal(name, err)
			}
			n++
		}
		if got := strings.Join(stats.Notes, "\n"); n != 1 || got != c.want {
			t.Errorf("%s: %d rows, %s", name, n, got)
		}
	}
}

// TestManyNotes: a log of many small blocks, each with something to say of, is told of in a bounded number of remarks.
func TestManyNotes(t *testing.T) {
	f := file()
	for i := range 500 {
		f = data(f, fmt.Sprintf("1%05d", i), full("002", "a", int64(1), "n", 2.0))
	}
	s := newSlice(t).log(1, f)
	var stats groupreader.Stats
	for _, err := range groupreader.Rows(t.Context(), s.s, &s.o, &stats) {
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(stats.Notes) != 101 || stats.Notes[100] != "There is more to say of this file slice than these 100 remarks." {
		t.Errorf("%d notes, the last: %s", len(stats.Notes), stats.Notes[len(stats.Notes)-1])
	}
}
