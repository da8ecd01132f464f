package explorer

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"sort"
	"strings"
	"time"

	"hudiscope/core/api"
	"hudiscope/core/commitmeta"
	"hudiscope/core/config"
	"hudiscope/core/storage"
	"hudiscope/core/timeline"
)

// Limits of looking below .hoodie: how deep, how many directories, how many names of one item.
const (
	maxHouseDepth = 8
	maxHouseDirs  = 2000
	maxHouseNames = 50
	maxMarkerFile = 16 << 20
)

// under lists a folder below .hoodie; a folder that is absent is empty.
func (h *handle) under(ctx context.Context, dir string) (storage.Listing, error) {
	l, err := h.src.List(ctx, strings.TrimSuffix(h.table.Config.MetaPath()+"/"+dir, "/"))
	if storage.IsNotExist(err) {
		return storage.Listing{Complete: true}, nil
	}
	return l, err
}

// heartbeats returns the last heartbeat of each writer that has one, by instant; the time is zero
// when the listing does not tell it.
func (h *handle) heartbeats(ctx context.Context) map[string]time.Time {
	out := map[string]time.Time{}
	l, err := h.under(ctx, ".heartbeat")
	if err != nil {
		return out
	}
	for _, e := range l.Entries {
		if !e.Dir && !strings.HasPrefix(e.Name, ".") {
			out[e.Name] = e.ModTime
		}
	}
	return out
}

// markers counts the marker files of a write.
func (h *handle) markers(ctx context.Context, instant string) int {
	w := &houseWalk{h: h, budget: 200}
	n, _, _ := w.markers(ctx, ".temp/"+instant)
	return n
}

type houseWalk struct {
	h      *handle
	budget int // directories that may still be listed
	cut    bool
}

// files lists the files below a folder of .hoodie, relative to it.
func (w *houseWalk) files(ctx context.Context, dir string, depth int) ([]storage.Entry, error) {
	if depth > maxHouseDepth || w.budget <= 0 {
		w.cut = true
		return nil, nil
	}
	w.budget--
	l, err := w.h.under(ctx, dir)
	if err != nil {
		return nil, err
	}
	var out []storage.Entry
	for _, e := range l.Entries {
		if !e.Dir {
			out = append(out, e)
			continue
		}
		below, err := w.files(ctx, dir+"/"+e.Name, depth+1)
		if err != nil {
			return nil, err
		}
		for _, b := range below {
			b.Name = e.Name + "/" + b.Name
			out = append(out, b)
		}
	}
	return out, nil
}

// markers lists the data files that the markers of one write name: DIRECT marker files, or the
// lines of the MARKERS files that a timeline server writes (spec timeline.md section 3).
func (w *houseWalk) markers(ctx context.Context, dir string) (n int, names []string, err error) {
	files, err := w.files(ctx, dir, 0)
	if err != nil {
		return 0, nil, err
	}
	add := func(name string) {
		n++
		if len(names) < maxHouseNames {
			names = append(names, name)
		}
	}
	for _, f := range files {
		b := path.Base(f.Name)
		switch {
		case strings.HasSuffix(b, ".crc"), b == "MARKERS.type":
		case strings.Contains(b, ".marker."):
			add(f.Name)
		case strings.HasPrefix(b, "MARKERS"):
			data, err := storage.ReadAll(ctx, w.h.src, w.h.table.Config.MetaPath()+"/"+dir+"/"+f.Name, maxMarkerFile)
			if err != nil {
				return n, names, err
			}
			for line := range strings.Lines(string(data)) {
				if line = strings.TrimSpace(line); line != "" {
					add(line)
				}
			}
		}
	}
	return n, names, nil
}

