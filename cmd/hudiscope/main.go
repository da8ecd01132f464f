// Command hudiscope reads Apache Hudi tables: their timeline, file slices, log blocks and rows.
//
// TABLE is a directory, a .zip of one, an http(s) URL of one, a prefix of an object store (s3://,
// gs://, abfss://), a single log file, or a JSON bundle of presigned URLs. Run "hudiscope help" for the commands.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"hudiscope/core/api"
	"hudiscope/core/config"
	"hudiscope/core/explorer"
	"hudiscope/core/handoff"
	"hudiscope/core/release"
)

// Exit statuses.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

type command struct {
	name, usage, about string
	run                func(ctx context.Context, env *environment, args []string) error
}

// environment is what a command works with.
type environment struct {
	svc    *explorer.Service
	stdout io.Writer
	stderr io.Writer
	flags  flags
}

// flags are the options that most commands share.
type flags struct {
	json    bool
	cost    bool
	format  string
	hudi    string
	options optionMap
	limit   int64
	offset  int64
	dir     string
	addr    string
	cors    string
	prefix  string
	// truncate and vertical shape tables of rows; batch and seen are for Flink's reads.
	truncate int
	vertical bool
	batch    bool
	seen     string
	memory   byteSize
	// engine and flink are of handoff, out of export; partitions and fileID limit the rows of both.
	engine, out string
	flink       bool
	partitions  stringList
	fileID      string
	// byPrefix, everywhere and records are of history and scan.
	byPrefix, everywhere, records bool

	steps     stepFlags
	condition conditionFlags
	order     orderFlags
	services  serviceFlags
	stores    storeFlags
}

// optionMap collects -o KEY=VALUE.
type optionMap map[string]string

func (o optionMap) String() string { return "" }

func (o optionMap) Set(s string) error {
	k, v, ok := strings.Cut(s, "=")
	if !ok || k == "" {
		return fmt.Errorf("want KEY=VALUE, got %q", s)
	}
	o[k] = v
	return nil
}

// stringList collects a flag that is given several times.
type stringList []string

func (l *stringList) String() string { return "" }

func (l *stringList) Set(s string) error {
	*l = append(*l, s)
	return nil
}

var commands = []command{
	{"serve", "serve [TABLE…]", "serve the explorer (and tables, same-origin) on http://localhost:8080", runServe},
	{"overview", "overview TABLE", "say what the table is and whether all of it can be read", runOverview},
	{"config", "config TABLE", "print hoodie.properties", runConfig},
	{"timeline", "timeline TABLE", "list the instants", runTimeline},
	{"commits", "commits TABLE", "print the metadata of completed commits", runCommits},
	{"instant", "instant TABLE INSTANT", "print everything an instant's files say", runInstant},
	{"slices", "slices TABLE", "list partitions, file groups and file slices", runSlices},
	{"blocks", "blocks TABLE [LOGFILE]", "list every block of every log file", runBlocks},
	{"schema", "schema TABLE", "print the table schema (Avro)", runSchema},
	{"rows", "rows TABLE", "print the rows a query reads", runRows},
	{"export", "export TABLE --format FORMAT", "write the rows a query reads as JSON Lines, CSV or Parquet", runExport},
	{"handoff", "handoff TABLE", "print code that reads the rows of a query with Spark, Flink, Trino and hudi-rs", runHandoff},
	{"history", "history TABLE KEY", "print every version of a record, in merge order, and why it won or lost", runHistory},
	{"scan", "scan TABLE [PARTITION FILEID [BASE_INSTANT] | LOGFILE]", "print the scan of a slice's log files, step by step", runScan},
	{"anatomy", "anatomy TABLE FILE", "print the parts of a base file: row groups, columns, pages, footer, with offsets and statistics", runAnatomy},
	{"health", "health TABLE", "check the table; exit status 3 with warnings, 4 with errors", runHealth},
	{"compare", "compare TABLE A B", "tell how schema, files and rows changed from instant A to B", runCompare},
	{"relations", "relations TABLE", "list which instants act on which (rollbacks, cleans, compactions)", runRelations},
	{"housekeeping", "housekeeping TABLE", "list markers, heartbeats, locks, backups and what they mean", runHousekeeping},
	{"metadata", "metadata TABLE [PARTITION [KEY…]]", "print the records of the metadata table", runMetadata},
	{"plan", "plan TABLE", "print what a Spark read will do: relation, instants, slices, tasks", runPlan},
	{"stream", "stream TABLE", "print the rows that Flink's streaming read gives, with their kinds", runStream},
	{"manifest", "manifest TABLE", "write hudi-manifest.json, the list of the table's files for web servers without listings", runManifest},
	{"bundle", "bundle s3://BUCKET/PREFIX", "write presigned URLs of all files of a table, for whoever has no keys", runBundle},
	{"splits", "splits TABLE", "print the splits that Flink's read is planned in", runSplits},
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	out := &sticky{to: os.Stdout}
	code := run(ctx, os.Args[1:], visible(os.Stdout, out), visible(os.Stderr, os.Stderr))
	stop()
	if out.err != nil && code == exitOK {
		// Whoever reads the status must not take half an answer for a whole one.
		fmt.Fprintf(os.Stderr, "hudiscope: what was written is not whole: %v\n", out.err)
		code = exitFailed
	}
	os.Exit(code)
}

