//go:build !js

package robust_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"hudiscope/core/api"
	"hudiscope/core/explorer"
	"hudiscope/core/filegroup"
	"hudiscope/core/logfile"
	"hudiscope/core/storage"
	"hudiscope/core/storage/cache"
	"hudiscope/core/tabletest"
	"hudiscope/core/timeline"
)

// The outcomes of a fault.
const (
	same    = "same rows"
	found   = "other rows, with a finding"
	refused = "an error that names the file"
	unseen  = "other values, no checksum" // bytes of values that no format protects
)

// fault is what was done to a table.
type fault struct {
	// did says what, for people; names are the file names, instants and file ids of which one must stand in
	// what the answers say.
	did   string
	names []string
	// values is true where the bytes that were changed may be those of a value: neither log blocks nor pages
	// have checksums.
	values bool
	// path is the file that was changed, metadata is set where it is one of the metadata table.
	path     string
	metadata bool
	// bytes is true where bytes of a file are at fault, by being cut off or changed: what tells of it says where.
	bytes bool
}

// mutation is a kind of fault. do changes the table; nil means that the table has nothing of the kind.
type mutation struct {
	kind string
	do   func(r *rand.Rand, f *tabletest.Files) *fault
	// rare is set where few tables have what it takes: it is tried on all of them.
	rare bool
	// beside is set where the fault may show in other answers than rows: they are held against those before, too.
	beside bool
}

// files lists those paths of a table for which ok is true.
func files(f *tabletest.Files, ok func(dir, name string) bool) []string {
	var out []string
	for _, p := range f.Paths() {
		dir, name := path.Split(p)
		if ok(strings.TrimSuffix(dir, "/"), name) {
			out = append(out, p)
		}
	}
	return out
}

func inTable(dir string) bool { return dir != ".hoodie" && !strings.HasPrefix(dir, ".hoodie/") }

func bases(f *tabletest.Files) []string {
	return files(f, func(dir, name string) bool {
		n, ok := filegroup.ParseBaseName(name)
		return ok && inTable(dir) && (n.Ext == ".parquet" || n.Ext == ".orc")
	})
}

func logs(f *tabletest.Files) []string {
	return files(f, func(dir, name string) bool {
		n, ok := logfile.ParseName(name)
		return ok && inTable(dir) && !n.CDC
	})
}

func layoutOf(f *tabletest.Files) int {
	if strings.Contains(string(f.Bytes(".hoodie/hoodie.properties")), "hoodie.timeline.layout.version=2") {
		return 2
	}
	return 1
}

// instants lists the timeline's files of a state, and with writes alone those of writes.
func instantFiles(f *tabletest.Files, state timeline.State, writes bool) []string {
	layout := layoutOf(f)
	return files(f, func(dir, name string) bool {
		if dir != ".hoodie" && dir != ".hoodie/timeline" {
			return false
		}
		n, ok := timeline.ParseName(layout, name)
		if !ok || n.State != state {
			return false
		}
		switch n.Action {
		case timeline.Commit, timeline.DeltaCommit, timeline.ReplaceCommit:
			return true
		}
		return !writes
	})
}

// namesOf are what tells of a file: its name, and the instant and the file group in it.
func namesOf(p string) []string {
	name := path.Base(p)
	out := []string{name}
	if n, ok := logfile.ParseName(name); ok {
		return append(out, n.Instant, n.FileID)
	}
	if n, ok := filegroup.ParseBaseName(name); ok {
		return append(out, n.Instant, n.FileID)
	}
	i := 0
	for i < len(name) && name[i] >= '0' && name[i] <= '9' {
		i++
	}
	if i >= 14 {
		out = append(out, name[:i])
	}
	return out
}

func pick(r *rand.Rand, list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[r.IntN(len(list))]
}

// on makes a mutation of one file of a list.
func on(kind string, list func(*tabletest.Files) []string, do func(r *rand.Rand, f *tabletest.Files, p string) *fault) mutation {
	return mutation{kind: kind, do: func(r *rand.Rand, f *tabletest.Files) *fault {
		p := pick(r, list(f))
		if p == "" {
			return nil
		}
		x := do(r, f, p)
		if x != nil {
			x.names = append(x.names, namesOf(p)...)
			x.path, x.metadata = p, strings.HasPrefix(p, ".hoodie/metadata/")
		}
		return x
	}}
}

func did(format string, args ...any) *fault { return &fault{did: fmt.Sprintf(format, args...)} }

// cutTo cuts a file.
func cutTo(f *tabletest.Files, p string, n int) *fault {
	f.Put(p, f.Bytes(p)[:n])
	x := did("%s cut to %d bytes", p, n)
	x.bytes = true
	return x
}

// cutSomewhere cuts a file at one of the places where cuts hurt in different ways.
func cutSomewhere(r *rand.Rand, f *tabletest.Files, p string) *fault {
	n := len(f.Bytes(p))
	if n < 2 {
		return nil
	}
	return cutTo(f, p, []int{0, 1, min(4, n-1), n / 3, n / 2, max(n-8, 1), n - 1, 1 + r.IntN(n-1)}[r.IntN(8)])
}

func remove(_ *rand.Rand, f *tabletest.Files, p string) *fault {
	f.Remove(p)
	return did("%s removed", p)
}

func empty(_ *rand.Rand, f *tabletest.Files, p string) *fault {
	if len(f.Bytes(p)) == 0 {
		return nil
	}
	return cutTo(f, p, 0)
}

// swap exchanges a file with another of the list.
func swap(list func(*tabletest.Files) []string) func(r *rand.Rand, f *tabletest.Files, p string) *fault {
	return func(r *rand.Rand, f *tabletest.Files, p string) *fault {
		q := pick(r, slices.DeleteFunc(list(f), func(x string) bool { return bytes.Equal(f.Bytes(x), f.Bytes(p)) }))
		if q == "" {
			return nil
		}
		a, b := f.Bytes(p), f.Bytes(q)
		f.Put(p, b)
		f.Put(q, a)
		x := did("%s and %s swapped", p, q)
		x.names = namesOf(q)
		// Deletes name keys and their partition, not the file group: of two lists of one length nothing tells which is whose.
		x.values = len(a) == len(b) && path.Dir(p) == path.Dir(q) && onlyDeletes(a) && onlyDeletes(b)
		return x
	}
}

