package transfer_test

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"hash/crc64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/internal/transfer"
	"github.com/duskdb/duskdb/value"
)

// metadata as mongodump 100.x writes it.
const metadata = `{"options":{"capped":true,"size":{"$numberInt":"4096"}},"indexes":[
	{"v":{"$numberInt":"2"},"key":{"_id":{"$numberInt":"1"}},"name":"_id_"},
	{"v":{"$numberInt":"2"},"key":{"at":{"$numberInt":"1"}},"name":"at_1","expireAfterSeconds":{"$numberInt":"60"}}],
	"uuid":"00112233445566778899aabbccddeeff","collectionName":"c","type":"collection"}`

var dumped = []value.Doc{value.MustJSON(`{"_id":1}`), value.MustJSON(`{"_id":2,"a":"x"}`)}

const restoredDocs = "{\"_id\":1}\n{\"_id\":2,\"a\":\"x\"}\n"

// checkRestored looks at documents, options and indexes.
func (s scene) checkRestored(t *testing.T, res transfer.Result, err error) {
	t.Helper()
	if err != nil || res != (transfer.Result{Imported: 2}) {
		t.Fatalf("result %+v, %v", res, err)
	}
	if got := s.Dump("shop.c"); got != restoredDocs {
		t.Errorf("restored %s", got)
	}
	reply, err := s.conn.Run(value.NewDoc("listIndexes", value.String("c"), "$db", value.String("shop")))
	if err != nil || !strings.Contains(reply.JSON(), `"name":"at_1","expireAfterSeconds":60`) {
		t.Errorf("indexes: %s, %v", reply.JSON(), err)
	}
	reply, err = s.conn.Run(value.NewDoc("listCollections", value.Int32(1), "$db", value.String("shop")))
	if err != nil || !strings.Contains(reply.JSON(), `"capped":true`) {
		t.Errorf("collections: %s, %v", reply.JSON(), err)
	}
}

func write(t *testing.T, packed bool, path string, data []byte) {
	t.Helper()
	if packed {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, _ = z.Write(data)
		_ = z.Close()
		path, data = path+".gz", b.Bytes()
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestRestoreDump(t *testing.T) {
	for _, packed := range []bool{false, true} {
		s := newScene(t)
		dir := t.TempDir()
		write(t, packed, filepath.Join(dir, "shop", "c.bson"), bytes.Join([][]byte{dumped[0], dumped[1]}, nil))
		write(t, packed, filepath.Join(dir, "shop", "c.metadata.json"), []byte(metadata))
		write(t, packed, filepath.Join(dir, "admin", "system.version.bson"), dumped[0])
		res, err := transfer.RestoreDump(s.conn, dir, transfer.DumpOptions{})
		s.checkRestored(t, res, err)
		res, err = transfer.RestoreDump(s.conn, dir, transfer.DumpOptions{Drop: true})
		s.checkRestored(t, res, err)
	}
	if _, err := transfer.RestoreDump(newScene(t).conn, t.TempDir(), transfer.DumpOptions{}); err == nil {
		t.Error("an empty directory is restored")
	}
}

// archive writes what mongodump --archive does: two collections, one of them
// in two blocks.
func archive() []byte {
	var b bytes.Buffer
	end := []byte{0xff, 0xff, 0xff, 0xff}
	_ = binary.Write(&b, binary.LittleEndian, uint32(0x8199e26d))
	b.Write(value.NewDoc("concurrent_collections", value.Int32(4), "version", value.String("0.1"), "server_version", value.String("8.0.4"), "tool_version", value.String("100.10.0")))
	for _, name := range []string{"c", "d"} {
		b.Write(value.NewDoc("db", value.String("shop"), "collection", value.String(name), "metadata", value.String(metadata), "size", value.Int32(0), "type", value.String("collection")))
	}
	b.Write(end)
	sums := map[string]uint64{}
	block := func(name string, eof bool, docs ...value.Doc) {
		for _, d := range docs {
			sums[name] = crc64.Update(sums[name], crc64.MakeTable(crc64.ECMA), d)
		}
		crc := int64(0)
		if eof {
			crc = int64(sums[name])
		}
		b.Write(value.NewDoc("db", value.String("shop"), "collection", value.String(name), "EOF", value.Bool(eof), "CRC", value.Int64(crc)))
		for _, d := range docs {
			b.Write(d)
		}
		b.Write(end)
	}
	block("c", false, dumped[0])
	block("d", true)
	block("c", false, dumped[1])
	block("c", true)
	return b.Bytes()
}

func TestRestoreArchive(t *testing.T) {
	s := newScene(t)
	res, err := transfer.RestoreArchive(s.conn, bytes.NewReader(archive()), transfer.DumpOptions{})
	s.checkRestored(t, res, err)

	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write(archive())
	_ = z.Close()
	s = newScene(t)
	res, err = transfer.RestoreArchive(s.conn, &packed, transfer.DumpOptions{Database: "shop"})
	s.checkRestored(t, res, err)
}

// An archive that is cut anywhere is an error, or ends at a block.
func TestArchiveIsCut(t *testing.T) {
	s := newScene(t)
	whole := archive()
	for n := range len(whole) {
		res, err := transfer.RestoreArchive(s.conn, bytes.NewReader(whole[:n]), transfer.DumpOptions{Drop: true})
		if err == nil && (res.Imported+res.Failed > 0 || n < 700) {
			t.Errorf("%d bytes are accepted: %+v", n, res)
		}
	}
}

// A byte of a document that has changed is found by the collection's sum.
func TestArchiveIsDamaged(t *testing.T) {
	whole := archive()
	at := bytes.LastIndex(whole, []byte("\x00\x02a\x00")) + 9 // in the text "x"
	if whole[at-1] == 'x' {
		at--
	}
	damaged := bytes.Clone(whole)
	damaged[at] ^= 1
	for _, packed := range []bool{false, true} {
		in := damaged
		if packed {
			var b bytes.Buffer
			z := gzip.NewWriter(&b)
			_, _ = z.Write(damaged)
			_ = z.Close()
			in = b.Bytes()
		}
		_, err := transfer.RestoreArchive(newScene(t).conn, bytes.NewReader(in), transfer.DumpOptions{})
		if err == nil || !strings.Contains(err.Error(), "shop.c: the archive is damaged: the documents have CRC ") {
			t.Errorf("packed %v: %v", packed, err)
		}
	}
	// Damage to the packing itself.
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write(whole)
	_ = z.Close()
	b.Bytes()[b.Len()-6] ^= 1 // in gzip's own sum
	if _, err := transfer.RestoreArchive(newScene(t).conn, &b, transfer.DumpOptions{}); err == nil {
		t.Error("a damaged gzip is accepted")
	}
}
