package table

import (
	"strings"
	"testing"
)

func TestAsOf(t *testing.T) {
	for in, want := range map[string]string{
		"20260131235959": "20260131235959", "20260131235959123": "20260131235959123", "2026-01-31 23:59:59": "20260131235959999",
		"2026-01-31 23:59:59.123": "20260131235959123", "2026-01-31 23:59:59:123": "20260131235959123", "2026-01-31": "20260131000000000",
		"2024-02-29": "20240229000000000", "00000000000000": "00000000000000", "00000000000001": "00000000000001", "00000000000000002": "00000000000000002",
	} {
		if got, err := asOf(in); err != nil || got != want {
			t.Errorf("%q: %q, %v, want %q", in, got, err, want)
		}
	}
	for in, why := range map[string]string{
		"": "want yyyyMMdd", "yesterday": "want yyyyMMdd", "2026-02-30": "no such date", "20261301000000": "no such date", "20260131246000000": "no such date",
		"2026-01-31 24:00:00": "no such date", "00000000000003": "no such date", "2026-01-31T23:59:59": "with a T", "2026-01-31T23:59:59Z": "with a T",
		"2026-01-31T23:59:59.123": "with a T", "2026-01-31T23:59:59+01:00": "with a T", "1769904000": "want yyyyMMdd", "1769904000000": "want yyyyMMdd", "2026-01-31 23:59": "want yyyyMMdd",
		"2026/01/31": "want yyyyMMdd", "2026-01-31 23:59:59.1": "want yyyyMMdd", "２０２６-01-31": "want yyyyMMdd",
	} {
		if got, err := asOf(in); err == nil || !strings.Contains(err.Error(), why) || !strings.Contains(err.Error(), "20260131235959123") {
			t.Errorf("%q: %q, %v", in, got, err)
		}
	}
}
