package model

import (
	"net/url"
	"sort"
	"strings"
)

// View names a view of an open table.
type View string

// The views. Home is where nothing is open.
const (
	Home     View = ""
	Timeline View = "timeline"
	Files    View = "files"
	Blocks   View = "blocks"
	Rows     View = "rows"
	Plan     View = "plan"
	Stream   View = "stream"
	History  View = "history"
	Compare  View = "compare"
	Health   View = "health"
	Metadata View = "metadata"
	Table    View = "table"
)

// Views lists the views of a table in the order of the tabs.
var Views = []View{Timeline, Files, Blocks, Rows, Plan, Stream, History, Compare, Health, Metadata, Table}

// Title is what the tab says.
func (v View) Title() string {
	switch v {
	case Timeline:
		return "Timeline"
	case Files:
		return "Files"
	case Blocks:
		return "Log blocks"
	case Rows:
		return "Rows"
	case Plan:
		return "Plan"
	case Stream:
		return "Stream"
	case History:
		return "History"
	case Compare:
		return "Compare"
	case Health:
		return "Health"
	case Metadata:
		return "Metadata"
	case Table:
		return "Table"
	}
	return "Home"
}

func (v View) known() bool {
	for _, k := range Views {
		if v == k {
			return true
		}
	}
	return false
}

// State is what the URL fragment holds: which table, which view of it, and what is
// selected there. It never holds credentials; see [StripCredentials].
type State struct {
	// Table is the location, "" on the home page.
	Table string
	View  View
	// Instant is the selected instant (its requested time) and Action its action, which
	// tells apart two instants that were requested at the same time.
	Instant, Action string
	// AsOf is the instant that rows and files are shown as of; "" is the latest.
	AsOf string
	// Partition is the selected partition path where FileID is set ("" is the table itself),
	// or where OnlyPartition is set.
	Partition     string
	OnlyPartition bool
	// FileID and Slice (its base instant) select a file slice.
	FileID, Slice string
	// Log is the path of the selected log file; Block the index of the selected block plus one.
	Log   string
	Block int
	// Byte is the offset plus one of the byte to show in hex.
	Byte int64
	// Axis of the timeline: "", "completed" or "steps". Activity shows how much commits wrote below it.
	// Archived shows archived instants, too; Zoom is the part of the axis that is seen ([Extent.String]), "" for all of it.
	Axis     string
	Activity bool
	Archived bool
	Zoom     string
	// HideMeta hides the _hoodie_ columns.
	HideMeta bool
	// Key is the record key whose history is shown, or with Prefix the beginning of keys.
	// Everywhere looks into every file group for it.
	Key                string
	Prefix, Everywhere bool
	// Replay shows the scan of the slice's logs step by step, with MergeSteps also how its
	// records are merged. Step is the step shown, plus one.
	Replay, MergeSteps bool
	Step               int
	// Before and After are the instants that are compared.
	Before, After string
	// Part is the chosen partition of the metadata table, Find the key looked up in it.
	Part, Find string
	// Query is how rows are read: "" (snapshot), "ro" (read-optimized), "inc" (incremental) or
	// "cdc" (change data), the last two with Begin and End.
	// Begin and End are times as the query's options take them: api.Ranges tells which.
	Query, Begin, End string
	// Options are more options of Spark's reader ([JoinOptions]), some by short names.
	Options string
	// Limits are the health checks' thresholds that are not the defaults ([JoinLimits]).
	Limits string
	// Rules is the Hudi release whose read rules apply; "" gives the right answer.
	Rules string
	// Where is an SQL condition on the rows, Columns the columns that are read ([JoinList], "" for
	// all), and Limit the number of rows a query takes, 0 for all.
	Where, Columns string
	Limit          int
	// Order are the columns that rows are ordered by ([JoinOrder]), Grid is how columns are shown ([GridColumns]),
	// and Stats the column whose statistics are shown, "*" for all.
	Order, Grid, Stats string
	// MaxPartition, OpenCost and Parallelism are Spark's numbers for packing files into tasks where
	// they are not Spark's own: digits, or "".
	MaxPartition, OpenCost, Parallelism string
	// Flink are the options of Flink's reader ([JoinOptions]); Seen is the completion time up to which
	// it looks at the table, "" for all of it; Batch reads once. StreamRows shows all its rows.
	Flink, Seen       string
	Batch, StreamRows bool
	// Anatomy is the path of the base file whose parts are shown, with AnatomyLen set only the bytes of a log block's
	// content from AnatomyFrom on; AnatomyPart the part that is chosen ([AnatomyPart]).
	Anatomy                 string
	AnatomyFrom, AnatomyLen int64
	AnatomyPart             string
	// GroupHistory shows the selected file group through time, Map the partitions as a treemap.
	GroupHistory, Map bool
	// Lesson is the guided tour that is shown beside the view, LessonStep its step from 0.
	Lesson     string
	LessonStep int
}

