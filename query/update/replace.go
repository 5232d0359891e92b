package update

import (
	"bytes"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/value"
)

func compileReplacement(d value.Doc, o Options) (*Update, error) {
	if o.Multi {
		return nil, mongoerr.New(mongoerr.FailedToParse, "multi update is not supported for replacement-style update")
	}
	u := Replacement(d)
	u.opts = o
	return u, nil
}

// Replacement returns the update that replaces a document by d, whatever field
// names d has.
func Replacement(d value.Doc) *Update {
	return &Update{replacement: d, hasID: d.Has("_id"), invalid: checkStored(d), unsafeTop: checkDollars(d)}
}

// updateStages are the stages that a pipeline update may have.
// Please keep sorted.
var updateStages = map[string]bool{
	"$addFields":   true,
	"$project":     true,
	"$replaceRoot": true,
	"$replaceWith": true,
	"$set":         true,
	"$unset":       true,
}

// compilePipeline compiles a pipeline update after checking its stages.
func compilePipeline(stages value.Doc, o Options) (*Update, error) {
	if len(o.ArrayFilters) > 0 {
		return nil, mongoerr.New(mongoerr.FailedToParse, "arrayFilters may not be specified for pipeline-style updates")
	}
	if o.Pipeline == nil {
		return nil, mongoerr.New(mongoerr.FailedToParse, "Update argument must be an object")
	}
	transform, err := o.Pipeline(stages)
	if err != nil {
		return nil, err
	}
	for stage := range stages.Values() {
		if name, _ := stage.Doc().First(); !updateStages[name] {
			return nil, mongoerr.Newf(mongoerr.InvalidOptions, "%s is not allowed to be used within an update", name)
		}
	}
	return &Update{opts: o, transform: transform}, nil
}

// replace applies a replacement or a pipeline.
func (u *Update) replace(env *expr.Env, d value.Doc, o ApplyOptions) (value.Doc, bool, error) {
	next, hasID := u.replacement, u.hasID
	if u.transform != nil {
		var err error
		if next, err = u.transform(env, d); err != nil {
			return nil, false, err
		}
		hasID = next.Has("_id")
	} else if !u.opts.KeepEmpty {
		next = FillTimestamps(next, func() value.Value { return u.timestamp(env) })
	}
	if bytes.Equal(next, d) {
		return d, false, nil
	}
	if err := u.checkReplaced(next, o.Insert); err != nil {
		return nil, false, err
	}
	old, had := d.Get("_id")
	out, err := joinID(d, next, hasID, o.Buf)
	if err != nil {
		return nil, false, err
	}
	if now, ok := out.Get("_id"); had && ok && !value.Equal(old, now) {
		if now.Kind() == value.KindArray {
			return nil, false, mongoerr.New(mongoerr.NotSingleValueField,
				"After applying the update to the document, the (immutable) field '_id' was found to be an array or array descendant.")
		}
		return nil, false, mongoerr.Newf(mongoerr.ImmutableField,
			"After applying the update, the (immutable) field '_id' was found to have been altered to %s", elementString("_id", now))
	}
	if o.Insert {
		return out, true, nil
	}
	return out, true, checkSize(out)
}

// checkReplaced checks the new document. Documents of an upsert are checked
// later, as a whole.
func (u *Update) checkReplaced(next value.Doc, insert bool) error {
	switch {
	case insert:
		return nil
	case u.transform != nil:
		return checkStored(next)
	case u.invalid != nil:
		return u.invalid
	}
	return u.unsafeTop
}

// joinID returns next with the _id first: its own, otherwise that of d.
func joinID(d, next value.Doc, hasID bool, buf []byte) (value.Doc, error) {
	from := d
	if hasID {
		from = next
	}
	if err := tooLarge(len(next)); err != nil {
		return nil, err
	}
	if buf == nil {
		buf = make([]byte, 0, len(next)+32)
	}
	var b value.Builder
	b.Reset(buf[:0])
	for it := from.Iter(); it.Next(); {
		if it.Key() == "_id" {
			b.Raw(it.Element())
			break
		}
	}
	for it := next.Iter(); it.Next(); {
		if it.Key() != "_id" {
			b.Raw(it.Element())
		}
	}
	return b.Doc(), nil
}

// FillTimestamps replaces empty timestamps, Timestamp(0, 0), at the top level
// of a document by the results of next, as inserts and replacements do. The
// _id is not changed. Without empty timestamps, d itself is returned.
func FillTimestamps(d value.Doc, next func() value.Value) value.Doc {
	if !hasEmptyTimestamp(d) {
		return d
	}
	var b value.Builder
	b.Reset(make([]byte, 0, len(d)))
	it := d.Iter()
	for it.Next() {
		if isEmptyTimestamp(&it) {
			b.Append(it.Key(), next())
		} else {
			b.Raw(it.Element())
		}
	}
	return b.Doc()
}

func hasEmptyTimestamp(d value.Doc) bool {
	it := d.Iter()
	for it.Next() {
		if isEmptyTimestamp(&it) {
			return true
		}
	}
	return false
}

func isEmptyTimestamp(it *value.Iter) bool {
	if it.Kind() != value.KindTimestamp || it.Key() == "_id" {
		return false
	}
	t, i := it.Value().Timestamp()
	return t == 0 && i == 0
}