// onlyDeletes reports whether a file is a log of delete blocks alone.
func onlyDeletes(b []byte) bool {
	list := spans(b)
	for _, s := range list {
		if binary.BigEndian.Uint32(b[s.start+18:]) != uint32(logfile.DeleteBlock) {
			return false
		}
	}
	return len(list) > 0
}

// stale gives a base file the content of an older one of its group.
func stale(r *rand.Rand, f *tabletest.Files, p string) *fault {
	n, _ := filegroup.ParseBaseName(path.Base(p))
	older := slices.DeleteFunc(bases(f), func(x string) bool {
		m, _ := filegroup.ParseBaseName(path.Base(x))
		return m.FileID != n.FileID || m.Instant >= n.Instant || path.Dir(x) != path.Dir(p)
	})
	q := pick(r, older)
	if q == "" {
		return nil
	}
	f.Put(p, f.Bytes(q))
	return did("%s has the content of %s", p, path.Base(q))
}

// double copies a file under another name.
func double(r *rand.Rand, f *tabletest.Files, p string) *fault {
	dir, name := path.Split(p)
	to := ""
	if n, ok := logfile.ParseName(name); ok {
		switch r.IntN(3) {
		case 0: // another attempt
			n.Token = "9" + n.Token
		case 1: // the next version
			n.Version += 7
		default: // another file group
			n.FileID = "feedbeef-" + n.FileID
		}
		to = n.String()
	} else if n, ok := filegroup.ParseBaseName(name); ok {
		switch r.IntN(3) {
		case 0:
			to = strings.Replace(name, "_"+n.Token+"_", "_9"+n.Token+"_", 1)
		case 1:
			to = "feedbeef-" + name
		default: // an instant that the timeline does not have
			to = strings.Replace(name, n.Instant, "20991231000000000", 1)
		}
	}
	if to == "" || f.Bytes(dir+to) != nil {
		return nil
	}
	f.Put(dir+to, f.Bytes(p))
	x := did("%s copied as %s", p, to)
	x.names = namesOf(to)
	return x
}

// spans finds a log file's blocks: header, content and footer, as offsets.
type span struct{ start, header, content, end int }

func spans(b []byte) []span {
	var out []span
	for at := 0; at+14 <= len(b) && string(b[at:at+6]) == "#HUDI#"; {
		size := int(binary.BigEndian.Uint64(b[at+6:]))
		end := at + 14 + size
		if size < 30 || end > len(b) || end < at {
			break
		}
		s := span{start: at, header: at + 22, end: end}
		i := at + 26
		for n := binary.BigEndian.Uint32(b[at+22:]); n > 0 && i+8 <= end; n-- {
			i += 8 + int(binary.BigEndian.Uint32(b[i+4:]))
		}
		if i+8 > end {
			break
		}
		s.content = i + 8
		out = append(out, s)
		at = end
	}
	return out
}

// flip changes a byte of a part of a random block of a log file.
func flip(part string) func(r *rand.Rand, f *tabletest.Files, p string) *fault {
	return func(r *rand.Rand, f *tabletest.Files, p string) *fault {
		b := bytes.Clone(f.Bytes(p))
		list := spans(b)
		if len(list) == 0 {
			return nil
		}
		s := list[r.IntN(len(list))]
		lo, hi := s.start, s.header
		values := false
		switch part {
		case "header":
			// The instant in it decides whether the block counts.
			lo, hi, values = s.header, s.content, true
		case "content":
			lo, hi, values = s.content, s.end-12, true
		case "footer":
			lo, hi = s.end-12, s.end
		}
		if lo >= hi {
			return nil
		}
		i := lo + r.IntN(hi-lo)
		b[i] ^= byte(1 + r.IntN(255))
		f.Put(p, b)
		x := did("byte %d of %s changed, in the %s of the block at %d", i, p, part, s.start)
		x.values = values
		x.bytes = true
		return x
	}
}

// cutBlock cuts a log file inside a block.
func cutBlock(r *rand.Rand, f *tabletest.Files, p string) *fault {
	list := spans(f.Bytes(p))
	if len(list) == 0 {
		return nil
	}
	s := list[r.IntN(len(list))]
	return cutTo(f, p, s.start+1+r.IntN(s.end-s.start-1))
}

// flipBase changes a byte of a base file.
func flipBase(r *rand.Rand, f *tabletest.Files, p string) *fault {
	b := bytes.Clone(f.Bytes(p))
	if len(b) < 20 {
		return nil
	}
	i := r.IntN(len(b))
	values := true
	if r.IntN(2) == 0 { // in the footer
		i = len(b) - 8 - r.IntN(min(len(b)-8, 3000))
	}
	b[i] ^= byte(1 + r.IntN(255))
	f.Put(p, b)
	x := did("byte %d of %d of %s changed", i, len(b), p)
	x.values = values
	x.bytes = true
	return x
}

// cutBetween cuts a log file exactly between two blocks.
func cutBetween(r *rand.Rand, f *tabletest.Files, p string) *fault {
	list := spans(f.Bytes(p))
	if len(list) < 2 {
		return nil
	}
	return cutTo(f, p, list[1+r.IntN(len(list)-1)].start)
}

// flipLength changes one bit of a length or count of a block: of its size, version, maps, content, or the size at its end.
func flipLength(r *rand.Rand, f *tabletest.Files, p string) *fault {
	b := bytes.Clone(f.Bytes(p))
	list := spans(b)
	if len(list) == 0 {
		return nil
	}
	s := list[r.IntN(len(list))]
	at := []int{s.start + 6, s.start + 10, s.start + 14, s.start + 18, s.header, s.header + 4, s.header + 8, s.content - 8, s.content - 4, s.end - 12, s.end - 8, s.end - 4}[r.IntN(12)]
	i, bit := at+r.IntN(4), r.IntN(8)
	if i >= len(b) {
		return nil
	}
	b[i] ^= 1 << bit
	f.Put(p, b)
	x := did("bit %d of byte %d of %s changed, in the block at %d", bit, i, p, s.start)
	// Which entry of the header is the instant, or that there is one, is in these bytes too.
	x.values = i >= s.header && i < s.content-8
	x.bytes = true
	return x
}

