package config_test

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"

	"hudiscope/core/config"
	"hudiscope/core/corrupt"
	"hudiscope/core/tabletest"
)

// TestGold holds the properties of every table against Hudi's own getProps().
func TestGold(t *testing.T) {
	names := tabletest.Names(t, "config.json")
	if len(names) < 20 {
		t.Fatalf("only %d tables", len(names))
	}
	for _, name := range names {
		c, err := config.Load(t.Context(), tabletest.Open(t, name), "")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var want map[string]string
		tabletest.Gold(t, name, "config.json", &want)
		if got := c.Props.Map(); !reflect.DeepEqual(want, got) {
			t.Errorf("%s:\nwant %v\ngot  %v", name, want, got)
		}
		if c.Checksum.State != config.ChecksumOK {
			t.Errorf("%s: checksum %s", name, c.Checksum)
		}
		var about struct {
			Version int    `json:"table_version"`
			Type    string `json:"table_type"`
		}
		tabletest.Gold(t, name, "about.json", &about)
		if c.VersionFrom != "" || c.Version != about.Version || c.Type() != about.Type {
			t.Errorf("%s: version %d (%s), type %s; want %d, %s", name, c.Version, c.VersionFrom, c.Type(), about.Version, about.Type)
		}
		if layout2 := c.Version >= 8; layout2 != (c.TimelineLayout == 2) {
			t.Errorf("%s: version %d has layout %d", name, c.Version, c.TimelineLayout)
		}
	}
}

func TestParseProperties(t *testing.T) {
	tests := []struct{ in, want string }{
		{"a=b", "a=b"},
		{"a = b ", "a=b "},
		{"  a : b=c", "a=b=c"},
		{"a b", "a=b"},
		{"a\tb\r\nc=d\re=f", "a=b|c=d|e=f"},
		{"#c=d\n!x=y\n\n a=1", "a=1"},
		{"key\nb=1", "key=|b=1"},
		{"key", "key="},
		{"=v", "=v"},
		{"a\\=b\\:c\\ d=e", "a=b:c d=e"},
		{"a=1\\\n   2\\\r\n3", "a=123"},
		{"a=x\\\\\nb=2", "a=x\\|b=2"},
		{"a=\\t\\n\\r\\f\\q", "a=\t\n\r\fq"},
		{"a=\\u00e9\\uD83D\\uDE00", "a=é😀"},
		{"a=\xe9", "a=é"},
		{"a=1\na=2", "a=1|a=2"},
		{"# comment \\\na=1", "a=1"},
		{"a \\\n = b", "a=b"},
		{"a=b\\", "a=b"},
	}
	for _, tt := range tests {
		p, err := config.ParseProperties([]byte(tt.in))
		if err != nil {
			t.Errorf("%q: %v", tt.in, err)
			continue
		}
		var got []string
		for _, e := range p.Entries {
			got = append(got, e.Key+"="+e.Value)
		}
		if s := strings.Join(got, "|"); s != tt.want {
			t.Errorf("%q: got %q, want %q", tt.in, s, tt.want)
		}
	}
	p, _ := config.ParseProperties([]byte("a=1\na=2\n"))
	if p.Get("a") != "2" {
		t.Error("the last of two equal keys must count")
	}
}

func TestParsePropertiesDamage(t *testing.T) {
	for _, tt := range []struct {
		in     string
		offset int64
		part   string
	}{
		{"a=1\nb=\\u12", 6, "line 2"},
		{"a=\\uzzzz", 2, "line 1"},
		{"a=1\n\n\x00", 5, "line 3"},
	} {
		_, err := config.ParseProperties([]byte(tt.in))
		var e *corrupt.Error
		if !errors.As(err, &e) || e.Offset != tt.offset || !strings.Contains(e.Part, tt.part) {
			t.Errorf("%q: %v", tt.in, err)
		}
	}
}

func FuzzParseProperties(f *testing.F) {
	f.Add([]byte("a=b\\\n c\n#x\n\\u00e9 : 1"))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := config.ParseProperties(data)
		if err != nil {
			if !corrupt.Is(err) {
				t.Fatal(err)
			}
			return
		}
		for _, e := range p.Entries {
			if e.Offset < 0 || e.Offset >= int64(len(data)) || e.Line < 1 {
				t.Fatalf("entry %+v of %d bytes", e, len(data))
			}
		}
	})
}

func table(files map[string]string) *tabletest.Files {
	f := tabletest.New("mem:t")
	for k, v := range files {
		f.Put(k, []byte(v))
	}
	return f
}