// sticky remembers the first error of writing, for what prints without looking.
type sticky struct {
	to  io.Writer
	err error
}

// Write implements io.Writer.
func (s *sticky) Write(p []byte) (int, error) {
	n, err := s.to.Write(p)
	if err != nil && s.err == nil {
		s.err = err
	}
	return n, err
}

// run is main without the process: it returns the exit status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if len(args) == 0 {
		usage(stdout)
		return exitUsage
	}
	switch args[0] {
	case "help", "-h", "-help", "--help":
		if len(args) > 1 {
			return run(ctx, []string{args[1], "-h"}, stdout, stdout)
		}
		usage(stdout)
		return exitOK
	case "version", "--version":
		fmt.Fprintln(stdout, version())
		return exitOK
	}
	cmd := commandNamed(args[0])
	if cmd == nil {
		if strings.HasPrefix(args[0], "-") {
			fmt.Fprintf(stderr, "hudiscope: the command comes first, then %s\n", args[0])
		} else {
			fmt.Fprintf(stderr, "hudiscope: there is no command %q\n", args[0])
		}
		usage(stderr)
		return exitUsage
	}
	env := &environment{stdout: stdout, stderr: stderr, flags: flags{options: optionMap{}}}
	fs := flag.NewFlagSet(cmd.name, flag.ContinueOnError)
	fs.SetOutput(stderr)
	fs.Usage = func() {
		fmt.Fprintf(stderr, "usage: hudiscope %s [flags]\n%s\n", cmd.usage, cmd.about)
		fs.PrintDefaults()
	}
	env.flags.register(cmd.name, fs)
	switch cmd.name {
	case "rows", "stream":
		fs.StringVar(&env.flags.format, "format", "", "jsonl, csv or table (default table; jsonl with --json)")
		fs.IntVar(&env.flags.truncate, "truncate", 20, "--format table: cut cells to this many characters (0 = whole, aligned left)")
		fs.BoolVar(&env.flags.vertical, "vertical", false, "--format table: print one line per cell")
	}
	switch cmd.name {
	case "stream", "splits":
		fs.BoolVar(&env.flags.batch, "batch", false, "read once, and not as a stream until nothing is new")
		fs.StringVar(&env.flags.seen, "seen", "", "look at the table as of this completion `time`")
	}
	switch cmd.name {
	case "export", "handoff":
		fs.Var(&env.flags.partitions, "partition", "only rows of this partition `path`; repeatable")
		fs.StringVar(&env.flags.fileID, "file-id", "", "only rows of the file group of this `id`")
	}
	switch cmd.name {
	case "export":
		fs.StringVar(&env.flags.format, "format", "", "jsonl, csv or parquet")
		fs.StringVar(&env.flags.out, "out", "-", "write to this `file`, - for standard output")
		fs.BoolVar(&env.flags.flink, "flink", false, "write the rows of a read of Flink's, whose options -o are")
		fs.BoolVar(&env.flags.batch, "batch", false, "--flink: read once, and not as a stream until nothing is new")
		fs.StringVar(&env.flags.seen, "seen", "", "--flink: look at the table as of this completion `time`")
	case "handoff":
		fs.StringVar(&env.flags.engine, "engine", "", "print the code for one `engine` only: "+strings.Join(handoff.Engines(), ", "))
		fs.BoolVar(&env.flags.flink, "flink", false, "the options (-o) are Flink's")
		fs.BoolVar(&env.flags.batch, "batch", false, "--flink: read once, and not as a stream")
		fs.StringVar(&env.flags.seen, "seen", "", "--flink: look at the table as of this completion `time`")
	}
	if cmd.name == "metadata" {
		fs.StringVar(&env.flags.prefix, "prefix", "", "only records of the PARTITION whose key begins with this `text`")
	}
	if cmd.name == "history" {
		fs.BoolVar(&env.flags.byPrefix, "prefix", false, "KEY is the beginning of record keys; --limit is how many (default 20)")
		fs.BoolVar(&env.flags.everywhere, "everywhere", false, "search every file group, also where the record index names one")
	}
	if cmd.name == "scan" {
		fs.BoolVar(&env.flags.records, "records", false, "print the merge of every record too; --limit bounds the steps (default 2000)")
	}
	if cmd.name == "serve" {
		fs.StringVar(&env.flags.addr, "addr", "localhost:8080", "listen on this `address`")
		fs.StringVar(&env.flags.dir, "app", "", "serve the app from this `directory` instead of the one built in")
		fs.StringVar(&env.flags.cors, "cors", "", "allow pages of this `origin` to read the tables (off by default)")
	}
	env.flags.steps.register(cmd.name, fs)
	env.flags.condition.register(cmd.name, fs)
	env.flags.order.register(cmd.name, fs)
	env.flags.services.register(cmd.name, fs)
	env.flags.stores.register(cmd.name, fs)
	rest, err := parse(fs, args[1:])
	if errors.Is(err, flag.ErrHelp) {
		return exitOK
	}
	if err != nil {
		return exitUsage
	}
	if err := env.flags.check(); err != nil {
		fmt.Fprintf(stderr, "hudiscope %s: %v\n", cmd.name, err)
		return exitUsage
	}
	options := env.flags.budgets()
	options.LocalPaths = true
	env.svc = explorer.New(env.flags.stores.open, options)
	began := time.Now()
	if env.flags.cost && len(rest) > 0 {
		ctx = env.svc.Traced(ctx, rest[0], cmd.name)
	}
	err = cmd.run(ctx, env, rest)
	if env.flags.cost && len(rest) > 0 {
		// What has failed has had its cost, too. It is told before the error, which is the last word.
		if c, failed := env.costOf(ctx, cmd.name, rest[0], began); failed == nil {
			env.told(c)
		}
	}
	if err != nil {
		var status exitStatus
		if errors.As(err, &status) {
			return int(status)
		}
		var u usageError
		if errors.As(err, &u) {
			fmt.Fprintf(stderr, "hudiscope %s: %s\nusage: hudiscope %s\n", cmd.name, string(u), cmd.usage)
			return exitUsage
		}
		f := explorer.ToFault(err)
		fmt.Fprintf(stderr, "hudiscope: %s\n", f.Error())
		env.flags.condition.mark(stderr, f)
		return exitFailed
	}
	return exitOK
}

