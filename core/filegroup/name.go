package filegroup

import (
	"strings"
)

// BaseName is the parsed name of a base file, FILEID_TOKEN_INSTANT.ext (spec file-view.md
// section 1.1).
type BaseName struct {
	FileID string
	// Token is the write token, TASK-STAGE-ATTEMPT; "" for external files.
	Token string
	// Instant is the requested time of the instant that wrote the file.
	Instant string
	// Ext with its dot: ".parquet".
	Ext string
	// External is set for files that another tool wrote and a table took over
	// (ORIGINAL_INSTANT_hudiext); Original is then the file's own name and Prefix the folders
	// above it that belong to the file group, not to the partition.
	External         bool
	Original, Prefix string
}

const (
	externalSuffix = "_hudiext"
	groupPrefix    = "_fg%3D"
)

// ParseBaseName parses the name of a base file. ok is false for names of other files.
func ParseBaseName(name string) (n BaseName, ok bool) {
	if rest, ok := strings.CutSuffix(name, externalSuffix); ok {
		return parseExternal(rest)
	}
	n.FileID, name, ok = strings.Cut(name, "_")
	if !ok || n.FileID == "" {
		return BaseName{}, false
	}
	if n.Token, name, ok = strings.Cut(name, "_"); !ok || n.Token == "" {
		return BaseName{}, false
	}
	if n.Instant, n.Ext, ok = strings.Cut(name, "."); !ok || n.Ext == "" {
		return BaseName{}, false
	}
	if n.Instant = n.Instant[strings.LastIndexByte(n.Instant, '_')+1:]; !allDigits(n.Instant) {
		return BaseName{}, false
	}
	n.Ext = "." + n.Ext
	return n, true
}

func parseExternal(name string) (n BaseName, ok bool) {
	n.External = true
	if i := strings.LastIndex(name, groupPrefix); i >= 0 {
		n.Prefix = Unescape(name[i+len(groupPrefix):])
		name = name[:i]
	}
	i := strings.LastIndexByte(name, '_')
	if i <= 0 || !allDigits(name[i+1:]) {
		return BaseName{}, false
	}
	n.Original, n.Instant = name[:i], name[i+1:]
	n.FileID = n.Original
	if n.Prefix != "" {
		n.FileID = n.Prefix + "/" + n.Original
	}
	if j := strings.LastIndexByte(n.Original, '.'); j >= 0 {
		n.Ext = n.Original[j:]
	}
	return n, true
}

func allDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// Unescape undoes Hudi's escaping of path names: %XX is the character of that code. As in
// Hudi, a percent sign needs at least two characters behind it, and is kept when they are
// no hex digits (spec file-view.md section 9.1).
func Unescape(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			hi, lo := hex(s[i+1]), hex(s[i+2])
			if hi >= 0 && lo >= 0 {
				b.WriteRune(rune(hi<<4 | lo))
				i += 2
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

func hex(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}
