package queue

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// historySize counts the ids of messages that a queue remembers.
func (e *env) historySize(name string) (n int64) {
	e.t.Helper()
	e.must(e.engine.View(e.ctx, func(tx storage.Tx) error {
		coll, err := tx.Collection(ns(name))
		e.must(err)
		history, err := tx.Collection(historyNamespace("db", coll.Info().UUID))
		e.must(err)
		n, err = history.Count()
		return err
	}))
	return n
}

// A message with an id that came within the window is accepted and dropped, also after a
// restart, and also if one of the two is scheduled.
func TestDuplicates(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data")
	e := newEnvAt(t, path)
	e.create("q", `{"requiresDuplicateDetection": true, "duplicateDetectionHistoryTimeWindow": 20}`)
	if n := e.send("q", `{"_id": 1, "_mq": {"messageId": "a"}}`, `{"_id": 2, "_mq": {"messageId": "b"}}`, `{"_id": 3, "_mq": {"messageId": "a"}}`, `{"_id": 4}`, `{"_id": 5}`); !slices.Equal(n, []int64{1, 2, 0, 3, 4}) {
		t.Errorf("numbers %v", n)
	}
	e.must(e.engine.Close())
	e.open(path)
	e.at(19)
	e.must(e.complete("q", e.one("q"))) // the message is gone, its id is not
	e.send("q", `{"_id": 6, "_mq": {"messageId": "a", "scheduledEnqueueTimeUtc": {"$date": 1767225700000}}}`)
	e.expectIDs("q", "2", "4", "5")
	e.send("q", `{"_id": 7, "_mq": {"messageId": "c", "scheduledEnqueueTimeUtc": {"$date": 1767225700000}}}`)
	e.send("q", `{"_id": 8, "_mq": {"messageId": "c"}}`)
	if got := e.historySize("q"); got != 3 {
		t.Errorf("%d ids are remembered", got)
	}
	e.at(20)
	e.send("q", `{"_id": 9, "_mq": {"messageId": "a"}}`)
	e.expectIDs("q", "2", "4", "5", "7", "9")
	e.at(25)
	e.sweep()
	if got := e.historySize("q"); got != 2 {
		t.Errorf("%d ids are remembered after a pass", got)
	}
}

// A topic finds duplicates before it hands messages on, a queue those that are forwarded
// to it.
func TestDuplicatesOfTopics(t *testing.T) {
	e := newEnv(t)
	e.create("end", `{"requiresDuplicateDetection": true}`)
	e.createAs(Topic, "t", `{"requiresDuplicateDetection": true}`)
	e.createAs(Subscription, "a", `{"topic": "t"}`)
	e.createAs(Subscription, "b", `{"topic": "t", "forwardTo": "end"}`)
	e.send("t", `{"_id": 1, "_mq": {"messageId": "x"}}`, `{"_id": 2, "_mq": {"messageId": "x"}}`)
	e.send("end", `{"_id": 3, "_mq": {"messageId": "x"}}`)
	e.expectIDs("a", "1")
	e.expectIDs("end", "1")
}

// A message that is refused is not remembered.
func TestRefusedIsNoDuplicate(t *testing.T) {
	e := newEnv(t)
	e.create("q", `{"requiresDuplicateDetection": true}`)
	e.send("q", `{"_id": 1}`)
	if _, err := e.trySend("q", `{"_id": 1, "_mq": {"messageId": "a"}}`); err == nil {
		t.Error("two messages with one _id")
	}
	e.send("q", `{"_id": 2, "_mq": {"messageId": "a"}}`)
	e.expectIDs("q", "1", "2")
	e.must(e.store.Update(e.ctx, func(tx storage.Tx, c *Changes) error { return e.broker.Drop(tx, c, ns("q"), e.now()) }))
	e.must(e.engine.View(e.ctx, func(tx storage.Tx) error {
		infos, err := tx.Collections("db")
		for _, info := range infos {
			t.Errorf("%s is left", info.Namespace)
		}
		return err
	}))
}

// The id of a message that is refused, within a batch whose others are stored, is not
// remembered.
func TestRefusedIsNotRemembered(t *testing.T) {
	e := newEnv(t)
	e.create("q", `{"requiresDuplicateDetection": true}`)
	e.must(e.store.Update(e.ctx, func(tx storage.Tx, changes *Changes) error {
		for i, d := range []string{`{"_id": 1}`, `{"_id": 1, "_mq": {"messageId": "a"}}`, `{"_id": 2}`} {
			_, err := e.broker.Insert(tx, changes, ns("q"), value.MustJSON(d), e.now())
			var taken *storage.DuplicateKeyError
			if refused := errors.As(err, &taken); refused != (i == 1) {
				t.Errorf("message %d: %v", i, err)
			}
		}
		return nil
	}))
	if n := e.send("q", `{"_id": 3, "_mq": {"messageId": "a"}}`); n[0] != 3 {
		t.Errorf("number %d", n[0])
	}
	e.expectIDs("q", "1", "2", "3")
}
