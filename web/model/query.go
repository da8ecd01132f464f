package model

import (
	"encoding/json"
	"sort"
	"strings"
	"unicode/utf8"

	"hudiscope/core/api"
)

// JoinList writes names as one text, separated by commas; a comma or backslash in a name has a
// backslash before it.
func JoinList(names []string) string { return join(names, ',') }

// SplitList is the inverse of [JoinList]. Empty names are left out.
func SplitList(text string) []string { return split(text, ',') }

// JoinOptions writes options as name=value, separated by semicolons, sorted by name.
func JoinOptions(options map[string]string) string {
	var list []string
	for k, v := range options {
		list = append(list, k+"="+v)
	}
	sort.Strings(list)
	return join(list, ';')
}

// SplitOptions is the inverse of [JoinOptions]; nil for none. What has no name is left out.
func SplitOptions(text string) map[string]string {
	var out map[string]string
	for _, x := range split(text, ';') {
		k, v, _ := strings.Cut(x, "=")
		if k == "" {
			continue
		}
		if out == nil {
			out = map[string]string{}
		}
		out[k] = v
	}
	return out
}

func join(list []string, sep byte) string {
	var b strings.Builder
	for i, x := range list {
		if i > 0 {
			b.WriteByte(sep)
		}
		for j := range len(x) {
			if x[j] == sep || x[j] == '\\' {
				b.WriteByte('\\')
			}
			b.WriteByte(x[j])
		}
	}
	return b.String()
}

func split(text string, sep byte) []string {
	var out []string
	var b strings.Builder
	add := func() {
		if b.Len() > 0 {
			out = append(out, b.String())
		}
		b.Reset()
	}
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && i+1 < len(text):
			i++
			b.WriteByte(text[i])
		case c == sep:
			add()
		default:
			b.WriteByte(c)
		}
	}
	add()
	return out
}

// WrongPart cuts a condition where it goes wrong: at a byte offset, the word, text in quotes or sign
// that begins there. At the end of the text wrong is empty.
func WrongPart(text string, offset int64) (before, wrong, after string) {
	at := int(min(max(offset, 0), int64(len(text))))
	for at > 0 && at < len(text) && !utf8.RuneStart(text[at]) {
		at--
	}
	rest := text[at:]
	if rest == "" {
		return text, "", ""
	}
	end := 0
	switch q := rest[0]; {
	case q == '\'' || q == '"' || q == '`':
		end = len(rest)
		if i := strings.IndexByte(rest[1:], q); i >= 0 {
			end = i + 2
		}
	default:
		end = strings.IndexFunc(rest, func(r rune) bool { return !word(r) })
		switch {
		case end < 0:
			end = len(rest)
		case end == 0:
			_, end = utf8.DecodeRuneInString(rest)
		}
	}
	return text[:at], rest[:end], rest[end:]
}

func word(r rune) bool {
	return r == '_' || r == '.' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= utf8.RuneSelf
}

// TaskBox is a piece of a file in a task, in shares of the drawing's width: from Start on it counts
// Data for its bytes and then Cost for opening the file.
type TaskBox struct{ Start, Data, Cost float64 }

// TaskBoxes lays tasks out to one scale. openCost is what Spark counts for each piece, 0 to lay out
// bytes only. limit is where the size of a split lies; it may be beyond 1 when the tasks are smaller.
func TaskBoxes(tasks []api.Task, splitBytes, openCost int64) (rows [][]TaskBox, limit float64) {
	full := 0.0
	for _, t := range tasks {
		full = max(full, float64(t.Bytes)+float64(openCost)*float64(len(t.Pieces)))
	}
	if openCost > 0 {
		full = max(full, float64(splitBytes))
	}
	if full == 0 {
		full = 1
	}
	rows = make([][]TaskBox, len(tasks))
	for i, t := range tasks {
		at := 0.0
		for _, p := range t.Pieces {
			b := TaskBox{Start: at / full, Data: float64(p.Length) / full, Cost: float64(openCost) / full}
			rows[i] = append(rows[i], b)
			at += float64(p.Length) + float64(openCost)
		}
	}
	return rows, float64(splitBytes) / full
}

// RoundOf is the index of the round that runs a task, -1 when none does.
func RoundOf(rounds []api.TaskRound, task int) int {
	for i, r := range rounds {
		if task >= r.First && task < r.First+r.Tasks {
			return i
		}
	}
	return -1
}

// PlanDifference is something that one of two plans reads and the other doesn't.
type PlanDifference struct {
	// Kind is "instant", "slice" or "files"; Extra tells that the first plan reads it and the second doesn't.
	Kind  string
	Extra bool
	// Name is the instant, or partition and file group; Detail the files or the reason.
	Name, Detail string
}