// doubleBlock repeats a block behind the last one.
func doubleBlock(r *rand.Rand, f *tabletest.Files, p string) *fault {
	b := f.Bytes(p)
	list := spans(b)
	if len(list) == 0 || list[len(list)-1].end != len(b) {
		return nil
	}
	s := list[r.IntN(len(list))]
	f.Put(p, append(bytes.Clone(b), b[s.start:s.end]...))
	return did("the block at %d of %s is there again at its end", s.start, p)
}

// flipFooterLength changes one bit of the last 8 bytes of a base file: of the footer's length and the magic.
func flipFooterLength(r *rand.Rand, f *tabletest.Files, p string) *fault {
	b := bytes.Clone(f.Bytes(p))
	if len(b) < 20 {
		return nil
	}
	i, bit := len(b)-1-r.IntN(8), r.IntN(8)
	b[i] ^= 1 << bit
	f.Put(p, b)
	x := did("bit %d of byte %d of %d of %s changed", bit, i, len(b), p)
	x.bytes = true
	return x
}

// flipAny changes a byte of a file that has no rows of the table.
func flipAny(r *rand.Rand, f *tabletest.Files, p string) *fault {
	b := bytes.Clone(f.Bytes(p))
	if len(b) == 0 {
		return nil
	}
	i := r.IntN(len(b))
	b[i] ^= byte(1 + r.IntN(255))
	f.Put(p, b)
	x := did("byte %d of %d of %s changed", i, len(b), p)
	x.values, x.bytes = true, true
	return x
}

// swapSlices exchanges the base files of two slices of a file group.
func swapSlices(r *rand.Rand, f *tabletest.Files, p string) *fault {
	n, _ := filegroup.ParseBaseName(path.Base(p))
	return swap(func(f *tabletest.Files) []string {
		return slices.DeleteFunc(bases(f), func(x string) bool {
			m, _ := filegroup.ParseBaseName(path.Base(x))
			return x == p || m.FileID != n.FileID || path.Dir(x) != path.Dir(p)
		})
	})(r, f, p)
}

// otherCase copies a base file under its name in capital letters, as a file system that knows no difference might.
func otherCase(_ *rand.Rand, f *tabletest.Files, p string) *fault {
	dir, name := path.Split(p)
	stem, ext, _ := strings.Cut(name, ".")
	to := strings.ToUpper(stem) + "." + ext
	if to == name {
		return nil
	}
	f.Put(dir+to, f.Bytes(p))
	x := did("%s copied as %s", p, to)
	x.names = namesOf(to)
	return x
}

// otherPartition copies the files of a partition to a folder whose name differs in the case of its letters, or in an escape.
func otherPartition(r *rand.Rand, f *tabletest.Files, p string) *fault {
	dir := path.Dir(p)
	if dir == "." {
		return nil
	}
	to := strings.ToUpper(dir)
	if to == dir || r.IntN(2) == 0 {
		to = dir + "%2Fx"
	}
	for _, q := range files(f, func(d, _ string) bool { return d == dir }) {
		f.Put(to+"/"+path.Base(q), f.Bytes(q))
	}
	x := did("the folder %s copied as %s", dir, to)
	x.names = []string{to}
	return x
}

// otherAction gives an instant a second completed file, of another action.
func otherAction(_ *rand.Rand, f *tabletest.Files, p string) *fault {
	dir, name := path.Split(p)
	time, action, _ := strings.Cut(name, ".")
	other := "commit"
	if action == other {
		other = "deltacommit"
	}
	f.Put(dir+time+"."+other, f.Bytes(p))
	x := did("%s copied as %s.%s", p, time, other)
	x.names = []string{time}
	return x
}

// twice gives an instant a second completion time.
func twice(_ *rand.Rand, f *tabletest.Files, p string) *fault {
	dir, name := path.Split(p)
	requested, rest, ok := strings.Cut(name, "_")
	if !ok || len(requested) != 17 {
		return nil
	}
	completed, action, _ := strings.Cut(rest, ".")
	n, err := strconv.ParseInt(completed, 10, 64)
	if err != nil {
		return nil
	}
	to := fmt.Sprintf("%s_%017d.%s", requested, n+1000, action)
	f.Put(dir+to, f.Bytes(p))
	x := did("%s copied as %s", p, to)
	x.names = append(namesOf(to), requested)
	return x
}

// bothFolders copies an instant to where tables of the other layout have theirs.
func bothFolders(_ *rand.Rand, f *tabletest.Files, p string) *fault {
	dir := ".hoodie/"
	if layoutOf(f) < 2 {
		dir = ".hoodie/timeline/"
	}
	f.Put(dir+path.Base(p), f.Bytes(p))
	return did("%s copied to %s", p, dir)
}

func archives(f *tabletest.Files) []string {
	return files(f, func(dir, name string) bool {
		return (dir == ".hoodie/archived" || dir == ".hoodie/timeline/history") && !strings.HasSuffix(name, ".crc")
	})
}

func bootstrapIndexes(f *tabletest.Files) []string {
	return files(f, func(dir, name string) bool {
		return strings.HasPrefix(dir, ".hoodie/.aux/.bootstrap") && !strings.HasSuffix(name, ".crc")
	})
}

// metadataData are the base files and logs of the metadata table.
func metadataData(f *tabletest.Files) []string {
	return slices.DeleteFunc(metadataFiles(f), func(p string) bool {
		return strings.HasPrefix(p, ".hoodie/metadata/.hoodie/") || !strings.HasSuffix(p, ".hfile") && !strings.Contains(p, ".log.")
	})
}

// skew gives a completed instant a completion time before its request.
func skew(_ *rand.Rand, f *tabletest.Files, p string) *fault {
	dir, name := path.Split(p)
	requested, rest, ok := strings.Cut(name, "_")
	if !ok || len(requested) != 17 {
		return nil
	}
	_, action, _ := strings.Cut(rest, ".")
	n, err := strconv.ParseInt(requested, 10, 64)
	if err != nil {
		return nil
	}
	to := fmt.Sprintf("%s_%017d.%s", requested, n-1000, action)
	f.Put(dir+to, f.Bytes(p))
	f.Remove(p)
	x := did("%s renamed %s", p, to)
	x.names = namesOf(to)
	return x
}

