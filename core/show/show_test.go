package show

import (
	"strings"
	"testing"
)

func text(s string) *string { return &s }

func draw(t *testing.T, head []string, rows [][]*string, o Options) string {
	t.Helper()
	var b strings.Builder
	if err := Write(&b, head, rows, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestWrite(t *testing.T) {
	for _, c := range []struct {
		name string
		head []string
		rows [][]*string
		o    Options
		want string
	}{
		{"one row of more", []string{"id", "name"}, [][]*string{{text("1"), text("a1")}}, Options{Truncate: 20, More: true},
			"+---+----+\n| id|name|\n+---+----+\n|  1|  a1|\n+---+----+\nonly showing top 1 row\n"},
		{"no truncation aligns left", []string{"id", "name"}, [][]*string{{text("1"), text("abcdefghijklmnopqrstuvwxyz")}, {nil, text("b")}}, Options{Null: "NULL", More: true},
			"+----+--------------------------+\n|id  |name                      |\n+----+--------------------------+\n|1   |abcdefghijklmnopqrstuvwxyz|\n|NULL|b                         |\n+----+--------------------------+\nonly showing top 2 rows\n"},
		{"truncation", []string{"a"}, [][]*string{{text("abcdefghijklmnopqrstu")}, {text("abcdefghijklmnopqrst")}}, Options{Truncate: 20},
			"+--------------------+\n|                   a|\n+--------------------+\n|abcdefghijklmnopq...|\n|abcdefghijklmnopqrst|\n+--------------------+\n"},
		{"truncation below four has no dots", []string{"long"}, [][]*string{{text("abcdef")}}, Options{Truncate: 3},
			"+----+\n|long|\n+----+\n| abc|\n+----+\n"},
		{"names are never cut", []string{"_hoodie_partition_path"}, [][]*string{{text("americas/brazil/sao_paulo")}}, Options{Truncate: 20},
			"+----------------------+\n|_hoodie_partition_path|\n+----------------------+\n|  americas/brazil/s...|\n+----------------------+\n"},
		{"full width", []string{"a"}, [][]*string{{text("中文")}, {text("ab")}, {text("a\tb")}}, Options{Truncate: 20},
			"+----+\n|   a|\n+----+\n|中文|\n|  ab|\n|a\\tb|\n+----+\n"},
		{"no rows", []string{"a"}, nil, Options{Truncate: 20}, "+---+\n|  a|\n+---+\n+---+\n"},
		{"vertical", []string{"id", "name"}, [][]*string{{text("1"), text("a1")}, {text("22"), nil}}, Options{Truncate: 20, Vertical: true, Null: "NULL"},
			"-RECORD 0----\n id   | 1    \n name | a1   \n-RECORD 1----\n id   | 22   \n name | NULL \n"},
		{"vertical without rows", []string{"id"}, nil, Options{Vertical: true}, "(0 rows)\n"},
		{"a pair of surrogates counts two", []string{"a"}, [][]*string{{text("😀😀😀")}}, Options{Truncate: 5}, "+-----+\n|    a|\n+-----+\n|😀...|\n+-----+\n"},
	} {
		if got := draw(t, c.head, c.rows, c.o); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

func TestWidth(t *testing.T) {
	for s, want := range map[string]int{"": 0, "abc": 3, "中": 2, "한": 2, "ｱ": 1, "Ａ": 2, "￥": 2, "é": 1} {
		if got := Width(s); got != want {
			t.Errorf("%q: %d, want %d", s, got, want)
		}
	}
}