// Fragment encodes the state as the part of a URL after "#". The zero State gives "/".
func (s State) Fragment() string {
	var b strings.Builder
	b.WriteString("/")
	add := func(k, v string) {
		if b.Len() > 1 {
			b.WriteByte('&')
		}
		b.WriteString(k)
		b.WriteByte('=')
		b.WriteString(escape(v))
	}
	if s.Table == "" {
		return "/"
	}
	add("t", s.Table)
	if s.View != Home {
		add("v", string(s.View))
	}
	if s.Instant != "" {
		add("i", s.Instant)
	}
	if s.Action != "" {
		add("act", s.Action)
	}
	if s.AsOf != "" {
		add("a", s.AsOf)
	}
	if s.FileID != "" || s.OnlyPartition {
		add("p", s.Partition)
	}
	if s.FileID != "" {
		add("f", s.FileID)
	}
	if s.Slice != "" {
		add("s", s.Slice)
	}
	if s.Log != "" {
		add("l", s.Log)
	}
	if s.Block > 0 {
		add("b", itoa(int64(s.Block-1)))
	}
	if s.Byte > 0 {
		add("o", itoa(s.Byte-1))
	}
	if s.Axis != "" {
		add("x", s.Axis)
	}
	if s.HideMeta {
		add("m", "0")
	}
	if s.Key != "" {
		add("k", s.Key)
	}
	if s.Prefix {
		add("kp", "1")
	}
	if s.Everywhere {
		add("ke", "1")
	}
	if s.Replay {
		mode := "scan"
		if s.MergeSteps {
			mode = "merge"
		}
		add("r", mode)
		if s.Step > 0 {
			add("n", itoa(int64(s.Step-1)))
		}
	}
	for _, f := range [...]struct{ name, value string }{
		{"c1", s.Before}, {"c2", s.After}, {"mp", s.Part}, {"mk", s.Find},
		{"q", s.Query}, {"qb", s.Begin}, {"qe", s.End}, {"qo", s.Options}, {"h", s.Rules},
		{"w", s.Where}, {"cols", s.Columns}, {"sm", s.MaxPartition}, {"so", s.OpenCost}, {"sp", s.Parallelism},
		{"fo", s.Flink}, {"fs", s.Seen}, {"ht", s.Limits},
		{"ob", s.Order}, {"gc", s.Grid}, {"cs", s.Stats},
	} {
		if f.value != "" {
			add(f.name, f.value)
		}
	}
	if s.Limit > 0 {
		add("lim", itoa(int64(s.Limit)))
	}
	if s.Batch {
		add("fb", "1")
	}
	if s.StreamRows {
		add("fr", "1")
	}
	if s.Anatomy != "" {
		add("an", s.Anatomy)
		if s.AnatomyLen > 0 {
			add("af", itoa(s.AnatomyFrom))
			add("al", itoa(s.AnatomyLen))
		}
		if s.AnatomyPart != "" {
			add("ap", s.AnatomyPart)
		}
	}
	if s.GroupHistory {
		add("gh", "1")
	}
	if s.Map {
		add("tm", "1")
	}
	if s.Activity {
		add("ac", "1")
	}
	if s.Archived {
		add("ar", "1")
	}
	if s.Zoom != "" {
		add("z", s.Zoom)
	}
	if s.Lesson != "" {
		add("ls", s.Lesson)
		add("ln", itoa(int64(s.LessonStep)+1))
	}
	return b.String()
}

