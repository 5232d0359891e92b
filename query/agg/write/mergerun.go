package write

import (
	"errors"
	"slices"
	"strings"

	"github.com/duskdb/duskdb/internal/dialect"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/agg/flow"
	"github.com/duskdb/duskdb/query/agg/stage"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/query/match"
	"github.com/duskdb/duskdb/query/update"
	"github.com/duskdb/duskdb/value"
)

func (s *mergeStage) Open(x *stage.Exec, src stage.Iterator) (stage.Iterator, error) {
	return stage.Pull(src, func() (value.Doc, error) {
		w, err := x.Host.Merge(x, s.target)
		if err != nil {
			return nil, err
		}
		m := &merging{x: x, s: s, inner: x.Sub(), on: w.On(), nullish: w.Nullish() && s.dialect.Has(dialect.MergeOnNullish)}
		if m.transform, err = m.compile(); err == nil {
			err = m.run(w, src)
		}
		if err != nil {
			_ = w.Close()
			return nil, err
		}
		return nil, w.Close()
	}), nil
}

// merging is one run of a $merge. Like mongod, it writes each document as an
// insert, or as an update with upsert: the query consists of the on-fields, and the
// update is a replacement, {$set: document}, {$setOnInsert: document} or the
// pipeline of whenMatched.
type merging struct {
	x         *stage.Exec
	s         *mergeStage
	inner     *stage.Exec // variables of the pipeline of whenMatched
	transform *update.Update
	on        []string
	nullish   bool        // on-fields may be missing or null
	docs      []value.Doc // waiting to be written
	metas     []expr.Meta
	size      int
	unmatched map[int]bool // whenNotMatched is "fail": those of docs that did not match
}

// mergeDocs and mergeBytes limit one batch of writes.
const (
	mergeDocs  = 500
	mergeBytes = 1 << 20
)

func (m *merging) run(w stage.MergeWriter, src stage.Iterator) error {
	for {
		d, err := src.Next()
		if err == nil && d != nil {
			err = m.add(w, d)
		}
		if err != nil {
			return err
		}
		if d == nil {
			return m.flush(w)
		}
	}
}

// add adds a document to the batch, and writes the batch if it is full.
func (m *merging) add(w stage.MergeWriter, d value.Doc) error {
	if slices.Contains(m.on, "_id") {
		d = withID(m.x, d)
	}
	if err := m.checkOn(d); err != nil {
		return err
	}
	m.docs, m.metas, m.size = append(m.docs, d), append(m.metas, m.x.Env.Meta), m.size+len(d)
	if len(m.docs) < mergeDocs && m.size < mergeBytes {
		return nil
	}
	return m.flush(w)
}

// flush writes the batch. If whenNotMatched is "fail" and a document matches
// nothing, flush returns the error after it has written the others, as mongod does.
func (m *merging) flush(w stage.MergeWriter) error {
	docs := m.docs
	m.docs, m.size = nil, 0
	if len(docs) == 0 {
		return nil
	}
	err := w.Apply(docs, func(i int, old value.Doc) (value.Doc, error) {
		m.x.Env.Meta = m.metas[i]
		delete(m.unmatched, i) // the function may be called again, and the document may match then
		if old == nil {
			return m.notMatched(i, docs[i])
		}
		return m.matched(old, docs[i])
	})
	m.metas = m.metas[:0]
	if err == nil && len(m.unmatched) > 0 {
		return mongoerr.New(mongoerr.MergeStageNoMatchingDocument,
			"$merge could not find a matching document in the target collection for at least one document in the source collection")
	}
	return m.inContext(err)
}

// inContext adds the context of $merge to an error.
func (m *merging) inContext(err error) error {
	var e *mongoerr.Error
	if !errors.As(err, &e) {
		return err
	}
	switch e.Code {
	case mongoerr.ImmutableField:
		return e.WithPrefix("$merge failed to update the matching document, did you attempt to modify the _id or the shard key?")
	case mongoerr.DuplicateKey:
		if m.s.target.Insert && m.isOnFields(e) {
			return e.WithPrefix("$merge with whenMatched: fail found an existing document with the same values for the 'on' fields")
		}
		return e.WithPrefix("$merge failed due to a DuplicateKey error")
	}
	return err
}

