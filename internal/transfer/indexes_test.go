package transfer_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/internal/transfer"
	"github.com/duskdb/duskdb/value"
)

// Specifications of old servers are cleaned as mongorestore cleans them; one that cannot be
// made does not prevent the others.
func TestIndexesOfOldServers(t *testing.T) {
	legacy := func(o *transfer.DumpOptions) { o.ConvertLegacy = true }
	none := func(o *transfer.DumpOptions) { o.NoIndexes = true }
	for _, tt := range []struct {
		name, indexes string
		options       func(*transfer.DumpOptions)
		want          string // the keys afterwards, without that of _id
		left          string // what is named
	}{
		{"driver's own option", `{"v":1,"key":{"x":1},"name":"x_1","ns":"app.c","background":true,"safe":null}`, nil, `{ x: 1 }`, ""},
		{"text index of version 2", `{"v":1,"key":{"_fts":"text","_ftsx":1},"name":"t","ns":"app.c","safe":null,"weights":{"s":1},"default_language":"english","language_override":"language","textIndexVersion":2}`, nil, `{ _fts: "text", _ftsx: 1 }`, ""},
		{"2dsphere index of version 2", `{"v":1,"key":{"g":"2dsphere"},"name":"g","2dsphereIndexVersion":2}`, nil, `{ g: "2dsphere" }`, ""},
		{"version 0", `{"v":0,"key":{"x":1},"name":"x_1"}`, nil, `{ x: 1 }`, ""},
		{"of another product", `{"v":2,"key":{"x":1},"name":"x_1","storageOptions":{"a":1},"buildUUID":"x","dropDups":true}`, nil, `{ x: 1 }`, ""},
		{"bool", `{"v":1,"key":{"a":true},"name":"a"},{"v":1,"key":{"b":1},"name":"b"}`, nil, `{ b: 1 }`, "app.c: the index \"a\""},
		{"bool, converted", `{"v":1,"key":{"a":true},"name":"a","dropDups":true},{"v":1,"key":{"b":""},"name":"b"},{"v":1,"key":{"c":0,"d":-0.0,"e":-1.5,"f":null,"g":"hashed"},"name":"c"}`, legacy,
			`{ a: 1 }, { b: 1 }, { c: 1, d: 1, e: -1.5, f: 1, g: "hashed" }`, ""},
		{"the same after the conversion", `{"v":1,"key":{"a":1},"name":"a"},{"v":1,"key":{"a":"x"},"name":"x"},{"v":1,"key":{"a":true},"name":"b"}`, legacy, `{ a: 1 }`, `app.c: the index "x"`},
		{"milliseconds by mistake", `{"v":2,"key":{"a":1},"name":"a","expireAfterSeconds":2592000000},{"v":2,"key":{"b":1},"name":"b"}`, nil, `{ b: 1 }`, "expireAfterSeconds"},
		{"NaN, as servers before 5.0 took it", `{"v":2,"key":{"a":1},"name":"a","expireAfterSeconds":{"$numberDouble":"NaN"}}`, nil, `{ a: 1 } 2147483647`, ""},
		{"not wanted", `{"v":2,"key":{"a":1},"name":"a"}`, none, "", ""},
	} {
		s := still(t)
		var left []string
		o := transfer.DumpOptions{OnError: func(err error) { left = append(left, err.Error()) }}
		if tt.options != nil {
			tt.options(&o)
		}
		dir := writeParts(t, false, []part{{"app", "c", `{"options":{},"indexes":[{"v":1,"key":{"_id":1},"name":"_id_","ns":"app.c"},` + tt.indexes + `]}`, "c", []value.Doc{value.MustJSON(`{"_id":1}`)}}})
		res, err := transfer.RestoreDump(s.conn, dir, o)
		if err != nil || res.Imported != 1 || (res.Left > 0) != (tt.left != "") || !strings.Contains(strings.Join(left, "\n"), tt.left) {
			t.Errorf("%s: %+v, %v, %q", tt.name, res, err, left)
		}
		var keys []string
		for v := range s.run(t, "app", `{listIndexes: "c"}`).Lookup("cursor").Doc().Lookup("firstBatch").Doc().Values() {
			if v.Doc().Lookup("name").Str() != "_id_" {
				key := v.Doc().Lookup("key").String()
				if e := v.Doc().Lookup("expireAfterSeconds"); !e.IsMissing() {
					key += " " + e.String()
				}
				keys = append(keys, key)
			}
		}
		if got := strings.Join(keys, ", "); got != tt.want {
			t.Errorf("%s: keys %s, want %s", tt.name, got, tt.want)
		}
	}
}

