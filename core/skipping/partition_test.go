package skipping

import (
	"strings"
	"testing"

	"hudiscope/core/config"
	"hudiscope/core/predicate"
	"hudiscope/core/release"
	"hudiscope/core/table"
)

// TestPartitionValues decides partitions by their paths, as key generators write them.
func TestPartitionValues(t *testing.T) {
	const hive, encoded, slashes = "hoodie.datasource.write.hive_style_partitioning=true\n", "hoodie.datasource.write.partitionpath.urlencode=true\n", "hoodie.datasource.write.slash.separated.date.partitioning=true\n"
	const simple = "hoodie.table.keygenerator.type=SIMPLE\n"
	for _, c := range []struct {
		properties, fields, path, where, release string
		kept                                     bool
		why                                      string
	}{
		{simple, "s", "eu", "s = 'eu'", "", true, ""},
		{simple, "s", "eu", "s = 'us'", "", false, "s = eu"},
		{simple + hive, "s", "s=eu", "s <> 'eu'", "", false, ""},
		// Without the setting a path with a name may be the value itself.
		{simple, "s", "s=eu", "s = 's=eu'", "", true, ""},
		{simple, "s", "s=eu", "s = 'eu'", "", true, ""},
		{simple + hive + encoded, "s", "s=a%2Fb", "s = 'a/b'", "", true, ""},
		{simple + hive + encoded, "s", "s=a%2Fb", "s = 'a%2Fb'", "", false, ""},
		// Not encoded, %2F may be what was written.
		{simple + hive, "s", "s=a%2Fb", "s = 'a%2Fb'", "", true, ""},
		{simple, "s", "2024/01/15", "s = '2024/01/15'", "", true, ""},
		{simple + slashes, "s", "2024/01/15", "s = '2024-01-15'", "", true, ""},
		{simple + slashes, "day", "2024/01/15", "day = DATE '2024-01-15'", "", true, ""},
		{simple + slashes, "day", "2024/01/15", "day > '2024-01-15'", "", false, ""},
		{simple, "day", "19737", "day = DATE '2024-01-15'", "", true, ""},
		{simple, "day", "20240115", "day = DATE '2024-01-15'", "", true, "not surely"},
		{simple, "i", "10", "i > 9", "", true, ""},
		{simple, "i", "10", "i > 10", "", false, ""},
		{simple, "i", "010", "i > 10", "", true, "not surely"},
		{simple, "b", "false", "b", "", false, ""},
		{simple, "d", "1.5", "d > 2", "", true, "not surely"},
		// Null and the empty text are written alike.
		{simple + hive, "s", "s=__HIVE_DEFAULT_PARTITION__", "s IS NULL", "", true, ""},
		{simple + hive, "s", "s=__HIVE_DEFAULT_PARTITION__", "s = ''", "", true, ""},
		{simple + hive, "s", "s=__HIVE_DEFAULT_PARTITION__", "s = 'x'", "", false, ""},
		{simple + hive, "i", "i=__HIVE_DEFAULT_PARTITION__", "i IS NOT NULL", "", false, ""},
		{"hoodie.table.keygenerator.type=COMPLEX\n" + hive, "s,i", "s=eu/i=3", "i = 3 AND s = 'eu'", "", true, ""},
		{"hoodie.table.keygenerator.type=COMPLEX\n" + hive, "s,i", "s=eu/i=3", "i = 4", "", false, ""},
		{"hoodie.table.keygenerator.type=COMPLEX\n" + hive, "s,i", "s=a/b/i=3", "s = 'a/b'", "", true, ""},
		{"hoodie.table.keygenerator.type=COMPLEX\n", "s,i", "a/b/3", "s = 'x'", "", true, "can't be told"},
		{"hoodie.table.keygenerator.type=CUSTOM\n", "s:SIMPLE,ts:TIMESTAMP", "eu/2024", "s = 'us'", "", false, ""},
		{"hoodie.table.keygenerator.type=CUSTOM\n", "s:SIMPLE,ts:TIMESTAMP", "eu/2024", "ts > '2024-01-01'", "", true, "formatted times"},
		{"hoodie.table.keygenerator.type=TIMESTAMP\nhoodie.keygen.timebased.timestamp.type=EPOCHMILLISECONDS\n", "s", "2024", "s = '2025'", "", true, "formatted times"},
		{"hoodie.table.keygenerator.type=TIMESTAMP\nhoodie.keygen.timebased.timestamp.type=EPOCHMILLISECONDS\n", "s", "2024", "s = '2025'", "0.15.0", false, ""},
		{"hoodie.table.keygenerator.class=com.example.Mine\n", "s", "eu", "s = 'us'", "", true, "own key generator"},
		{"", "s", "eu", "s = 'us'", "", true, "does not tell the key generator"},
		{simple + "hoodie.datasource.write.drop.partition.columns=true\n", "s", "eu", "s = 'us'", "", false, ""},
	} {
		cfg, err := config.Parse([]byte("hoodie.table.name=t\nhoodie.table.version=8\nhoodie.table.type=COPY_ON_WRITE\nhoodie.table.partition.fields="+c.fields+"\n"+c.properties), "hoodie.properties")
		if cfg == nil {
			t.Fatal(err)
		}
		rules, err := release.For(c.release)
		if err != nil {
			t.Fatal(err)
		}
		where, err := predicate.New(c.where, testRows)
		if err != nil {
			t.Fatal(err)
		}
		p := newPartitions(&table.Table{Config: cfg, Rules: rules}, testRows)
		if !p.over(where) {
			t.Errorf("%s: not over partition columns", c.where)
			continue
		}
		kept, why := p.verdict(c.path, false, where, where.Evaluator())
		if kept != c.kept || !strings.Contains(why, c.why) || strings.HasPrefix(why, "Kept: ") != kept {
			t.Errorf("%q %q %s: kept %v: %s", c.properties, c.path, c.where, kept, why)
		}
	}
}