// shift moves all files of an instant into the future.
func shift(_ *rand.Rand, f *tabletest.Files, p string) *fault {
	name := path.Base(p)
	i := strings.IndexAny(name, "_.")
	old := name[:i]
	if len(old) != 17 {
		return nil
	}
	future := "2099" + old[4:]
	for _, q := range files(f, func(dir, n string) bool { return dir == path.Dir(p) && strings.HasPrefix(n, old) }) {
		f.Put(path.Dir(q)+"/"+strings.ReplaceAll(path.Base(q), old, future), f.Bytes(q))
		f.Remove(q)
	}
	x := did("the files of instant %s renamed to %s", old, future)
	x.names = []string{future}
	return x
}

// oddNames puts files into a folder that are none of Hudi's.
func oddNames(r *rand.Rand, f *tabletest.Files) *fault {
	dirs := []string{".hoodie", ".hoodie/timeline", ""}
	for _, p := range bases(f) {
		dirs = append(dirs, path.Dir(p))
	}
	dir := pick(r, dirs)
	if dir == "." {
		dir = ""
	}
	if dir == ".hoodie/timeline" && layoutOf(f) < 2 {
		dir = ".hoodie"
	}
	name := pick(r, []string{"_SUCCESS", ".DS_Store", "part-00000.parquet.tmp", "20990101000000000.commit.tmp", ".20990101000000000.commit.crc", "20990101000000000.commit.swp", "x.parquet", "x_1_2.parquet.crc",
		".f_20990101000000000.log", ".f_20990101000000000.log.x", "f_0-0-0_.parquet", "<img src=x onerror=alert(1)>.parquet", "a%2Fb.parquet", "20990101000000000.unknown", "20990101000000000.deltacommit.paused", "Thumbs.db", "._.f_2099.log.1_0-0-0"})
	f.Put(join(dir, name), []byte("no content of Hudi"))
	x := did("%s in %q", name, dir)
	x.names = []string{name}
	return x
}

// properties breaks hoodie.properties.
func properties(r *rand.Rand, f *tabletest.Files) *fault {
	const p = ".hoodie/hoodie.properties"
	text := string(f.Bytes(p))
	replace := func(key, value string) string {
		var out []string
		for _, l := range strings.Split(text, "\n") {
			if k, _, _ := strings.Cut(l, "="); k == key {
				if value == "" {
					continue
				}
				l = key + "=" + value
			}
			out = append(out, l)
		}
		return strings.Join(out, "\n")
	}
	var to, what string
	switch r.IntN(9) {
	case 0:
		what, to = "empty", ""
	case 1:
		n := 1 + r.IntN(len(text)-1)
		what, to = fmt.Sprintf("cut to %d bytes", n), text[:n]
	case 2:
		what, to = "a version that is no number", replace("hoodie.table.version", "six")
	case 3:
		what, to = "a version of the future", replace("hoodie.table.version", "77")
	case 4:
		what, to = "a type that is none", replace("hoodie.table.type", "SOMETHING")
	case 5:
		what, to = "a wrong checksum", replace("hoodie.table.checksum", "1")
	case 6:
		what, to = "a layout of the future", replace("hoodie.timeline.layout.version", "9")
	case 7:
		what, to = "bytes that are no text", "\x00\xff\xfe\x80"+text
	default:
		f.Remove(p)
		x := did("hoodie.properties removed")
		x.names = []string{"hoodie.properties"}
		return x
	}
	if to == text {
		return nil
	}
	f.Put(p, []byte(to))
	x := did("hoodie.properties: %s", what)
	x.bytes = strings.HasPrefix(what, "bytes") // what is cut is properties still, fewer of them
	x.names = []string{"hoodie.properties", "hoodie."}
	return x
}

const propertiesFile = ".hoodie/hoodie.properties"

// property is the value of a key of hoodie.properties, the last one as in Java; "" when it is not there.
func property(f *tabletest.Files, key string) string {
	out := ""
	for _, l := range strings.Split(string(f.Bytes(propertiesFile)), "\n") {
		if k, v, _ := strings.Cut(l, "="); k == key {
			out = v
		}
	}
	return out
}

// setProperty gives a key of hoodie.properties a value, in its own line or a new one.
func setProperty(f *tabletest.Files, key, value string) {
	var out []string
	found := false
	for _, l := range strings.Split(strings.TrimSuffix(string(f.Bytes(propertiesFile)), "\n"), "\n") {
		if k, _, _ := strings.Cut(l, "="); k == key {
			l, found = key+"="+value, true
		}
		out = append(out, l)
	}
	if !found {
		out = append(out, key+"="+value)
	}
	f.Put(propertiesFile, []byte(strings.Join(out, "\n")+"\n"))
}

// contradict sets a property to another of its values, all of which are valid for some table. choose gives nil where the table
// has nothing of the kind.
func contradict(key string, choose func(r *rand.Rand, f *tabletest.Files, old string) string) func(r *rand.Rand, f *tabletest.Files) *fault {
	return func(r *rand.Rand, f *tabletest.Files) *fault {
		old := property(f, key)
		value := choose(r, f, old)
		if value == "" || strings.EqualFold(value, old) {
			return nil
		}
		setProperty(f, key, value)
		x := did("hoodie.properties: %s=%s, was %q", key, value, old)
		x.names = []string{key}
		return x
	}
}

// but chooses one of some values that is not the old one.
func but(values ...string) func(r *rand.Rand, f *tabletest.Files, old string) string {
	return func(r *rand.Rand, _ *tabletest.Files, old string) string {
		return pick(r, slices.DeleteFunc(slices.Clone(values), func(v string) bool { return strings.EqualFold(v, old) }))
	}
}

// flipped is the other truth value; def is that of a table without the property.
func flipped(def bool) func(r *rand.Rand, f *tabletest.Files, old string) string {
	return func(_ *rand.Rand, _ *tabletest.Files, old string) string {
		return strconv.FormatBool(old == "" && !def || strings.EqualFold(old, "false"))
	}
}

// anyOf tries one of some contradictions.
func anyOf(list ...func(r *rand.Rand, f *tabletest.Files) *fault) func(r *rand.Rand, f *tabletest.Files) *fault {
	return func(r *rand.Rand, f *tabletest.Files) *fault { return list[r.IntN(len(list))](r, f) }
}

