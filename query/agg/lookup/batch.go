package lookup

import (
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/value"
)

// maxInputBytes bounds the inputs that are read together.
const maxInputBytes = 1 << 20

// inputBatch holds inputs of a $lookup that were read together, so that the host can read
// for all their values at once.
type inputBatch struct {
	list   []input
	next   int // the next place in list
	err    error
	ended  bool // list is followed by err, or by the end
	values []value.Value
	value  value.Value // the present input's value for the slot; missing without one or if it was read alone
}

// input is a document that a $lookup has to complete.
type input struct {
	doc   value.Doc
	meta  expr.Meta
	value value.Value // the value for the slot; missing if the slot cannot hold it
}

// nextInput returns the next input. Once the host has planned the request of the slot, it
// is one of a batch.
func (it *lookupIterator) nextInput() (value.Doc, error) {
	if it.slot == nil || it.slot.prepared == nil {
		return it.src.Next()
	}
	b := &it.batch
	if b.next == len(b.list) {
		it.gather()
	}
	b.value = value.Value{}
	if b.next == len(b.list) {
		return nil, b.err
	}
	in := &b.list[b.next]
	b.next++
	d := in.doc
	b.value, it.x.Env.Meta = in.value, in.meta
	*in = input{}
	return d, nil
}

// gather reads the next inputs, and the first records for their values.
func (it *lookupIterator) gather() {
	b := &it.batch
	b.list, b.next, b.values = b.list[:0], 0, b.values[:0]
	limit := 1
	if it.slot.steady {
		limit = it.slot.prepared.Ahead()
	}
	for size := 0; len(b.list) < limit && size < maxInputBytes && !b.ended; {
		d, err := it.src.Next()
		if d == nil || err != nil {
			b.ended, b.err = true, err
			break
		}
		size += len(d)
		in := input{doc: d, meta: it.x.Env.Meta}
		if limit > 1 {
			in.value = it.slotValue(d)
		}
		if !in.value.IsMissing() {
			b.values = append(b.values, in.value)
		}
		b.list = append(b.list, in)
	}
	if len(b.values) > 1 {
		it.slot.prepared.ReadAhead(b.values)
	}
}

// slotValue returns the value of an input for the slot, or Missing.
func (it *lookupIterator) slotValue(d value.Doc) value.Value {
	if it.slot.operand == nil {
		if v, ok := only(d, it.local); ok {
			return v
		}
		return value.Value{}
	}
	if it.s.let.Bind(it.x.Env, it.inner.Env, d) != nil { // fails again when it is the input's turn
		return value.Value{}
	}
	if v, err := it.slot.operand.Eval(it.inner.Env, value.EmptyDoc); err == nil && fits(v) {
		return v
	}
	return value.Value{}
}