// Housekeeping lists what lies below .hoodie beside the timeline, and what it means.
func (s *Service) Housekeeping(ctx context.Context, req api.HousekeepingRequest) (*api.Housekeeping, error) {
	h, err := s.ready(ctx, req.Table)
	if err != nil {
		return nil, err
	}
	tl, err := h.table.Timeline(ctx)
	if err != nil {
		return nil, err
	}
	h.progress(ctx, api.Progress{Phase: "Looking below .hoodie"})
	k := &keeper{h: h, tl: tl, walk: houseWalk{h: h, budget: maxHouseDirs}, out: &api.Housekeeping{Items: []api.HousekeepingItem{}}}
	if err := k.run(ctx); err != nil {
		return nil, err
	}
	sort.SliceStable(k.out.Items, func(i, j int) bool {
		a, b := &k.out.Items[i], &k.out.Items[j]
		if a.Kind != b.Kind {
			return a.Kind < b.Kind
		}
		return a.Path < b.Path
	})
	if k.walk.cut {
		k.out.Findings = append(k.out.Findings, api.Finding{Level: "note", Title: "Not everything was looked at", Detail: fmt.Sprintf("Below .hoodie there are more than %d directories, or more than %d levels.", maxHouseDirs, maxHouseDepth)})
	}
	return k.out, nil
}

// keeper fills a Housekeeping.
type keeper struct {
	h    *handle
	tl   *timeline.Timeline
	walk houseWalk
	out  *api.Housekeeping
}

// state tells an instant's state, "" when the active timeline lacks it.
func (k *keeper) state(instant string) string {
	if list := k.tl.Find(instant); len(list) > 0 {
		return list[0].State.String()
	}
	return ""
}

func (k *keeper) add(kind, p string, e storage.Entry, meaning string) *api.HousekeepingItem {
	i := api.HousekeepingItem{Kind: kind, Path: k.h.table.Config.MetaPath() + "/" + p, Dir: e.Dir, Size: e.Size, Meaning: meaning}
	if e.Dir {
		i.Size = -1
	}
	if !e.ModTime.IsZero() {
		i.Modified = timeline.FormatTime(e.ModTime)
	}
	k.out.Items = append(k.out.Items, i)
	return &k.out.Items[len(k.out.Items)-1]
}

// of says which instant an item belongs to.
func (k *keeper) of(i *api.HousekeepingItem, instant string) {
	i.Instant, i.InstantState = instant, k.state(instant)
}

func (k *keeper) run(ctx context.Context) error {
	l, err := k.h.under(ctx, "")
	if err != nil {
		return err
	}
	cfg := k.h.table.Config
	for _, e := range l.Entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		switch {
		case e.Name == config.PropertiesFile:
			k.add("properties", e.Name, e, "The table's configuration.")
		case e.Name == config.BackupFile:
			k.add("properties backup", e.Name, e, "A copy of hoodie.properties that Hudi makes before it changes the file and deletes afterwards. That it is here says that a change did not end; readers take it when hoodie.properties is absent or its checksum is wrong.")
			if err := k.backup(ctx); err != nil {
				return err
			}
		case e.Dir:
			if err := k.dir(ctx, cfg, e); err != nil {
				return err
			}
		case e.Name == "lock":
			k.add("lock", e.Name, e, "The file of Hudi's file system lock provider: a writer holds the table, or died while it did.")
		case strings.HasSuffix(e.Name, ".crc"):
			k.add("checksum", e.Name, e, "A checksum that the writer's file system stores beside its file.")
		default:
			if _, ok := timeline.ParseName(k.tl.Layout, e.Name); ok && k.tl.Layout < 2 {
				continue
			}
			k.add("unknown", e.Name, e, "Not a name that Hudi gives.")
		}
	}
	return nil
}

