// Package config reads a table's .hoodie/hoodie.properties: what kind of table it is,
// by which rules its files are laid out, and how versions of a record are merged.
//
// Source of the rules: spec timeline.md sections 1 and 2, record-merging.md section 2.
package config

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"sort"
	"strconv"
	"strings"

	"hudiscope/core/corrupt"
	"hudiscope/core/storage"
)

// MetaDir is the folder that makes a directory a Hudi table.
const MetaDir = ".hoodie"

// The two files that hold the properties, in the order they are tried.
const (
	PropertiesFile = "hoodie.properties"
	BackupFile     = "hoodie.properties.backup"
)

// MaxVersion is the newest table version that this package knows.
const MaxVersion = 9

// maxFile bounds the size of a properties file. Real ones have some KiB; a create
// schema of thousands of columns makes a few hundred KiB.
const maxFile = 64 << 20

// ChecksumState says how hoodie.table.checksum compares with the table's name.
type ChecksumState string

// The states of a checksum.
const (
	ChecksumOK    ChecksumState = "ok"
	ChecksumWrong ChecksumState = "wrong"
	ChecksumNone  ChecksumState = "none"
)

// Checksum is the check of hoodie.table.checksum (spec timeline.md section 2.1).
type Checksum struct {
	State ChecksumState
	// Stored is the text in the file, Computed what the table's name gives.
	Stored   string
	Computed uint32
}

// String renders the state for people: "ok", "none" or "wrong: …".
func (c Checksum) String() string {
	if c.State == ChecksumWrong {
		return fmt.Sprintf("wrong: the file says %s, the table's name gives %d", c.Stored, c.Computed)
	}
	return string(c.State)
}

// Config is a table's configuration. It is immutable after Load.
type Config struct {
	// Root is the table's base path in its storage.Source: "" for the table itself,
	// ".hoodie/metadata" for its metadata table.
	Root string
	// File is the path of the file that was read, relative to the source.
	File string
	// Cut is a sentence where the file looks as if it had been cut, else "".
	Cut string
	// Checksum of that file. A file whose checksum is wrong is used only when there is no better one.
	Checksum Checksum
	// Props are the properties as stored.
	Props *Properties
	// Notes are remarks about how the file was found, in sentences.
	Notes []string

	// Version is the table version; VersionFrom is "" when it is stored, else a sentence
	// that says how it was inferred.
	Version     int
	VersionFrom string
	// TimelineLayout is 0, 1 or 2; TimelineLayoutFrom is "" when it is stored.
	TimelineLayout     int
	TimelineLayoutFrom string
}

// NotATable is the error for a place that holds no Hudi table.
type NotATable struct {
	// Location and Root say where was looked.
	Location, Root string
	// Found says what is there instead, Try what to do, both in a sentence.
	Found, Try string
	// Err is the storage's error, if any.
	Err error
}

// Error renders the finding in one line.
func (e *NotATable) Error() string {
	s := "not a Hudi table: " + where(e.Location, e.Root) + " has no " + MetaDir + "/" + PropertiesFile + "."
	if e.Found != "" {
		s += " " + e.Found
	}
	return s
}

// Unwrap returns the storage's error.
func (e *NotATable) Unwrap() error { return e.Err }

func where(location, root string) string {
	if root == "" {
		return location
	}
	if location == "" {
		return root
	}
	return strings.TrimSuffix(location, "/") + "/" + root
}

// maxLayout is the newest layout of the timeline that is known.
const maxLayout = 2

const layoutKey = "hoodie.timeline.layout.version"

// VersionError says that the table's version or table format is not one this package can read.
type VersionError struct {
	// Key is the property; Value is its text in File.
	Key, Value, File string
	// Line of the property in File.
	Line int
	// Try says what to do.
	Try string
}