// asValue marks a fault after which nothing in the files is at odds with the property: which of two columns orders versions,
// or which of them wins, is told by it alone.
func asValue(do func(r *rand.Rand, f *tabletest.Files) *fault) func(r *rand.Rand, f *tabletest.Files) *fault {
	return func(r *rand.Rand, f *tabletest.Files) *fault {
		x := do(r, f)
		if x != nil {
			x.values = true
		}
		return x
	}
}

// versionAndLayout sets the table version and the layout that goes with it.
func versionAndLayout(r *rand.Rand, f *tabletest.Files) *fault {
	version, layout := pick(r, []string{"1", "5", "6"}), "1"
	if layoutOf(f) == 1 {
		version, layout = pick(r, []string{"8", "9"}), "2"
	}
	setProperty(f, "hoodie.table.version", version)
	setProperty(f, "hoodie.timeline.layout.version", layout)
	x := did("hoodie.properties: version %s and layout %s", version, layout)
	x.names = []string{"hoodie.table.version", "hoodie.timeline.layout.version", ".hoodie/timeline"}
	return x
}

// keyFields names other columns as the key. Where the meta fields are not filled nothing else tells which it is.
func keyFields(r *rand.Rand, f *tabletest.Files) *fault {
	x := contradict("hoodie.table.recordkey.fields", but("fare", "nokey", "ts", "uuid,fare"))(r, f)
	if x != nil {
		x.values = property(f, "hoodie.populate.meta.fields") == "false" && property(f, "hoodie.table.recordkey.fields") != "nokey"
	}
	return x
}

// metaFieldsOff says of meta fields that are filled that they are not, or the other way round. Log blocks have them either way.
func metaFieldsOff(r *rand.Rand, f *tabletest.Files) *fault {
	x := contradict("hoodie.populate.meta.fields", flipped(true))(r, f)
	if x != nil {
		x.values = !slices.ContainsFunc(bases(f), func(p string) bool { return strings.HasSuffix(p, ".parquet") })
	}
	return x
}

// orderingGone names an ordering field that no file has.
func orderingGone(_ *rand.Rand, f *tabletest.Files) *fault {
	key := "hoodie.table.ordering.fields"
	if property(f, key) == "" {
		key = "hoodie.table.precombine.field"
	}
	old := property(f, key)
	if old == "" {
		return nil
	}
	setProperty(f, key, "nocolumn")
	x := did("hoodie.properties: %s=nocolumn, was %s", key, old)
	x.names = []string{key, "nocolumn"}
	return x
}

