package servertest_test

import (
	"errors"
	"fmt"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"pgregory.net/rapid"
)

// The writers and builders of TestModel that meet documents in other ways than
// the commands of the same names.

// visible returns the document with an _id that commands see, or nil.
func (m *model) visible(id int) *modelDoc {
	if d := m.docs[id]; d != nil && !m.expired(d) {
		return d
	}
	return nil
}

// put stores a document; an expired one with the same _id may exist.
func (m *model) put(id int, d *modelDoc) {
	if m.docs[id] != nil && m.visible(id) == nil {
		m.expire(id)
	}
	m.docs[id] = d
}

// merge writes a document by $merge.
func (m *model) merge(t *rapid.T) {
	id := drawID(t)
	fresh, fields := m.draw(t)
	m.s.ok(`{delete: "src", deletes: [{q: {}, limit: 0}]}`)
	m.s.ok(`{insert: "src", documents: [{_id: %d%s}]}`, id, fields)
	how := rapid.SampledFrom([]string{`"replace"`, `"keepExisting"`, `"merge"`, `[{$set: {ttl: 7}}]`}).Draw(t, "whenMatched")
	not := "insert"
	if how != `"keepExisting"` && rapid.Bool().Draw(t, "discard") {
		not = "discard"
	}
	m.s.ok(`{aggregate: "src", pipeline: [{$merge: {into: "c", whenMatched: %s, whenNotMatched: "%s"}}], cursor: {}}`, how, not)
	d := m.visible(id)
	switch {
	case d == nil && not == "insert", d != nil && how == `"replace"`:
		m.put(id, fresh)
	case d == nil, how == `"keepExisting"`:
	case how == `"merge"`:
		merged := *d
		merged.ts, merged.u = fresh.ts, fresh.u
		if strings.Contains(fields, "x:") {
			merged.x = fresh.x
		}
		if fresh.ttl != nil {
			merged.ttl = fresh.ttl
		}
		m.docs[id] = &merged
	default:
		seven, changed := int64(7), *d
		changed.ts, changed.ttl = m.now/1000, &seven
		m.docs[id] = &changed
	}
}

// applyOps writes or removes a document as another server's log would.
func (m *model) applyOps(t *rapid.T) {
	id := drawID(t)
	fresh, fields := m.draw(t)
	switch rapid.SampledFrom([]string{"i", "u", "d"}).Draw(t, "op") {
	case "i":
		m.s.admin(fmt.Sprintf(`{applyOps: [{op: "i", ns: "db.c", o: {_id: %d%s}}]}`, id, fields))
		m.put(id, fresh)
	case "u":
		m.s.admin(fmt.Sprintf(`{applyOps: [{op: "u", b: true, ns: "db.c", o2: {_id: %d}, o: {_id: %d%s}}]}`, id, id, fields))
		m.put(id, fresh)
	default:
		m.s.admin(fmt.Sprintf(`{applyOps: [{op: "d", ns: "db.c", o: {_id: %d}}]}`, id))
		if m.visible(id) != nil {
			delete(m.docs, id)
		}
	}
}

func (m *model) findAndModify(t *rapid.T) {
	id := drawID(t)
	d := m.visible(id)
	change := rapid.SampledFrom([]string{`remove: true`, `update: {$set: {same: 1}}`, `update: {$set: {same: 1}}, new: true`}).Draw(t, "change")
	got := m.s.ok(`{findAndModify: "c", query: {_id: %d}, %s}`, id, change).Lookup("value")
	if found := got.Type == bson.TypeEmbeddedDocument; found != (d != nil) {
		t.Fatalf("findAndModify of %d by %s: %s", id, change, got)
	}
	switch {
	case d == nil:
	case change == `remove: true`:
		delete(m.docs, id)
	default:
		d.ts = m.now / 1000
	}
}

// unique builds a unique index and drops it again. The build fails only if two visible
// documents have the same key. Expired documents are removed before.
func (m *model) unique() {
	seen, shared := map[int]bool{}, false
	for id, d := range m.docs {
		if m.expired(d) {
			m.expire(id)
			continue
		}
		shared = shared || seen[d.u]
		seen[d.u] = true
	}
	_, err := m.s.run(`{createIndexes: "c", indexes: [{key: {u: 1}, name: "u", unique: true}]}`)
	var e mongo.ServerError
	if failed := errors.As(err, &e) && e.HasErrorCode(11000); failed != shared || err != nil && !failed {
		m.s.Fatalf("a unique index over %v: %v", seen, err)
	}
	if err == nil {
		m.s.ok(`{dropIndexes: "c", index: "u"}`)
	}
}
