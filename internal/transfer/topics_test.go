package transfer_test

import (
	"bytes"
	"testing"

	"github.com/duskdb/duskdb/internal/transfer"
	"github.com/duskdb/duskdb/value"
)

// topicsAndQueues are in the order of their names neither topics before subscriptions, nor
// queues before what forwards to them.
var topicsAndQueues = []string{
	`{create: "q", messageQueue: {requiresDuplicateDetection: true}}`,
	`{create: "orders", messageTopic: {defaultMessageTimeToLive: "P1D", requiresDuplicateDetection: true}}`,
	`{create: "a", messageSubscription: {topic: "orders", forwardTo: "q", forwardDeadLetteredMessagesTo: "q", rules: [{name: "big", filter: {n: {$gt: 5}}, action: {$set: {big: true}}}]}}`,
	`{create: "b", messageSubscription: {topic: "orders", requiresSession: true}}`,
	`{create: "c", messageQueue: {forwardTo: "orders", expireOnReceiveOnly: true}}`,
	`{mqSend: "orders", messages: [{_id: 5, n: 9, _mq: {sessionId: "s", messageId: "m"}}, {_id: 6, n: 1}, {_id: 7, _mq: {sessionId: "s", scheduledEnqueueTimeUtc: {$date: "2026-01-02T00:00:00Z"}}}]}`,
	`{mqSend: "c", messages: [{_id: 8, n: 2, _mq: {sessionId: "t"}}]}`,
}

// Topics, subscriptions and queues that forward are the same after a dump and its import,
// and go on as before.
func TestTopicsOfADump(t *testing.T) {
	source := still(t)
	for _, command := range topicsAndQueues {
		source.run(t, "app", command)
	}
	want := source.state(t, "app")
	parts := source.parts(t)
	restores := map[string]func(to transfer.Runner, o transfer.DumpOptions) (transfer.Result, error){
		"directory": func(to transfer.Runner, o transfer.DumpOptions) (transfer.Result, error) {
			return transfer.RestoreDump(to, writeParts(t, false, parts), o)
		},
		"archive": func(to transfer.Runner, o transfer.DumpOptions) (transfer.Result, error) {
			return transfer.RestoreArchive(to, bytes.NewReader(archiveParts(parts)), o)
		},
	}
	for name, restore := range restores {
		s := still(t)
		for _, o := range []transfer.DumpOptions{{}, {Drop: true}} { // and once more, over what is there
			res, err := restore(s.conn, o)
			if err != nil || res.Failed > 0 || res.Left > 0 {
				t.Fatalf("%s: %+v, %v", name, res, err)
			}
			differences(t, name, want, s.state(t, "app"))
		}
		s.run(t, "app", `{mqSend: "orders", messages: [{_id: 9, n: 7, _mq: {sessionId: "s"}}]}`)
		if n := s.run(t, "app", `{mqStats: "q"}`).Lookup("active").SafeInt64(); n != 2 {
			t.Errorf("%s: %d messages came through topic and subscription", name, n)
		}
	}
}

// parts is what a dump has of the database app.
func (s scene) parts(t *testing.T) (parts []part) {
	t.Helper()
	for v := range s.run(t, "app", `{listCollections: 1}`).Lookup("cursor").Doc().Lookup("firstBatch").Doc().Values() {
		name := v.Doc().Lookup("name").Str()
		meta := value.NewDoc("options", v.Doc().Lookup("options"), "indexes", value.Array(value.EmptyDoc), "collectionName", value.String(name), "type", value.String("collection"))
		p := part{db: "app", meta: name, metadata: meta.JSON(), data: name}
		for d := range s.run(t, "app", `{find: "`+name+`"}`).Lookup("cursor").Doc().Lookup("firstBatch").Doc().Values() {
			p.docs = append(p.docs, d.Doc())
		}
		parts = append(parts, p)
	}
	return parts
}
