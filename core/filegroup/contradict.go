package filegroup

import (
	"fmt"
	"slices"
	"strings"

	"hudiscope/core/config"
)

// A property that contradicts the table's files is followed, as Hudi does: which files count and which are
// read then differs from what the writer meant, and nothing else would tell. What contradicts it does.

// maxTwice bounds the properties that are told of because they are given twice.
const maxTwice = 5

// The titles of the findings of contradictions.
const (
	twiceTitle     = "A property is given twice"
	layoutTitle    = "Table version and timeline layout contradict each other"
	versionTitle   = "The table version contradicts another property"
	formatTitle    = "Base files are of another format than the table"
	noInstantTitle = "A table with files and no instant"
	// PassedOverTitle is the title of the finding of PassedOverLogs.
	PassedOverTitle = "Log files in a table that has none"
)

// baseExtensions are the endings of base files of all formats that Hudi has.
var baseExtensions = []string{".parquet", ".orc", ".hfile", ".lance"}

// contradictions finds what of hoodie.properties can't be right, by itself or by the files of the partitions.
func (v *View) contradictions(cfg *config.Config, files map[string]*partitionFiles) {
	twice := 0
	told := map[string]bool{}
	for _, e := range cfg.Props.Entries {
		last, _ := cfg.Props.Entry(e.Key)
		if last.Value == e.Value || told[e.Key] || twice == maxTwice {
			continue
		}
		twice++
		told[e.Key] = true
		v.finding("error", twiceTitle, fmt.Sprintf("%s has %s twice: %s in line %d, and %s in line %d. The last one counts, as in Hudi, which writes every key once: the file was edited, and the other value may be the right one.", cfg.File, e.Key, printed(e.Value), e.Line, printed(last.Value), last.Line), cfg.File)
	}
	if cfg.VersionFrom == "" && cfg.TimelineLayoutFrom == "" && cfg.Version >= 0 && (cfg.Version >= 8) != (cfg.TimelineLayout >= 2) {
		v.finding("error", layoutTitle, fmt.Sprintf("%s has hoodie.table.version=%d and hoodie.timeline.layout.version=%d: tables have layout 2 from version 8 on, and none has it before. Which log files are read, and where instants are looked for, is decided by these two: one of them is wrong.", cfg.File, cfg.Version, cfg.TimelineLayout), cfg.File)
	}
	if key := later(cfg); key != "" {
		v.finding("error", versionTitle, fmt.Sprintf("%s has hoodie.table.version=%d and %s, which tables have from version 9 on and which is not looked at before: versions of a record may be merged by another rule than the writer's.", cfg.File, cfg.Version, key), cfg.File)
	}
	exts := cfg.BaseExtensions()
	passed, data, example := 0, 0, ""
	for _, p := range files {
		data += len(p.bases) + len(p.logs)
		for i := range p.other {
			n, ok := otherFormat(p.other[i].Name)
			if !ok || slices.Contains(exts, n.Ext) || !v.completed(n.Instant) {
				continue
			}
			passed++
			if example == "" || p.other[i].Path < example {
				example = p.other[i].Path
			}
		}
	}
	if passed > 0 {
		v.finding("error", formatTitle, fmt.Sprintf("hoodie.table.base.file.format is %s in %s, so that only files that end in %s are base files. %d files of completed instants are named as base files of another format, among them %s: they are passed over, as Hudi does, and their rows are missing. hoodie.table.base.file.format may be wrong.", cfg.BaseFormat(), cfg.File, exts[0], passed, example), example)
	}
	if data+passed > 0 && len(v.Timeline.Instants) == 0 && v.Timeline.Note == "" {
		v.finding("error", noInstantTitle, fmt.Sprintf("%s has no instant, but the partitions have files of %d file groups: without instants none of them counts. hoodie.table.version=%d and hoodie.timeline.layout.version=%d in %s, with hoodie.timeline.path, say that the timeline is there; they may be wrong, or its files are gone.", v.Timeline.Dir, data+passed, cfg.Version, cfg.TimelineLayout, cfg.File), v.Timeline.Dir)
	}
}

// later is a property that a table of a version below 9 does not have: a downgrade removes it. "" when there is none.
func later(cfg *config.Config) string {
	if cfg.VersionFrom != "" || cfg.Version < 0 || cfg.Version >= 9 {
		return ""
	}
	for _, e := range cfg.Props.Entries {
		if e.Key == "hoodie.table.partial.update.mode" || e.Key == "hoodie.table.legacy.payload.class" || strings.HasPrefix(e.Key, "hoodie.record.merge.property.") {
			return e.Key
		}
	}
	return ""
}

// otherFormat parses the name of a base file of any format.
func otherFormat(name string) (BaseName, bool) {
	n, ok := ParseBaseName(name)
	return n, ok && !strings.HasPrefix(name, ".") && slices.Contains(baseExtensions, n.Ext)
}

// PassedOverBases are the instants of the newest base files of a partition that belong to no file group because they are of
// another format than the table, by file id.
func (v *View) PassedOverBases(partition string) map[string]string {
	p := v.byPartition[partition]
	if p == nil {
		return nil
	}
	var out map[string]string
	for i := range p.Other {
		if n, ok := otherFormat(p.Other[i].Name); ok && !strings.HasPrefix(p.Other[i].Why, OtherBase) {
			if out == nil {
				out = map[string]string{}
			}
			out[n.FileID] = max(out[n.FileID], n.Instant)
		}
	}
	return out
}

func printed(value string) string {
	const most = 60
	if r := []rune(value); len(r) > most {
		value = string(r[:most]) + "…"
	}
	return fmt.Sprintf("%q", value)
}

// PassedOverLogs says that a snapshot as of an instant leaves log files out because hoodie.table.type says that the table
// has none; "" when it leaves none out. A table that was made COPY_ON_WRITE later was compacted before, so that its newest slices have none.
func (v *View) PassedOverLogs(cfg *config.Config, asOf string) (detail, example string) {
	if cfg.MergeOnRead() || asOf == "" {
		return "", ""
	}
	groups, logs := 0, 0
	for _, p := range v.Partitions {
		for _, s := range v.LatestMergedSlicesBeforeOrOn(p.Path, asOf) {
			if n := s.DataLogs(); len(n) > 0 {
				groups++
				logs += len(n)
				if example == "" {
					example = n[0].Path
				}
			}
		}
	}
	if groups == 0 {
		return "", ""
	}
	return fmt.Sprintf("hoodie.table.type is COPY_ON_WRITE in %s, and such a table has no log files. %d log files of %d file groups, among them %s, are passed over, as Hudi does: rows and newer values in them are missing, and rows that they delete are shown. hoodie.table.type may be wrong.", cfg.File, logs, groups, example), example
}

// Contradictions are the findings of the view that say that hoodie.properties can't be right, in sentences, for reads of files that
// are not chosen by a snapshot.
func (v *View) Contradictions() []string {
	var out []string
	for i := range v.Findings {
		switch f := &v.Findings[i]; f.Title {
		case twiceTitle, layoutTitle, versionTitle, formatTitle, noInstantTitle, PassedOverTitle:
			out = append(out, f.Title+". "+f.Detail)
		}
	}
	return out
}
