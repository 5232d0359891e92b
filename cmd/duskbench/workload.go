package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
	"text/tabwriter"

	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/duskdb/duskdb/value"
	"github.com/duskdb/duskdb/wire"
)

// workload is one kind of request, sent again and again: as the official
// driver sends it, or as bytes made here.
type workload struct {
	name    string
	about   string
	loads   bool                                        // needs the documents of the data set
	grows   bool                                        // adds to the data set, which is made afresh for each measurement
	prepare func(l *loader) error                       // what it needs besides, or nil
	call    func(ctx context.Context, r *request) error // sends the next request with the driver
	build   func(r *request)                            // makes the next request of bytes
	check   func(value.Doc) error                       // what a reply must say besides ok, or nil
	note    func(r *request, reply value.Doc) error     // takes what the next request needs of a reply, or nil
	retries bool                                        // the driver sends writes that can be retried
	docs    func(o loadOptions) int                     // documents a request handles, nil for one
	refill  *workload                                   // run, unmeasured, when request.left is 0; or nil
}

// workloads is the table of all of them, in the order they are listed.
var workloads = []workload{
	{name: "ping", about: "{ping: 1}", call: callPing, build: buildPing},
	{name: "findOne", about: "find one document by _id", loads: true, call: callFindOne, build: buildFindOne, check: wantDocument},
	{name: "findRange", about: "find 100 documents by a range of an indexed field", loads: true, prepare: indexK, call: callFindRange, build: buildFindRange, check: wantDocument, docs: rangeDocs},
	{name: "count", about: "count 100 documents by a range of an indexed field", loads: true, prepare: indexK, call: callCount, build: buildCount, check: wantWritten, docs: rangeDocs},
	{name: "aggregate", about: "group 100 documents of a range by a field", loads: true, prepare: indexK, call: callAggregate, build: buildAggregate, check: wantDocument, docs: rangeDocs},
	{name: "group", about: "match half of all documents and group them with $sum and $avg", loads: true, call: callPipeline(groupAll), build: buildPipeline(groupAll), check: wantDocument, docs: allDocs},
	{name: "lookup", about: "join all documents with themselves by an indexed field", loads: true, prepare: indexK, call: callPipeline(lookupAll), build: buildPipeline(lookupAll), check: wantDocument, docs: allDocs},
	{name: "insertOne", about: "insert one document, w: 1", call: callInsertOne, build: buildInsertOne, check: wantWritten},
	{name: "insertOneJ", about: "insert one document, w: 1, j: true", call: callInsertOneJ, build: buildInsertOneJ, check: wantWritten},
	{name: "insertMany", about: "insert --batch documents in one command", call: callInsertMany, build: buildInsertMany, check: wantWritten, docs: func(o loadOptions) int { return o.Batch }},
	{name: "updateOne", about: "$inc in one document by _id", loads: true, call: callUpdateOne, build: buildUpdateOne, check: wantWritten},
	{name: "deleteOne", about: "delete one document by _id; what was deleted is replaced unmeasured", call: callDeleteOne, build: buildDeleteOne, check: wantWritten, refill: &refillOwn},
	{name: "findAndModify", about: "$inc in one document by _id, which is returned", loads: true, call: callFindAndModify, build: buildFindAndModify, check: wantValue},
	{name: "insertRetryable", about: "insertOne with a session and a txnNumber; the server must be a member of a replica set", retries: true, call: callInsertOne, build: buildInsertRetryable, check: wantWritten},
	{name: "transaction", about: "two updateOne and the commit; an operation is one request of the three; the server must be a member of a replica set", loads: true, call: callTransaction, build: buildTransaction},
	{name: "mixed", about: "four findOne to one updateOne", loads: true, call: callMixed, build: buildMixed},
	{name: "ycsbA", about: "YCSB A: 50 % reads, 50 % updates, Zipf", loads: true, call: callYCSB(ycsbA), build: buildYCSB(ycsbA)},
	{name: "ycsbB", about: "YCSB B: 95 % reads, 5 % updates, Zipf", loads: true, call: callYCSB(ycsbB), build: buildYCSB(ycsbB)},
	{name: "ycsbC", about: "YCSB C: reads, Zipf", loads: true, call: callYCSB(ycsbC), build: buildYCSB(ycsbC)},
	{name: "ycsbD", about: "YCSB D: 95 % reads of the newest, 5 % inserts", loads: true, grows: true, call: callYCSB(ycsbD), build: buildYCSB(ycsbD)},
	{name: "ycsbE", about: "YCSB E: 95 % scans of up to 100 documents, 5 % inserts", loads: true, grows: true, call: callYCSB(ycsbE), build: buildYCSB(ycsbE)},
	{name: "ycsbF", about: "YCSB F: 50 % reads, 50 % reads each followed by an update of what was read; an operation is one request", loads: true, call: callYCSB(ycsbF), build: buildYCSB(ycsbF)},
	{name: "ttl", about: "insert one document that expires a second later, with the TTL monitor at work", prepare: indexTTL, call: callInsertTTL, build: buildInsertTTL, check: wantWritten},
	{name: "queue", about: "send a message, receive and complete it; an operation is one request of the three", prepare: makeQueue, call: callQueue, build: buildQueue, note: noteQueue},
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
	opts  loadOptions
	rnd   *rand.Rand
	docs  documents
	own   ownIDs
	ycsb  ycsbState
	queue queueState

	session sessionState
	expired expiredDocs
	worker  int // the number of this worker
	workers int // number of all workers

	db   *mongo.Database // the driver's; nil without it
	b    value.Builder
	buf  []byte
	on   string // the database of the request
	seq  wire.Sequence
	seqs []wire.Sequence // the seq above, or none
}

// begin starts a command.
func (r *request) begin() *value.Builder {
	r.b.Reset(r.buf[:0])
	r.seqs, r.on = r.seqs[:0], database
	return &r.b
}

// body finishes the command.
func (r *request) body() value.Doc {
	r.b.String("$db", r.on)
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

// collection draws the collection to use, if there are several.
func (r *request) collection() string {
	if r.opts.collections < 2 {
		return collection
	}
	return collectionName(r.rnd.IntN(r.opts.collections))
}

// collectionName names the i-th of several collections.
func collectionName(i int) string {
	if i == 0 {
		return collection
	}
	return collection + strconv.Itoa(i)
}

func buildPing(r *request) { r.begin().Int32("ping", 1) }

func buildFindOne(r *request) { r.find(r.id()) }

func (r *request) find(id int32) {
	r.begin().String("find", r.collection()).
		StartDocument("filter").Int32("_id", id).End().
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

func buildCount(r *request) {
	b := r.begin().String("count", collection).StartDocument("query")
	appendRange(b, r.rangeStart())
	b.End()
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
	b := r.beginInsert(r.collection())
	if journal {
		b.StartDocument("writeConcern").Int32("w", 1).Bool("j", true).End()
	}
	for range n {
		r.seq.Append(r.docs.fresh(expiring))
	}
	r.seqs = append(r.seqs, r.seq)
}

func (r *request) beginInsert(collection string) *value.Builder {
	r.seq.ID = "documents"
	r.seq.Reset()
	return r.begin().String("insert", collection).Bool("ordered", true)
}

func buildUpdateOne(r *request) { r.update(r.id()) }

func (r *request) update(id int32) {
	r.begin().String("update", r.collection()).StartArray("updates").
		StartDocument("").
		StartDocument("q").Int32("_id", id).End().
		StartDocument("u").StartDocument("$inc").Int32("n", 1).End().End().
		End().End()
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

// wantDocument fails for an empty result: a find without a document would be
// fast and wrong.
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
