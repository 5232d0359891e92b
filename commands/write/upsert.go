package write

import (
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// maxUpsertAttempts bounds how often an upsert is retried when another client inserts the
// document first.
const maxUpsertAttempts = 3

// upsert inserts the document that the filter and the update describe.
func upsert(c *kernel.Call, m *Run) (out Updated, err error) {
	d, err := m.update.ForUpsert(m.Exec.Env, m.Query.Matcher, func() value.OID { return value.NewOID(c.Now) })
	if err != nil {
		return out, err
	}
	if d, err = PrepareUpsert(c, d); err != nil {
		return out, err
	}
	err = c.Update(func(tx storage.Tx) error {
		coll, err := CollectionForInsert(c, tx, m.NS)
		if err != nil {
			return err
		}
		w := New(c, tx, coll, m.Bypass)
		out = Updated{Upserted: d.Lookup("_id").Clone(), New: w.Meta.Shown(w.Stripped(d), c.Now)}
		_, err = w.Insert(d)
		return err
	})
	if err != nil {
		return Updated{}, err
	}
	return out, nil
}

// retriesUpsert reports whether the filter of an upsert requires the values of the
// duplicate key, so that another attempt will find the document with that key.
func (m *Run) retriesUpsert(err error) bool {
	e := mongoerr.From(err)
	var pattern, keyValue value.Doc
	for _, f := range e.Extra {
		switch f.Key {
		case "keyPattern":
			pattern = f.Value.Doc()
		case "keyValue":
			keyValue = f.Value.Doc()
		}
	}
	equal := map[string]value.Value{}
	for path, v := range m.Query.Matcher.Equalities() {
		equal[path] = v
	}
	for name := range pattern.All() {
		if v, ok := equal[name]; !ok || !value.Equal(v, keyValue.Lookup(name)) {
			return false
		}
	}
	return true
}
