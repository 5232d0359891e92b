package transfer_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc64"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/internal/transfer"
	"github.com/duskdb/duskdb/value"
)

// part is one collection of a dump that a test writes in the layout of a version of
// mongodump: metadata, "" for none, under one name, and documents under another.
type part struct {
	db, meta, metadata string
	data               string // "": no file, and no blocks in an archive
	docs               []value.Doc
}

const seriesMeta = `{"options":{"timeseries":{"timeField":"ts","metaField":"s"},"expireAfterSeconds":{"$numberLong":"86400"}},"indexes":[],"collectionName":"w","type":"timeseries"}`

// bucket has the measurement {_id: 1, ts, s: 1}.
var bucket = value.MustJSON(`{"_id":{"$oid":"695570000000000000000001"},"control":{"version":1,"min":{"ts":{"$date":"2026-01-01T00:00:00Z"},"_id":1},
	"max":{"ts":{"$date":"2026-01-01T00:00:00Z"},"_id":1}},"meta":1,"data":{"ts":{"0":{"$date":"2026-01-01T00:00:00Z"}},"_id":{"0":1}}}`)

// compressed is a bucket as mongod 5.2 and later write it: one measurement of 2025.
var compressed = value.MustJSON(`{"_id":{"$oid":"67cc6ff03dc19da48a654135"},"control":{"version":2,"min":{"_id":{"$oid":"68f24fb53dc19da48a654135"},"ts":{"$date":"2025-03-08T16:40:00Z"}},
	"max":{"_id":{"$oid":"68f24fb53dc19da48a654135"},"ts":{"$date":"2025-03-08T16:40:39.239Z"}},"count":1},"meta":3,
	"data":{"_id":{"$binary":{"base64":"BwBo8k+1PcGdpIplQTUA","subType":"7"}},"ts":{"$binary":{"base64":"CQBHVKF2lQEAAAA=","subType":"7"}}}}`)

func writeParts(t *testing.T, packed bool, parts []part) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for _, p := range parts {
		if p.metadata != "" {
			write(t, packed, filepath.Join(dir, p.db, p.meta+".metadata.json"), []byte(p.metadata))
		}
		if p.data != "" {
			var b []byte
			for _, d := range p.docs {
				b = append(b, d...)
			}
			write(t, packed, filepath.Join(dir, p.db, p.data+".bson"), b)
		}
	}
	return dir
}

func archiveParts(parts []part) []byte {
	var b bytes.Buffer
	end := []byte{0xff, 0xff, 0xff, 0xff}
	_ = binary.Write(&b, binary.LittleEndian, uint32(0x8199e26d))
	b.Write(value.NewDoc("concurrent_collections", value.Int32(4), "version", value.String("0.1"), "server_version", value.String("8.0.4"), "tool_version", value.String("100.10.0")))
	for _, p := range parts {
		if p.metadata != "" {
			b.Write(value.NewDoc("db", value.String(p.db), "collection", value.String(p.meta), "metadata", value.String(p.metadata), "size", value.Int32(0), "type", value.String("collection")))
		}
	}
	b.Write(end)
	for _, p := range parts {
		if p.data == "" {
			continue
		}
		sum := uint64(0)
		for _, eof := range []bool{false, true} {
			b.Write(value.NewDoc("db", value.String(p.db), "collection", value.String(p.data), "EOF", value.Bool(eof), "CRC", value.Int64(int64(sum))))
			for _, d := range p.docs {
				if !eof {
					b.Write(d)
					sum = crc64.Update(sum, crc64.MakeTable(crc64.ECMA), d)
				}
			}
			b.Write(end)
		}
	}
	return b.Bytes()
}

