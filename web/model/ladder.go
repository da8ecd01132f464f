package model

import (
	"bytes"
	"encoding/json"

	"hudiscope/core/api"
)

// Sources tells for each value of a slice's resulting row from which version it comes: an
// index of s.Versions, or -1 for a value that no version has (a merger computed it).
// Versions that lost or were not read give nothing, nor do versions that do not carry the column.
func Sources(s *api.SliceHistory, columns []api.Column) []int {
	out := make([]int, len(s.Row))
	missing := make([]map[string]bool, len(s.Versions))
	for i, v := range s.Versions {
		missing[i] = map[string]bool{}
		for _, name := range v.Missing {
			missing[i][name] = true
		}
	}
	for c := range out {
		out[c] = -1
		for i := len(s.Versions) - 1; i >= 0; i-- {
			v := &s.Versions[i]
			if v.Outcome == "lost" || v.Outcome == "not read" || c >= len(v.Row) || c < len(columns) && missing[i][columns[c].Name] {
				continue
			}
			if SameValue(v.Row[c], s.Row[c]) {
				out[c] = i
				break
			}
		}
	}
	return out
}

// SameValue compares two JSON values as they are written, without regard to space; absent
// is null.
func SameValue(a, b json.RawMessage) bool {
	return bytes.Equal(compact(a), compact(b))
}

func compact(v json.RawMessage) []byte {
	v = bytes.TrimSpace(v)
	if len(v) == 0 {
		return []byte("null")
	}
	if v[0] != '{' && v[0] != '[' {
		return v
	}
	var b bytes.Buffer
	if json.Compact(&b, v) != nil {
		return v
	}
	return b.Bytes()
}

// RecordKey is the record key of a row: its _hoodie_record_key, or where that is not stored
// the value of the only key field, or "field:value" pairs of several as Hudi joins them.
func RecordKey(columns []api.Column, row []json.RawMessage, fields []string) (string, bool) {
	text := func(name string) (string, bool) {
		for i, c := range columns {
			if c.Name != name || i >= len(row) {
				continue
			}
			v := bytes.TrimSpace(row[i])
			if len(v) == 0 || v[0] == 'n' {
				return "", false
			}
			if v[0] != '"' {
				return string(v), true
			}
			var s string
			if json.Unmarshal(v, &s) != nil {
				return "", false
			}
			return s, true
		}
		return "", false
	}
	if k, ok := text("_hoodie_record_key"); ok {
		return k, k != ""
	}
	switch len(fields) {
	case 0:
		return "", false
	case 1:
		return text(fields[0])
	}
	key := ""
	for i, f := range fields {
		v, ok := text(f)
		if !ok {
			v = "__null__"
		} else if v == "" {
			v = "__empty__"
		}
		if i > 0 {
			key += ","
		}
		key += f + ":" + v
	}
	return key, true
}