// Error renders the finding in one line.
func (e *VersionError) Error() string {
	if e.Key == layoutKey {
		return fmt.Sprintf("%s, line %d: %s is %.40s; timeline layouts 0 to %d can be read", e.File, e.Line, e.Key, e.Value, maxLayout)
	}
	if _, err := strconv.Atoi(e.Value); err != nil {
		return fmt.Sprintf("%s, line %d: %s is %q, not a number from 0 to %d", e.File, e.Line, e.Key, e.Value, MaxVersion)
	}
	return fmt.Sprintf("%s, line %d: %s is %s; versions 0 to %d can be read", e.File, e.Line, e.Key, e.Value, MaxVersion)
}

// Load reads the properties of the table at root: hoodie.properties, else its backup
// when the first is absent, can't be parsed or has a wrong checksum.
//
// A place without a table gives a *NotATable. A version that is not known gives a
// *VersionError together with the Config, so that the table can still be described; in
// every other error the Config is nil.
func Load(ctx context.Context, src storage.Source, root string) (*Config, error) {
	var first error
	var wrong *Config
	for _, name := range []string{PropertiesFile, BackupFile} {
		path := join(root, MetaDir, name)
		data, err := storage.ReadAll(ctx, src, path, maxFile)
		if err != nil {
			if first == nil || storage.IsNotExist(first) && !storage.IsNotExist(err) {
				first = err
			}
			if !storage.IsNotExist(err) && ctx.Err() != nil {
				return nil, err
			}
			continue
		}
		c, err := parse(data, root, path)
		if err != nil {
			if first == nil || storage.IsNotExist(first) {
				first = err
			}
			continue
		}
		if c.Checksum.State == ChecksumWrong {
			if wrong == nil {
				wrong = c
			}
			continue
		}
		switch {
		case wrong != nil:
			c.Notes = append(c.Notes, "The checksum of "+wrong.File+" is "+wrong.Checksum.String()+"; the backup is used.")
		case first != nil && storage.IsNotExist(first):
			c.Notes = append(c.Notes, join(root, MetaDir, PropertiesFile)+" is absent; the backup is used (a writer was interrupted while it changed the file).")
		case first != nil:
			c.Notes = append(c.Notes, "The backup is used, because of: "+first.Error())
		}
		return c, c.infer(ctx, src)
	}
	if wrong != nil {
		wrong.Notes = append(wrong.Notes, "Hudi refuses this file: its checksum is "+wrong.Checksum.String()+". It is shown because there is no other.")
		return wrong, wrong.infer(ctx, src)
	}
	if storage.IsNotExist(first) {
		return nil, notATable(ctx, src, root, first)
	}
	return nil, first
}

func join(parts ...string) string {
	var out []string
	for _, p := range parts {
		if p != "" {
			out = append(out, p)
		}
	}
	return strings.Join(out, "/")
}

// Parse makes a Config of the bytes of a properties file, without a storage: file names
// it in errors. The version and layout are inferred from the properties alone.
func Parse(data []byte, file string) (*Config, error) {
	c, err := parse(data, "", file)
	if err != nil {
		return nil, err
	}
	return c, c.infer(context.Background(), nil)
}