// keyTwice repeats a property with another value behind the last line.
func keyTwice(r *rand.Rand, f *tabletest.Files) *fault {
	values := map[string][]string{
		"hoodie.table.type": {"COPY_ON_WRITE", "MERGE_ON_READ"}, "hoodie.table.version": {"5", "6", "8", "9"}, "hoodie.timeline.layout.version": {"1", "2"},
		"hoodie.table.base.file.format": {"PARQUET", "ORC", "HFILE"}, "hoodie.record.merge.mode": {"COMMIT_TIME_ORDERING", "EVENT_TIME_ORDERING"},
		"hoodie.table.recordkey.fields": {"fare", "nokey"}, "hoodie.populate.meta.fields": {"true", "false"},
	}
	keys := make([]string, 0, len(values))
	for k := range values {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	key := pick(r, keys)
	old := property(f, key)
	value := but(values[key]...)(r, f, old)
	if old == "" || value == "" {
		return nil
	}
	f.Put(propertiesFile, append(bytes.Clone(f.Bytes(propertiesFile)), key+"="+value+"\n"...))
	x := did("hoodie.properties: %s=%s behind %s", key, value, old)
	x.names = []string{key}
	return x
}

func metadataFiles(f *tabletest.Files) []string {
	return files(f, func(dir, name string) bool { return strings.HasPrefix(dir, ".hoodie/metadata") })
}

func completedWrites(f *tabletest.Files) []string {
	return instantFiles(f, timeline.Completed, true)
}

func anyInstant(state timeline.State) func(*tabletest.Files) []string {
	return func(f *tabletest.Files) []string { return instantFiles(f, state, false) }
}

func markers(f *tabletest.Files) []string {
	return files(f, func(dir, name string) bool {
		return inTable(dir) && strings.HasPrefix(name, ".hoodie_partition_metadata")
	})
}

var mutations = []mutation{
	on("base file cut", bases, cutSomewhere),
	on("base file removed", bases, remove),
	on("base files swapped", bases, swap(bases)),
	on("base file stale", bases, stale).onAll(),
	on("base file doubled", bases, double),
	on("base file: byte changed", bases, flipBase),
	on("log file cut", logs, cutSomewhere),
	on("log file cut inside a block", logs, cutBlock),
	on("log file removed", logs, remove),
	on("log files swapped", logs, swap(logs)),
	on("log file doubled", logs, double),
	on("log block: frame changed", logs, flip("frame")),
	on("log block: header changed", logs, flip("header")),
	on("log block: content changed", logs, flip("content")),
	on("log block: footer changed", logs, flip("footer")),
	on("completed instant emptied", anyInstant(timeline.Completed), empty),
	on("completed instant cut", anyInstant(timeline.Completed), cutSomewhere),
	on("completed instant removed", anyInstant(timeline.Completed), remove),
	on("inflight instant emptied", anyInstant(timeline.Inflight), empty),
	on("inflight instant removed", anyInstant(timeline.Inflight), remove),
	on("requested instant emptied", anyInstant(timeline.Requested), empty),
	on("requested instant cut", anyInstant(timeline.Requested), cutSomewhere),
	on("requested instant removed", anyInstant(timeline.Requested), remove),
	on("completion before request", completedWrites, skew),
	on("instant in the future", completedWrites, shift),
	on("partition marker removed", markers, remove),
	on("base file emptied", bases, empty),
	on("base file: bit of a length changed", bases, flipFooterLength),
	on("base files of a group swapped", bases, swapSlices).onAll(),
	on("base file copied in other letters", bases, otherCase),
	on("partition copied in other letters", bases, otherPartition),
	on("log file emptied", logs, empty),
	on("log file cut between blocks", logs, cutBetween).onAll(),
	on("log block: bit of a length changed", logs, flipLength),
	on("log block doubled", logs, doubleBlock),
	on("instants swapped", completedWrites, swap(completedWrites)),
	on("instant with two actions", completedWrites, otherAction),
	on("instant completed twice", completedWrites, twice),
	on("instant in both timelines", anyInstant(timeline.Completed), bothFolders),
	on("archived timeline: file cut", archives, cutSomewhere).onAll().andBeside(),
	on("archived timeline: file removed", archives, remove).onAll().andBeside(),
	on("archived timeline: files swapped", archives, swap(archives)).onAll().andBeside(),
	on("archived timeline: byte changed", archives, flipAny).onAll().andBeside(),
	on("metadata table: file cut", metadataFiles, cutSomewhere).onAll().andBeside(),
	on("metadata table: file removed", metadataFiles, remove).onAll().andBeside(),
	on("metadata table: files swapped", metadataData, swap(metadataData)).onAll().andBeside(),
	on("metadata table: byte changed", metadataData, flipAny).onAll().andBeside(),
	on("bootstrap index: file cut", bootstrapIndexes, cutSomewhere).onAll(),
	on("bootstrap index: byte changed", bootstrapIndexes, flipAny).onAll(),
	on("bootstrap index: file removed", bootstrapIndexes, remove).onAll(),
	{kind: "odd names", do: oddNames},
	{kind: "hoodie.properties broken", do: properties},
	{kind: "hoodie.properties contradicts: base file format", do: contradict("hoodie.table.base.file.format", but("PARQUET", "ORC", "HFILE", "LANCE", "BANANA"))},
	{kind: "hoodie.properties contradicts: table version", do: contradict("hoodie.table.version", but("0", "1", "2", "3", "4", "5", "6", "8", "9"))},
	{kind: "hoodie.properties contradicts: timeline layout", do: contradict("hoodie.timeline.layout.version", but("0", "1", "2"))},
	{kind: "hoodie.properties contradicts: version and layout", do: versionAndLayout},
	{kind: "hoodie.properties contradicts: table type", do: contradict("hoodie.table.type", but("COPY_ON_WRITE", "MERGE_ON_READ"))},
	{kind: "hoodie.properties contradicts: a key twice", do: keyTwice},
	{kind: "hoodie.properties contradicts: record key fields", do: keyFields},
	{kind: "hoodie.properties contradicts: merge mode", do: asValue(contradict("hoodie.record.merge.mode", but("COMMIT_TIME_ORDERING", "EVENT_TIME_ORDERING")))},
	{kind: "hoodie.properties contradicts: ordering fields that are there", do: asValue(anyOf(contradict("hoodie.table.ordering.fields", but("fare", "rider")), contradict("hoodie.table.precombine.field", but("fare", "rider"))))},
	{kind: "hoodie.properties contradicts: ordering fields that are not", do: orderingGone},
	{kind: "hoodie.properties contradicts: partition fields", beside: true, do: contradict("hoodie.table.partition.fields", but("rider", "nocolumn", "city,rider"))},
	{kind: "hoodie.properties contradicts: meta fields", do: metaFieldsOff},
	{kind: "hoodie.properties contradicts: timeline folders", beside: true, do: anyOf(contradict("hoodie.timeline.path", but("timeline", "elsewhere")), contradict("hoodie.timeline.history.path", but("history", "elsewhere")), contradict("hoodie.archivelog.folder", but("archived", "elsewhere")))},
	{kind: "hoodie.properties contradicts: dropped partition columns", do: contradict("hoodie.datasource.write.drop.partition.columns", flipped(false)), rare: true},
	{kind: "hoodie.properties contradicts: partition folders", do: anyOf(contradict("hoodie.datasource.write.hive_style_partitioning", flipped(false)), contradict("hoodie.datasource.write.partitionpath.urlencode", flipped(false)), contradict("hoodie.partition.metafile.use.base.format", flipped(false)))},
}

func (m mutation) onAll() mutation { m.rare = true; return m }

func (m mutation) andBeside() mutation { m.beside = true; return m }

// state is what the service says of a table.
type state struct {
	rows  []string
	err   error
	says  []string // findings of rows, health and timeline
	panic any
	// beside are other answers, by what was asked.
	beside map[string][]string
}

// look asks for everything that a fault could show in.
func look(ctx context.Context, f *tabletest.Files, beside bool) (out state) {
	defer func() {
		if x := recover(); x != nil {
			out.panic = x
		}
	}()
	s := service(f)
	say := func(list ...api.Finding) {
		for _, x := range list {
			out.says = append(out.says, findingText(x))
		}
	}
	fail := func(err error) {
		if err != nil {
			out.says = append(out.says, "fault: "+describe(err))
		}
	}
	o, err := s.Overview(ctx, api.OverviewRequest{Table: here})
	fail(err)
	if err == nil {
		for _, x := range o.Support {
			out.says = append(out.says, x.What+" "+x.Note)
		}
	}
	if c, err := s.Config(ctx, api.ConfigRequest{Table: here}); err == nil {
		out.says = append(out.says, "hoodie.properties checksum "+c.Checksum+" of "+c.File)
	}
	r, err := s.Rows(ctx, api.RowsRequest{Table: here, Limit: 10000})
	out.err = err
	if err == nil {
		for _, cells := range r.Rows {
			var b strings.Builder
			for _, c := range cells {
				b.Write(c)
				b.WriteByte(',')
			}
			out.rows = append(out.rows, b.String())
		}
		slices.Sort(out.rows)
		say(r.Findings...)
	}
	t, err := s.Timeline(ctx, api.TimelineRequest{Table: here})
	fail(err)
	if err == nil {
		say(t.Finding...)
	}
	h, err := s.Health(ctx, api.HealthRequest{Table: here, Now: "20261201000000000"})
	fail(err)
	if err == nil {
		for _, x := range h.Findings {
			if x.Check == "log-ratio" || x.Check == "small-files" {
				continue // sizes of whole slices change with everything
			}
			for _, e := range x.Evidence {
				out.says = append(out.says, strings.Join([]string{x.Title, e.Text, e.File, e.Instant, e.FileID, e.Partition}, " ")+position(e))
			}
			out.says = append(out.says, x.Title+" "+x.Detail)
		}
	}
	b, err := s.Blocks(ctx, api.BlocksRequest{Table: here, All: true})
	fail(err)
	if err == nil {
		for _, x := range b.Files {
			if x.Fault != nil {
				out.says = append(out.says, "fault: "+describe(x.Fault)+" "+x.File.Path)
			}
			for _, k := range x.Blocks {
				if k.Corrupt != "" {
					out.says = append(out.says, fmt.Sprintf("corrupt %s %s byte %d", k.Corrupt, x.File.Path, k.Start))
				}
			}
		}
	}
	if beside {
		out.lookBeside(ctx, f, s)
	}
	return out
}

// lookBeside asks for the archived timeline, the metadata table, and rows that are found by it.
func (out *state) lookBeside(ctx context.Context, f *tabletest.Files, s *explorer.Service) {
	out.beside = map[string][]string{}
	note := func(what string, err error, lines []string) {
		if err != nil {
			out.says = append(out.says, "fault: "+describe(err))
			lines = []string{"a fault"}
		}
		slices.Sort(lines)
		out.beside[what] = lines
	}
	t, err := s.Timeline(ctx, api.TimelineRequest{Table: here, Archived: true})
	var lines []string
	if err == nil {
		for _, x := range t.Archived {
			lines = append(lines, strings.Join([]string{x.Requested, x.Completed, x.Action, x.State}, " "))
		}
		out.says = append(out.says, t.ArchivedNote)
		for _, x := range t.Finding {
			out.says = append(out.says, findingText(x))
		}
	}
	note("archived instants", err, lines)
	m, err := s.Metadata(ctx, api.MetadataRequest{Table: here})
	if f := explorer.ToFault(err); f != nil && f.Kind == "not found" {
		return
	}
	if err != nil {
		note("metadata table", err, nil)
		return
	}
	out.says = append(out.says, m.Why)
	for _, x := range m.Findings {
		out.says = append(out.says, findingText(x))
	}
	for _, p := range m.Partitions {
		r, err := s.Metadata(ctx, api.MetadataRequest{Table: here, Partition: p.Name, Limit: 100_000})
		lines = nil
		if err == nil {
			for _, x := range r.Records {
				lines = append(lines, fmt.Sprintf("%+v", x.Key))
			}
			for _, x := range r.Findings {
				out.says = append(out.says, findingText(x))
			}
		}
		note("metadata table: "+p.Name, err, lines)
	}
	// As from afar: directories and files to read are those that the metadata table has.
	far := explorer.New(func(context.Context, string) (storage.Source, error) { return cache.New(f, cache.Options{}), nil }, explorer.Options{ORC: orc, MetadataFrom: 1})
	for _, where := range []string{"", "_hoodie_record_key >= 'm'", "fare < 30", "ts > 0", "rider >= 'r'"} {
		r, err := far.Rows(ctx, api.RowsRequest{Table: here, Condition: api.Condition{Where: where}, Limit: 10000})
		if f := explorer.ToFault(err); f != nil && f.Kind == "invalid request" {
			continue // without such a column
		}
		lines = nil
		if err == nil {
			for _, cells := range r.Rows {
				lines = append(lines, fmt.Sprintf("%s", cells))
			}
			for _, x := range r.Findings {
				out.says = append(out.says, findingText(x))
			}
		}
		note("rows by the metadata table where "+where, err, lines)
	}
}

func findingText(x api.Finding) string {
	text := x.Title + " " + x.Detail + " " + x.File
	if x.Offset > 0 {
		text += fmt.Sprintf(" byte %d", x.Offset)
	}
	return text
}

// position is the offset or the size that is evidence of a health check.
func position(e api.HealthEvidence) string {
	switch e.Unit {
	case "offset":
		return fmt.Sprintf(" byte %.0f", e.Value)
	case "bytes":
		return fmt.Sprintf(" %.0f bytes", e.Value)
	}
	return ""
}

// where is how texts tell a place in a file, or how long it is.
var where = regexp.MustCompile(`\bbytes? \d|\d bytes|\bline \d`)

func describe(err error) string {
	f := explorer.ToFault(err)
	return fmt.Sprintf("%s %s %s byte %d %s", f.Kind, f.Message, f.File, f.Offset, f.Part)
}

// deepHealth renders what the checks find that read data files.
func deepHealth(f *tabletest.Files) string {
	h, err := service(f).Health(context.Background(), api.HealthRequest{Table: here, Checks: []string{"duplicate-keys"}})
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%+v", h.Findings)
}

// judge tells the outcome of a fault, and what is wrong with it ("" when nothing is).
func judge(x *fault, f *tabletest.Files, before, after *state) (outcome, wrong string) {
	if after.panic != nil {
		return "panic", fmt.Sprintf("panic: %v", after.panic)
	}
	named := func(text string) bool {
		for _, n := range x.names {
			if strings.Contains(text, n) {
				return true
			}
		}
		return false
	}
	if after.err != nil {
		if errors.Is(after.err, context.DeadlineExceeded) {
			return "hang", "it took too long"
		}
		told := explorer.ToFault(after.err)
		text := describe(after.err)
		switch {
		case before.err != nil && describe(before.err) == text:
			return same, ""
		case told.Kind == "internal":
			return refused, "an internal error: " + text
		case told.File == "" && !named(text):
			return refused, "the error names none of " + strings.Join(x.names, ", ") + ": " + text
		case told.Kind == "corrupt" && told.File == "":
			return refused, "no file: " + text
		case x.bytes && told.Offset < 0 && !where.MatchString(told.Message):
			// What the fault leads to may be an error of another file; another answer tells where the fault is.
			for _, s := range after.says {
				if told.File != x.path && named(s) && where.MatchString(s) {
					return refused, ""
				}
			}
			return refused, "no place: " + text
		}
		return refused, ""
	}
	var differs []string
	for what, lines := range after.beside {
		if !slices.Equal(before.beside[what], lines) {
			differs = append(differs, what)
		}
	}
	equal := before.err == nil && slices.Equal(before.rows, after.rows)
	if equal && len(differs) == 0 {
		return same, ""
	}
	old := map[string]bool{}
	for _, s := range before.says {
		old[s] = true
	}
	for _, s := range after.says {
		if !old[s] && named(s) && (!x.bytes || where.MatchString(s)) {
			return found, ""
		}
	}
	for _, s := range after.says {
		switch {
		case old[s] || !named(s):
		case x.values && !strings.HasPrefix(s, "fault: ") && !strings.HasPrefix(s, "corrupt "):
			return found, "" // a value is at odds with another one; no byte is known to be wrong
		default:
			return found, "no place: " + s
		}
	}
	// The file was damaged before, and is still told to be.
	for _, s := range after.says {
		damage := strings.HasPrefix(s, "corrupt ") || strings.HasPrefix(s, "fault: ") || strings.HasPrefix(s, "Files of the latest slices are missing")
		if damage && named(s) {
			return found, ""
		}
	}
	// Rows that are listed by a damaged metadata table name the files that they miss.
	for _, s := range after.says {
		if x.metadata && !old[s] && strings.Contains(s, "A file is missing") {
			return found, ""
		}
	}
	// What reads every key is asked last, for it takes longest.
	if deep := deepHealth(f); named(deep) {
		return found, ""
	}
	if x.values {
		return unseen, ""
	}
	if equal {
		return "silent", fmt.Sprintf("other answers: %s; nothing says why; new findings: %s", strings.Join(differs, ", "), news(old, after.says))
	}
	return "silent", fmt.Sprintf("%d rows became %d, and nothing says why; new findings: %s", len(before.rows), len(after.rows), news(old, after.says))
}

func news(old map[string]bool, list []string) string {
	var out []string
	for _, s := range list {
		if !old[s] {
			out = append(out, s)
		}
	}
	return strings.Join(out, " | ")
}

// rounds is how often every kind of fault is tried: on one of how many tables (0: all), and how many
// times on each. HUDISCOPE_MUTATIONS=N tries N times on every table, HUDISCOPE_MUTATIONS_KIND=TEXT only the kinds that
// have the text.
func rounds(t *testing.T) (every, times int) {
	if v := os.Getenv("HUDISCOPE_MUTATIONS"); v != "" {
		n, err := strconv.Atoi(v)
		if err != nil || n < 1 {
			t.Fatalf("HUDISCOPE_MUTATIONS=%s: want a number", v)
		}
		return 1, n
	}
	return 9, 1
}

// TestMutations breaks real tables in every way of mutations and holds the answers against those of the
// whole table: the same rows, or other rows and a finding that names the file, the instant or the file
// group, or an error that does.
func TestMutations(t *testing.T) {
	every, times := rounds(t)
	var mu sync.Mutex
	counts := map[string]map[string]int{}
	names := tabletest.Names(t, "")
	t.Run("tables", func(t *testing.T) {
		for ti, name := range names {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				whole := tabletest.Open(t, name)
				var plain, full *state
				for mi, m := range mutations {
					if (ti+mi)%every != 0 && !m.rare || !strings.Contains(m.kind, os.Getenv("HUDISCOPE_MUTATIONS_KIND")) {
						continue
					}
					for n := range times {
						h := fnv.New64a()
						fmt.Fprintf(h, "%s %s %d", name, m.kind, n)
						r := rand.New(rand.NewPCG(h.Sum64(), 1))
						f := whole.Clone()
						x := m.do(r, f)
						if x == nil {
							continue
						}
						before := &plain
						if m.beside {
							before = &full
						}
						if *before == nil {
							s := look(t.Context(), whole, m.beside)
							*before = &s
						}
						ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
						after := look(ctx, f, m.beside)
						cancel()
						if os.Getenv("HUDISCOPE_MUTATIONS_LOG") != "" && after.err != nil {
							t.Logf("%s: %s: %s", m.kind, x.did, describe(after.err))
						}
						outcome, wrong := judge(x, f, *before, &after)
						if wrong != "" {
							t.Errorf("%s: %s: %s", m.kind, x.did, wrong)
						}
						mu.Lock()
						if counts[m.kind] == nil {
							counts[m.kind] = map[string]int{}
						}
						counts[m.kind][outcome]++
						mu.Unlock()
					}
				}
			})
		}
	})
	report(t, counts)
}