func TestBackupAndChecksum(t *testing.T) {
	sum := "1363530505" // of default.v6_nonpartitioned, from a real table
	if config.TableChecksum("default", "v6_nonpartitioned") != 1363530505 {
		t.Error("checksum of a real table differs")
	}
	right := "hoodie.database.name=default\nhoodie.table.name=v6_nonpartitioned\nhoodie.table.checksum=" + sum
	wrong := "hoodie.database.name=default\nhoodie.table.name=other\nhoodie.table.checksum=" + sum
	for _, tt := range []struct {
		name, main, backup string
		file               string
		state              config.ChecksumState
	}{
		{"both", right, wrong, ".hoodie/hoodie.properties", config.ChecksumOK},
		{"backup only", "-", right, ".hoodie/hoodie.properties.backup", config.ChecksumOK},
		{"main wrong", wrong, right, ".hoodie/hoodie.properties.backup", config.ChecksumOK},
		{"main empty", "", right, ".hoodie/hoodie.properties.backup", config.ChecksumOK},
		{"main wrong, no other", wrong, "-", ".hoodie/hoodie.properties", config.ChecksumWrong},
		{"no checksum", "hoodie.table.name=t", "-", ".hoodie/hoodie.properties", config.ChecksumNone},
	} {
		f := tabletest.New("mem:t")
		if tt.main != "-" {
			f.Put(".hoodie/hoodie.properties", []byte(tt.main))
		}
		if tt.backup != "-" {
			f.Put(".hoodie/hoodie.properties.backup", []byte(tt.backup))
		}
		c, err := config.Load(t.Context(), f, "")
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if c.File != tt.file || c.Checksum.State != tt.state {
			t.Errorf("%s: got %s, %s", tt.name, c.File, c.Checksum)
		}
		if (tt.name != "both" && tt.name != "no checksum") && len(c.Notes) == 0 {
			t.Errorf("%s: no note", tt.name)
		}
	}
	f := tabletest.New("mem:t")
	f.Put(".hoodie/hoodie.properties", nil)
	_, err := config.Load(t.Context(), f, "")
	var e *corrupt.Error
	if !errors.As(err, &e) || e.File != ".hoodie/hoodie.properties" {
		t.Errorf("empty file: %v", err)
	}
}

