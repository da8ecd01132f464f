package model

import (
	"math"
	"strconv"
	"strings"
)

// JoinLimits writes thresholds for the address, sorted by name.
func JoinLimits(limits map[string]float64) string {
	list := map[string]string{}
	for name, v := range limits {
		list[name] = strconv.FormatFloat(v, 'f', -1, 64)
	}
	return JoinOptions(list)
}

// ParseLimits is the inverse of [JoinLimits]; nil for none. What is no number of zero or more is left out.
func ParseLimits(text string) map[string]float64 {
	var out map[string]float64
	for name, v := range SplitOptions(text) {
		x, ok := number(v)
		if !ok {
			continue
		}
		if out == nil {
			out = map[string]float64{}
		}
		out[name] = x
	}
	return out
}

func number(text string) (float64, bool) {
	x, err := strconv.ParseFloat(text, 64)
	return x, err == nil && x >= 0 && !math.IsInf(x, 0)
}

// ParseAmount reads a number of zero or more that was typed, with its unit or without. Bytes may have
// a unit of their own, as [Bytes] writes it: "64 MB". Commas between digits are passed over.
func ParseAmount(text, unit string) (float64, bool) {
	text = strings.TrimSpace(strings.ReplaceAll(strings.ToLower(text), ",", ""))
	n := strings.TrimRight(text, "abcdefghijklmnopqrstuvwxyz")
	word, scale := strings.TrimSpace(text[len(n):]), 1.0
	switch {
	case word == "" || word == unit || word+"s" == unit:
	case unit == "bytes":
		power := map[string]float64{"b": 0, "kb": 1, "mb": 2, "gb": 3, "tb": 4, "kib": 1, "mib": 2, "gib": 3, "tib": 4}
		p, ok := power[word]
		if !ok {
			return 0, false
		}
		scale = math.Pow(1024, p) // as [Bytes] writes them
	default:
		return 0, false
	}
	x, ok := number(strings.TrimSpace(n))
	x *= scale
	return x, ok && !math.IsInf(x, 0)
}
