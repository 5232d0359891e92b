//go:build unix

package crash

import (
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/duskdb/duskdb/internal/pgtest"
	"github.com/duskdb/duskdb/value"
)

// maxLinger is how long a connection may stay whose snapshot its session has left, on a machine that
// is not too busy for a moment. Of a session that is not known to have left it it stays for a minute.
const maxLinger = time.Second

// TestClusterSnapshotsEnd: the servers give up a snapshot that a session has read on several of
// them when one is told that the session has ended, or the session does something else there, also
// if that one has not read it.
func TestClusterSnapshotsEnd(t *testing.T) {
	needsCluster(t)
	t.Parallel()
	db := pgtest.Own(t)
	db.Run(t, "create role duskdb login", "create schema duskdb authorization duskdb")
	c := newCluster(t, "postgres://duskdb@"+db.Address()+"/postgres?sslmode=disable&schema=duskdb")
	admin, err := pgconn.Connect(background, db.URI(""))
	must(t, err)
	t.Cleanup(func() { _ = admin.Close(background) })
	open := func() int {
		list, err := admin.Exec(background, "select pid from pg_stat_activity where usename = 'duskdb' and state = 'idle in transaction'").ReadAll()
		must(t, err)
		return len(list[0].Rows)
	}
	servers := []*client{c.raw(0), c.raw(1), c.raw(2)}
	servers[0].must(t, "insert", value.String("c"), "documents", value.NewArray(value.Document(value.NewDoc("_id", value.Int32(1)))))
	id := value.Document(value.NewDoc("id", value.Binary(4, []byte("a session's id 7"))))
	read := func(on *client, concern ...any) value.Value {
		concern = append([]any{"level", value.String("snapshot")}, concern...)
		r := on.must(t, "find", value.String("c"), "lsid", id, "readConcern", value.Document(value.NewDoc(concern...)))
		return r.Lookup("cursor").Doc().Lookup("atClusterTime")
	}
	for _, tt := range []struct {
		name  string
		reads []*client // the servers that read the snapshot
		end   func(on *client)
		on    *client
	}{
		{"its end on one that reads", servers, func(on *client) {
			on.must(t, "endSessions", value.NewArray(id))
		}, servers[1]},
		{"its end on one that does not read", servers[:2], func(on *client) {
			on.must(t, "endSessions", value.NewArray(id))
		}, servers[2]},
		{"another command on one that does not read", servers[1:], func(on *client) {
			on.must(t, "find", value.String("c"), "lsid", id)
		}, servers[0]},
	} {
		var took []time.Duration
		eventually(t, "a snapshot ends soon after "+tt.name, func() bool {
			at := read(tt.reads[0])
			for _, on := range tt.reads[1:] {
				read(on, "atClusterTime", at)
			}
			if n := open(); n < len(tt.reads) {
				t.Errorf("%s: %d transactions are open before", tt.name, n)
			}
			took = append(took, eventually(t, tt.name, func() bool {
				tt.end(tt.on) // again, if it had not heard of the reads
				return open() == 0
			}).Round(10*time.Millisecond))
			return len(took) >= 3 && slices.Min(took) <= maxLinger
		})
		t.Logf("%s: the last snapshot ended after %v", tt.name, took)
	}
}