// ParseFragment is the inverse of Fragment. It accepts the text with or without the
// leading "#" and "/", in any order of keys, and skips what it doesn't know, so that
// links of other releases open as far as they are understood.
func ParseFragment(frag string) State {
	var s State
	frag = strings.TrimPrefix(frag, "#")
	frag = strings.TrimPrefix(frag, "/")
	if frag == "" {
		return s
	}
	for _, part := range strings.Split(frag, "&") {
		k, v, _ := strings.Cut(part, "=")
		raw := v
		v = unescape(v)
		switch k {
		case "t":
			s.Table = tableOf(raw)
		case "v":
			if View(v).known() {
				s.View = View(v)
			}
		case "i":
			s.Instant = v
		case "act":
			s.Action = v
		case "a":
			if timeLike(v) {
				s.AsOf = v
			}
		case "p":
			s.Partition, s.OnlyPartition = v, true
		case "f":
			s.FileID = v
		case "s":
			s.Slice = v
		case "l":
			s.Log = v
		case "b":
			if n, ok := atoi(v); ok && n < 1<<31-1 {
				s.Block = int(n) + 1
			}
		case "o":
			if n, ok := atoi(v); ok {
				s.Byte = n + 1
			}
		case "x":
			if v == "completed" || v == "steps" {
				s.Axis = v
			}
		case "m":
			s.HideMeta = v == "0"
		case "k":
			s.Key = v
		case "kp":
			s.Prefix = v == "1"
		case "ke":
			s.Everywhere = v == "1"
		case "r":
			s.Replay, s.MergeSteps = v == "scan" || v == "merge", v == "merge"
		case "n":
			if n, ok := atoi(v); ok && n < 1<<31-1 {
				s.Step = int(n) + 1
			}
		case "c1":
			s.Before = v
		case "c2":
			s.After = v
		case "mp":
			s.Part = v
		case "mk":
			s.Find = v
		case "q":
			if v == "ro" || v == "inc" || v == "cdc" {
				s.Query = v
			}
		case "qb":
			s.Begin = v
		case "qe":
			s.End = v
		case "qo":
			s.Options = v
		case "h":
			s.Rules = v
		case "ht":
			s.Limits = v
		case "w":
			s.Where = v
		case "cols":
			s.Columns = v
		case "ob":
			s.Order = v
		case "gc":
			s.Grid = v
		case "cs":
			s.Stats = v
		case "sm":
			s.MaxPartition = digits(v)
		case "so":
			s.OpenCost = digits(v)
		case "sp":
			s.Parallelism = digits(v)
		case "fo":
			s.Flink = v
		case "fs":
			s.Seen = v
		case "lim":
			if n, ok := atoi(v); ok && n < 1<<31 {
				s.Limit = int(n)
			}
		case "fb":
			s.Batch = v == "1"
		case "fr":
			s.StreamRows = v == "1"
		case "an":
			s.Anatomy = v
		case "af":
			if n, ok := atoi(v); ok {
				s.AnatomyFrom = n
			}
		case "al":
			if n, ok := atoi(v); ok {
				s.AnatomyLen = n
			}
		case "ap":
			s.AnatomyPart = v
		case "gh":
			s.GroupHistory = v == "1"
		case "tm":
			s.Map = v == "1"
		case "ac":
			s.Activity = v == "1"
		case "ar":
			s.Archived = v == "1"
		case "z":
			if len(v) < 64 && ParseExtent(v).Zoomed() {
				s.Zoom = v
			}
		case "ls":
			s.Lesson = v
		case "ln":
			if n, ok := atoi(v); ok && n > 0 && n < 1<<31 {
				s.LessonStep = int(n) - 1
			}
		}
	}
	if s.Lesson == "" {
		s.LessonStep = 0
	}
	if s.FileID != "" {
		s.OnlyPartition = false
	}
	if !s.Replay {
		s.Step = 0
	}
	if s.Anatomy == "" {
		s.AnatomyPart = ""
	}
	if s.Anatomy == "" || s.AnatomyLen == 0 {
		s.AnatomyFrom, s.AnatomyLen = 0, 0
	}
	if s.Table == "" {
		return State{}
	}
	if s.View == Home {
		s.View = Timeline
	}
	return s
}

