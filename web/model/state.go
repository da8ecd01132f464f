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
	History  View = "history"
	Compare  View = "compare"
	Health   View = "health"
	Metadata View = "metadata"
	Table    View = "table"
)

// Views lists the views of a table in the order of the tabs.
var Views = []View{Timeline, Files, Blocks, Rows, History, Compare, Health, Metadata, Table}

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
	// Axis of the timeline: "", "completed" or "steps".
	Axis string
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
	Query, Begin, End string
	// Rules is the Hudi release whose read rules apply; "" gives the right answer.
	Rules string
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
		{"q", s.Query}, {"qb", s.Begin}, {"qe", s.End}, {"h", s.Rules},
	} {
		if f.value != "" {
			add(f.name, f.value)
		}
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
		v = unescape(v)
		switch k {
		case "t":
			s.Table = v
		case "v":
			if View(v).known() {
				s.View = View(v)
			}
		case "i":
			s.Instant = v
		case "act":
			s.Action = v
		case "a":
			s.AsOf = v
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
		case "h":
			s.Rules = v
		}
	}
	if s.FileID != "" {
		s.OnlyPartition = false
	}
	if !s.Replay {
		s.Step = 0
	}
	if s.Table == "" {
		return State{}
	}
	if s.View == Home {
		s.View = Timeline
	}
	return s
}

// Go is the state of another view of the same table, selections kept where they mean something there.
func (s State) Go(v View) State {
	s.View = v
	s.Byte = 0
	s.Replay, s.MergeSteps, s.Step = false, false, 0
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

// credentialNames are query parameters that give access, in lower case: S3, CloudFront, GCS, Azure.
var credentialNames = map[string]bool{
	"awsaccesskeyid": true, "signature": true, "expires": true, "policy": true, "key-pair-id": true,
	"googleaccessid": true, "sig": true, "se": true, "st": true, "sp": true, "sr": true, "sv": true,
	"spr": true, "sip": true, "skoid": true, "sktid": true, "skt": true, "ske": true, "sks": true, "skv": true,
	"x-oss-process": false, "ossaccesskeyid": true, "security-token": true, "jwt": true, "auth": true,
}

// StripCredentials removes from a URL what must not stand in a shared link: user and
// password, presigned query parameters, and parameters named like secrets. It returns
// the clean URL and the names of what was taken out, sorted. Locations that are no
// URLs ("sample:x") come back unchanged.
func StripCredentials(location string) (clean string, removed []string) {
	if !strings.Contains(location, "://") {
		return location, nil
	}
	u, err := url.Parse(location)
	if err != nil {
		// What can't be parsed can't be cleaned: keep nothing but the part before a query or a user.
		if i := strings.IndexAny(location, "?#@"); i >= 0 {
			return location[:i], []string{"everything after " + location[i:i+1]}
		}
		return location, nil
	}
	if u.User != nil {
		u.User = nil
		removed = append(removed, "user and password")
	}
	if u.Fragment != "" {
		u.Fragment = ""
	}
	if u.RawQuery != "" {
		var keep []string
		for _, part := range strings.Split(u.RawQuery, "&") {
			name, _, _ := strings.Cut(part, "=")
			plain := name
			if p, err := url.QueryUnescape(name); err == nil {
				plain = p
			}
			if isCredential(strings.ToLower(plain)) {
				removed = append(removed, plain)
				continue
			}
			keep = append(keep, part)
		}
		u.RawQuery = strings.Join(keep, "&")
	}
	if len(removed) == 0 {
		return location, nil
	}
	sort.Strings(removed)
	return u.String(), removed
}

func isCredential(name string) bool {
	if v, ok := credentialNames[name]; ok {
		return v
	}
	for _, p := range []string{"x-amz-", "x-goog-", "x-oss-", "x-cos-", "x-ms-"} {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	for _, w := range []string{"token", "secret", "password", "passwd", "credential", "apikey", "api_key", "api-key", "access_key", "accesskey", "signature"} {
		if strings.Contains(name, w) {
			return true
		}
	}
	return false
}