func (k *keeper) dir(ctx context.Context, cfg *config.Config, e storage.Entry) error {
	switch e.Name {
	case ".temp":
		return k.temp(ctx)
	case ".heartbeat":
		l, err := k.h.under(ctx, e.Name)
		if err != nil {
			return err
		}
		for _, b := range l.Entries {
			if b.Dir || strings.HasPrefix(b.Name, ".") {
				continue
			}
			meaning := "The writer of this instant is, or was, alive at the time the file was last changed. By default a writer that has missed three heartbeats of 60 seconds counts as dead and its write is rolled back."
			if k.state(b.Name) == "COMPLETED" {
				meaning = "Left over: the instant has completed."
			}
			k.of(k.add("heartbeat", e.Name+"/"+b.Name, b, meaning), b.Name)
		}
		return nil
	case ".aux":
		return k.aux(ctx)
	case ".schema":
		return k.schemas(ctx)
	case ".locks":
		return k.all(ctx, "lock", e, "A file of a lock provider: a writer holds the table, or died while it did.")
	case ".index_defs":
		return k.all(ctx, "index definitions", e, "The definitions of the table's secondary and expression indexes.")
	case ".bucket_index":
		return k.all(ctx, "bucket metadata", e, "Which file groups are the buckets of a partition (consistent hashing index); the name tells the instant since when.")
	case "metadata":
		k.add("metadata table", e.Name, e, "The metadata table: a Hudi table of its own that lists the files of this one and holds its indexes.")
		return nil
	}
	full := cfg.MetaPath() + "/" + e.Name
	if full == cfg.TimelinePath() || strings.HasPrefix(cfg.TimelinePath(), full+"/") {
		k.add("timeline", e.Name, e, "The active timeline, and the archived one below it.")
		return nil
	}
	if full == cfg.ArchiveFolder() || e.Name == "archived" {
		files, err := k.walk.files(ctx, e.Name, 0)
		if err != nil {
			return err
		}
		i := k.add("archive", e.Name, e, "The archived timeline of layouts 0 and 1.")
		k.fill(i, files)
		return nil
	}
	if instant, ok := strings.CutPrefix(e.Name, ".metadata_"); ok {
		i := k.add("metadata table", e.Name, e, "A partition of the metadata table that was moved aside when it was dropped or rebuilt; it is not read.")
		if n := strings.LastIndexByte(instant, '_'); n >= 0 {
			k.of(i, instant[n+1:])
		}
		return nil
	}
	files, err := k.walk.files(ctx, e.Name, 0)
	if err != nil {
		return err
	}
	k.fill(k.add("unknown", e.Name, e, "Not a folder that Hudi makes."), files)
	return nil
}

func (k *keeper) fill(i *api.HousekeepingItem, files []storage.Entry) {
	i.Files = len(files)
	for _, f := range files {
		if len(i.Names) == maxHouseNames {
			break
		}
		i.Names = append(i.Names, f.Name)
	}
}

// all lists every file below a folder as an item.
func (k *keeper) all(ctx context.Context, kind string, e storage.Entry, meaning string) error {
	files, err := k.walk.files(ctx, e.Name, 0)
	if err != nil {
		return err
	}
	for _, f := range files {
		i := k.add(kind, e.Name+"/"+f.Name, f, meaning)
		if t := leadingDigits(path.Base(f.Name)); len(t) >= 14 {
			k.of(i, t)
		}
	}
	return nil
}

func leadingDigits(s string) string {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return s[:n]
}

// temp lists the marker folders.
func (k *keeper) temp(ctx context.Context) error {
	l, err := k.h.under(ctx, ".temp")
	if err != nil {
		return err
	}
	for _, e := range l.Entries {
		if !e.Dir {
			k.add("unknown", ".temp/"+e.Name, e, "A file among the marker folders.")
			continue
		}
		n, names, err := k.walk.markers(ctx, ".temp/"+e.Name)
		if err != nil {
			return err
		}
		meaning := "Markers of a write that is not completed: these data files may have been begun. A rollback deletes them by this list."
		switch k.state(e.Name) {
		case "COMPLETED":
			meaning = "Left over: the instant has completed. They are of no use any more."
		case "":
			meaning = "Markers of an instant that the active timeline does not have: it was rolled back, archived, or never got that far."
		}
		i := k.add("markers", ".temp/"+e.Name, e, meaning)
		i.Files, i.Names = n, names
		k.of(i, e.Name)
	}
	return nil
}

