package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"hudiscope/core/api"
	"hudiscope/core/explorer"
)

// printJSON writes a value as indented JSON.
func (e *environment) printJSON(v any) error {
	enc := json.NewEncoder(e.stdout)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	return enc.Encode(v)
}

// columns returns a writer that lines up tab-separated cells.
func columns(w io.Writer) *tabwriter.Writer { return tabwriter.NewWriter(w, 2, 8, 2, ' ', 0) }

func runOverview(ctx context.Context, e *environment, args []string) error {
	t, err := e.table(args, 1)
	if err != nil {
		return err
	}
	o, err := e.svc.Overview(ctx, api.OverviewRequest{Table: t})
	if err != nil {
		return err
	}
	if e.flags.json {
		return e.printJSON(o)
	}
	w := columns(e.stdout)
	fmt.Fprintf(w, "kind\t%s\n", o.Kind)
	fmt.Fprintf(w, "name\t%s\n", o.Name)
	if o.Kind == "table" && o.Readable {
		fmt.Fprintf(w, "version\t%d %s\n", o.Version, o.VersionFrom)
		fmt.Fprintf(w, "type\t%s\n", o.Type)
		fmt.Fprintf(w, "base format\t%s\n", o.BaseFormat)
		fmt.Fprintf(w, "merge mode\t%s (from %s: %s)\n", o.Merge.Mode, o.Merge.From, o.Merge.Why)
		fmt.Fprintf(w, "record key\t%s\n", strings.Join(o.RecordKeys, ", "))
		fmt.Fprintf(w, "partitioned by\t%s\n", strings.Join(o.Partitions, ", "))
		fmt.Fprintf(w, "ordered by\t%s\n", strings.Join(o.Merge.OrderingFields, ", "))
	}
	for _, s := range o.Support {
		fmt.Fprintf(w, "%s\t%s: %s\n", map[string]string{"no": "can't read", "part": "reads in part", "note": "note"}[s.Level], s.What, s.Note)
	}
	return w.Flush()
}

func runConfig(ctx context.Context, e *environment, args []string) error {
	t, err := e.table(args, 1)
	if err != nil {
		return err
	}
	c, err := e.svc.Config(ctx, api.ConfigRequest{Table: t})
	if err != nil {
		return err
	}
	if e.flags.json {
		return e.printJSON(c.Properties)
	}
	for _, k := range sortedKeys(c.Properties) {
		fmt.Fprintf(e.stdout, "%s=%s\n", k, c.Properties[k])
	}
	fmt.Fprintf(e.stderr, "from %s, checksum %s\n", c.File, c.Checksum)
	return nil
}

// instantJSON is one instant in the shape of Hudi's own listing.
type instantJSON struct {
	Timestamp  string `json:"timestamp"`
	Action     string `json:"action"`
	State      string `json:"state"`
	Completion string `json:"completion_time,omitempty"`
	File       string `json:"file,omitempty"`
}

func instants(in []api.Instant) []instantJSON {
	out := make([]instantJSON, 0, len(in))
	for _, i := range in {
		out = append(out, instantJSON{i.Requested, i.Action, i.State, i.Completed, i.File})
	}
	return out
}

func runTimeline(ctx context.Context, e *environment, args []string) error {
	t, err := e.table(args, 1)
	if err != nil {
		return err
	}
	a, err := e.svc.Timeline(ctx, api.TimelineRequest{Table: t, Archived: true})
	if err != nil {
		return err
	}
	if a.ArchivedNote != "" {
		fmt.Fprintf(e.stderr, "hudiscope: archived instants are left out: %s\n", a.ArchivedNote)
	}
	for _, f := range a.Finding {
		fmt.Fprintf(e.stderr, "hudiscope: %s: %s: %s\n", f.Level, f.Title, f.Detail)
	}
	if e.flags.json {
		return e.printJSON(map[string]any{"active": instants(a.Active), "archived": instants(a.Archived)})
	}
	w := columns(e.stdout)
	fmt.Fprintln(w, "REQUESTED\tCOMPLETED\tACTION\tSTATE\tFILE")
	for _, list := range [][]api.Instant{a.Archived, a.Active} {
		for _, i := range list {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", i.Requested, i.Completed, i.Action, i.State, i.File)
		}
	}
	return w.Flush()
}

func runCommits(ctx context.Context, e *environment, args []string) error {
	t, err := e.table(args, 1)
	if err != nil {
		return err
	}
	c, err := e.svc.Commits(ctx, api.CommitsRequest{Table: t})
	if err != nil {
		return err
	}
	return e.printJSON(c)
}

