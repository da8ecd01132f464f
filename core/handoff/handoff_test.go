package handoff

import (
	"strconv"
	"strings"
	"testing"

	"hudiscope/core/predicate"
	"hudiscope/core/schema"
)

// hostile are texts that a table can hold, and that must stay data in every language.
var hostile = []string{"plain", "it's", `a"b`, "a`b", `back\slash`, `\`, `\'`, "line\nbreak", "cr\rlf\n", "*/ DROP TABLE x; /*", "-- ", "'; DROP TABLE x; --", `"""`, "${x}", "%s{}",
	"\x00\x07\x7f", "\u2028\u2029", "\u202eevil", "größe", "日本", "\xff\xfe", "`; --", "' || '", "U&'", `\u0027`}

// clean is a text as it can be handed over: what is no UTF-8 is replaced.
func clean(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// sparkText reads a literal of Spark SQL back, and reports where it ends.
func sparkText(s string) (string, int) {
	if s == "" || s[0] != '\'' {
		return "", -1
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\'':
			return b.String(), i + 1
		case '\\':
			i++
			if s[i] == 'u' {
				n, err := strconv.ParseUint(s[i+1:i+5], 16, 32)
				if err != nil {
					return "", -1
				}
				b.WriteRune(rune(n))
				i += 4
			} else {
				b.WriteByte(s[i])
			}
		default:
			b.WriteByte(s[i])
		}
	}
	return "", -1
}

// standardText reads a literal of standard SQL back.
func standardText(s string) (string, int) {
	unicode := strings.HasPrefix(s, "U&")
	at := strings.IndexByte(s, '\'')
	if at < 0 || at > 2 {
		return "", -1
	}
	var b strings.Builder
	for i := at + 1; i < len(s); i++ {
		switch {
		case s[i] == '\'' && i+1 < len(s) && s[i+1] == '\'':
			b.WriteByte('\'')
			i++
		case s[i] == '\'':
			return b.String(), i + 1
		case unicode && s[i] == '\\' && s[i+1] == '\\':
			b.WriteByte('\\')
			i++
		case unicode && s[i] == '\\':
			n, err := strconv.ParseUint(s[i+1:i+5], 16, 32)
			if err != nil {
				return "", -1
			}
			b.WriteRune(rune(n))
			i += 4
		default:
			b.WriteByte(s[i])
		}
	}
	return "", -1
}

func TestQuoting(t *testing.T) {
	for _, s := range hostile {
		if got, end := sparkText(sparkString(s)); got != clean(s) || end != len(sparkString(s)) {
			t.Errorf("Spark: %q becomes %s, which is %q", s, sparkString(s), got)
		}
		if got, end := standardText(standardString(s)); got != clean(s) || end != len(standardString(s)) {
			t.Errorf("standard: %q becomes %s, which is %q", s, standardString(s), got)
		}
		// Python's escapes in ASCII are Go's.
		if got, err := strconv.Unquote(python(s)); err != nil || got != clean(s) {
			t.Errorf("Python: %q becomes %s, which is %q", s, python(s), got)
		}
		for _, q := range []string{sparkString(s), standardString(s), python(s), backquoted(s), doublequoted(s)} {
			if strings.ContainsAny(q, "\n\r\u2028\u2029\u202e\x00") {
				t.Errorf("%q becomes %q, which breaks the line", s, q)
			}
		}
		if n := backquoted(s); strings.Count(n, "`")%2 != 0 || strings.Contains(strings.ReplaceAll(n[1:len(n)-1], "``", ""), "`") {
			t.Errorf("%q becomes %s", s, n)
		}
		if n := viewName(s); strings.Trim(n, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != "" || n == "" || n[0] >= '0' && n[0] <= '9' {
			t.Errorf("%q becomes %s", s, n)
		}
	}
}

// TestHostileTable makes all snippets of a table in which everything is hostile: no line of code but the
// comments that are meant begins with what the table says, and no literal ends early.
func TestHostileTable(t *testing.T) {
	typ := &schema.Type{Kind: schema.Record}
	for _, s := range hostile {
		typ.Fields = append(typ.Fields, schema.Field{Name: s, Type: &schema.Type{Kind: schema.String, Nullable: true}})
	}
	for _, s := range hostile {
		v := s
		tab := &Table{Name: s, Database: s, Address: Address{Spark: s, Rust: s}, Version: 9, BaseFormat: "PARQUET", MetaFields: true, PlainKeys: true,
			RecordKeys: []string{s}, Partitions: []string{s}, Ordering: []string{s}, Schema: typ}
		for _, q := range []*Query{
			{Type: "snapshot", Shown: "20260101000000000", ShownCompleted: "20260101000000001", Batch: true, PartitionPaths: []string{s}, PartitionValues: []map[string]*string{{s: &v}},
				FileID: s, Columns: []string{s}, Where: &predicate.Binary{Op: predicate.Eq, Left: &predicate.Column{Path: []string{s}}, Right: &predicate.Literal{Kind: "string", Text: s, Value: s}}},
			{Type: "incremental", Batch: true, Options: map[string]string{optType: "incremental", optBegin: s, optEnd: s}, Columns: []string{s}},
			{Type: "incremental", Flink: true, Options: map[string]string{flinkStart: s, "write." + s: s}},
		} {
			for _, x := range Make(tab, q) {
				if x.Refused != "" {
					continue
				}
				code := x.Code
				for _, bad := range []string{"\x00", "\u2028", "\u202e", "\r"} {
					if strings.Contains(code, bad) {
						t.Errorf("%s of %q holds %q:\n%s", x.Engine, s, bad, code)
					}
				}
				for line := range strings.Lines(code) {
					// Outside of quotes nothing of the text may be left.
					if bare := outside(t, x.Language, line); strings.Contains(bare, "DROP") || strings.Contains(bare, ";") && !strings.HasSuffix(strings.TrimSpace(bare), ";") {
						t.Errorf("%s of %q: %s", x.Engine, s, line)
					}
				}
			}
		}
	}
}

// outside is a line of code without its quoted parts.
func outside(t *testing.T, language, line string) string {
	t.Helper()
	var b strings.Builder
	for i := 0; i < len(line); {
		switch c := line[i]; {
		case language == "python" && c == '"':
			q, err := strconv.QuotedPrefix(line[i:])
			if err != nil {
				t.Errorf("a string is open in %s", line)
				return ""
			}
			i += len(q)
		case language == "sql" && (c == '`' || c == '"' || c == '\''):
			// Both kinds of SQL: a quote is escaped by doubling or by a backslash, if there is one at all.
			end := i + 1
			for end < len(line) {
				if c == '\'' && line[end] == '\\' && !strings.Contains(line, "U&'") && !strings.Contains(line, "ESCAPE") {
					end += 2
				} else if line[end] == c && end+1 < len(line) && line[end+1] == c {
					end += 2
				} else if line[end] == c {
					break
				} else {
					end++
				}
			}
			i = end + 1
		default:
			b.WriteByte(c)
			i++
		}
	}
	return b.String()
}

func TestConditions(t *testing.T) {
	typ := &schema.Type{Kind: schema.Record, Fields: []schema.Field{{Name: "fare", Type: &schema.Type{Kind: schema.Double}}, {Name: "seats", Type: &schema.Type{Kind: schema.Int}},
		{Name: "city", Type: &schema.Type{Kind: schema.String}}, {Name: "paid", Type: &schema.Type{Kind: schema.Boolean}},
		{Name: "tags", Type: &schema.Type{Kind: schema.Map, Elem: &schema.Type{Kind: schema.Record, Fields: []schema.Field{{Name: "n", Type: &schema.Type{Kind: schema.Int}}}}}}}}
	for where, want := range map[string][4]string{ // Spark, Flink, Trino, pyarrow
		"fare > 10.5 and not (city = 'x')": {"((`fare` > 10.5) AND (NOT (`city` = 'x')))", "((`fare` > 10.5) AND (NOT (`city` = 'x')))", `(("fare" > 10.5) AND (NOT ("city" = 'x')))`,
			`((pc.field("fare") > 10.5) & (~(pc.field("city") == "x")))`},
		"seats in (1, 2) or paid is null": {"((`seats` IN (1, 2)) OR (`paid` IS NULL))", "((`seats` IN (1, 2)) OR (`paid` IS NULL))", `(("seats" IN (1, 2)) OR ("paid" IS NULL))`,
			`(((pc.field("seats") == 1) | (pc.field("seats") == 2)) | pc.field("paid").is_null())`},
		"city <=> null":  {"(`city` <=> NULL)", "(`city` IS NOT DISTINCT FROM NULL)", `("city" IS NOT DISTINCT FROM NULL)`, ""},
		"5 <= seats":     {"(5 <= `seats`)", "(5 <= `seats`)", `(5 <= "seats")`, `(pc.field("seats") >= 5)`},
		"city like 'a%'": {"(`city` LIKE 'a%')", "(`city` LIKE 'a%' ESCAPE '\\')", `("city" LIKE 'a%' ESCAPE '\')`, ""},
		"fare = 'x'":     {"(`fare` = 'x')", "(`fare` = 'x')", `("fare" = 'x')`, ""},
		// Values of maps, by a dot or by a key: other engines don't know the dot.
		"tags.it.n = 1":               {"(`tags`.`it`.`n` = 1)", "(`tags`['it'].`n` = 1)", `(element_at("tags", 'it')."n" = 1)`, ""},
		`TAGS['it\'s'].N = 1`:         {"(`tags`['it\\'s'].`n` = 1)", "(`tags`['it''s'].`n` = 1)", `(element_at("tags", 'it''s')."n" = 1)`, ""},
		"tags['it'] is not null":      {"(`tags`['it'] IS NOT NULL)", "(`tags`['it'] IS NOT NULL)", `(element_at("tags", 'it') IS NOT NULL)`, ""},
		"cast(seats as string) = 'x'": {"(CAST(`seats` AS string) = 'x')", "(CAST(`seats` AS STRING) = 'x')", `(CAST("seats" AS varchar) = 'x')`, ""},
	} {
		e, err := predicate.Parse(where)
		if err != nil {
			t.Fatal(where, err)
		}
		for i, d := range []*dialect{sparkSQL, flinkSQL, trinoSQL} {
			with := *d
			with.record = typ
			d := &with
			if got, err := d.condition(e); err != nil || got != want[i] {
				t.Errorf("%s for %s: %s (%v), want %s", where, d.engine, got, err, want[i])
			}
		}
		if got, err := arrow(e, typ); got != want[3] && err == nil || (err != nil) != (want[3] == "") {
			t.Errorf("%s for pyarrow: %s (%v), want %s", where, got, err, want[3])
		}
	}
}

func TestAddresses(t *testing.T) {
	for location, want := range map[string][2]string{
		"/data/trips":        {"/data/trips", "/data/trips"},
		"file:///data/trips": {"file:///data/trips", "file:///data/trips"},
		"s3://b/a/trips/":    {"s3a://b/a/trips", "s3://b/a/trips"},
		"s3a://b/trips":      {"s3a://b/trips", "s3://b/trips"},
		"https://b.s3.eu-west-1.amazonaws.com/a/trips/?X-Amz-Signature=secret": {"s3a://b/a/trips", "s3://b/a/trips"},
		"https://s3.eu-west-1.amazonaws.com/b/a/trips":                         {"s3a://b/a/trips", "s3://b/a/trips"},
		"https://storage.googleapis.com/b/trips":                               {"gs://b/trips", "gs://b/trips"},
		"abfss://c@a.dfs.core.windows.net/trips?sig=secret":                    {"abfss://c@a.dfs.core.windows.net/trips", "abfss://c@a.dfs.core.windows.net/trips"},
		"https://user:secret@example.org/trips":                                {"", ""},
		"https://example.org/trips.zip":                                        {"", ""},
		"sample:mor":                                                           {"", ""},
		"drop:1":                                                               {"", ""},
		"/data/trips.zip":                                                      {"", ""},
		"signer+https://example.org/x":                                         {"", ""},
	} {
		a := AddressOf(location, "my trips", true)
		if want[0] == "" {
			want = [2]string{"/path/to/my_trips", "/path/to/my_trips"}
			if a.Note == "" {
				t.Errorf("%s: no note", location)
			}
		}
		if a.Spark != want[0] || a.Rust != want[1] || strings.Contains(a.Spark+a.Rust+a.Note, "secret") {
			t.Errorf("%s: %+v, want %v", location, a, want)
		}
	}
}

func TestNext(t *testing.T) {
	for instant, want := range map[string]string{"20261231235959999": "20270101000000000", "20260228120000000": "20260228120000001", "20260101000000": "20260101000000001", "000": "19700101000000000", "earliest": "19700101000000000"} {
		if got, err := next(instant); err != nil || got != want {
			t.Errorf("%s: %s (%v), want %s", instant, got, err, want)
		}
	}
	if _, err := next("yesterday"); err == nil {
		t.Error("yesterday has a next instant")
	}
}
