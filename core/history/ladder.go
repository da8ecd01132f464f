package history

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"

	"hudiscope/core/api"
	"hudiscope/core/column"
	"hudiscope/core/merge"
	"hudiscope/core/schema"
)

// The results of a slice, and the outcomes of versions.
const (
	resultRow     = "row"
	resultDeleted = "deleted"
	resultAbsent  = "absent"

	won        = "won"
	lost       = "lost"
	mergedInto = "merged"
	superseded = "superseded"
	notRead    = "not read"
)

// version is one version, as it was found and as it is told.
type version struct {
	api     api.Version
	rec     merge.Record
	base    bool
	notRead bool
	// why is the fate of a version that is not read.
	why string
}

// sliceHistory is what a slice holds of one key.
type sliceHistory = api.SliceHistory

// event is what a merge meets: a version, or the first block of partial updates (nil).
type event struct {
	key string
	v   *version
}

// ladder is the versions of a slice, in merge order.
type ladder struct {
	f      *finder
	base   map[string][]*version
	events []event
	keys   map[string]bool
}

func newLadder(f *finder) *ladder {
	return &ladder{f: f, base: map[string][]*version{}, keys: map[string]bool{}}
}

// partials tells that a block of partial updates is merged here.
func (l *ladder) partials() { l.events = append(l.events, event{}) }

func (l *ladder) add(key string, v *version) (err error) {
	if v.api.Row, err = l.row(v.rec.Row); err != nil {
		return err
	}
	f := l.f
	if len(f.o.Ordering) > 0 {
		v.api.Ordering, v.api.OrderingType = v.rec.Ord.String(), v.rec.Ord.Class.String()
	}
	if p := v.rec.Partial; p != nil {
		for i, has := range p.Has {
			if !has {
				v.api.Missing = append(v.api.Missing, f.o.Reader.Fields[i].Name)
			}
		}
	}
	v.api.Completed, _ = f.s.view.Timeline.CompletionTime(v.api.Instant)
	if v.why != "" {
		v.notRead = true
	}
	if v.notRead {
		v.api.Outcome, v.api.Why = notRead, v.why
	}
	l.keys[key] = true
	if v.base {
		l.base[key] = append(l.base[key], v)
	} else {
		l.events = append(l.events, event{key, v})
	}
	return nil
}

// row renders a row as a reader is shown it; nil without one.
func (l *ladder) row(r column.Row) ([]json.RawMessage, error) {
	if r.Batch == nil {
		return nil, nil
	}
	b, err := l.f.v.Shown(own(merge.Record{Row: r}).Row.Batch)
	if err != nil {
		return nil, err
	}
	return b.RowJSON(0), nil
}

// record is what the logs make of one key.
type record struct {
	rec     merge.Record
	there   bool
	winners []*version
}

// settle gives the winners a new outcome.
func (r *record) settle(outcome string) {
	for _, v := range r.winners {
		v.api.Outcome = outcome
	}
}

// merge decides what became of each version. stuck says why the slice can't be merged, "" when it can.
func (l *ladder) merge(stuck string) (map[string]*sliceHistory, error) {
	out := map[string]*sliceHistory{}
	for k := range l.keys {
		out[k] = &sliceHistory{BaseInstant: l.f.j.slice.BaseInstant, Latest: l.f.j.latest, Result: resultAbsent, Versions: []api.Version{}}
	}
	if len(out) == 0 {
		return out, nil
	}
	m := l.f.v.Merger()
	state := map[string]*record{}
	partial := false
	for _, e := range l.events {
		if e.v == nil {
			if !partial && stuck == "" {
				if err := m.SawPartials(); err != nil {
					stuck = "the slice can't be read: " + err.Error()
					l.f.s.finding("error", "Versions can't be merged", err.Error(), "", 0)
				}
			}
			partial = true
			continue
		}
		if e.v.notRead || stuck != "" {
			continue
		}
		r := state[e.key]
		if r == nil {
			r = &record{}
			state[e.key] = r
		}
		r.log(m, e.v)
	}
	for _, k := range slices.Sorted(maps.Keys(out)) {
		h := out[k]
		if stuck == "" {
			if err := l.result(m, k, state[k], h); err != nil {
				return nil, err
			}
		}
		for _, v := range l.base[k] {
			h.Versions = append(h.Versions, l.told(v, stuck))
		}
	}
	for _, e := range l.events {
		if e.v != nil {
			out[e.key].Versions = append(out[e.key].Versions, l.told(e.v, stuck))
		}
	}
	for _, h := range out {
		l.changes(h)
	}
	return out, nil
}

func (l *ladder) told(v *version, stuck string) api.Version {
	if stuck != "" && !v.notRead {
		v.api.Outcome, v.api.Why = notRead, stuck
	}
	return v.api
}

