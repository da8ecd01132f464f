package logfile

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// Name is the parsed name of a log file, .FILEID_INSTANT.log.VERSION[_TOKEN][.cdc]
// (spec log-format.md section 2, file-view.md section 1.2).
type Name struct {
	// FileID is the file group.
	FileID string
	// Instant is the base instant of the slice for table versions below 8, and the
	// requested time of the delta commit that wrote the file from version 8 on.
	Instant string
	// Ext is "log", or "archive" for files of the timeline archive.
	Ext string
	// Version counts roll-overs, from 1.
	Version int
	// Token is the write token TASK-STAGE-ATTEMPT, "" when the name has none; the three
	// numbers of it follow, as text, since nothing bounds them.
	Token                string
	Task, Stage, Attempt string
	// CDC is set for a change data capture log, which a table read never merges.
	CDC bool
}

// String writes the name back.
func (n Name) String() string {
	s := "." + n.FileID + "_" + n.Instant + "." + n.Ext + "." + strconv.Itoa(n.Version)
	if n.Token != "" {
		s += "_" + n.Token
	}
	return s + n.suffix()
}

func (n Name) suffix() string {
	if n.CDC {
		return ".cdc"
	}
	return ""
}

const nameTail = `\.(log|archive)\.([0-9]+)(?:_(([0-9]+)-([0-9]+)-([0-9]+))(\.cdc)?)?$`

// strictName is what Hudi 1.2 writes and reads; greedyName is the older form, in which a
// file id may hold dots and underscores and ends at the last underscore before ".log.".
var (
	strictName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\.([^._]+)_([^.]*)` + nameTail) })
	greedyName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\.(.+)_(.*)` + nameTail) })
)

// ParseName parses the name of a log file, or the last element of a path to one. Files
// beside a log (".x.log.1.crc", macOS "._x") are not log files.
func ParseName(name string) (Name, bool) {
	name = name[strings.LastIndexByte(name, '/')+1:]
	if len(name) < 2 || name[0] != '.' || name[1] == '_' || !strings.Contains(name, ".log.") && !strings.Contains(name, ".archive.") {
		return Name{}, false
	}
	m := strictName().FindStringSubmatch(name)
	if m == nil {
		m = greedyName().FindStringSubmatch(name)
	}
	if m == nil {
		return Name{}, false
	}
	version, err := strconv.ParseInt(m[4], 10, 32)
	if err != nil {
		return Name{}, false
	}
	return Name{FileID: m[1], Instant: m[2], Ext: m[3], Version: int(version), Token: m[5], Task: m[6], Stage: m[7], Attempt: m[8], CDC: m[9] != ""}, true
}

// Compare orders the log files of a slice the way their blocks are merged: by instant
// (as text), version (as a number), write token (as text, none first), then suffix.
func Compare(a, b Name) int {
	return cmp.Or(
		strings.Compare(a.Instant, b.Instant),
		cmp.Compare(a.Version, b.Version),
		strings.Compare(a.Token, b.Token),
		strings.Compare(a.suffix(), b.suffix()),
	)
}