// register defines the flags that several commands share; a command takes only those it heeds.
func (f *flags) register(name string, fs *flag.FlagSet) {
	switch name {
	case "serve", "manifest", "bundle":
	case "export":
		fs.BoolVar(&f.cost, "cost", false, costAbout)
		fs.StringVar(&f.hudi, "hudi", "", "read by the rules of this Hudi `release` (default: the right answer)")
	default:
		fs.BoolVar(&f.json, "json", false, "print JSON")
		fs.BoolVar(&f.cost, "cost", false, costAbout)
		fs.StringVar(&f.hudi, "hudi", "", "read by the rules of this Hudi `release` (default: the right answer)")
	}
	switch name {
	case "rows", "stream", "splits", "plan", "history", "export", "handoff":
		fs.Var(f.options, "o", "an engine's read option, `KEY=VALUE`; repeatable")
	}
	f.memory = 512 << 20
	switch name {
	case "rows", "stream", "history", "scan", "compare", "export":
		fs.Var(&f.memory, "memory", "merge a file slice's log records in memory of this `size`, such as 64MiB; what does not fit goes to a temporary file")
	}
	switch name {
	case "rows", "stream":
		fs.Int64Var(&f.limit, "limit", 0, "print at most this many rows (0 = all, or 20 of --format table)")
	case "export":
		fs.Int64Var(&f.limit, "limit", 0, "write at most this many rows (0 = all)")
	case "blocks":
		fs.Int64Var(&f.limit, "limit", 0, "print at most this many blocks (0 = all)")
		fs.Int64Var(&f.offset, "offset", 0, "leave out this many blocks at the beginning")
	case "history", "scan", "compare", "metadata", "plan", "handoff":
		fs.Int64Var(&f.limit, "limit", 0, "print at most this many (0 = the default)")
	}
}