func TestNotATable(t *testing.T) {
	for _, tt := range []struct {
		name       string
		files      map[string]string
		dirs       []string
		found, try string
	}{
		{"empty", nil, nil, "It is empty.", "Check the address"},
		{"one level up", map[string]string{"trips/.hoodie/hoodie.properties": "hoodie.table.name=t", "x.txt": ""}, nil, "The folder trips in it is a Hudi table.", "Open trips."},
		{"two tables", map[string]string{"a/.hoodie/x": "", "b/.hoodie/x": ""}, nil, "2 folders in it are Hudi tables: a, b.", "for example a"},
		{"no properties", map[string]string{".hoodie/20240101000000000.commit": "{}"}, nil, "it holds 20240101000000000.commit", "dot files"},
		{"inside .hoodie", map[string]string{"hoodie.properties": "a=b"}, nil, "holds hoodie.properties itself", "folder above"},
		{"partition", map[string]string{".hoodie_partition_metadata": "", "x.parquet": ""}, nil, "partition of a Hudi table", "base path"},
		{"delta", map[string]string{"_delta_log/0.json": ""}, nil, "Delta Lake", "Delta Lake"},
		{"other", map[string]string{"a.txt": "", "b.txt": ""}, []string{"sub"}, "It holds sub, a.txt, b.txt.", "Open the folder that holds .hoodie."},
	} {
		f := table(tt.files)
		for _, d := range tt.dirs {
			f.Mkdir(d)
		}
		_, err := config.Load(t.Context(), f, "")
		var e *config.NotATable
		if !errors.As(err, &e) {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if !strings.Contains(e.Found, tt.found) || !strings.Contains(e.Try, tt.try) {
			t.Errorf("%s: found %q, try %q", tt.name, e.Found, e.Try)
		}
	}
	f := table(map[string]string{"region=eu/x.parquet": ""})
	f.Hide = func(p string) bool { return p == "region=eu" }
	_, err := config.Load(t.Context(), f, "")
	var e *config.NotATable
	if !errors.As(err, &e) || !strings.Contains(e.Found, "not complete") {
		t.Errorf("incomplete listing: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := config.Load(ctx, f, ""); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestVersion(t *testing.T) {
	for _, tt := range []struct {
		props           string
		dir             string
		version, layout int
		inferred        bool
		bad             string
	}{
		{"hoodie.table.version=9", "", 9, 2, false, ""},
		{"hoodie.table.version=0\nhoodie.timeline.layout.version=1", "", 0, 1, false, ""},
		{"hoodie.table.version=0", "", 0, 0, false, ""},
		{"hoodie.table.version=5", "", 5, 1, false, ""},
		{"hoodie.timeline.layout.version=1", "", 1, 1, true, ""},
		{"hoodie.timeline.layout.version=2", "", 8, 2, true, ""},
		{"a=b", "", 0, 1, true, ""},
		{"a=b", ".hoodie/timeline", 8, 2, true, ""},
		{"hoodie.table.version=10", "", 10, 2, false, "hoodie.table.version is 10; versions 0 to 9 can be read"},
		{"hoodie.table.version=nine", "", -1, 0, false, `hoodie.table.version is "nine", not a number`},
		{"hoodie.table.version=-1", "", -1, 0, false, "hoodie.table.version is -1"},
		{"hoodie.table.version=9\nhoodie.timeline.layout.version=3", "", 9, 2, false, "hoodie.timeline.layout.version is 3; timeline layouts 0 to 2 can be read"},
	} {
		f := table(map[string]string{".hoodie/hoodie.properties": tt.props})
		if tt.dir != "" {
			f.Mkdir(tt.dir)
		}
		c, err := config.Load(t.Context(), f, "")
		if c == nil {
			t.Errorf("%q: %v", tt.props, err)
			continue
		}
		if c.Version != tt.version || c.TimelineLayout != tt.layout || (c.VersionFrom != "") != tt.inferred {
			t.Errorf("%q: version %d (%s), layout %d (%s)", tt.props, c.Version, c.VersionFrom, c.TimelineLayout, c.TimelineLayoutFrom)
		}
		var ve *config.VersionError
		if tt.bad == "" && err != nil || tt.bad != "" && (!errors.As(err, &ve) || !strings.Contains(err.Error(), tt.bad)) {
			t.Errorf("%q: %v", tt.props, err)
		}
	}
}

func TestAccessors(t *testing.T) {
	c, err := config.Parse([]byte(strings.Join([]string{
		"hoodie.table.name=t", "hoodie.table.version=8",
		"hoodie.table.partition.fields=region:SIMPLE, day:timestamp", "hoodie.table.recordkey.fields= a, b ,",
		"hoodie.table.precombine.field=ts", "hoodie.table.keygenerator.class=org.apache.hudi.keygen.CustomKeyGenerator",
		"hoodie.deltastreamer.keygen.timebased.output.dateformat=yyyy/MM", "hoodie.table.cdc.enabled=true", "hoodie.table.cdc.supplemental.logging.mode=data_before",
		"hoodie.table.ro.file.format=orc", "hoodie.archivelog.folder=", "hoodie.table.metadata.partitions=files,column_stats",
	}, "\n")), "x")
	if err != nil {
		t.Fatal(err)
	}
	c.Root = "tables/t"
	for _, p := range [][2]any{
		{c.PartitionFields(), []string{"region", "day"}}, {c.PartitionFieldTypes(), []string{"SIMPLE", "TIMESTAMP"}},
		{c.RecordKeyFields(), []string{"a", "b"}}, {c.OrderingFields(), []string{"ts"}},
		{c.KeyGeneratorType(), "CUSTOM"}, {c.KeyGenerator(), "CustomKeyGenerator"}, {c.TimeBased("output.dateformat"), "yyyy/MM"},
		{c.CDC(), "DATA_BEFORE"}, {c.BaseFormat(), "ORC"}, {c.BaseExtensions(), []string{".orc"}},
		{c.TimelinePath(), "tables/t/.hoodie/timeline"}, {c.HistoryPath(), "tables/t/.hoodie/timeline/history"},
		{c.ArchiveFolder(), "tables/t/.hoodie"}, {c.MetadataPartitions(), []string{"column_stats", "files"}},
		{c.Type(), "COPY_ON_WRITE"}, {c.PopulateMetaFields(), true}, {c.TableFormat(), "native"}, {c.IndexDefinitionsPath(), "tables/t/.hoodie/.index_defs/index.json"},
	} {
		if !reflect.DeepEqual(p[0], p[1]) {
			t.Errorf("got %v, want %v", p[0], p[1])
		}
	}
}
