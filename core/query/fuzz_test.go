package query

import (
	"errors"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"

	"hudiscope/core/predicate"
	"hudiscope/core/release"
	"hudiscope/core/skipping"
	"hudiscope/core/table"
)

// FuzzOptions: options of Spark's and Flink's readers, of the scan and of data skipping, one a line, are taken or refused by an
// error that names the option, by the rules of every release; what is taken stays within the bounds that reads rely on.
func FuzzOptions(f *testing.F) {
	spark := []string{optType + "=incremental", optView + "=realtime", optFormat + "=cdc", optBegin + "=20260101000000", optEnd + "=2026-01-01", optGlob + "=/2026/*/{a,b}-?[0-9]*", optPaths + "=/t/2026,/t/*/{a,{b,c}},file:/x",
		optFilters + "=a > 1, b in ('x,y', \"z\")", optFullScan + "=TRUE", optVersion + "=6", optHollow + "=use_transition_time", optHollowOld + "=BLOCK", optEndSchema + "=false", optSkipCom + "=true", optSkipClu + "=maybe", optChangeMode + "=x"}
	f.Add("1.2.0", strings.Join(spark, "\n"))
	for _, s := range spark {
		f.Add("0.15.0", optType+"=incremental\n"+optBegin+"=000\n"+s)
	}
	for _, s := range []string{"read.start-commit=earliest\nread.end-commit=latest\nread.streaming.skip_compaction=true\nread.commits.limit=3\nread.splits.limit=-1\nread.tasks=0\nchangelog.enabled=1",
		"index.type=BUCKET\nhoodie.bucket.index.num.buckets=4\nhoodie.bucket.index.hash.field=a, b,\nwrite.operation=insert\ncdc.enabled=true\nread.cdc.from.changelog=no\nhoodie.datasource.merge.type=skip_merge",
		"spark.sql.files.maxPartitionBytes=128m\nspark.sql.files.openCostInBytes=9223372036854775807b\nspark.default.parallelism=8\nspark.sql.limit.scaleUpFactor=4\nspark.sql.files.minPartitionNum=1pb",
		"as.of.instant=2026-01-01 10:00:00.123\nhoodie.metadata.enable=true\nhoodie.enable.data.skipping=false\nhoodie.fileIndex.dataSkippingFailureMode=strict\nhudiscope.unique.keys=true\nhoodie.merge.use.record.positions=true",
		optPaths + "=" + strings.Repeat("{a,b}", 14), optGlob + "=" + strings.Repeat("{", 300)} {
		f.Add("0.14.1", s)
	}
	f.Fuzz(func(t *testing.T, hudi, text string) {
		rules, err := release.For(hudi)
		if err != nil {
			var unknown *release.UnknownError
			if !errors.As(err, &unknown) || unknown.Why == "" {
				t.Fatalf("%q: %#v", hudi, err)
			}
			rules = release.Rules{}
		}
		options := map[string]string{}
		for line := range strings.SplitSeq(text, "\n") {
			if k, v, ok := strings.Cut(line, "="); ok {
				options[k] = v
			}
		}
		named := func(what string, err error) {
			var oe *table.OptionError
			if err != nil && (!errors.As(err, &oe) || oe.Why == "" || options[oe.Key] != oe.Value) {
				t.Fatalf("%s: %#v", what, err)
			}
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		q, err := Parse(maps.Clone(options))
		named("Spark", err)
		if err == nil {
			if in := q.Incremental; in != nil {
				if in.Begin == "" || in.Version < 0 || in.Version > 9 {
					t.Fatalf("%+v", in)
				}
				for _, e := range in.Filters {
					if _, err := predicate.Parse(predicate.Format(e)); err != nil {
						t.Fatalf("%q: %v", predicate.Format(e), err)
					}
				}
				if in.glob != nil {
					in.glob.match("/table/2026/a-b")
				}
			}
			paths := 0
			for _, p := range q.paths {
				paths += len(p.names)
				for _, names := range p.names {
					for _, g := range names {
						g.match("2026")
					}
				}
			}
			if paths > maxReadPaths {
				t.Fatalf("%d paths", paths)
			}
		}
		flink, err := ParseFlink(options, rules)
		named("Flink", err)
		if err == nil && (flink.CommitsLimit < 0 || flink.SplitsLimit < 0 || flink.Tasks < 0 || flink.Buckets < 0 || !slices.Contains([]string{"snapshot", "read_optimized", "incremental"}, flink.Type)) {
			t.Fatalf("%+v", flink)
		}
		skip, err := skipping.ParseOptions(options, rules)
		named("skipping", err)
		if err == nil && (skip.Buckets < 0 || slices.Contains(skip.HashFields, "")) {
			t.Fatalf("%+v", skip)
		}
		scan, err := ParseScan(options)
		if err != nil && !slices.ContainsFunc(slices.Collect(maps.Keys(options)), func(k string) bool { return strings.HasPrefix(err.Error(), k) }) {
			t.Fatalf("the scan: %v", err)
		}
		if err == nil {
			files := []ScanFile{{Length: 1 << 40, Splittable: true}, {Length: 3}}
			if scan.MaxSplitBytes(files) <= 0 || scan.Pieces(files) <= 0 || scan.Initial <= 0 || scan.ScaleUp <= 0 || scan.Parallelism <= 0 {
				t.Fatalf("%+v", scan)
			}
		}
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > 64<<20+1000*uint64(len(text)) {
			t.Fatalf("%d bytes were allocated for %d", n, len(text))
		}
	})
}