// isOnFields reports whether the index with the duplicate key is the index on the
// on-fields.
func (m *merging) isOnFields(e *mongoerr.Error) bool {
	for _, f := range e.Extra {
		if f.Key == "keyPattern" {
			pattern := f.Value.Doc()
			return pattern.Len() == len(m.on) && !slices.ContainsFunc(m.on, func(path string) bool { return !pattern.Has(path) })
		}
	}
	return false
}

// checkOn checks the values that identify the document.
func (m *merging) checkOn(d value.Doc) error {
	for _, path := range m.on {
		v, inArray := nested(d, path)
		switch {
		case v.Kind() == value.KindArray:
			return mongoerr.Newf(51185, "$merge write error: 'on' field '%s' is an array", path)
		case inArray:
			return m.s.dialect.Error(dialect.MergeOnNestedArray, path)
		case v.IsNullish() && !m.nullish:
			return m.s.dialect.Error(dialect.MergeOnNull, path)
		}
	}
	return nil
}

// nested returns the value at a path that leads only through documents, and whether it would
// lead through an array.
func nested(d value.Doc, path string) (v value.Value, inArray bool) {
	for name := range strings.SplitSeq(path, ".") {
		inArray = inArray || v.Kind() == value.KindArray
		v = d.Lookup(name)
		if d = nil; v.Kind() == value.KindDocument {
			d = v.Doc()
		}
	}
	return v, inArray
}

func (m *merging) notMatched(i int, d value.Doc) (value.Doc, error) {
	switch {
	case m.s.whenNotFound == "discard":
		return nil, nil
	case m.s.whenNotFound == "fail":
		if m.unmatched == nil {
			m.unmatched = map[int]bool{}
		}
		m.unmatched[i] = true
		return nil, nil
	case m.s.whenMatched == "fail", m.s.whenMatched == "pipeline":
		return withID(m.x, d), nil
	}
	u, err := m.update(d)
	if err != nil {
		return nil, err
	}
	query := value.NewBuilder()
	for _, path := range m.on {
		v, _ := nested(d, path)
		if v.IsNullish() {
			v = value.Null()
		}
		query.Append(path, v)
	}
	on, err := match.Compile(query.Doc(), match.Options{})
	if err != nil {
		return nil, err
	}
	return u.ForUpsert(m.x.Env, on, func() value.OID { return value.NewOID(m.x.Env.Now) })
}

// update returns the update that writes a document.
func (m *merging) update(d value.Doc) (*update.Update, error) {
	switch m.s.whenMatched {
	case "replace":
		return update.Replacement(d), nil
	case "keepExisting":
		return update.Compile(value.Document(value.NewDoc("$setOnInsert", value.Document(d))), update.Options{})
	}
	return update.Compile(value.Document(value.NewDoc("$set", value.Document(d))), update.Options{})
}

func (m *merging) matched(old, d value.Doc) (value.Doc, error) {
	switch m.s.whenMatched {
	case "keepExisting":
		return nil, nil
	case "pipeline":
		return m.transformed(old, d)
	}
	u, err := m.update(d)
	if err != nil {
		return nil, err
	}
	out, _, err := u.Apply(m.x.Env, old, update.ApplyOptions{Position: -1})
	return out, err
}

// transformed returns the result of the pipeline of whenMatched on old.
func (m *merging) transformed(old, d value.Doc) (value.Doc, error) {
	if m.s.refusal != nil {
		return nil, m.s.refusal
	}
	if err := m.s.let.Bind(m.x.Env, m.inner.Env, d); err != nil {
		return nil, err
	}
	if name, ok := m.s.let.Missing(m.inner.Env, func(name string) bool { return flow.RefersTo(value.Array(m.s.pipeline), map[string]bool{name: true}) }); ok {
		return nil, mongoerr.Newf(17276, "Use of undefined variable: %s", name)
	}
	out, _, err := m.transform.Apply(m.inner.Env, old, update.ApplyOptions{Position: -1})
	return out, err
}

// compile compiles the pipeline of whenMatched to an update.
func (m *merging) compile() (*update.Update, error) {
	if m.s.update == nil {
		return nil, nil
	}
	return update.Compile(value.Array(value.EmptyDoc), update.Options{Pipeline: func(value.Doc) (update.Transform, error) {
		return func(_ *expr.Env, old value.Doc) (value.Doc, error) { return m.s.update.Apply(m.inner, old) }, nil
	}})
}