// The layouts of all versions: what is in the dump is restored, or named and counted,
// and nothing counts as imported that lies elsewhere.
func TestLayouts(t *testing.T) {
	one := []value.Doc{value.MustJSON(`{"_id":1}`)}
	for _, tt := range []struct {
		name     string
		parts    []part
		docs     map[string]string // what clients see afterwards, by collection
		left     string            // what is named; "" for nothing
		stops    string            // the error that ends the import
		notice   string
		database string
	}{
		{name: "time series of 5.0 to 8.2", parts: []part{{"app", "w", seriesMeta, "system.buckets.w", []value.Doc{bucket}}}, docs: map[string]string{"w": `{"ts":{"$date":"2026-01-01T00:00:00Z"},"s":1,"_id":1}`}},
		{name: "time series from 8.3 on", parts: []part{{"app", "w", seriesMeta, "w", []value.Doc{bucket}}}, docs: map[string]string{"w": `{"ts":{"$date":"2026-01-01T00:00:00Z"},"s":1,"_id":1}`}},
		{name: "compressed buckets", parts: []part{{"app", "w", strings.Replace(seriesMeta, "86400", "999999999", 1), "system.buckets.w", []value.Doc{compressed}}}, docs: map[string]string{"w": `{"ts":{"$date":"2025-03-08T16:40:39.239Z"},"s":3,"_id":{"$oid":"68f24fb53dc19da48a654135"}}`}},
		{name: "buckets with metadata of their own", parts: []part{{"app", "system.buckets.w", `{"options":{"validator":{},"clusteredIndex":true,"timeseries":{"timeField":"ts","metaField":"s"}},"indexes":[]}`, "system.buckets.w", []value.Doc{bucket}}}, docs: map[string]string{"w": `{"ts":{"$date":"2026-01-01T00:00:00Z"},"s":1,"_id":1}`}},
		{name: "both metadata", parts: []part{{"app", "w", seriesMeta, "", nil}, {"app", "system.buckets.w", `{"options":{"validator":{},"timeseries":{"timeField":"ts"}},"indexes":[]}`, "system.buckets.w", []value.Doc{bucket}}}, docs: map[string]string{"w": `{"ts":{"$date":"2026-01-01T00:00:00Z"},"s":1,"_id":1}`}},
		{name: "buckets without metadata", parts: []part{{"app", "", "", "system.buckets.w", []value.Doc{bucket}}, {"app", "c", `{}`, "c", one}}, docs: map[string]string{"w": "", "system.buckets.w": "", "c": `{"_id":1}`}, left: "app.system.buckets.w"},
		{name: "buckets of a collection", parts: []part{{"app", "w", `{"options":{}}`, "w", one}, {"app", "", "", "system.buckets.w", []value.Doc{bucket}}}, docs: map[string]string{"w": `{"_id":1}`, "system.buckets.w": ""}, left: "app.system.buckets.w"},
		{name: "a time series without its options", parts: []part{{"app", "w", `{"options":{},"type":"timeseries"}`, "w", []value.Doc{bucket}}}, docs: map[string]string{"w": ""}, stops: "have no options of one"},
		{name: "a view dumped as a collection", parts: []part{{"app", "v", `{"options":{},"indexes":[],"type":"view"}`, "v", one}}, docs: map[string]string{"v": `{"_id":1}`}},
		{name: "a view with documents", parts: []part{{"app", "v", `{"options":{"viewOn":"c","pipeline":[]},"type":"view"}`, "v", one}}, stops: "is a view, but the dump has documents of it"},
		{name: "metadata of an old server", parts: []part{{"app", "c", `{"options":{"autoIndexId":true},"indexes":[{"v":1,"key":{"_id":1},"name":"_id_","ns":"app.c"}]}`, "c", one}}, docs: map[string]string{"c": `{"_id":1}`}},
		{name: "metadata of a newer server", parts: []part{{"app", "c", `{"options":{"unheardOf":true}}`, "c", one}}, stops: "unheardOf"},
		{name: "metadata that are too deep", parts: []part{{"app", "c", `{"options":` + strings.Repeat("[", 1<<20), "c", one}}, stops: "nested deeper than 200 levels"},
		{name: "users of another database", parts: []part{{"app", "", "", "$admin.system.users", one}, {"app", "c", `{}`, "c", one}}, docs: map[string]string{"c": `{"_id":1}`}, notice: "--restoreDbUsersAndRoles"},
		{name: "what belongs to the server", parts: []part{{"config", "settings", `{}`, "settings", one}, {"admin", "", "", "system.version", one}, {"app", "c", `{}`, "c", one}}, docs: map[string]string{"c": `{"_id":1}`}, notice: "config.settings"},
		{name: "another database", database: "app", parts: []part{{"other", "c", `{}`, "c", one}}, stops: "the dump has no database app"},
		{name: "one database of two", database: "app", parts: []part{{"other", "d", `{}`, "d", one}, {"app", "c", `{}`, "c", one}}, docs: map[string]string{"c": `{"_id":1}`}},
	} {
		for _, form := range []string{"directory", "packed", "archive"} {
			s := still(t)
			var left, notices []string
			o := transfer.DumpOptions{
				Database: tt.database, OnError: func(err error) { left = append(left, err.Error()) }, OnNotice: func(text string) { notices = append(notices, text) },
			}
			var res transfer.Result
			var err error
			if form == "archive" {
				res, err = transfer.RestoreArchive(s.conn, bytes.NewReader(archiveParts(tt.parts)), o)
			} else {
				res, err = transfer.RestoreDump(s.conn, writeParts(t, form == "packed", tt.parts), o)
			}
			if (err != nil) != (tt.stops != "") || err != nil && !strings.Contains(err.Error(), tt.stops) {
				t.Errorf("%s, %s: %v", tt.name, form, err)
			}
			if (res.Left > 0) != (tt.left != "") || res.Failed > 0 || tt.left != "" && !strings.Contains(strings.Join(left, "\n"), tt.left) {
				t.Errorf("%s, %s: %+v, %q", tt.name, form, res, left)
			}
			if (len(notices) > 0) != (tt.notice != "") || !strings.Contains(strings.Join(notices, "\n"), tt.notice) {
				t.Errorf("%s, %s: notices %q", tt.name, form, notices)
			}
			seen := 0
			for coll, want := range tt.docs {
				reply := s.run(t, "app", `{find: "`+coll+`"}`)
				var docs []string
				for v := range reply.Lookup("cursor").Doc().Lookup("firstBatch").Doc().Values() {
					docs = append(docs, v.Doc().JSON())
				}
				if seen += len(docs); strings.Join(docs, "\n") != want {
					t.Errorf("%s, %s: %s has %q", tt.name, form, coll, docs)
				}
			}
			if err == nil && res.Imported != seen {
				t.Errorf("%s, %s: %d imported, %d there", tt.name, form, res.Imported, seen)
			}
		}
	}
}

