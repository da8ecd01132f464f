package table

import (
	"fmt"
	"strings"
	"time"
)

// asOfForms are the text forms of as.of.instant, by an example each.
const asOfForms = "want yyyyMMddHHmmss[SSS] such as 20260131235959123, yyyy-MM-dd HH:mm:ss[.SSS] such as 2026-01-31 23:59:59 (the whole second), or yyyy-MM-dd such as 2026-01-31 (its beginning)"

// asOf turns the text forms of as.of.instant into an instant (spec queries.md section 4). Digits are taken as
// they stand: no zone is applied. Other forms, ISO 8601 with a T and seconds since 1970 among them, are
// refused as Hudi does.
func asOf(v string) (string, error) {
	like := func(pattern string) bool {
		if len(v) != len(pattern) {
			return false
		}
		for i := range v {
			d := v[i] >= '0' && v[i] <= '9'
			if pattern[i] == '0' && !d || pattern[i] != '0' && v[i] != pattern[i] {
				return false
			}
		}
		return true
	}
	digits := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, v)
	out := ""
	switch {
	case like("00000000000000"), like("00000000000000000"):
		// The instants of a table's initialisation and of its two kinds of bootstrap are no dates.
		if zero := strings.TrimLeft(v, "0"); zero == "" || zero == "1" || zero == "2" {
			return v, nil
		}
		out = v
	case like("0000-00-00 00:00:00"):
		out = digits + "999"
	case like("0000-00-00 00:00:00.000"), like("0000-00-00 00:00:00:000"):
		out = digits
	case like("0000-00-00"):
		out = digits + "000000000"
	case len(v) > 10 && v[10] == 'T' && strings.Trim(v, "0123456789-:.TZ+") == "":
		return "", fmt.Errorf("ISO 8601 with a T is not among the forms that Hudi takes; write a blank instead, and leave the zone out; %s", asOfForms)
	default:
		return "", fmt.Errorf("%s", asOfForms)
	}
	if _, err := time.Parse("20060102150405", out[:14]); err != nil {
		return "", fmt.Errorf("there is no such date or time; %s", asOfForms)
	}
	return out, nil
}