// PlanDifferences compares what two plans read: the instants, the slices, and the files of slices
// that both of them have.
func PlanDifferences(a, b *api.Plan) []PlanDifference {
	var out []PlanDifference
	instants := func(list, other []api.ChosenInstant, extra bool) {
		has := map[string]bool{}
		for _, x := range other {
			has[x.Requested] = true
		}
		for _, x := range list {
			if !has[x.Requested] {
				out = append(out, PlanDifference{"instant", extra, x.Requested, x.Why})
			}
		}
	}
	instants(a.Instants, b.Instants, true)
	instants(b.Instants, a.Instants, false)
	type slice struct{ partition, group string }
	files := func(p *api.Plan) map[slice]map[string]bool {
		m := map[slice]map[string]bool{}
		for i := range p.Parts {
			x := &p.Parts[i]
			k := slice{x.Partition, x.FileID}
			if m[k] == nil {
				m[k] = map[string]bool{}
			}
			if x.Base != "" {
				m[k][x.Base] = true
			}
			for _, l := range x.Logs {
				m[k][l] = true
			}
			for _, c := range x.Changes {
				for _, f := range c.Files {
					m[k][f] = true
				}
			}
		}
		return m
	}
	fa, fb := files(a), files(b)
	compare := func(p *api.Plan, mine, other map[slice]map[string]bool, extra bool) {
		done := map[slice]bool{}
		for i := range p.Parts {
			k := slice{p.Parts[i].Partition, p.Parts[i].FileID}
			if done[k] {
				continue
			}
			done[k] = true
			name := k.group
			if k.partition != "" {
				name = k.partition + "/" + k.group
			}
			if other[k] == nil {
				out = append(out, PlanDifference{"slice", extra, name, Plural(int64(len(mine[k])), "file")})
				continue
			}
			var only []string
			for f := range mine[k] {
				if !other[k][f] {
					only = append(only, f[strings.LastIndexByte(f, '/')+1:])
				}
			}
			if len(only) > 0 {
				sort.Strings(only)
				out = append(out, PlanDifference{"files", extra, name, strings.Join(only, ", ")})
			}
		}
	}
	compare(a, fa, fb, true)
	compare(b, fb, fa, false)
	return out
}

// CompletionTimes are the completion times of completed writes and table services, each once, in order.
func CompletionTimes(instants []api.Instant) []string {
	seen := map[string]bool{}
	var out []string
	for _, in := range instants {
		switch in.Action {
		case "commit", "deltacommit", "replacecommit":
		default:
			continue
		}
		if in.State == "COMPLETED" && in.Completed != "" && !seen[in.Completed] {
			seen[in.Completed] = true
			out = append(out, in.Completed)
		}
	}
	sort.Strings(out)
	return out
}

// ReaderQueues deals splits to readers: queues[i] are those of reader i, in order. Splits that name
// no reader are all the first one's.
func ReaderQueues(splits []api.Split, tasks int) [][]api.Split {
	queues := make([][]api.Split, max(tasks, 1))
	for _, s := range splits {
		i := s.Task
		if i < 0 {
			i = 0
		}
		for i >= len(queues) {
			queues = append(queues, nil)
		}
		queues[i] = append(queues[i], s)
	}
	return queues
}

// TimeOf is the time of an instant by which ranges are taken.
func TimeOf(in api.Instant, requested bool) string {
	if requested {
		return in.Requested
	}
	return in.Completed
}

// MetaLast writes a JSON object on one line with the columns that Hudi adds behind the others; what is no object comes
// back as it is.
func MetaLast(doc string) string {
	dec := json.NewDecoder(strings.NewReader(doc))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return doc
	}
	var own, meta []string
	for dec.More() {
		t, err := dec.Token()
		name, ok := t.(string)
		var value json.RawMessage
		if err != nil || !ok || dec.Decode(&value) != nil {
			return doc
		}
		key, err := json.Marshal(name)
		if err != nil {
			return doc
		}
		x := string(key) + ":" + string(value)
		if strings.HasPrefix(name, "_hoodie_") {
			meta = append(meta, x)
		} else {
			own = append(own, x)
		}
	}
	if _, err := dec.Token(); err != nil || len(meta) == 0 {
		return doc
	}
	return "{" + strings.Join(append(own, meta...), ",") + "}"
}

// PlanFindings are the findings of a plan that another one lacks.
func PlanFindings(a, b *api.Plan) []api.Finding {
	has := map[string]bool{}
	for _, f := range b.Findings {
		has[f.Title+"\x00"+f.Detail] = true
	}
	var out []api.Finding
	for _, f := range a.Findings {
		if f.Level != "note" && !has[f.Title+"\x00"+f.Detail] {
			out = append(out, f)
		}
	}
	return out
}
