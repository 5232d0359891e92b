package servertest

import (
	"context"
	"fmt"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/duskdb/duskdb/commands"
	"github.com/duskdb/duskdb/value"
)

// Dump returns the documents of a collection, named "db.coll", as clients see
// them: one line of extended JSON each. For the name of a database it returns
// all its collections, and for "" all databases except the server's own; each
// collection is preceded by a line with its name.
func (s *Server) Dump(name string) string {
	s.t.Helper()
	s.running()
	conn := s.Service().NewConn("servertest", s.Addr())
	defer s.Service().CloseConn(conn)
	d := &dumper{srv: s, conn: conn}
	db, coll, ok := strings.Cut(name, ".")
	switch {
	case ok:
		d.collection(db, coll)
	case name != "":
		d.database(name)
	default:
		reply := d.run("admin", value.NewDoc("listDatabases", value.Int32(1), "nameOnly", value.Bool(true)))
		for v := range reply.Lookup("databases").Doc().Values() {
			if db := v.Doc().Lookup("name").Str(); db != "admin" && db != "config" && db != "local" {
				d.database(db)
			}
		}
	}
	return d.out.String()
}

// dumper writes documents as a client sees them.
type dumper struct {
	srv  *Server
	conn *commands.Conn
	out  strings.Builder
}

// run runs a command on a database; it must succeed.
func (d *dumper) run(db string, cmd value.Doc) value.Doc {
	d.srv.t.Helper()
	body := value.NewBuilder()
	it := cmd.Iter()
	body.Raw(it.Rest()).String("$db", db)
	out, _ := d.srv.Service().Handle(context.Background(), d.conn, &commands.Request{Body: body.Doc()}, nil)
	reply := value.Doc(out)
	if !reply.Lookup("ok").Truthy() {
		d.srv.t.Fatalf("servertest: %s", reply)
	}
	return reply
}

func (d *dumper) database(db string) {
	d.srv.t.Helper()
	cmd := value.NewDoc("listCollections", value.Int32(1), "nameOnly", value.Bool(true))
	for _, info := range d.all(db, "$cmd.listCollections", cmd) {
		name := info.Lookup("name").Str()
		if strings.HasPrefix(name, "system.") {
			continue
		}
		fmt.Fprintf(&d.out, "# %s.%s\n", db, name)
		d.collection(db, name)
	}
}

func (d *dumper) collection(db, coll string) {
	d.srv.t.Helper()
	for _, doc := range d.all(db, coll, value.NewDoc("find", value.String(coll))) {
		line, err := bson.MarshalExtJSON(bson.Raw(doc), false, false)
		if err != nil {
			d.srv.t.Fatalf("servertest: %v", err)
		}
		d.out.Write(append(line, '\n'))
	}
}

// all runs a command that returns a cursor, and reads the cursor to its end.
func (d *dumper) all(db, coll string, cmd value.Doc) (docs []value.Doc) {
	d.srv.t.Helper()
	batch := "firstBatch"
	for {
		cursor := d.run(db, cmd).Lookup("cursor").Doc()
		for v := range cursor.Lookup(batch).Doc().Values() {
			docs = append(docs, v.Doc())
		}
		id := cursor.Lookup("id")
		if id.Int64() == 0 {
			return docs
		}
		cmd, batch = value.NewDoc("getMore", id, "collection", value.String(coll)), "nextBatch"
	}
}
