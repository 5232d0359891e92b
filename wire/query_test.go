package wire

import (
	"bytes"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/duskdb/duskdb/value"
)

// isMasterHex is the handshake as drivers send it, written out from the OP_QUERY layout:
// flags SecondaryOK, "admin.$cmd", skip 0, return -1, {ismaster: 1}.
const isMasterHex = `
	3a000000 02000000 00000000 d4070000
	04000000 61646d696e2e24636d6400 00000000 ffffffff
	13000000 10 69736d617374657200 01000000 00`

func TestReadQueryByHand(t *testing.T) {
	m, err := readOne(unhex(t, isMasterHex))
	if err != nil {
		t.Fatal(err)
	}
	q := m.(*Query)
	if q.Head().RequestID != 2 || q.Flags != SecondaryOK || q.Collection != "admin.$cmd" || q.Skip != 0 || q.Return != -1 || q.Fields != nil {
		t.Errorf("got %+v", q)
	}
	if db, ok := q.Database(); db != "admin" || !ok {
		t.Errorf("database %q %v", db, ok)
	}
	if want := doc(t, bson.D{{Key: "ismaster", Value: int32(1)}}); !bytes.Equal(q.Doc, want) {
		t.Errorf("document %x", q.Doc)
	}
}

func TestWriteQueryByHand(t *testing.T) {
	b := BeginQuery(nil, 2, SecondaryOK, "admin.$cmd")
	b = append(b, doc(t, bson.D{{Key: "ismaster", Value: int32(1)}})...)
	if b = FinishQuery(b, 0); !bytes.Equal(b, unhex(t, isMasterHex)) {
		t.Errorf("got %x", b)
	}
}

func TestQueryNotACommand(t *testing.T) {
	q := Query{Collection: "db.coll"}
	if _, ok := q.Database(); ok {
		t.Error("db.coll is a command collection")
	}
}

func TestQueryWrapper(t *testing.T) {
	command := bson.D{{Key: "isMaster", Value: 1}}
	pref := bson.D{{Key: "mode", Value: "primaryPreferred"}}
	for _, c := range []struct {
		name     string
		doc      value.Doc
		cmd      value.Doc
		readPref value.Doc
	}{
		{"bare", doc(t, command), doc(t, command), nil},
		{"$query", doc(t, bson.D{{Key: "$query", Value: command}}), doc(t, command), nil},
		{"$query and $readPreference", doc(t, bson.D{{Key: "$query", Value: command}, {Key: "$readPreference", Value: pref}}), doc(t, command), doc(t, pref)},
		{"query", doc(t, bson.D{{Key: "query", Value: command}}), doc(t, command), nil},
		{"$query is no document", doc(t, bson.D{{Key: "$query", Value: 1}}), doc(t, bson.D{{Key: "$query", Value: 1}}), nil},
		{"empty", value.EmptyDoc, value.EmptyDoc, nil},
	} {
		q := Query{Doc: c.doc}
		cmd, rp := q.Command()
		if !bytes.Equal(cmd, c.cmd) || !bytes.Equal(rp, c.readPref) {
			t.Errorf("%s: got %x and %x", c.name, cmd, rp)
		}
	}
}

func TestQueryFields(t *testing.T) {
	fields := doc(t, bson.D{{Key: "a", Value: 1}})
	b := append(BeginQuery(nil, 1, 0, "a.b"), value.EmptyDoc...)
	m, err := readOne(finish(append(b, fields...), 0))
	if err != nil || !bytes.Equal(m.(*Query).Fields, fields) {
		t.Errorf("%v, %v", m, err)
	}
	m, err = readOne(finish(append(b, append(fields, 0)...), 0))
	checkError(t, err, CodeInvalidBSON, "OP_QUERY has 1 bytes too many", false)
	if m == nil {
		t.Error("no message to answer")
	}
}

func TestTruncatedQuery(t *testing.T) {
	b := unhex(t, isMasterHex)
	for n := HeaderSize; n < len(b); n++ {
		cut := finish(bytes.Clone(b[:n]), 0)
		if _, err := readOne(cut); err == nil {
			t.Errorf("%d bytes of a query are accepted", n)
		}
	}
}

// TestReply writes {ok: 1} as an OP_REPLY, compares the bytes with the
// documented layout and reads them back.
func TestReply(t *testing.T) {
	ok := doc(t, bson.D{{Key: "ok", Value: 1.0}})
	b := FinishReply(append(BeginReply(nil, 9, 2, AwaitCapable), ok...), 0)
	want := unhex(t, `
		35000000 09000000 02000000 01000000
		08000000 0000000000000000 00000000 01000000
		11000000 01 6f6b00 000000000000f03f 00`)
	if !bytes.Equal(b, want) {
		t.Fatalf("got %x", b)
	}
	m, err := readOne(b)
	if err != nil {
		t.Fatal(err)
	}
	r := m.(*Reply)
	if r.Head().ResponseTo != 2 || r.Flags != AwaitCapable || r.CursorID != 0 || r.StartingFrom != 0 || r.Docs.Len() != 1 || !bytes.Equal(r.Docs.Bytes(), ok) {
		t.Errorf("got %+v", r)
	}
	for n := HeaderSize; n < len(b); n++ {
		if _, err := readOne(finish(bytes.Clone(b[:n]), 0)); err == nil {
			t.Errorf("%d bytes of a reply are accepted", n)
		}
	}
}
