package query

import (
	"errors"
	"fmt"
	"sort"
	"strconv"
	"strings"

	"hudiscope/core/predicate"
	"hudiscope/core/release"
	"hudiscope/core/table"
)

// The options of Spark's reader that incremental queries take (spec queries.md section 1).
const (
	optType       = "hoodie.datasource.query.type"
	optView       = "hoodie.datasource.view.type"
	optFormat     = "hoodie.datasource.query.incremental.format"
	optBegin      = "hoodie.datasource.read.begin.instanttime"
	optEnd        = "hoodie.datasource.read.end.instanttime"
	optGlob       = "hoodie.datasource.read.incr.path.glob"
	optPaths      = "hoodie.datasource.read.paths"
	optFilters    = "hoodie.datasource.read.incr.filters"
	optFullScan   = "hoodie.datasource.read.incr.fallback.fulltablescan.enable"
	optVersion    = "hoodie.datasource.read.incr.table.version"
	optHollow     = "hoodie.read.timeline.holes.resolution.policy"
	optHollowOld  = "hoodie.datasource.read.handle.hollow.commit"
	optEndSchema  = "hoodie.datasource.read.schema.use.end.instanttime"
	optSkipCom    = "hoodie.datasource.read.incr.skip_compact"
	optSkipClu    = "hoodie.datasource.read.incr.skip_cluster"
	optChangeMode = "hoodie.table.cdc.supplemental.logging.mode"
)

// earliest is the start of a read from the beginning of the table.
const earliest = "earliest"

// Query is a Spark read, parsed.
type Query struct {
	// Read holds what all queries share; its Type is that of the slices an incremental query reads.
	Read table.Query
	// Type is the query type as given: snapshot, read_optimized, incremental.
	Type        string
	Incremental *Incremental
	// Hints are about options that play no part, and ranges without a commit.
	Hints []Hint
	// paths are those of hoodie.datasource.read.paths, nil for all.
	paths []*readPath
}

// Incremental is a query for what a range of commits wrote.
type Incremental struct {
	// Begin and End bound the range; End is "" for the latest.
	Begin, End string
	// CDC asks for changes instead of the latest rows.
	CDC bool
	// Version forces the rules of a table version, 0 for the table's own.
	Version int
	// FullScan reads the whole table where files of the range are gone; nil for the default.
	FullScan *bool
	// Hollow is the policy for pending commits among completed ones: "", FAIL, BLOCK, USE_TRANSITION_TIME.
	Hollow string
	// Glob keeps files by their path; Filters are conditions on rows.
	Glob    string
	glob    *glob
	Filters []predicate.Expr
	// EndSchema takes the schema of the last commit of the range.
	EndSchema                      bool
	SkipCompaction, SkipClustering *bool
}

// useTransitionTime is the policy for pending commits that takes ranges below table version 8 by completion time.
const useTransitionTime = "USE_TRANSITION_TIME"

// ByRequestedTime reports whether the ends of the range are requested times, and not completion times, in a table of a
// version (spec queries.md section 5): below version 8, or where the rules of such a version are forced.
func (in *Incremental) ByRequestedTime(version int) bool {
	if in.Version > 0 {
		version = in.Version
	}
	return version < 8 && (in.CDC || in.Hollow != useTransitionTime)
}

// FlinkByRequestedTime is the same of the start and the end of Flink's reads, by the rules of a release.
func FlinkByRequestedTime(version int, rules *release.Rules) bool {
	return version < 8 && (rules.ByRequestedTime || !rules.Asked())
}

// Parse reads the options of Spark's reader. Options that are not known are refused.
func Parse(options map[string]string) (Query, error) {
	q := Query{Type: "snapshot"}
	rest := map[string]string{}
	var in Incremental
	var err error
	given := map[string]bool{}
	keys := make([]string, 0, len(options))
	for k := range options {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	bad := func(k, why string) (Query, error) { return q, &table.OptionError{Key: k, Value: options[k], Why: why} }
	for _, k := range keys {
		v := options[k]
		given[k] = true
		switch k {
		case optType, optView:
			q.Type = v
			if v == "realtime" {
				q.Type = "snapshot"
			}
			if v != "incremental" {
				rest[k] = v
			}
		case optFormat:
			switch strings.ToLower(v) {
			case "latest_state":
			case "cdc":
				in.CDC = true
			default:
				return bad(k, "the formats are latest_state and cdc")
			}
		case optBegin:
			if err := CheckBound(k, v, earliest); err != nil {
				return q, err
			}
			in.Begin = v
		case optEnd:
			if err := CheckBound(k, v); err != nil {
				return q, err
			}
			in.End = v
		case optGlob:
			in.Glob = v
			if in.glob, err = pathGlob(v); err != nil {
				return bad(k, err.Error()+"; a pattern is such as /2026/*/{a,b}-?[0-9]*")
			}
		case optPaths:
			if q.paths, err = parsePaths(v); err != nil {
				return bad(k, err.Error()+"; want paths or patterns, separated by commas, such as /table/2026,/table/2025/*/{a,b}")
			}
		case optFilters:
			if in.Filters, err = parseFilters(v); err != nil {
				return bad(k, err.Error())
			}
		case optFullScan, optEndSchema, optSkipCom, optSkipClu:
			b, err := strconv.ParseBool(strings.ToLower(v))
			if err != nil {
				return bad(k, "want true or false")
			}
			switch k {
			case optFullScan:
				in.FullScan = &b
			case optEndSchema:
				in.EndSchema = b
			case optSkipCom:
				in.SkipCompaction = &b
			case optSkipClu:
				in.SkipClustering = &b
			}
		case optVersion:
			if in.Version, err = strconv.Atoi(v); err != nil || in.Version < 0 || in.Version > 9 {
				return bad(k, "want a table version, 0 to 9")
			}
		case optHollow, optHollowOld:
			in.Hollow = strings.ToUpper(v)
			switch in.Hollow {
			case "FAIL", "BLOCK", useTransitionTime:
			default:
				return bad(k, "the policies are FAIL, BLOCK and USE_TRANSITION_TIME")
			}
		case optChangeMode:
			// The table's own; readers take it from hoodie.properties.
		default:
			rest[k] = v
		}
	}
	q.Read, err = table.ParseQuery(rest)
	if err != nil {
		var oe *table.OptionError
		if errors.As(err, &oe) && oe.Key != optType && oe.Key != optView {
			return q, err
		}
		if q.Type == "snapshot" || q.Type == "read_optimized" {
			return q, err
		}
		// An unknown query type: the relation decision refuses it by Hudi's own words.
		return q, nil
	}
	if q.Type != "incremental" {
		for _, k := range []string{optFormat, optBegin, optEnd, optGlob, optFilters, optFullScan, optVersion, optHollow, optHollowOld, optEndSchema, optSkipCom, optSkipClu} {
			if given[k] && !(k == optFormat && !in.CDC) {
				q.Hints = append(q.Hints, Hint{"An option plays no part", fmt.Sprintf("%s=%s is for incremental queries; this one is of type %s. %s=incremental asks for one.", k, options[k], q.Type, optType)})
			}
		}
		return q, nil
	}
	q.Incremental = &in
	q.Hints = checkRange(optBegin, in.Begin, optEnd, in.End)
	if in.Begin == "" {
		return q, &table.OptionError{Key: optBegin, Why: fmt.Sprintf("Specify the begin instant time to pull from using option %s", optBegin)}
	}
	return q, nil
}