func runInstant(ctx context.Context, e *environment, args []string) error {
	if len(args) != 2 {
		return usageError("which TABLE and INSTANT?")
	}
	d, err := e.svc.Instant(ctx, api.InstantRequest{Table: api.Table{Location: args[0], Hudi: e.flags.hudi}, Requested: args[1]})
	if err != nil {
		return err
	}
	if !e.flags.json {
		return e.printInstant(d)
	}
	return e.printJSON(d)
}

func runSlices(ctx context.Context, e *environment, args []string) error {
	t, err := e.table(args, 1)
	if err != nil {
		return err
	}
	if e.flags.json {
		s, err := e.svc.Slices(ctx, api.SlicesRequest{Table: t})
		if err != nil {
			return err
		}
		return e.printJSON(s)
	}
	f, err := e.svc.Files(ctx, api.FilesRequest{Table: t})
	if err != nil {
		return err
	}
	w := columns(e.stdout)
	fmt.Fprintln(w, "PARTITION\tFILE ID\tBASE INSTANT\tBASE BYTES\tLOGS\tLOG BYTES\t")
	for _, p := range f.Partitions {
		for _, g := range p.Groups {
			for _, s := range g.Slices {
				base, logs := "-", int64(0)
				if s.Base != nil {
					base = size(s.Base.Size)
				}
				for _, l := range s.Logs {
					if l.Size < 0 {
						logs = -1
						break
					}
					logs += l.Size
				}
				note := ""
				switch {
				case g.ReplacedBy != "":
					note = "replaced by " + g.ReplacedBy
				case !s.Committed:
					note = "not committed"
				case s.Latest:
					note = "latest"
				}
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\t%s\t%s\n", p.Partition, g.FileID, s.BaseInstant, base, len(s.Logs), size(logs), note)
			}
		}
	}
	return w.Flush()
}

// size writes a byte count that the listing may not have told.
func size(n int64) string {
	if n < 0 {
		return "?"
	}
	return fmt.Sprint(n)
}

// blockJSON is one block in the shape of the gold answers.
type blockJSON struct {
	Type            string             `json:"type,omitempty"`
	ContentPosition int64              `json:"content_position"`
	ContentSize     int64              `json:"content_size"`
	BlockEnd        int64              `json:"block_end"`
	Header          map[string]string  `json:"header"`
	Footer          map[string]string  `json:"footer"`
	RecordCount     *int64             `json:"record_count,omitempty"`
	Keys            *[]*string         `json:"keys,omitempty"`
	Positions       []uint64           `json:"record_positions,omitempty"`
	Deletes         []api.DeleteRecord `json:"deletes,omitempty"`
	Command         string             `json:"command,omitempty"`
	Corrupt         string             `json:"corrupt,omitempty"`
	Fate            string             `json:"fate,omitempty"`
}

// goldKeys is how many record keys of a block are listed.
const goldKeys = 400

func runBlocks(ctx context.Context, e *environment, args []string) error {
	t, err := e.table(args, 2)
	if err != nil {
		return err
	}
	req := api.BlocksRequest{Table: t, All: len(args) < 2, Offset: int(e.flags.offset), Limit: int(e.flags.limit)}
	if len(args) == 2 {
		req.File = args[1]
	}
	var visit explorer.BlockVisitor
	var end func() error
	if e.flags.json {
		visit, end = e.blocksJSON(ctx, t)
	} else {
		visit, end = e.blocksText()
	}
	a, err := e.svc.EachBlock(ctx, req, visit)
	if err != nil {
		return err
	}
	if err := end(); err != nil {
		return err
	}
	if last := a.Offset + req.Limit; req.Limit > 0 && last < a.Total {
		fmt.Fprintf(e.stderr, "hudiscope: %d of %d blocks; --offset %d has the next ones\n", req.Limit, a.Total, last)
	}
	return nil
}

// alignBlocks is how many lines of blocks are lined up with each other.
const alignBlocks = 1000

