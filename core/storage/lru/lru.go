// Package lru is a map bounded by the sum of the costs of its values, which gives up
// the least recently used first. It has no lock: its owner guards it.
package lru

import "container/list"

// Cache is the map. Make one with New.
type Cache[K comparable, V any] struct {
	budget, used int64
	order        *list.List // front = most recent
	m            map[K]*list.Element
	dropped      func(K, V)
}

type item[K comparable, V any] struct {
	key  K
	val  V
	cost int64
}

// New returns an empty Cache whose costs sum to at most budget. dropped, which may be
// nil, is called for every value that leaves, whatever the reason.
func New[K comparable, V any](budget int64, dropped func(K, V)) *Cache[K, V] {
	return &Cache[K, V]{budget: budget, order: list.New(), m: map[K]*list.Element{}, dropped: dropped}
}

// Get returns the value of k and makes it the most recent.
func (c *Cache[K, V]) Get(k K) (V, bool) {
	e, ok := c.m[k]
	if !ok {
		var zero V
		return zero, false
	}
	c.order.MoveToFront(e)
	return e.Value.(*item[K, V]).val, true
}

// Add sets the value of k. A value that costs more than the whole budget is not kept;
// Add then reports false.
func (c *Cache[K, V]) Add(k K, v V, cost int64) bool {
	c.Remove(k)
	if cost > c.budget {
		return false
	}
	for c.used+cost > c.budget {
		c.drop(c.order.Back())
	}
	c.m[k] = c.order.PushFront(&item[K, V]{k, v, cost})
	c.used += cost
	return true
}

// Remove takes k out.
func (c *Cache[K, V]) Remove(k K) {
	if e, ok := c.m[k]; ok {
		c.drop(e)
	}
}

// RemoveFunc takes out every key for which del holds.
func (c *Cache[K, V]) RemoveFunc(del func(K) bool) {
	for k, e := range c.m {
		if del(k) {
			c.drop(e)
		}
	}
}

// Used is the sum of the costs held.
func (c *Cache[K, V]) Used() int64 { return c.used }

// Len is the number of values held.
func (c *Cache[K, V]) Len() int { return len(c.m) }

func (c *Cache[K, V]) drop(e *list.Element) {
	it := c.order.Remove(e).(*item[K, V])
	delete(c.m, it.key)
	c.used -= it.cost
	if c.dropped != nil {
		c.dropped(it.key, it.val)
	}
}