// A file that belongs to nothing is named and counted; what mongodump does not write is
// left alone.
func TestStrayFiles(t *testing.T) {
	dir := writeParts(t, false, []part{{"app", "c", `{}`, "c", []value.Doc{value.MustJSON(`{"_id":1}`)}}, {"app", "lone", `{}`, "", nil}})
	for _, name := range []string{"top.bson", "notes.txt", "app/readme", "app/below/c.bson", ".hidden", "app/.DS_Store", "prelude.json", "app/prelude.json"} {
		write(t, false, filepath.Join(dir, filepath.FromSlash(name)), nil)
	}
	s := still(t)
	var left []string
	res, err := transfer.RestoreDump(s.conn, dir, transfer.DumpOptions{OnError: func(err error) { left = append(left, err.Error()) }})
	if err != nil || res != (transfer.Result{Imported: 1, Left: 5}) {
		t.Errorf("%+v, %v", res, err)
	}
	for _, name := range []string{"top.bson is in no database of the dump and is not restored; --dump takes the directory above", "notes.txt", "readme", "below", "app.lone: the dump has options and indexes, but no file of documents"} {
		if !slices.ContainsFunc(left, func(s string) bool { return strings.Contains(s, name) }) {
			t.Errorf("%q says nothing of %s", left, name)
		}
	}
}

// Buckets must not go to a collection of another kind that has the name.
func TestAnotherKindIsThere(t *testing.T) {
	for _, there := range []string{`{create: "w"}`, `{create: "w", timeseries: {timeField: "other"}}`, `{create: "w", viewOn: "c", pipeline: []}`, `{create: "w", messageQueue: {}}`} {
		s := still(t)
		s.run(t, "app", there)
		parts := []part{{"app", "w", seriesMeta, "system.buckets.w", []value.Doc{bucket}}}
		res, err := transfer.RestoreDump(s.conn, writeParts(t, false, parts), transfer.DumpOptions{})
		if err == nil || !strings.Contains(err.Error(), "app.w exists and is a") || res.Imported > 0 {
			t.Errorf("%s: %+v, %v", there, res, err)
		}
		if res, err = transfer.RestoreDump(s.conn, writeParts(t, false, parts), transfer.DumpOptions{Drop: true}); err != nil || res.Imported != 1 {
			t.Errorf("%s, --drop: %+v, %v", there, res, err)
		}
	}
}