// blocksText prints blocks as lines below the path of their file.
func (e *environment) blocksText() (explorer.BlockVisitor, func() error) {
	w, n := columns(e.stdout), 0
	return explorer.BlockVisitor{
		File: func(f *api.LogFile) error {
			_, err := fmt.Fprintln(e.stdout, f.File.Path)
			return err
		},
		Block: func(_ *api.LogFile, b *api.Block) error {
			fmt.Fprintf(w, "  %d\t%s\t%d..%d\tinstant %s\trecords %d\t%s\t%s\n", b.Index, b.Type, b.Start, b.End, b.Instant, b.Records, b.Fate, b.FateWhy)
			if n++; n%alignBlocks == 0 {
				return w.Flush()
			}
			return nil
		},
		End: func(f *api.LogFile) error {
			if err := w.Flush(); err != nil {
				return err
			}
			n = 0
			if f.Fault != nil {
				fmt.Fprintf(e.stdout, "  %s\n", f.Fault.Error())
			}
			return nil
		},
	}, func() error { return nil }
}

// blocksJSON prints an object of lists of blocks by file, each block as soon as it was read: as printJSON would
// print the whole.
func (e *environment) blocksJSON(ctx context.Context, t api.Table) (explorer.BlockVisitor, func() error) {
	files, blocks := 0, 0
	item := func(v any) error {
		text, err := indented(v, "  ")
		if err != nil {
			return err
		}
		before := ",\n  "
		if blocks++; blocks == 1 {
			before = "\n  "
		}
		_, err = fmt.Fprintf(e.stdout, "%s%s", before, text)
		return err
	}
	return explorer.BlockVisitor{
			File: func(f *api.LogFile) error {
				before := ",\n "
				if files++; files == 1 {
					before = "{\n "
				}
				blocks = 0
				name, err := indented(f.File.Path, "")
				if err != nil {
					return err
				}
				_, err = fmt.Fprintf(e.stdout, "%s%s: [", before, name)
				return err
			},
			Block: func(f *api.LogFile, b *api.Block) error {
				j, err := e.blockJSON(ctx, t, f, b)
				if err != nil {
					return err
				}
				return item(j)
			},
			End: func(f *api.LogFile) error {
				if f.Fault != nil {
					if err := item(map[string]string{"error": f.Fault.Error()}); err != nil {
						return err
					}
				}
				after := "\n ]"
				if blocks == 0 {
					after = "]"
				}
				_, err := fmt.Fprint(e.stdout, after)
				return err
			},
		}, func() error {
			after := "\n}\n"
			if files == 0 {
				after = "{}\n"
			}
			_, err := fmt.Fprint(e.stdout, after)
			return err
		}
}

// indented is a value as printJSON writes it, for a place at an indentation.
func indented(v any, prefix string) (string, error) {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent(prefix, " ")
	err := enc.Encode(v)
	return strings.TrimSuffix(b.String(), "\n"), err
}

// blockJSON reads what a block holds.
func (e *environment) blockJSON(ctx context.Context, t api.Table, f *api.LogFile, b *api.Block) (*blockJSON, error) {
	j := &blockJSON{Type: b.Type, ContentPosition: b.ContentOffset, ContentSize: b.ContentSize, BlockEnd: b.End,
		Header: entries(b.Header), Footer: entries(b.Footer), Command: b.Command, Corrupt: b.Corrupt, Fate: b.Fate}
	if b.Type == "COMMAND_BLOCK" || b.Type == "CORRUPT_BLOCK" {
		return j, nil
	}
	d, err := e.svc.Block(ctx, api.BlockRequest{Table: t, File: f.File.Path, Index: b.Index, Limit: goldKeys})
	if err != nil {
		return nil, err
	}
	if d.Fault != nil {
		j.Corrupt = d.Fault.Message
	}
	if d.Fault == nil {
		total := d.Total
		j.RecordCount = &total
	}
	j.Deletes = d.Deletes
	if d.Records != nil {
		keys := append([]*string{}, d.Keys...)
		j.Keys = &keys
	}
	j.Positions = d.Positions
	return j, nil
}

func entries(in []api.HeaderEntry) map[string]string {
	out := map[string]string{}
	for _, h := range in {
		out[h.Key] = h.Value
	}
	return out
}

func runSchema(ctx context.Context, e *environment, args []string) error {
	t, err := e.table(args, 1)
	if err != nil {
		return err
	}
	s, err := e.svc.Schema(ctx, api.SchemaRequest{Table: t})
	if err != nil {
		return err
	}
	if e.flags.json {
		return e.printJSON(s.Avro)
	}
	w := columns(e.stdout)
	for _, c := range s.Columns {
		fmt.Fprintf(w, "%s\t%s\n", c.Name, c.Type)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(e.stderr, "from %s\n", s.From)
	return nil
}