// aux lists .hoodie/.aux.
func (k *keeper) aux(ctx context.Context) error {
	files, err := k.walk.files(ctx, ".aux", 0)
	if err != nil {
		return err
	}
	for _, f := range files {
		p := ".aux/" + f.Name
		instant := leadingDigits(path.Base(f.Name))
		var i *api.HousekeepingItem
		switch {
		case strings.HasSuffix(f.Name, ".crc"):
			k.add("checksum", p, f, "A checksum that the writer's file system stores beside its file.")
		case strings.HasPrefix(f.Name, ".bootstrap/"):
			k.add("bootstrap index", p, f, "The index from this table's partitions and file groups to the source files they were bootstrapped from.")
		case strings.HasPrefix(f.Name, "ckp_meta/"):
			i = k.add("checkpoint", p, f, "A message of Flink's write coordinator to its writers: the instant of a checkpoint and its state.")
		case strings.Contains(f.Name, ".compaction."):
			i = k.add("compaction plan copy", p, f, "A copy of a compaction plan, as old releases keep. It counts only when the file on the timeline is empty.")
		case f.Name == "view_storage_conf":
			k.add("aux", p, f, "Where Flink's writers find the file-system view server of their job. It means nothing to readers.")
		case strings.HasPrefix(f.Name, ".sample_writes/"):
			k.add("aux", p, f, "A trial write that estimates record sizes; not data of the table.")
		default:
			k.add("aux", p, f, "An auxiliary file of a writer.")
		}
		if i != nil && len(instant) >= 14 {
			k.of(i, instant)
		}
	}
	return nil
}

// schemaCommit is the action of the schema history.
const schemaCommit timeline.Action = "schemacommit"

var schemaName = regexp.MustCompile(`^(\d+)(?:_(\d+))?\.schemacommit(\.requested|\.inflight)?$`)

// schemaHistory lists the schema commits of .hoodie/.schema, which lie beside the timeline.
func (h *handle) schemaHistory(ctx context.Context) ([]api.Instant, error) {
	l, err := h.under(ctx, ".schema")
	if err != nil {
		return nil, err
	}
	at := map[string]int{}
	var out []api.Instant
	for _, e := range l.Entries {
		m := schemaName.FindStringSubmatch(e.Name)
		if m == nil || e.Dir {
			continue
		}
		n, ok := at[m[1]]
		if !ok {
			n = len(out)
			at[m[1]] = n
			out = append(out, api.Instant{Requested: m[1], Action: string(schemaCommit)})
		}
		state := map[string]timeline.State{".requested": timeline.Requested, ".inflight": timeline.Inflight, "": timeline.Completed}[m[3]]
		i := &out[n]
		i.Files = append(i.Files, api.InstantFile{Name: e.Name, State: state.String(), Size: e.Size})
		if state == timeline.Completed {
			i.Completed = m[2]
			if m[2] != "" {
				i.CompletedFrom = "name"
			}
		}
	}
	rank := map[string]int{"REQUESTED": 0, "INFLIGHT": 1, "COMPLETED": 2}
	for n := range out {
		i := &out[n]
		sort.Slice(i.Files, func(a, b int) bool { return rank[i.Files[a].State] < rank[i.Files[b].State] })
		last := i.Files[len(i.Files)-1]
		i.State, i.File = last.State, last.Name
	}
	sort.Slice(out, func(a, b int) bool { return out[a].Requested < out[b].Requested })
	return out, nil
}

