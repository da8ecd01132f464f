package lru

import (
	"slices"
	"testing"
)

func TestBudgetAndOrder(t *testing.T) {
	var gone []string
	c := New(10, func(k string, v int) { gone = append(gone, k) })
	c.Add("a", 1, 4)
	c.Add("b", 2, 4)
	if v, ok := c.Get("a"); !ok || v != 1 {
		t.Fatal("a is missing")
	}
	c.Add("c", 3, 4) // b is the oldest now
	if _, ok := c.Get("b"); ok || !slices.Equal(gone, []string{"b"}) {
		t.Fatalf("gone = %v, want b", gone)
	}
	if c.Add("d", 4, 11) {
		t.Fatal("kept a value above the budget")
	}
	c.Add("a", 5, 6) // replaced, not added
	if v, _ := c.Get("a"); v != 5 || c.Used() != 10 || c.Len() != 2 {
		t.Fatalf("a = %d, used %d, len %d", v, c.Used(), c.Len())
	}
	c.RemoveFunc(func(k string) bool { return k == "a" })
	if c.Used() != 4 || c.Len() != 1 {
		t.Fatalf("used %d, len %d after RemoveFunc", c.Used(), c.Len())
	}
}
