package main

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"text/tabwriter"

	"github.com/duskdb/duskdb/value"
	"github.com/duskdb/duskdb/wire"
)

// workload is one kind of request, sent again and again.
type workload struct {
	name    string
	about   string
	loads   bool                    // needs the documents of the data set
	prepare func(l *loader) error   // what it needs besides, or nil
	build   func(r *request)        // makes the next request
	check   func(value.Doc) error   // what a reply must say besides ok, or nil
	docs    func(o loadOptions) int // documents a request handles, nil for one
}

// workloads is the table of all of them, in the order they are listed.
var workloads = []workload{
	{name: "ping", about: "{ping: 1}", build: buildPing},
	{name: "findOne", about: "find one document by _id", loads: true, build: buildFindOne, check: wantDocument},
	{name: "findRange", about: "find 100 documents by a range of an indexed field", loads: true, prepare: indexK, build: buildFindRange, check: wantDocument, docs: rangeDocs},
	{name: "aggregate", about: "group 100 documents of a range by a field", loads: true, prepare: indexK, build: buildAggregate, check: wantDocument, docs: rangeDocs},
	{name: "insertOne", about: "insert one document, w: 1", build: buildInsertOne, check: wantWritten},
	{name: "insertOneJ", about: "insert one document, w: 1, j: true", build: buildInsertOneJ, check: wantWritten},
	{name: "insertMany", about: "insert --batch documents in one command", build: buildInsertMany, check: wantWritten, docs: func(o loadOptions) int { return o.Batch }},
	{name: "updateOne", about: "$inc and $set in one document by _id", loads: true, build: buildUpdateOne, check: wantWritten},
	{name: "mixed", about: "four findOne to one updateOne", loads: true, build: buildMixed},
	{name: "ttl", about: "insert one document that expires a second later, with the TTL monitor at work", prepare: indexTTL, build: buildInsertTTL, check: wantWritten},
}

func findWorkload(name string) (workload, error) {
	for _, w := range workloads {
		if w.name == name {
			return w, nil
		}
	}
	return workload{}, fmt.Errorf("no workload %q; see duskbench workloads", name)
}

func (w workload) docsPerOp(o loadOptions) int {
	if w.docs == nil {
		return 1
	}
	return w.docs(o)
}

// workloadsCommand lists the table.
type workloadsCommand struct{}

// Run prints the table.
func (workloadsCommand) Run(out io.Writer) error {
	t := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	for _, w := range workloads {
		fmt.Fprintf(t, "%s\t%s\n", w.name, w.about)
	}
	return t.Flush()
}

// Where the data is, and how many documents a range covers.
const (
	database   = "duskbench"
	collection = "docs"
	rangeSize  = 100
)

func rangeDocs(loadOptions) int { return rangeSize }

// request is what a worker reuses to build one request after another.
type request struct {
	opts loadOptions
	rnd  *rand.Rand
	docs documents
	b    value.Builder
	buf  []byte
	seq  wire.Sequence
	seqs []wire.Sequence // the seq above, or none
}

// begin starts a command.
func (r *request) begin() *value.Builder {
	r.b.Reset(r.buf[:0])
	r.seqs = r.seqs[:0]
	return &r.b
}

// body finishes the command.
func (r *request) body() value.Doc {
	r.b.String("$db", database)
	d := r.b.Doc()
	r.buf = r.b.Bytes() // with the capacity that Doc cuts off
	return d
}

// id draws the _id of a stored document.
func (r *request) id() int32 { return int32(r.rnd.IntN(r.opts.Docs)) }

// rangeStart draws the start of a range of stored documents.
func (r *request) rangeStart() int32 {
	return int32(r.rnd.IntN(max(r.opts.Docs-rangeSize, 0) + 1))
}

func buildPing(r *request) { r.begin().Int32("ping", 1) }

func buildFindOne(r *request) {
	r.begin().String("find", collection).
		StartDocument("filter").Int32("_id", r.id()).End().
		Int32("limit", 1).Bool("singleBatch", true)
}

func buildFindRange(r *request) {
	b := r.begin().String("find", collection).StartDocument("filter")
	appendRange(b, r.rangeStart())
	b.End().Int32("batchSize", 2*rangeSize)
}

func appendRange(b *value.Builder, start int32) {
	b.StartDocument("k").Int32("$gte", start).Int32("$lt", start+rangeSize).End()
}

func buildAggregate(r *request) {
	b := r.begin().String("aggregate", collection).StartArray("pipeline")
	b.StartDocument("").StartDocument("$match")
	appendRange(b, r.rangeStart())
	b.End().End()
	b.StartDocument("").StartDocument("$group").String("_id", "$tag").
		StartDocument("n").Int32("$sum", 1).End().
		StartDocument("mean").String("$avg", "$k").End().
		End().End()
	b.End().StartDocument("cursor").End()
}

func buildInsertOne(r *request) { r.insert(1, false, false) }

func buildInsertOneJ(r *request) { r.insert(1, true, false) }

func buildInsertMany(r *request) { r.insert(r.opts.Batch, false, false) }

func buildInsertTTL(r *request) { r.insert(1, false, true) }

// insert builds an insert of n new documents.
func (r *request) insert(n int, journal, expiring bool) {
	b := r.begin().String("insert", collection).Bool("ordered", true)
	if journal {
		b.StartDocument("writeConcern").Int32("w", 1).Bool("j", true).End()
	}
	r.seq.ID = "documents"
	r.seq.Reset()
	for range n {
		r.seq.Append(r.docs.fresh(expiring))
	}
	r.seqs = append(r.seqs, r.seq)
}

func buildUpdateOne(r *request) {
	r.begin().String("update", collection).StartArray("updates").
		StartDocument("").
		StartDocument("q").Int32("_id", r.id()).End().
		StartDocument("u").
		StartDocument("$inc").Int32("n", 1).End().
		StartDocument("$set").String("tag", tagNames[r.rnd.IntN(tags)]).End().
		End().End().End()
}

func buildMixed(r *request) {
	if r.rnd.IntN(5) == 0 {
		buildUpdateOne(r)
		return
	}
	buildFindOne(r)
}

var (
	errEmpty   = errors.New("the reply has no document")
	errNothing = errors.New("nothing was written")
)

// wantDocument: a find that finds nothing is fast, and wrong.
func wantDocument(reply value.Doc) error {
	if reply.Lookup("cursor").Doc().Lookup("firstBatch").Doc().IsEmpty() {
		return errEmpty
	}
	return nil
}

func wantWritten(reply value.Doc) error {
	if reply.Lookup("n").Int64() == 0 {
		return errNothing
	}
	return nil
}
