package predicate

import (
	"strings"
	"testing"
	"time"
)

// TestRegexpCost: a regular expression that unfolds without measure is refused, and one that lets engines
// which go back try again and again is answered at once.
func TestRegexpCost(t *testing.T) {
	for name, s := range map[string]string{
		"a range that is repeated": "[a-z]{1000}[a-z]{1000}[a-z]{1000}[a-z]{1000}[a-z]{1000}[a-z]{1000}",
		"many of them":             strings.Repeat("(x|y){0,900}", 1000),
		"repeats of repeats":       "((((a{9}){9}){9}){9}){9}",
	} {
		if r, why := javaRegexp(s); r != nil || why == "" {
			t.Errorf("%s is taken", name)
		}
	}
	r, why := javaRegexp("(a+)+$")
	if why != "" {
		t.Fatal(why)
	}
	text := strings.Repeat("a", 256<<10) + "b"
	began := time.Now()
	if r.MatchString(text) {
		t.Error("it is found")
	}
	if d := time.Since(began); d > 10*time.Second {
		t.Errorf("a text of 256 KiB took %v", d)
	}
	// What people write is far below the bound.
	for _, s := range []string{`^[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9.-]{1,255}\.[A-Za-z]{2,24}$`, `^(25[0-5]|2[0-4]\d|1?\d?\d)(\.(25[0-5]|2[0-4]\d|1?\d?\d)){3}$`} {
		if _, why := javaRegexp(s); why != "" {
			t.Errorf("%s: %s", s, why)
		}
	}
}

// TestConditionCost: conditions that nest, branch or go on without end are refused, not followed.
func TestConditionCost(t *testing.T) {
	for name, s := range map[string]string{
		"parentheses": strings.Repeat("(", 5000) + "a" + strings.Repeat(")", 5000),
		"NOT":         strings.Repeat("NOT ", 10_000) + "a",
		"minus":       strings.Repeat("- ", 20_000) + "1 > 0",
		"CASE":        strings.Repeat("CASE WHEN a THEN ", 2000) + "1" + strings.Repeat(" END", 2000) + " = 1",
		"functions":   strings.Repeat("abs(", 5000) + "1" + strings.Repeat(")", 5000) + " > 0",
		"too long":    "a = '" + strings.Repeat("x", 1<<16) + "'",
		"many parts":  strings.TrimSuffix(strings.Repeat("a=1 OR ", 100_000), " OR "),
	} {
		began := time.Now()
		if _, err := Parse(s); err == nil {
			t.Errorf("%s is taken", name)
		}
		if d := time.Since(began); d > 5*time.Second {
			t.Errorf("%s took %v", name, d)
		}
	}
}