// Strangers are the parts of a fragment that have no meaning here, as they stand in it: views, queries and axes that
// there are none of, times that are none, and a lesson or a view of no table. ParseFragment takes the default for them.
func Strangers(frag string) []string {
	frag = strings.TrimPrefix(strings.TrimPrefix(frag, "#"), "/")
	if frag == "" {
		return nil
	}
	parts := strings.Split(frag, "&")
	table := false
	for _, part := range parts {
		table = table || strings.HasPrefix(part, "t=") && len(part) > 2
	}
	var out []string
	for _, part := range parts {
		k, v, _ := strings.Cut(part, "=")
		v = unescape(v)
		known := true
		switch k {
		case "v":
			known = table && View(v).known()
		case "q":
			known = table && (v == "" || v == "ro" || v == "inc" || v == "cdc")
		case "x":
			known = table && (v == "" || v == "completed" || v == "steps")
		case "r":
			known = table && (v == "" || v == "scan" || v == "merge")
		case "a":
			known = v == "" || timeLike(v)
		case "ls":
			known = table
		}
		if !known {
			out = append(out, k+"="+v)
		}
	}
	return out
}

// timeLike reports whether a text may be a time as Hudi's options take it; whether it is one, the core tells.
func timeLike(s string) bool {
	return s != "" && s[0] >= '0' && s[0] <= '9' && strings.Trim(s, "0123456789-:. T") == ""
}

// digits is a text of decimal digits, or "".
func digits(s string) string {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return ""
		}
	}
	return s
}

// Go is the state of another view of the same table, selections kept where they mean something there.
func (s State) Go(v View) State {
	s.View = v
	s.Byte = 0
	s.Replay, s.MergeSteps, s.Step = false, false, 0
	s.GroupHistory = false
	return s.anatomy("", 0, 0)
}

func (s State) anatomy(file string, from, length int64) State {
	s.Anatomy, s.AnatomyFrom, s.AnatomyLen, s.AnatomyPart = file, from, length, ""
	return s
}

// AnatomyOf is the state that shows the parts of a base file, or with a length those of the file that the content of
// a log block is.
func (s State) AnatomyOf(file string, from, length int64) State {
	s = s.Go(Files)
	return s.anatomy(file, from, length)
}

// GroupOf is the state that shows a file group through time.
func (s State) GroupOf(partition, fileID string) State {
	s = s.Go(Files)
	s.Partition, s.FileID, s.OnlyPartition, s.GroupHistory = partition, fileID, false, true
	return s
}

// HistoryOf is the state that shows the history of a record key.
func (s State) HistoryOf(key string) State {
	s = s.Go(History)
	s.Key, s.Prefix, s.Everywhere = key, false, false
	return s
}

// escape keeps what is readable in a fragment and escapes what would be ambiguous.
func escape(s string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9',
			strings.IndexByte("-._~/:@!$'()*,;?", c) >= 0:
			b.WriteByte(c)
		default:
			b.WriteByte('%')
			b.WriteByte(hex[c>>4])
			b.WriteByte(hex[c&15])
		}
	}
	return b.String()
}

func unescape(s string) string {
	u, err := url.PathUnescape(s)
	if err != nil {
		return s
	}
	return u
}

