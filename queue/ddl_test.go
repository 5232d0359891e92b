package queue

import (
	"testing"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

func (e *env) update(fn func(storage.Tx) error) error { return e.engine.Update(e.ctx, fn) }

func (e *env) modify(name, options string) error {
	return e.update(func(tx storage.Tx) error {
		return e.broker.Modify(tx, e.broker.Changes(), ns(name), Queue, value.MustJSON(`{"o": `+options+`}`).Lookup("o"), e.now())
	})
}

func (e *env) options(name string) (o value.Doc) {
	e.t.Helper()
	e.must(e.engine.View(e.ctx, func(tx storage.Tx) error {
		coll, err := tx.Collection(ns(name))
		if err == nil {
			o = coll.Info().Options
		}
		return err
	}))
	return o
}

func TestCreate(t *testing.T) {
	e := newEnv(t)
	e.create("q", `{"lockDuration": 30}`)
	if got := e.options("q").Lookup(Option).Doc().Lookup("lockDuration").Str(); got != "PT30S" {
		t.Errorf("lockDuration %q", got)
	}
	if got := e.options("q.deadletterqueue").String(); got != `{ messageQueue: { deadLetterOf: "q" } }` {
		t.Errorf("dead-letter queue: %s", got)
	}
}

func TestCheckOptions(t *testing.T) {
	e := &env{t: t}
	for _, o := range []string{
		`{"capped": true}`, `{"expireAfterSeconds": 1}`, `{"clusteredIndex": {}}`, `{"documentTtl": {}}`,
		`{"viewOn": "x"}`, `{"validator": {}}`, `{"timeseries": {}}`,
	} {
		e.fails(CheckOptions(value.MustJSON(o)), mongoerr.InvalidOptions, "is not allowed with 'messageQueue'")
	}
	e.must(CheckOptions(value.MustJSON(`{"create": "q", "messageQueue": {}, "capped": false, "collation": {"locale": "de"}}`)))
}

func TestModify(t *testing.T) {
	e := newEnv(t)
	e.create("q", `{"maxDeliveryCount": 3}`)
	e.send("q", `{"_id": 1}`)
	e.must(e.modify("q", `{"defaultMessageTimeToLive": 5, "lockDuration": "PT10S"}`))
	e.send("q", `{"_id": 2}`)
	docs := e.peek("q")
	if a, b := mq(docs[0], "timeToLive").Int64(), mq(docs[1], "timeToLive").Int64(); a != Unlimited || b != 5000 {
		t.Errorf("times to live %d, %d", a, b)
	}
	if got := mq(e.one("q"), "lockedUntilUtc").DateTime(); got != t0+10_000 {
		t.Errorf("locked until %+d", got-t0)
	}
	if got := e.options("q").Lookup(Option).Doc().Lookup("maxDeliveryCount").Int32(); got != 3 {
		t.Errorf("maxDeliveryCount %d", got)
	}
	e.fails(e.modify("q", `{"lockDuration": "PT6M"}`), mongoerr.BadValue, "collMod.messageQueue.lockDuration")
	e.fails(e.modify("q", `"off"`), mongoerr.InvalidOptions, "")
	e.fails(e.modify("q", `null`), mongoerr.InvalidOptions, "")
	e.fails(e.modify("q", `5`), mongoerr.TypeMismatch, "")
	e.fails(e.modify("q.deadletterqueue", `{}`), mongoerr.InvalidOptions, "")
	e.fails(e.modify("nowhere", `{}`), mongoerr.NamespaceNotFound, "")
	e.must(e.update(func(tx storage.Tx) error {
		_, err := tx.Create(ns("plain"), value.EmptyDoc, []storage.IndexSpec{IDIndex()})
		return err
	}))
	e.fails(e.modify("plain", `{}`), mongoerr.InvalidOptions, "")
	_, err := e.broker.Receive(e.ctx, e.store, Request{Ref: ref("plain"), Max: 1}, e.now())
	e.fails(err, mongoerr.IllegalOperation, "is not a message queue")
}

func TestDrop(t *testing.T) {
	e := newEnv(t)
	e.create("q", `{}`)
	e.send("q", `{"_id": 1}`, `{"_id": 2}`)
	drop := func(name string) error {
		return e.update(func(tx storage.Tx) error { return e.broker.Drop(tx, e.broker.Changes(), ns(name), e.now()) })
	}
	e.fails(drop("q.deadletterqueue"), mongoerr.IllegalOperation, "without its queue 'q'")
	e.must(drop("q"))
	if exists(e, "q") || exists(e, "q.deadletterqueue") {
		t.Error("the queue is still there")
	}
	e.create("q", `{}`)
	if n := e.send("q", `{"_id": 1}`)[0]; n != 1 {
		t.Errorf("a new queue begins at %d", n)
	}
}

func TestRename(t *testing.T) {
	e := newEnv(t)
	e.create("q", `{"maxDeliveryCount": 1}`)
	e.send("q", `{"_id": 1}`, `{"_id": 2}`)
	first := e.one("q")
	rename := func(from, to string) error {
		return e.update(func(tx storage.Tx) error { return e.broker.Rename(tx, e.broker.Changes(), ns(from), ns(to), e.now()) })
	}
	e.fails(rename("q.deadletterqueue", "x"), mongoerr.IllegalOperation, "")
	e.must(rename("q", "r"))
	if out := e.abandon("r", first); out != "deadLettered" {
		t.Errorf("outcome %s", out)
	}
	expectMQ(t, e.one("r/$deadletterqueue"), `{"sequenceNumber": {"$numberLong": "1"}, "deadLetterSource": "r"}`)
	if n := e.send("r", `{"_id": 3}`)[0]; n != 3 {
		t.Errorf("numbers go on at %d", n)
	}
	e.one("r") // the second message is still first in line
}

func TestCheckIndex(t *testing.T) {
	e := newEnv(t)
	e.create("q", `{}`)
	check := func(name, spec string) (err error) {
		e.must(e.engine.View(e.ctx, func(tx storage.Tx) error {
			coll, cerr := tx.Collection(ns(name))
			e.must(cerr)
			err = CheckIndex(coll.Info(), value.MustJSON(spec))
			return nil
		}))
		return err
	}
	e.must(check("q", `{"key": {"a": 1, "b.c": -1}, "unique": true}`))
	e.fails(check("q", `{"key": {"_mq.state": 1}}`), mongoerr.CannotCreateIndex, "owned by the server")
	e.must(check("q.deadletterqueue", `{"key": {"a": 1}}`))
	for _, spec := range []string{`{"key": {"a": 1, "b": 1}}`, `{"key": {"a": 1}, "unique": true}`, `{"key": {"a": "2d"}}`, `{"key": {"$**": 1}}`} {
		e.fails(check("q.deadletterqueue", spec), mongoerr.CannotCreateIndex, "")
	}
}

func TestParseRef(t *testing.T) {
	tests := []struct {
		name, sub string
		coll      string
		dead      bool
		code      mongoerr.Code
	}{
		{"q", "", "q", false, 0},
		{"q/$deadletterqueue", "", "q", true, 0},
		{"q", "deadLetter", "q", true, 0},
		{"q/$deadletterqueue", "deadLetter", "q", true, 0},
		{"q", "other", "", false, mongoerr.BadValue},
	}
	for _, tt := range tests {
		r, err := ParseRef("db", tt.name, tt.sub)
		if mongoerr.CodeOf(err) != tt.code || r.Namespace.Coll != tt.coll || r.Dead != tt.dead {
			t.Errorf("%s %s: %+v, %v", tt.name, tt.sub, r, err)
		}
	}
}
