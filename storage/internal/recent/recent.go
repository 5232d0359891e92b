// Package recent has an ordered map whose versions share their unchanged parts, for maps in which
// the same few values change again and again. These values are kept beside the tree of all values,
// so changing one of them copies no nodes of the tree.
package recent

import "github.com/tidwall/btree"

// Map is a version of an ordered map. Values are pointers, and nil stands for none. A version
// that was forked must not be changed any more; then it is safe for concurrent use.
type Map[K comparable, V any] struct {
	tree    *btree.BTreeG[item[K, V]]
	private bool             // the tree is this version's own
	latest  [size]item[K, V] // changed last, newest first; the value of a free place is nil
}

// item is a value with its key. In the tree the value is nil if it is among the latest: the
// tree must not keep an old one.
type item[K comparable, V any] struct {
	key   K
	value *V
}

const (
	size   = 4
	degree = 8 // of the tree: small nodes make copies cheap
)

// New makes an empty map with an order of keys.
func New[K comparable, V any](less func(a, b K) bool) Map[K, V] {
	return Map[K, V]{private: true, tree: btree.NewBTreeGOptions(func(a, b item[K, V]) bool { return less(a.key, b.key) },
		btree.Options{Degree: degree, NoLocks: true})}
}

// Fork returns a version to be changed.
func (m *Map[K, V]) Fork() Map[K, V] { return Map[K, V]{tree: m.tree, latest: m.latest} }

// own returns the tree to be changed. Copy gives the tree it copies a new identity too,
// which would be a race between two that fork the same tree; so it is called on a private
// header.
func (m *Map[K, V]) own() *btree.BTreeG[item[K, V]] {
	if !m.private {
		header := *m.tree
		m.tree, m.private = header.Copy(), true
	}
	return m.tree
}

// Len is the number of values.
func (m *Map[K, V]) Len() int { return m.tree.Len() }

// Get returns a value, or nil.
func (m *Map[K, V]) Get(key K) *V {
	if i := m.position(&key); i >= 0 {
		return m.latest[i].value
	}
	x, _ := m.tree.Get(item[K, V]{key: key})
	return x.value
}

// position is where a key is among the latest, -1 if it is not.
func (m *Map[K, V]) position(key *K) int {
	for i := range m.latest {
		if x := &m.latest[i]; x.value != nil && x.key == *key {
			return i
		}
	}
	return -1
}

// Each calls fn with the values from a key on, in the order of their keys, until it returns
// false.
func (m *Map[K, V]) Each(from K, fn func(K, *V) bool) {
	m.tree.Ascend(item[K, V]{key: from}, func(x item[K, V]) bool { return fn(x.key, m.valueOf(x)) })
}

// All calls fn with all values.
func (m *Map[K, V]) All(fn func(K, *V)) {
	m.tree.Scan(func(x item[K, V]) bool { fn(x.key, m.valueOf(x)); return true })
}

func (m *Map[K, V]) valueOf(x item[K, V]) *V {
	if x.value == nil {
		return m.latest[m.position(&x.key)].value
	}
	return x.value
}

// Set sets a value.
func (m *Map[K, V]) Set(key K, v *V) {
	i := m.position(&key)
	if i < 0 {
		i = size - 1
		tree := m.own()
		if old := m.latest[i]; old.value != nil {
			tree.Set(old)
		}
		tree.Set(item[K, V]{key: key})
	}
	copy(m.latest[1:i+1], m.latest[:i])
	m.latest[0] = item[K, V]{key, v}
}

// Delete removes a value.
func (m *Map[K, V]) Delete(key K) {
	if i := m.position(&key); i >= 0 {
		m.latest[i] = item[K, V]{}
	} else if _, ok := m.tree.Get(item[K, V]{key: key}); !ok {
		return
	}
	m.own().Delete(item[K, V]{key: key})
}