func parse(data []byte, root, path string) (*Config, error) {
	p, err := ParseProperties(data)
	if err != nil {
		return nil, corrupt.InFile(err, path)
	}
	if len(p.Entries) == 0 {
		return nil, &corrupt.Error{File: path, Offset: corrupt.Unknown, Part: "properties", Want: "at least hoodie.table.name", Got: fmt.Sprintf("no property in %d bytes", len(data)),
			Try: "The file is empty or was cut: look for " + BackupFile + " beside it."}
	}
	c := &Config{Root: root, File: path, Props: p}
	if data[len(data)-1] != '\n' && data[len(data)-1] != '\r' {
		c.Cut = path + " does not end with the end of a line, as every writer leaves it: it may have been cut, and properties behind byte " + strconv.Itoa(len(data)) + " may be missing, such as how records are merged."
		c.Notes = append(c.Notes, c.Cut)
	}
	c.Checksum = Checksum{State: ChecksumNone, Computed: TableChecksum(c.Database(), c.TableName())}
	if s, ok := p.Lookup("hoodie.table.checksum"); ok {
		c.Checksum.Stored = s
		c.Checksum.State = ChecksumWrong
		if n, err := strconv.ParseUint(strings.TrimSpace(s), 10, 32); err == nil && uint32(n) == c.Checksum.Computed {
			c.Checksum.State = ChecksumOK
		}
	}
	switch t := c.Type(); t {
	case "COPY_ON_WRITE", "MERGE_ON_READ":
	default:
		e, _ := p.Entry("hoodie.table.type")
		return nil, &corrupt.Error{File: path, Offset: corrupt.Unknown, Part: fmt.Sprintf("hoodie.table.type (line %d)", e.Line), Want: "COPY_ON_WRITE or MERGE_ON_READ", Got: fmt.Sprintf("%q", t),
			Try: "Look for " + BackupFile + " beside the file."}
	}
	if c.TableName() == "" {
		c.Notes = append(c.Notes, "hoodie.table.name is missing.")
	}
	return c, nil
}

// TableChecksum is the value of hoodie.table.checksum for a table: CRC-32 (IEEE) of
// "database.table" in UTF-8. A table without database keeps the dot.
func TableChecksum(database, table string) uint32 {
	return crc32.ChecksumIEEE([]byte(database + "." + table))
}

// infer sets the version and the timeline layout. src is asked for .hoodie/timeline only
// when the file holds neither key; it may be nil.
func (c *Config) infer(ctx context.Context, src storage.Source) error {
	var verr error
	layout, hasLayout := c.number(layoutKey)
	if hasLayout && (layout < 0 || layout > maxLayout) {
		e, _ := c.Props.Entry(layoutKey)
		verr = &VersionError{Key: e.Key, Value: e.Value, File: c.File, Line: e.Line, Try: "Layouts 0, 1 and 2 are known; the table was written by a newer Hudi, or the file was edited."}
		hasLayout = false
	}
	if text, ok := c.Props.Lookup("hoodie.table.version"); ok {
		n, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil || n < 0 || n > MaxVersion {
			e, _ := c.Props.Entry("hoodie.table.version")
			ve := &VersionError{Key: e.Key, Value: text, File: c.File, Line: e.Line,
				Try: "The table was written by a Hudi newer than 1.2. Look for a newer release of this program, or read the table with that Hudi."}
			if err != nil || n < 0 {
				ve.Try = "Correct the property; a table version is a whole number from 0 on."
				n = -1 // no version at all
			}
			verr = ve
		}
		c.Version = n
	} else {
		switch {
		case hasLayout && layout >= 2:
			c.Version, c.VersionFrom = 8, "hoodie.table.version is missing; timeline layout 2 begins with version 8"
		case hasLayout && layout == 1:
			c.Version, c.VersionFrom = 1, "hoodie.table.version is missing; timeline layout 1 begins with version 1"
		default:
			c.Version, c.VersionFrom = 0, "hoodie.table.version and hoodie.timeline.layout.version are missing, as in the oldest tables"
		}
	}
	switch {
	case hasLayout:
		c.TimelineLayout = layout
	case c.Version < 0:
		// Nothing follows from what is no version.
	case c.VersionFrom == "":
		switch {
		case c.Version >= 8:
			c.TimelineLayout = 2
		case c.Version >= 1:
			c.TimelineLayout = 1
		}
		c.TimelineLayoutFrom = fmt.Sprintf("hoodie.timeline.layout.version is missing; table version %d has layout %d", c.Version, c.TimelineLayout)
	default:
		c.TimelineLayout = 1
		c.TimelineLayoutFrom = "hoodie.timeline.layout.version is missing; there is no " + MetaDir + "/timeline folder"
		if src != nil {
			if _, err := src.List(ctx, join(c.Root, MetaDir, "timeline")); err == nil {
				c.TimelineLayout, c.Version = 2, 8
				c.TimelineLayoutFrom = "hoodie.timeline.layout.version is missing; there is a " + MetaDir + "/timeline folder"
				c.VersionFrom = "hoodie.table.version is missing; a " + MetaDir + "/timeline folder begins with version 8"
			} else if ctx.Err() != nil {
				return ctx.Err()
			}
		}
	}
	return verr
}