// StripCredentials removes from a location what must not stand in a shared link: the user
// and password of a URL, and its whole query, as any parameter may give access. It returns
// the clean location and the names of what was taken out, sorted; a value without a name
// counts as "the query". A fragment of the URL is dropped, too. Locations that are neither URLs
// nor paths of the page's server ("sample:x") come back unchanged.
func StripCredentials(location string) (clean string, removed []string) {
	if !isURL(location) {
		return location, nil
	}
	if KindOfStore(location) != NoStore {
		return cleanStore(location)
	}
	clean, _, _ = strings.Cut(location, "#")
	clean, query, _ := strings.Cut(clean, "?")
	seen := map[string]bool{}
	note := func(name string) {
		if !seen[name] {
			seen[name] = true
			removed = append(removed, name)
		}
	}
	if scheme, rest, ok := strings.Cut(clean, "://"); ok {
		authority, path := rest, ""
		if i := strings.IndexByte(rest, '/'); i >= 0 {
			authority, path = rest[:i], rest[i:]
		}
		if i := strings.LastIndexByte(authority, '@'); i >= 0 {
			note("user and password")
			clean = scheme + "://" + authority[i+1:] + path
		}
	}
	for _, part := range strings.Split(query, "&") {
		name, _, named := strings.Cut(part, "=")
		if p, err := url.QueryUnescape(name); err == nil {
			name = p
		}
		switch {
		case part == "":
		case !named || name == "":
			note("the query")
		default:
			note(name)
		}
	}
	sort.Strings(removed)
	return clean, removed
}

// isURL reports whether a location is a URL, or a path of the server that the page came from.
func isURL(location string) bool {
	return strings.Contains(location, "://") || strings.HasPrefix(location, "/")
}

// tableOf reads the location in a link. A link of this page has a URL's own escapes escaped
// once more. One written by hand may have them once only: taking them away would leave what
// is no URL, so they stay. A query is never guessed about.
func tableOf(raw string) string {
	loc := unescape(raw)
	if KindOfStore(loc) != NoStore && !strings.HasPrefix(loc, "http") {
		return loc // plain keys, which are no URLs
	}
	if !isURL(raw) || strings.Contains(loc, "?") || escapeURL(loc) == loc {
		return loc
	}
	return escapeURL(raw)
}

// escapeURL escapes what can't stand in the path of a URL and leaves its escapes alone.
func escapeURL(s string) string {
	digit := func(i int) bool {
		return i < len(s) && (s[i] >= '0' && s[i] <= '9' || s[i] >= 'a' && s[i] <= 'f' || s[i] >= 'A' && s[i] <= 'F')
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c <= ' ':
			b.WriteByte('%')
			b.WriteByte("0123456789ABCDEF"[c>>4])
			b.WriteByte("0123456789ABCDEF"[c&15])
		case c == '#':
			b.WriteString("%23")
		case c == '%' && !(digit(i+1) && digit(i+2)):
			b.WriteString("%25")
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// TypedLocation completes what was typed as the address of a table. A host without a scheme is
// taken for https, this machine for http; assumed is then that scheme, else "". A path that
// begins with "/" is one of the page's server and stays.
func TypedLocation(text string) (location, assumed string) {
	switch {
	case strings.Contains(text, "://"), strings.HasPrefix(text, "sample:"), strings.HasPrefix(text, "drop:"):
		return text, ""
	case strings.HasPrefix(text, "//"):
		text = text[2:]
	case strings.HasPrefix(text, "/"):
		return text, ""
	}
	host := text
	if i := strings.IndexAny(host, "/?#"); i >= 0 {
		host = host[:i]
	}
	host = host[strings.LastIndexByte(host, '@')+1:]
	if i := strings.LastIndexByte(host, ':'); i > strings.LastIndexByte(host, ']') {
		host = host[:i]
	}
	switch host = strings.ToLower(host); {
	case host == "localhost", strings.HasSuffix(host, ".localhost"), host == "127.0.0.1", host == "[::1]":
		return "http://" + text, "http"
	}
	return "https://" + text, "https"
}