// report logs the table of docs/robustness.md.
func report(t *testing.T, counts map[string]map[string]int) {
	columns := []string{same, found, refused, unseen}
	text := "\n| fault | " + strings.Join(columns, " | ") + " |\n|---|" + strings.Repeat("---:|", len(columns)) + "\n"
	total := 0
	for _, m := range mutations {
		c := counts[m.kind]
		if len(c) == 0 && os.Getenv("HUDISCOPE_TESTDATA") == "" && strings.Contains(m.kind, os.Getenv("HUDISCOPE_MUTATIONS_KIND")) {
			t.Errorf("%s was not tried", m.kind)
		}
		text += "| " + m.kind
		for _, k := range columns {
			text += fmt.Sprintf(" | %d", c[k])
			total += c[k]
		}
		text += " |\n"
		var rest []string
		for k := range c {
			if !slices.Contains(columns, k) {
				rest = append(rest, k)
			}
		}
		sort.Strings(rest)
		for _, k := range rest {
			text += fmt.Sprintf("%s %s %d\n", m.kind, k, c[k])
		}
	}
	t.Logf("%d faults%s", total, text)
}

// TestWholeTablesAreWhole holds findings that tell of damage against tables that have none.
func TestWholeTablesAreWhole(t *testing.T) {
	n := 0
	for _, name := range tabletest.Names(t, "") {
		f := tabletest.Open(t, name)
		s := service(f)
		var list []api.Finding
		if r, err := s.Rows(t.Context(), api.RowsRequest{Table: here, Limit: 1}); err == nil {
			list = append(list, r.Findings...)
		}
		if a, err := s.Timeline(t.Context(), api.TimelineRequest{Table: here, Archived: true}); err == nil {
			list = append(list, a.Finding...)
			n++
		}
		if m, err := s.Metadata(t.Context(), api.MetadataRequest{Table: here}); err == nil {
			list = append(list, m.Findings...)
		}
		for _, x := range list {
			for _, part := range []string{"content of another", "leaves files out", "A file of the metadata table is missing", "A file of the metadata table is too short", "end of a line", "one of the files has"} {
				if strings.Contains(x.Title+" "+x.Detail, part) {
					t.Errorf("%s: %s: %s", name, x.Title, x.Detail)
				}
			}
		}
	}
	if n < 50 {
		t.Errorf("%d tables", n)
	}
}