func (c *Config) number(key string) (int, bool) {
	v, ok := c.Props.Lookup(key)
	if !ok {
		return 0, false
	}
	n, err := strconv.Atoi(strings.TrimSpace(v))
	return n, err == nil
}

// maxProbes bounds how many folders notATable looks into.
const maxProbes = 24

// notATable finds out what lies at root instead of a table.
func notATable(ctx context.Context, src storage.Source, root string, cause error) error {
	e := &NotATable{Location: src.Location(), Root: root, Err: cause}
	l, err := src.List(ctx, root)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if storage.IsNotExist(err) {
			e.Found = "Nothing is there."
			e.Try = "Check the address: the base path of a table is the folder that holds " + MetaDir + "."
		} else {
			e.Found = "The place could not be listed: " + strings.TrimSuffix(err.Error(), ".") + "."
			e.Try = "Check the address and the right to list it."
			var f *storage.Fault
			if errors.As(err, &f) && f.Try != "" {
				e.Try = f.Try
			}
		}
		return e
	}
	var dirs, files []string
	for _, x := range l.Entries {
		if x.Dir {
			dirs = append(dirs, x.Name)
		} else {
			files = append(files, x.Name)
		}
	}
	has := func(list []string, name string) bool {
		for _, n := range list {
			if n == name {
				return true
			}
		}
		return false
	}
	switch {
	case has(files, PropertiesFile):
		e.Found = "The folder holds " + PropertiesFile + " itself: it is the " + MetaDir + " folder of a table."
		e.Try = "Open the folder above."
		return e
	case has(dirs, MetaDir):
		e.Found = "There is a " + MetaDir + " folder, but no " + PropertiesFile + " and no backup in it" + describe(ctx, src, join(root, MetaDir)) + "."
		e.Try = "Copy the table again with its dot files; without the properties Hudi can't open it either."
		return e
	case has(dirs, "_delta_log"):
		e.Found, e.Try = "There is a _delta_log folder: it is a Delta Lake table.", "Open it with a Delta Lake reader."
		return e
	}
	for _, f := range files {
		if strings.HasPrefix(f, ".hoodie_partition_metadata") {
			e.Found = "The folder holds " + f + ": it is a partition of a Hudi table."
			e.Try = "Open the table's base path, some levels above."
			return e
		}
	}
	var tables []string
	probes := 0
	for _, d := range dirs {
		if strings.HasPrefix(d, ".") {
			continue
		}
		if probes++; probes > maxProbes {
			break
		}
		sub, err := src.List(ctx, join(root, d))
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			continue
		}
		for _, x := range sub.Entries {
			if x.Dir && x.Name == MetaDir {
				tables = append(tables, d)
			}
		}
	}
	switch {
	case len(tables) == 1:
		e.Found = "The folder " + tables[0] + " in it is a Hudi table."
		e.Try = "Open " + join(root, tables[0]) + "."
	case len(tables) > 1:
		e.Found = fmt.Sprintf("%d folders in it are Hudi tables: %s.", len(tables), some(tables))
		e.Try = "Open one of them, for example " + join(root, tables[0]) + "."
	case len(l.Entries) == 0:
		e.Found = "It is empty."
		e.Try = "Check the address: the base path of a table is the folder that holds " + MetaDir + "."
	default:
		e.Found = "It holds " + some(append(dirs, files...)) + "."
		e.Try = "Open the folder that holds " + MetaDir + "."
	}
	if !l.Complete {
		e.Found += " The listing is not complete"
		if l.Note != "" {
			e.Found += " (" + l.Note + ")"
		}
		e.Found += "."
		if len(tables) == 0 {
			e.Try = "The server hides names that begin with a dot, or the copy left them out: use a place that lists and serves them. " + e.Try
		}
	}
	return e
}

