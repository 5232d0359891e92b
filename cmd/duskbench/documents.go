package main

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/duskdb/duskdb/value"
	"github.com/duskdb/duskdb/wire"
)

// tags is the number of values of the field tag.
const tags = 20

var tagNames = func() (names [tags]string) {
	for i := range names {
		names[i] = fmt.Sprintf("tag%d", i)
	}
	return names
}()

// documents makes the documents of one worker; each is valid until the next.
type documents struct {
	rnd     *rand.Rand
	pad     string
	id      value.OID
	counter uint32
	b       value.Builder
	buf     []byte
}

// overhead is the approximate size of a document besides its padding.
const overhead = 64

// newDocuments returns a source whose ids differ from those of any other
// source of the same seed.
func newDocuments(seed uint64, worker int, size int) documents {
	d := documents{
		rnd: rand.New(rand.NewPCG(seed, uint64(worker))),
		pad: strings.Repeat("x", max(size-overhead, 0)),
	}
	binary.BigEndian.PutUint32(d.id[:], uint32(time.Now().Unix()))
	binary.BigEndian.PutUint32(d.id[4:], d.rnd.Uint32())
	binary.BigEndian.PutUint16(d.id[8:], uint16(worker))
	return d
}

// stored makes the i-th document of the data set.
func (d *documents) stored(i int) value.Doc {
	d.b.Reset(d.buf[:0])
	d.b.Int32("_id", int32(i))
	return d.rest(int32(i), 0)
}

// fresh makes a document with a new ObjectId. An expiring one has a date in
// the field that the TTL index is on; the date of another lies far ahead.
func (d *documents) fresh(expiring bool) value.Doc {
	d.counter++
	// The last bytes count; what they cannot hold goes to the random part.
	d.id[11], d.id[10] = byte(d.counter), byte(d.counter>>8)
	if d.counter&0xffff == 0 {
		binary.BigEndian.PutUint32(d.id[4:], binary.BigEndian.Uint32(d.id[4:])+1)
	}
	d.b.Reset(d.buf[:0])
	d.b.Append("_id", value.ObjectID(d.id))
	ahead := 24 * time.Hour
	if expiring {
		ahead = 0
	}
	return d.rest(d.rnd.Int32(), ahead)
}

// rest appends the fields that all documents have.
func (d *documents) rest(k int32, ahead time.Duration) value.Doc {
	d.b.Int32("k", k).
		String("tag", tagNames[uint32(k)%tags]).
		Int32("n", 0).
		Date("at", time.Now().Add(ahead).UnixMilli()).
		String("pad", d.pad)
	doc := d.b.Doc()
	d.buf = d.b.Bytes() // with the capacity that Doc cuts off
	return doc
}

// loader fills the collection before a workload.
type loader struct {
	*session
	opts       loadOptions
	collection string
}

// load makes the collection afresh: dropped, filled if the workload wants
// it, indexed.
func (l *loader) load(w workload) error {
	if _, err := l.command(value.NewDoc("drop", value.String(l.collection), "$db", value.String(database))); err != nil &&
		!strings.Contains(err.Error(), "ns not found") {
		return fmt.Errorf("drop: %w", err)
	}
	if w.loads {
		if err := l.fill(); err != nil {
			return fmt.Errorf("load: %w", err)
		}
	}
	if w.prepare == nil {
		return nil
	}
	return w.prepare(l)
}

// fill inserts the data set in batches.
func (l *loader) fill() error {
	const batch = 1000
	docs := newDocuments(l.opts.Seed, 0, l.opts.DocSize)
	seq := wire.Sequence{ID: "documents"}
	insert := value.NewDoc("insert", value.String(l.collection), "$db", value.String(database))
	for i := 0; i < l.opts.Docs; i += batch {
		seq.Reset()
		for j := i; j < min(i+batch, l.opts.Docs); j++ {
			seq.Append(docs.stored(j))
		}
		if _, err := l.command(insert, seq); err != nil {
			return err
		}
	}
	return nil
}

func indexK(l *loader) error { return l.index("k", -1) }

// indexTTL makes the index and asks for a pass each second; a server that
// cannot change its monitor keeps its own pace.
func indexTTL(l *loader) error {
	_, _ = l.command(value.NewDoc("setParameter", value.Int32(1), "ttlMonitorSleepSecs", value.Int32(1), "$db", value.String("admin")))
	return l.index("at", 1)
}

// index creates a single-field index, a TTL index if expire is not negative.
func (l *loader) index(field string, expire int32) error {
	b := value.NewBuilder().String("createIndexes", l.collection).StartArray("indexes").StartDocument("").
		StartDocument("key").Int32(field, 1).End().
		String("name", field+"_1")
	if expire >= 0 {
		b.Int32("expireAfterSeconds", expire)
	}
	_, err := l.command(b.End().End().String("$db", database).Doc())
	return err
}
