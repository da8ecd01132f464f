package model

import (
	"math"
	"path"
	"strconv"
	"strings"
	"time"

	"hudiscope/web/text"
)

// Digits writes a number without separators.
func Digits(n int) string { return strconv.Itoa(n) }

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

func atoi(s string) (int64, bool) {
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil && n >= 0 && n < math.MaxInt64
}

// Bytes writes a byte count for people, in units of 1024: "0 B", "1,023 B", "1.5 KB", "273 KB".
func Bytes(n int64) string {
	if n < 0 {
		return "?"
	}
	if n < 1024 {
		return Count(n) + " B"
	}
	f := float64(n)
	for _, u := range []string{"KB", "MB", "GB", "TB", "PB", "EB"} {
		f /= 1024
		switch {
		case f < 9.995:
			return strconv.FormatFloat(f, 'f', 2, 64) + " " + u
		case f < 99.95:
			return strconv.FormatFloat(f, 'f', 1, 64) + " " + u
		case f < 1023.5 || u == "EB":
			return strconv.FormatFloat(f, 'f', 0, 64) + " " + u
		}
	}
	return Count(n) + " B"
}

// KnownBytes writes a sum of sizes of which unknown more are not known: "?" when none is.
func KnownBytes(known int64, unknown int) string {
	switch {
	case unknown == 0:
		return Bytes(known)
	case known <= 0:
		return "?"
	}
	return "over " + Bytes(known)
}

// Count writes a number with separators of thousands: "1,234,567".
func Count(n int64) string {
	s := itoa(n)
	neg := strings.HasPrefix(s, "-")
	if neg {
		s = s[1:]
	}
	if len(s) <= 3 {
		if neg {
			return "-" + s
		}
		return s
	}
	var b strings.Builder
	if neg {
		b.WriteByte('-')
	}
	head := len(s) % 3
	if head > 0 {
		b.WriteString(s[:head])
	}
	for i := head; i < len(s); i += 3 {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(s[i : i+3])
	}
	return b.String()
}

// Plural writes a count with its noun: Plural(1, "file") is "1 file", Plural(2, "file") "2 files".
func Plural(n int64, noun string) string {
	if s, ok := text.N(Count(n), noun); ok {
		return s
	}
	if n == 1 {
		return "1 " + noun
	}
	switch {
	case strings.HasSuffix(noun, "y") && !strings.HasSuffix(noun, "ey"):
		noun = noun[:len(noun)-1] + "ies"
	case strings.HasSuffix(noun, "s"):
		noun += "es"
	default:
		noun += "s"
	}
	return Count(n) + " " + noun
}

// Span writes a duration for people with two significant parts: "12 ms", "3.4 s", "5 min 10 s", "2 d 3 h".
func Span(d time.Duration) string {
	if d < 0 {
		return "-" + Span(-d)
	}
	switch {
	case d < time.Second:
		return text.F("%s ms", itoa(d.Milliseconds()))
	case d < time.Minute:
		return text.F("%s s", strconv.FormatFloat(d.Seconds(), 'f', 1, 64))
	case d < time.Hour:
		return text.F("%s min %s s", itoa(int64(d/time.Minute)), itoa(int64(d%time.Minute/time.Second)))
	case d < 24*time.Hour:
		return text.F("%s h %s min", itoa(int64(d/time.Hour)), itoa(int64(d%time.Hour/time.Minute)))
	}
	return text.F("%s d %s h", itoa(int64(d/(24*time.Hour))), itoa(int64(d%(24*time.Hour)/time.Hour)))
}

// InstantTime reads an instant time (yyyyMMddHHmmss, with or without three digits of
// milliseconds) as a point on a time axis. The zone is the writer's and unknown: UTC
// stands for "as written". Instants that hold no time, like the bootstrap instants
// "00000000000001", give false.
func InstantTime(s string) (time.Time, bool) {
	if i := strings.IndexByte(s, '_'); i > 0 {
		s = s[:i]
	}
	if len(s) != 14 && len(s) != 17 {
		return time.Time{}, false
	}
	// Not time.Parse: long timelines have hundreds of thousands of these.
	part := func(from, n int) int {
		v := 0
		for _, c := range []byte(s[from : from+n]) {
			if c < '0' || c > '9' {
				return -1
			}
			v = v*10 + int(c-'0')
		}
		return v
	}
	year, month, day := part(0, 4), part(4, 2), part(6, 2)
	hour, minute, second, milli := part(8, 2), part(10, 2), part(12, 2), 0
	if len(s) == 17 {
		milli = part(14, 3)
	}
	if year < 1980 || month < 1 || month > 12 || day < 1 || day > 31 || hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59 || milli < 0 {
		return time.Time{}, false
	}
	t := time.Date(year, time.Month(month), day, hour, minute, second, milli*int(time.Millisecond), time.UTC)
	if t.Day() != day {
		return time.Time{}, false // the 31st of a month that has none
	}
	return t, true
}

// Clock writes an instant time as a date and a time of day: "2026-11-29 22:18:30.230". An
// instant that holds no time comes back as it is.
func Clock(instant string) string {
	t, ok := InstantTime(instant)
	if !ok {
		return instant
	}
	if len(instant) >= 17 {
		return t.Format("2006-01-02 15:04:05.000")
	}
	return t.Format("2006-01-02 15:04:05")
}

// ShortID shortens a file id for narrow places; the full id belongs beside it as a title.
func ShortID(id string) string {
	if len(id) <= 12 {
		return id
	}
	if i := strings.LastIndexByte(id, '-'); i > 8 && len(id)-i <= 4 {
		return id[:8] + "…" + id[i:]
	}
	return id[:8] + "…"
}

// BaseName is the last element of a path; TableName is what to call a location before
// its properties are read: the last element without ".zip".
func BaseName(p string) string { return path.Base(p) }

// TableName is what to call a location before its properties are read.
func TableName(location string) string {
	s := location
	if i := strings.IndexAny(s, "?#"); i >= 0 && strings.Contains(s, "://") {
		s = s[:i]
	}
	s = strings.TrimPrefix(s, "sample:")
	s = strings.TrimRight(s, "/")
	if i := strings.LastIndexByte(s, '/'); i >= 0 {
		s = s[i+1:]
	}
	s = strings.TrimSuffix(s, ".zip")
	if s == "" {
		return location
	}
	if isURL(location) {
		s = unescape(s)
	}
	return s
}

// WholeTime completes the digits of a time that was typed down to the day, the hour or the minute: an
// instant's time has 14 digits, or 17 with milliseconds. It is "" for what is no time.
func WholeTime(digits string) string {
	switch n := len(digits); {
	case n == 8 || n == 10 || n == 12:
		return digits + "000000"[:14-n]
	case n == 14 || n == 17:
		return digits
	case n == 15 || n == 16:
		return digits + "00"[:17-n]
	}
	return ""
}

// LogVersion is the version in the name of a log file (….log.VERSION_TOKEN), "" when there is none.
func LogVersion(name string) string {
	_, rest, ok := strings.Cut(name, ".log.")
	if !ok {
		return ""
	}
	n := 0
	for n < len(rest) && rest[n] >= '0' && rest[n] <= '9' {
		n++
	}
	return rest[:n]
}