// describe says in a few words what a folder holds.
func describe(ctx context.Context, src storage.Source, dir string) string {
	l, err := src.List(ctx, dir)
	if err != nil {
		return ""
	}
	if len(l.Entries) == 0 {
		return ": it is empty"
	}
	var names []string
	for _, e := range l.Entries {
		names = append(names, e.Name)
	}
	return ": it holds " + some(names)
}

func some(names []string) string {
	const show = 5
	if len(names) <= show {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:show], ", ") + fmt.Sprintf(" and %d more", len(names)-show)
}

func (c *Config) str(key, def string) string {
	if v, ok := c.Props.Lookup(key); ok {
		if v = strings.TrimSpace(v); v != "" {
			return v
		}
	}
	return def
}

func (c *Config) boolean(key string, def bool) bool {
	switch strings.ToLower(c.str(key, "")) {
	case "true":
		return true
	case "":
		return def
	}
	return false
}

func (c *Config) list(key string) []string {
	var out []string
	for _, f := range strings.Split(c.Props.Get(key), ",") {
		if f = strings.TrimSpace(f); f != "" {
			out = append(out, f)
		}
	}
	return out
}

// first returns the value of the first of the keys that has a non-blank one, and that key.
func (c *Config) first(keys ...string) (value, key string) {
	for _, k := range keys {
		if v := c.str(k, ""); v != "" {
			return v, k
		}
	}
	return "", ""
}

// TableName is hoodie.table.name, "" when missing.
func (c *Config) TableName() string { return c.str("hoodie.table.name", "") }

// Database is hoodie.database.name, "" when missing.
func (c *Config) Database() string { return c.str("hoodie.database.name", "") }

// Type is COPY_ON_WRITE (the default) or MERGE_ON_READ, upper-cased as stored.
func (c *Config) Type() string {
	return strings.ToUpper(c.str("hoodie.table.type", "COPY_ON_WRITE"))
}

// MergeOnRead reports whether the table is MERGE_ON_READ.
func (c *Config) MergeOnRead() bool { return c.Type() == "MERGE_ON_READ" }

// BaseFormat is the base file format, upper-cased: PARQUET (default), ORC, HFILE, LANCE.
func (c *Config) BaseFormat() string {
	v, _ := c.first("hoodie.table.base.file.format", "hoodie.table.ro.file.format")
	if v == "" {
		v = "PARQUET"
	}
	return strings.ToUpper(v)
}

// BaseExtensions are the file name endings of base files: one, or all of Hudi's when the
// table may hold several formats.
func (c *Config) BaseExtensions() []string {
	if c.boolean("hoodie.table.multiple.base.file.formats.enable", false) {
		return []string{".parquet", ".orc", ".hfile", ".lance"}
	}
	return []string{"." + strings.ToLower(c.BaseFormat())}
}

// LogFormat is the log file format, upper-cased: HOODIE_LOG by default.
func (c *Config) LogFormat() string {
	v, _ := c.first("hoodie.table.log.file.format", "hoodie.table.rt.file.format")
	if v == "" {
		v = "HOODIE_LOG"
	}
	return strings.ToUpper(v)
}

// TableFormat is hoodie.table.format, "native" by default. Another value means an external
// table format plug-in, whose tables can't be read.
func (c *Config) TableFormat() string { return c.str("hoodie.table.format", "native") }

// MetaPath is the .hoodie folder, relative to the source.
func (c *Config) MetaPath() string { return join(c.Root, MetaDir) }

// TimelinePath is the folder of the active timeline, relative to the source.
func (c *Config) TimelinePath() string {
	if c.TimelineLayout < 2 {
		return c.MetaPath()
	}
	return join(c.MetaPath(), strings.Trim(c.str("hoodie.timeline.path", "timeline"), "/"))
}