const costAbout = "say on standard error what was asked of a remote storage, how long it took and how much memory"

// check refuses flags that make no sense, alone or together.
func (f *flags) check() error {
	if f.limit < 0 {
		return fmt.Errorf("--limit %d: want 0 or more", f.limit)
	}
	if f.json && f.format != "" && f.format != "jsonl" {
		return fmt.Errorf("--json prints jsonl, which --format %s is not", f.format)
	}
	return f.order.check()
}

func commandNamed(name string) *command {
	for i := range commands {
		if commands[i].name == name {
			return &commands[i]
		}
	}
	return nil
}

// version says what this program is.
func version() string {
	v := "(devel)"
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		v = info.Main.Version
	}
	return fmt.Sprintf("hudiscope %s, %s: reads table versions 0 to %d, by the rules of Hudi up to %s", v, runtime.Version(), config.MaxVersion, release.Default)
}

// parse takes flags before and after the positional arguments.
func parse(fs *flag.FlagSet, args []string) (rest []string, err error) {
	for {
		if err := fs.Parse(args); err != nil {
			return nil, err
		}
		args = fs.Args()
		if len(args) == 0 {
			return rest, nil
		}
		rest = append(rest, args[0])
		args = args[1:]
	}
}

// usageError is a mistake in the command line.
type usageError string

func (u usageError) Error() string { return string(u) }

func usage(w io.Writer) {
	fmt.Fprint(w, "hudiscope: open any Apache Hudi table and see what is really in it\n\nusage: hudiscope COMMAND TABLE [flags]\n\n"+
		"TABLE is a directory, a .zip of one, an http(s), s3://, gs:// or abfss:// URL, a single log file, or a JSON bundle of presigned URLs.\n\n")
	for _, c := range commands {
		fmt.Fprintf(w, "  %-38s %s\n", c.usage, c.about)
	}
	fmt.Fprint(w, "\n\"hudiscope help COMMAND\" lists the flags of a command; \"hudiscope version\" says what this is.\n")
}

// table returns the table argument of a request, and checks the count of arguments.
func (e *environment) table(args []string, most int) (api.Table, error) {
	if len(args) == 0 {
		return api.Table{}, usageError("which TABLE?")
	}
	if len(args) > most {
		return api.Table{}, usageError(fmt.Sprintf("unexpected argument %q", args[most]))
	}
	return api.Table{Location: args[0], Hudi: e.flags.hudi}, nil
}
