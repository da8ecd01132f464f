package groupreader_test

import (
	"bytes"
	"fmt"
	"math"
	"testing"

	"github.com/parquet-go/parquet-go"

	"hudiscope/core/groupreader"
	"hudiscope/core/logfile/logfiletest"
	"hudiscope/core/predicate"
)

// grouped is a slice of a base file of n rows in row groups of size rows: ts ascends, names follow it, and a
// price now and then is NaN or null.
func grouped(t testing.TB, n, size int) *slice {
	t.Helper()
	s := newSlice(t)
	var b bytes.Buffer
	w := parquet.NewGenericWriter[baseRow](&b, parquet.MaxRowsPerRowGroup(int64(size)))
	for i := range n {
		r := base(fmt.Sprintf("k%05d", i), int64(i), fmt.Sprintf("n%05d", i), float64(i)/2)
		switch i % 7 {
		case 3:
			*r.Price = math.NaN()
		case 5:
			r.Price = nil
		}
		if i/size == 1 {
			r.Name = nil
		}
		if _, err := w.Write([]baseRow{r}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	s.files.Put(baseFile, b.Bytes())
	s.s.Base = baseFile
	return s
}

// passing counts the rows of a slice that meet a condition, and their sum of row numbers.
func passing(t testing.TB, s *slice, where *predicate.Bound) (count, sum int64, st groupreader.Stats) {
	t.Helper()
	eval := where.Evaluator()
	for row, err := range groupreader.Rows(t.Context(), s.s, &s.o, &st) {
		if err != nil {
			t.Fatal(err)
		}
		if eval.Eval(row.Batch, row.Index, row.Index+1)[0] == predicate.True {
			count++
			sum += int64(row.Record)
		}
	}
	return count, sum, st
}

// TestRowGroups: row groups are passed over only where none of their rows can meet the condition, and never
// where logs are merged.
func TestRowGroups(t *testing.T) {
	for _, c := range []struct {
		where string
		skips int // of 5 row groups
	}{
		{"ts = 250", 4}, {"ts < 100", 4}, {"ts >= 400", 4}, {"ts > 499", 5}, {"ts BETWEEN 150 AND 250", 3}, {"ts IN (0, 499)", 3}, {"ts <> 3", 0}, {"ts = '250'", 4},
		{"ts > 249.5D", 2}, {"NOT ts < 400", 4}, {"ts = 1 OR name = 'n00450'", 3}, {"ts = 1 AND name = 'n00450'", 5}, {"name LIKE 'n002%'", 4}, {"name = 'n00150'", 5}, {"name IS NULL", 0},
		{"name IS NOT NULL", 1}, {"price < 10", 4}, {"price > 1000", 0}, {"price = 10", 4}, {"price = CAST('NaN' AS double)", 0}, {"price >= 0", 0}, {"lower(name) = 'n00001'", 0},
		{"CAST(ts AS string) = '7'", 0}, {"ts = NULL", 5}, {"_hoodie_record_key < 'k00100'", 4}, {"_hoodie_record_key > 'k00399'", 4}, {"ts + 1 = 8", 0}, {"price IS NULL OR ts = 3", 0},
	} {
		s := grouped(t, 500, 100)
		where, err := predicate.New(c.where, s.o.Reader)
		if err != nil {
			t.Fatal(err)
		}
		count, sum, st := passing(t, s, where)
		if st.RowGroups != 0 || st.RowGroupsSkipped != 0 {
			t.Errorf("%s: row groups were decided without being asked for: %+v", c.where, st)
		}
		s.o.Where = where
		less, lessSum, st := passing(t, s, where)
		if less != count || lessSum != sum {
			t.Errorf("%s: %d rows (numbers %d) of the chosen row groups, want %d (%d)", c.where, less, lessSum, count, sum)
		}
		if st.RowGroups != 5 || st.RowGroupsSkipped != c.skips || st.BaseRows != int64(100*(5-c.skips)) {
			t.Errorf("%s: %d of %d row groups passed over, want %d; %d rows read", c.where, st.RowGroupsSkipped, st.RowGroups, c.skips, st.BaseRows)
		}
	}
	// A log record moves a row of a row group without matches into the result.
	s := grouped(t, 500, 100)
	s.log(1, data(file(), "002", logfiletest.Record(nil, "002", "k00450", int64(1000), "n00001", 3.0, nil)))
	where, err := predicate.New("name = 'n00001'", s.o.Reader)
	if err != nil {
		t.Fatal(err)
	}
	s.o.Where = where
	if count, _, st := passing(t, s, where); count != 2 || st.RowGroups != 0 {
		t.Errorf("with logs %d rows pass, %+v", count, st)
	}
}
