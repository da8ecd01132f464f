package query

import (
	"sort"
	"strconv"
	"strings"

	"hudiscope/core/release"
	"hudiscope/core/table"
)

// FlinkOptions are the options of Flink's reader (spec queries.md section 10.1).
type FlinkOptions struct {
	// Start and End are read.start-commit (earliest: the beginning) and read.end-commit.
	Start, End string
	// Type is hoodie.datasource.query.type; incremental is implied by a start or end.
	Type string
	// The parts of the timeline that streaming reads skip.
	SkipCompaction, SkipClustering, SkipInsertOverwrite bool
	// CommitsLimit bounds the commits of a round, SplitsLimit the splits handed on at once; 0 = no bound.
	CommitsLimit, SplitsLimit int
	// Changelog emits the rows of log-only slices unmerged, CDC reads changes. FromChangelog takes the changes
	// of a merge-on-read table from what compactions logged, and not from its log files.
	Changelog, CDC, FromChangelog bool
	// MergeType is payload_combine or skip_merge.
	MergeType string
	// Tasks is the number of readers that splits are handed to (0: not given).
	Tasks int
	// Bucket is true for a table whose index.type is BUCKET, Buckets how many a partition has (0: not given);
	// Insert for one whose write.operation is insert. They decide which reader a split goes to.
	Bucket, Insert bool
	Buckets        int
	// Hints are about ranges without a commit.
	Hints []Hint
	// Partitions narrows the read; empty = all.
	Partitions []string
}

// writeOnly are beginnings of options that tables carry and that no reader looks at.
var writeOnly = []string{"table.type", "hoodie.table.", "precombine.field", "ordering.fields", "write.", "compaction.", "clean.", "archive.", "clustering.", "index.", "metadata.",
	"hive_sync.", "hoodie.datasource.write.", "hoodie.bucket.", "record.merge", "payload.class", "hoodie.metadata.", "hoodie.clean", "hoodie.keep.", "hoodie.compact.", "connector", "path", "source.avro-schema",
	"read.utc-timezone", "read.streaming.check-interval", "read.streaming.enabled", "read.data.skipping.", "lookup.", "hadoop."}

// ParseFlink reads the options of Flink's reader; those that are not given take the defaults of the
// release. Options that are not known and begin with read. are refused.
func ParseFlink(options map[string]string, rules release.Rules) (FlinkOptions, error) {
	f := FlinkOptions{Type: "snapshot", SkipCompaction: rules.FlinkSkips, SkipClustering: rules.FlinkSkips, MergeType: "payload_combine", FromChangelog: rules.FlinkFromChangelog}
	keys := make([]string, 0, len(options))
	for k := range options {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	for _, k := range keys {
		v := options[k]
		bad := func(why string) error { return &table.OptionError{Key: k, Value: v, Why: why} }
		flag := func(to *bool) error {
			b, err := strconv.ParseBool(strings.ToLower(v))
			if err != nil {
				return bad("want true or false")
			}
			*to = b
			return nil
		}
		count := func(to *int) error {
			n, err := strconv.Atoi(v)
			if err != nil || n < 0 {
				return bad("want a number that is not negative")
			}
			*to = n
			return nil
		}
		var err error
		switch k {
		case "read.start-commit":
			err = CheckBound(k, v, earliest, "latest")
			f.Start = v
			if strings.EqualFold(v, "latest") {
				f.Start = ""
			}
		case "read.end-commit":
			err = CheckBound(k, v)
			f.End = v
		case "read.streaming.skip_compaction":
			err = flag(&f.SkipCompaction)
		case "read.streaming.skip_clustering":
			err = flag(&f.SkipClustering)
		case "read.streaming.skip_insertoverwrite":
			err = flag(&f.SkipInsertOverwrite)
		case "read.commits.limit":
			if err = count(&f.CommitsLimit); rules.ByRequestedTime {
				f.CommitsLimit = 0 // not known to these releases
			}
		case "read.splits.limit":
			err = count(&f.SplitsLimit)
		case "read.tasks":
			if err = count(&f.Tasks); err == nil && f.Tasks == 0 {
				err = bad("a read has at least one reader: want a number above zero")
			}
		case "changelog.enabled":
			err = flag(&f.Changelog)
		case "index.type", "hoodie.index.type":
			f.Bucket = strings.EqualFold(v, "BUCKET")
		case "hoodie.bucket.index.num.buckets":
			err = count(&f.Buckets)
		case "write.operation":
			f.Insert = strings.EqualFold(v, "insert")
		case "cdc.enabled":
			err = flag(&f.CDC)
		case "read.cdc.from.changelog":
			if err = flag(&f.FromChangelog); rules.ByRequestedTime {
				f.FromChangelog = false // not known to these releases
			}
		case "hoodie.datasource.merge.type":
			if v != "payload_combine" && v != "skip_merge" {
				err = bad("the merge types are payload_combine and skip_merge")
			}
			f.MergeType = v
		case "hoodie.datasource.query.type":
			switch v {
			case "snapshot", "read_optimized", "incremental":
				f.Type = v
			default:
				err = bad("the query types are snapshot, read_optimized and incremental")
			}
		default:
			known := false
			for _, p := range writeOnly {
				known = known || strings.HasPrefix(k, p)
			}
			if !known {
				err = bad("this option is not known here, and it might change which rows come")
			}
		}
		if err != nil {
			return f, err
		}
	}
	f.Hints = checkRange("read.start-commit", f.Start, "read.end-commit", f.End)
	if f.Start != "" || f.End != "" {
		f.Type = "incremental"
	}
	return f, nil
}