// HistoryPath is the folder of the archived timeline of layout 2, relative to the source.
func (c *Config) HistoryPath() string {
	return join(c.TimelinePath(), strings.Trim(c.str("hoodie.timeline.history.path", "history"), "/"))
}

// ArchiveFolder is the folder of the archived timeline of layouts 0 and 1, relative to the
// source. Very old tables store an empty value: the archive then lies in .hoodie itself.
func (c *Config) ArchiveFolder() string {
	v, ok := c.Props.Lookup("hoodie.archivelog.folder")
	if !ok {
		v = "archived"
	}
	return join(c.MetaPath(), strings.Trim(strings.TrimSpace(v), "/"))
}

// RecordKeyFields are the record key columns; none means that _hoodie_record_key is the key.
func (c *Config) RecordKeyFields() []string { return c.list("hoodie.table.recordkey.fields") }

// PartitionFields are the partition columns in order, without the type that a custom key
// generator adds after a colon.
func (c *Config) PartitionFields() []string {
	fields := c.list("hoodie.table.partition.fields")
	for i, f := range fields {
		fields[i], _, _ = strings.Cut(f, ":")
	}
	return fields
}

// PartitionFieldTypes are the types that a custom key generator names after a colon
// ("SIMPLE", "TIMESTAMP"), in the order of PartitionFields; "" where there is none.
func (c *Config) PartitionFieldTypes() []string {
	fields := c.list("hoodie.table.partition.fields")
	for i, f := range fields {
		_, t, _ := strings.Cut(f, ":")
		fields[i] = strings.ToUpper(t)
	}
	return fields
}

// OrderingFields are the columns that order versions of a record (older name: precombine field).
func (c *Config) OrderingFields() []string {
	if f := c.list("hoodie.table.ordering.fields"); len(f) > 0 {
		return f
	}
	return c.list("hoodie.table.precombine.field")
}

// PopulateMetaFields reports whether rows carry the _hoodie_ columns.
func (c *Config) PopulateMetaFields() bool { return c.boolean("hoodie.populate.meta.fields", true) }

// HiveStyle reports whether partition folders are named column=value.
func (c *Config) HiveStyle() bool {
	return c.boolean("hoodie.datasource.write.hive_style_partitioning", false)
}

// URLEncode reports whether partition values are escaped in folder names.
func (c *Config) URLEncode() bool {
	return c.boolean("hoodie.datasource.write.partitionpath.urlencode", false)
}

// SlashSeparatedDates reports whether "-" in a partition value is written as "/".
func (c *Config) SlashSeparatedDates() bool {
	return c.boolean("hoodie.datasource.write.slash.separated.date.partitioning", false)
}

// DropPartitionColumns reports whether data files lack the partition columns.
func (c *Config) DropPartitionColumns() bool {
	return c.boolean("hoodie.datasource.write.drop.partition.columns", false)
}

// KeyGeneratorClass is the full class name of the key generator, "" when only its type is stored.
func (c *Config) KeyGeneratorClass() string { return c.str("hoodie.table.keygenerator.class", "") }

// KeyGeneratorType is the type of the key generator without an _AVRO ending: SIMPLE, COMPLEX,
// TIMESTAMP, CUSTOM, NON_PARTITION, GLOBAL_DELETE, …. It is derived from the class when that is
// stored (the class wins) and is one of Hudi's own; "" when nothing is known.
func (c *Config) KeyGeneratorType() string {
	if class := c.KeyGeneratorClass(); class != "" {
		name := class[strings.LastIndexByte(class, '.')+1:]
		types := map[string]string{
			"Simple": "SIMPLE", "Complex": "COMPLEX", "TimestampBased": "TIMESTAMP", "Custom": "CUSTOM",
			"Nonpartitioned": "NON_PARTITION", "NonPartitioned": "NON_PARTITION", "GlobalDelete": "GLOBAL_DELETE", "GlobalAvroDelete": "GLOBAL_DELETE", "AutoRecord": "AUTO_RECORD",
		}
		short := strings.TrimSuffix(strings.TrimSuffix(name, "KeyGenerator"), "Avro")
		if t, ok := types[short]; ok {
			return t
		}
		switch name {
		case "HoodieTableMetadataKeyGenerator":
			return "HOODIE_TABLE_METADATA"
		case "SqlKeyGenerator":
			return "SPARK_SQL"
		case "UuidKeyGenerator":
			return "SPARK_SQL_UUID"
		case "MergeIntoKeyGenerator":
			return "SPARK_SQL_MERGE_INTO"
		}
		return "USER_PROVIDED"
	}
	return strings.TrimSuffix(strings.ToUpper(c.str("hoodie.table.keygenerator.type", "")), "_AVRO")
}