// schemaInstant decodes a schema commit, nil when there is none of that time.
func (h *handle) schemaInstant(ctx context.Context, requested string) (*api.InstantDetail, error) {
	list, err := h.schemaHistory(ctx)
	if err != nil {
		return nil, err
	}
	for _, i := range list {
		if i.Requested != requested {
			continue
		}
		d := &api.InstantDetail{Instant: i, Parts: []api.InstantDecode{}, Work: &api.InstantWork{Relations: []api.Relation{}}}
		for _, f := range i.Files {
			p := api.InstantDecode{File: f.Name, State: f.State, Size: f.Size, Path: h.table.Config.MetaPath() + "/.schema/" + f.Name}
			data, err := storage.ReadAll(ctx, h.src, p.Path, maxRaw)
			if err != nil {
				p.Fault, p.Encoding = ToFault(err), "unknown"
			} else {
				dec, err := commitmeta.Decode(data)
				p.Encoding, p.Decoded = string(dec.Encoding), dec.JSON
				if err != nil {
					p.Fault = ToFault(err)
				} else if dec.Encoding == commitmeta.JSON {
					p.Raw = string(data)
				}
				if f.State == "COMPLETED" && err == nil {
					d.Work.Sentence = schemaSentence(dec.JSON)
				}
			}
			d.Parts = append(d.Parts, p)
		}
		if i.State != "COMPLETED" {
			d.Work.Pending = &api.Pending{Since: i.Requested, AgeSeconds: -1, What: "The schema change is not completed."}
		}
		return d, nil
	}
	return nil, nil
}

func schemaSentence(text json.RawMessage) string {
	var s struct {
		Schemas []struct {
			VersionID json.Number `json:"version_id"`
		} `json:"schemas"`
	}
	if json.Unmarshal(text, &s) != nil || len(s.Schemas) == 0 {
		return "Stores the history of the table's schema with field ids."
	}
	return fmt.Sprintf("Stores %d versions of the table's schema with field ids, the newest of %s.", len(s.Schemas), s.Schemas[0].VersionID)
}

func (k *keeper) schemas(ctx context.Context) error {
	list, err := k.h.schemaHistory(ctx)
	if err != nil {
		return err
	}
	k.out.SchemaHistory = list
	l, err := k.h.under(ctx, ".schema")
	if err != nil {
		return err
	}
	for _, e := range l.Entries {
		m := schemaName.FindStringSubmatch(e.Name)
		if m == nil {
			if !strings.HasSuffix(e.Name, ".crc") {
				k.add("unknown", ".schema/"+e.Name, e, "A file in the folder of the schema history.")
			}
			continue
		}
		k.of(k.add("schema history", ".schema/"+e.Name, e, "The schema with field ids as of this instant, for columns that were renamed, dropped or changed."), m[1])
	}
	return nil
}

// backup compares hoodie.properties with its backup.
func (k *keeper) backup(ctx context.Context) error {
	cfg := k.h.table.Config
	p := cfg.MetaPath() + "/" + config.BackupFile
	data, err := storage.ReadAll(ctx, k.h.src, p, 16<<20)
	if err != nil {
		return err
	}
	old, err := config.Parse(data, p)
	if old == nil {
		k.out.Findings = append(k.out.Findings, api.Finding{Level: "warning", Title: "The backup of hoodie.properties can't be read", Detail: sentence(err.Error()), File: p})
		return nil
	}
	a, b := old.Props.Map(), cfg.Props.Map()
	if cfg.File == p {
		k.out.Findings = append(k.out.Findings, api.Finding{Level: "warning", Title: "The table is read by the backup of hoodie.properties", Detail: "hoodie.properties is absent or damaged.", File: p})
		return nil
	}
	keys := map[string]bool{}
	for n := range a {
		keys[n] = true
	}
	for n := range b {
		keys[n] = true
	}
	for _, n := range sortedNames(keys) {
		x, inA := a[n]
		y, inB := b[n]
		if x == y && inA == inB {
			continue
		}
		c := api.ConfigChange{Key: n, Backup: x, Now: y, Kind: "changed"}
		switch {
		case !inA:
			c.Kind = "added"
		case !inB:
			c.Kind = "removed"
		}
		k.out.Config = append(k.out.Config, c)
	}
	k.out.Findings = append(k.out.Findings, api.Finding{Level: "warning", Title: "A change of hoodie.properties did not end", Detail: fmt.Sprintf("The backup is still there; %d properties differ from it.", len(k.out.Config)), File: p})
	return nil
}

func sortedNames(m map[string]bool) []string {
	out := make([]string, 0, len(m))
	for n := range m {
		out = append(out, n)
	}
	sort.Strings(out)
	return out
}
