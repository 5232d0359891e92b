package oplog

import (
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// operations are the changes of a transaction in their order, as documents {op, ns, ui, o, …}.
type operations struct {
	docs  []byte // the documents, one after the other
	Marks []LoggedOp
	b     value.Builder
}

// LoggedOp describes one of the operations.
type LoggedOp struct {
	end     int  // the end of its document in docs
	Command bool // whether it concerns a collection or database, not a document
	ns      storage.Namespace
	Stmt    int32    // statement of a retryable write
	drop    [16]byte // uuid of a dropped collection

	record storage.RecordID // the written record whose document it contains; 0: none
	doc    int              // the offset of that document in the operation
}

// add records an operation. write adds its fields.
func (r *Recorder) add(kind string, ns storage.Namespace, uuid *[16]byte, write func(b *value.Builder)) {
	b := &r.b
	b.Reset(r.docs)
	name := ns.DB + ".$cmd"
	if kind != "c" {
		name = ns.DB + "." + ns.Coll
	}
	b.String("op", kind).String("ns", name)
	if uuid != nil {
		b.Append("ui", value.Binary(4, uuid[:]))
	}
	write(b)
	b.Doc()
	r.docs = b.Bytes()
	r.Marks = append(r.Marks, LoggedOp{end: len(r.docs), Command: kind == "c", ns: ns, Stmt: r.Statement.ID})
}

// Op returns the operation of that number.
func (o *operations) Op(i int) value.Doc { return value.Doc(o.docs[o.start(i):o.Marks[i].end]) }

// start returns where the document of an operation begins in docs.
func (o *operations) start(i int) int {
	if i == 0 {
		return 0
	}
	return o.Marks[i-1].end
}

// last returns the last operation; nil if there is none.
func (o *operations) last() *LoggedOp {
	if len(o.Marks) == 0 {
		return nil
	}
	return &o.Marks[len(o.Marks)-1]
}

// removeLast takes the last operation back.
func (o *operations) removeLast() {
	n := len(o.Marks) - 1
	o.docs, o.Marks = o.docs[:o.start(n)], o.Marks[:n]
}

// contains notes that the last operation has the document of a record, which begins at a
// position of the operation.
func (o *operations) contains(id storage.RecordID, at int) {
	m := o.last()
	m.record, m.doc = id, at
}

// clear removes all operations, and keeps the memory.
func (o *operations) clear() { o.docs, o.Marks = o.docs[:0], o.Marks[:0] }

// HasStatements reports whether statements of a retryable write were noted.
func (o *operations) HasStatements() bool {
	for i := range o.Marks {
		if !o.Marks[i].Command && o.Marks[i].Stmt != NoStatement {
			return true
		}
	}
	return false
}