// log merges a log record into what the logs hold of its key.
func (r *record) log(m *merge.Merger, v *version) {
	if !r.there {
		d := m.First(&v.rec)
		v.api.Outcome, v.api.Why = won, d.Why()
		r.rec, r.there, r.winners = v.rec, true, []*version{v}
		return
	}
	d := m.Delta(&r.rec, &v.rec)
	v.api.Why = d.Why()
	switch d.Outcome {
	case merge.Old:
		v.api.Outcome = lost
	case merge.New:
		r.settle(superseded)
		v.api.Outcome = won
		r.rec, r.winners = v.rec, []*version{v}
	case merge.Combined:
		r.settle(mergedInto)
		v.api.Outcome = mergedInto
		r.rec, r.winners = d.Merged.Record, append(r.winners, v)
	case merge.Removed:
		r.settle(superseded)
		v.api.Outcome = won
		r.rec, r.winners = d.Merged.Record, []*version{v}
	}
}

// result merges what the logs hold with the base row, and says what reading the slice gives.
func (l *ladder) result(m *merge.Merger, key string, r *record, h *sliceHistory) error {
	var rows []column.Row
	var base *version
	for _, v := range l.base[key] {
		if v.notRead {
			continue
		}
		// Of several base rows of one key, the first meets the log record.
		if base == nil && r != nil && r.there {
			base = v
			continue
		}
		v.api.Outcome, v.api.Why = won, "no version in the logs: the base file's row is shown"
		rows = append(rows, v.rec.Row)
	}
	if n := len(rows); base != nil && n > 0 || n > 1 {
		l.f.s.finding("error", "One key, several rows of a base file", fmt.Sprintf("The key %s has %d rows in one base file, and a query shows all of them: this history shows the first as the result.", key, len(l.base[key])), l.base[key][0].api.File, 0)
	}
	if r != nil && r.there {
		var d merge.Decision
		if base != nil {
			d = m.Final(&base.rec, &r.rec)
		} else {
			d = m.Insert(&r.rec)
		}
		why := d.Why()
		w := d.Winner()
		if base != nil {
			r.against(base, &d, why)
		} else {
			for _, v := range r.winners {
				if d.Outcome == merge.Removed {
					v.api.Outcome = lost
				}
				v.api.Why = then(v.api.Why, why)
			}
		}
		if !w.Delete || base != nil && d.Outcome == merge.Old {
			rows = append([]column.Row{w.Row}, rows...)
		} else if len(rows) == 0 {
			h.Result = resultDeleted
		}
	}
	if len(rows) > 0 {
		var err error
		h.Result = resultRow
		if h.Row, err = l.row(rows[0]); err != nil {
			return err
		}
	}
	return nil
}

// against tells the outcome of the logs' record and the base row.
func (r *record) against(base *version, d *merge.Decision, why string) {
	at := ""
	if len(r.winners) > 0 {
		v := r.winners[len(r.winners)-1]
		at = fmt.Sprintf(" (%s, block %d, record %d)", path.Base(v.api.File), v.api.Block, v.api.Record)
	}
	for _, v := range r.winners {
		v.api.Why = then(v.api.Why, "against the base row: "+why)
	}
	switch d.Outcome {
	case merge.Old:
		r.settle(lost)
		base.api.Outcome, base.api.Why = won, "the base row stays, the logs' version"+at+" loses: "+why
	case merge.Combined:
		r.settle(mergedInto)
		base.api.Outcome, base.api.Why = mergedInto, "the base row is combined with the logs' version"+at+": "+why
	default:
		base.api.Outcome, base.api.Why = superseded, "the logs' version"+at+" replaces the base row: "+why
		if d.Winner().Delete {
			base.api.Why = "the logs' version" + at + " deletes the base row: " + why
		}
	}
}

// then joins the sentence of the merge among log records with that of the merge with the base file.
func then(first, second string) string {
	if first == "" || first == firstInLogs {
		return second
	}
	return first + "; " + second
}

var firstInLogs = func() string {
	d := merge.NewMerger(merge.Rules{}, nil, nil).First(&merge.Record{})
	return d.Why()
}()

// changes names the columns of each version that differ from the version before it that counts.
func (l *ladder) changes(h *sliceHistory) {
	var before []json.RawMessage
	fields := l.f.s.res.Schema.Fields
	for i := range h.Versions {
		v := &h.Versions[i]
		if v.Row == nil {
			continue
		}
		missing := map[string]bool{}
		for _, name := range v.Missing {
			missing[name] = true
		}
		for c := range v.Row {
			if before == nil || c >= len(before) || c >= len(fields) || schema.IsMetaField(fields[c].Name) || missing[fields[c].Name] {
				continue
			}
			if !bytes.Equal(before[c], v.Row[c]) {
				v.Changed = append(v.Changed, fields[c].Name)
			}
		}
		if v.Outcome != notRead {
			before = v.Row
			if len(missing) > 0 {
				// A partial update leaves the other columns as they were.
				before = append([]json.RawMessage(nil), v.Row...)
				for c := range before {
					if c < len(fields) && missing[fields[c].Name] {
						before[c] = l.beforeOf(h, i, c)
					}
				}
			}
		}
	}
}

// beforeOf is the value of a column in the last version before number i that has it.
func (l *ladder) beforeOf(h *sliceHistory, i, c int) json.RawMessage {
	name := l.f.s.res.Schema.Fields[c].Name
	for i--; i >= 0; i-- {
		v := &h.Versions[i]
		has := v.Row != nil && v.Outcome != notRead
		for _, m := range v.Missing {
			has = has && m != name
		}
		if has {
			return v.Row[c]
		}
	}
	return json.RawMessage("null")
}