// Options of the import reach the server.
func TestDumpOptions(t *testing.T) {
	const meta = `{"options":{"validator":{"n":{"$gt":0}},"collation":{"locale":"en"}},"indexes":[]}`
	docs := []value.Doc{value.MustJSON(`{"_id":1,"n":1}`), value.MustJSON(`{"_id":2,"n":-1}`), value.MustJSON(`{"_id":3,"n":2}`)}
	parts := []part{{"app", "c", meta, "c", docs}, {"app", "w", seriesMeta, "system.buckets.w", []value.Doc{bucket}}}
	for _, tt := range []struct {
		name string
		o    transfer.DumpOptions
		want transfer.Result
		err  error
	}{
		{"none", transfer.DumpOptions{}, transfer.Result{Imported: 3, Failed: 1}, nil},
		{"bypass", transfer.DumpOptions{BypassValidation: true}, transfer.Result{Imported: 4}, nil},
		{"without options", transfer.DumpOptions{NoOptions: true}, transfer.Result{Imported: 4}, nil},
		{"stop", transfer.DumpOptions{StopOnError: true}, transfer.Result{Imported: 1, Failed: 1}, transfer.ErrStopped},
	} {
		s := still(t)
		res, err := transfer.RestoreDump(s.conn, writeParts(t, true, parts), tt.o)
		if res != tt.want || (err != nil) != (tt.err != nil) {
			t.Errorf("%s: %+v, %v", tt.name, res, err)
		}
		if got := s.state(t, "app")["app.w options"]; tt.err == nil && !strings.Contains(got, "timeseries") {
			t.Errorf("%s: w is %s", tt.name, got)
		}
	}
}

// The users of one database come with it if they are asked for, from its own dump or from a
// whole one.
func TestUsersOfOneDatabase(t *testing.T) {
	source := still(t)
	source.fill(t)
	want := source.state(t, "app")["app {usersInfo: 1}"]
	for name, place := range dumps(t, source) {
		restore := transfer.RestoreDump
		if strings.Contains(name, "archive") {
			restore = restoreArchiveFile
		}
		for _, wanted := range []bool{false, true} {
			s := still(t)
			res, err := restore(s.conn, place, transfer.DumpOptions{Database: "app", UsersAndRoles: wanted})
			if err != nil || res.Left > 0 {
				t.Fatalf("%s: %+v, %v", name, res, err)
			}
			got := s.state(t, "app")["app {usersInfo: 1}"]
			if (got == want) != wanted || !wanted && got != "{ users: [] }" {
				t.Errorf("%s, %v: %s", name, wanted, got)
			}
			if others := s.state(t, "admin"); others["admin {usersInfo: 1}"] != "{ users: [] }" || slices.Contains(keysOf(others), "admin.mine documents") {
				t.Errorf("%s: of another database: %v", name, others)
			}
		}
	}
}

func keysOf(m map[string]string) (keys []string) {
	for k := range m {
		keys = append(keys, k)
	}
	return keys
}

// The oplog of a dump is applied after the collections. An entry that fails is named.
func TestReplay(t *testing.T) {
	entries := []value.Doc{
		value.MustJSON(`{"op":"n","ns":"","o":{"msg":"periodic noop"}}`),
		value.MustJSON(`{"op":"i","ns":"app.c","ui":{"$uuid":"00112233-4455-6677-8899-aabbccddeeff"},"o":{"_id":2}}`),
		value.MustJSON(`{"op":"u","ns":"app.c","o2":{"_id":1},"o":{"$v":2,"diff":{"u":{"n":5}}}}`),
		value.MustJSON(`{"op":"c","ns":"app.$cmd","o":{"create":"made"}}`),
		value.MustJSON(`{"op":"i","ns":"config.transactions","o":{"_id":2}}`),
	}
	for _, bad := range []bool{false, true} {
		if bad {
			entries = append(entries, value.MustJSON(`{"op":"x","ns":"app.c","o":{}}`))
		}
		parts := []part{{"app", "c", `{}`, "c", []value.Doc{value.MustJSON(`{"_id":1,"n":1}`)}}, {"", "", "", "oplog", entries}}
		for _, form := range []string{"directory", "archive"} {
			s := still(t)
			var err error
			if form == "archive" {
				_, err = transfer.RestoreArchive(s.conn, strings.NewReader(string(archiveParts(parts))), transfer.DumpOptions{})
			} else {
				_, err = transfer.RestoreDump(s.conn, writeParts(t, false, parts), transfer.DumpOptions{})
			}
			if (err != nil) != bad || bad && !strings.Contains(err.Error(), "the oplog, up to entry 7") {
				t.Errorf("%s: %v", form, err)
			}
			state := s.state(t, "app")
			if _, made := state["app.made options"]; !bad && (state["app.c documents"] != "{ _id: 1, n: 5 }\n{ _id: 2 }" || !made) {
				t.Errorf("%s: %v", form, state)
			}
		}
	}
	s := still(t)
	parts := []part{{"app", "c", `{}`, "c", nil}, {"", "", "", "oplog", entries}}
	var notices []string
	o := transfer.DumpOptions{Database: "app", OnNotice: func(text string) { notices = append(notices, text) }}
	if _, err := transfer.RestoreDump(s.conn, writeParts(t, false, parts), o); err != nil || len(notices) != 1 || !strings.Contains(notices[0], "the oplog is not replayed") {
		t.Errorf("of one database: %v, %q", err, notices)
	}
}