// KeyGenerator names the key generator for people: the class without its package, else the type.
func (c *Config) KeyGenerator() string {
	if class := c.KeyGeneratorClass(); class != "" {
		return class[strings.LastIndexByte(class, '.')+1:]
	}
	return c.str("hoodie.table.keygenerator.type", "")
}

// TimeBased returns a setting of the timestamp key generator by its last words
// ("timestamp.type", "output.dateformat"), also under the older deltastreamer prefix.
func (c *Config) TimeBased(setting string) string {
	v, _ := c.first("hoodie.keygen.timebased."+setting, "hoodie.deltastreamer.keygen.timebased."+setting)
	return v
}

// MetadataPartitions are the partitions of the metadata table that readers may use, sorted.
func (c *Config) MetadataPartitions() []string {
	p := c.list("hoodie.table.metadata.partitions")
	sort.Strings(p)
	return p
}

// MetadataPartitionsInflight are the partitions of the metadata table that are being built.
func (c *Config) MetadataPartitionsInflight() []string {
	p := c.list("hoodie.table.metadata.partitions.inflight")
	sort.Strings(p)
	return p
}

// IndexDefinitionsPath is the path of the index definitions, relative to the source.
func (c *Config) IndexDefinitionsPath() string {
	return join(c.Root, strings.Trim(c.str("hoodie.table.index.defs.path", MetaDir+"/.index_defs/index.json"), "/"))
}

// CDC is the supplemental logging mode, upper-cased (OP_KEY_ONLY, DATA_BEFORE,
// DATA_BEFORE_AFTER), or "" when change data capture is off.
func (c *Config) CDC() string {
	if !c.boolean("hoodie.table.cdc.enabled", false) {
		return ""
	}
	return strings.ToUpper(c.str("hoodie.table.cdc.supplemental.logging.mode", "DATA_BEFORE_AFTER"))
}

// BootstrapBasePath is the (absolute) path of the source of a bootstrapped table, else "".
func (c *Config) BootstrapBasePath() string { return c.str("hoodie.bootstrap.base.path", "") }

// BootstrapIndex reports whether the bootstrap index may be used.
func (c *Config) BootstrapIndex() bool { return c.boolean("hoodie.bootstrap.index.enable", true) }

// CreateSchema is the Avro schema the table was created with, as JSON text, "" when not stored.
func (c *Config) CreateSchema() string { return c.str("hoodie.table.create.schema", "") }

// PartialUpdateMode is hoodie.table.partial.update.mode (version 9), upper-cased, else "".
func (c *Config) PartialUpdateMode() string {
	return strings.ToUpper(c.str("hoodie.table.partial.update.mode", ""))
}

const mergePropertyPrefix = "hoodie.record.merge.property."

// MergeProperties are the properties below hoodie.record.merge.property., without that prefix.
func (c *Config) MergeProperties() map[string]string {
	out := map[string]string{}
	for k, v := range c.Props.Map() {
		if name, ok := strings.CutPrefix(k, mergePropertyPrefix); ok {
			out[name] = v
		}
	}
	return out
}

// UTC reports whether instants are in UTC. Otherwise they are in the writer's zone, which is not recorded.
func (c *Config) UTC() bool {
	return strings.EqualFold(c.str("hoodie.table.timeline.timezone", "LOCAL"), "UTC")
}
