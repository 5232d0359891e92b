package diagnostics_test

import (
	"bytes"
	"crypto/md5"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/value"
)

func TestCompact(t *testing.T) {
	h := harness.New(t)
	h.OK(`{insert: "c", documents: [{_id: 1}]}`)
	if reply := h.OK(`{compact: "c"}`); !reply.Has("bytesFreed") {
		t.Errorf("answered %s", reply)
	}
	if reply := h.OK(`{compact: "c", dryRun: true}`); !reply.Has("estimatedBytesFreed") {
		t.Errorf("answered %s", reply)
	}
	h.Fails(26, `{compact: "none"}`)
	h.OK(`{create: "v", viewOn: "c", pipeline: []}`)
	h.Fails(166, `{compact: "v"}`)
	h.Fails(2, `{compact: "c", freeSpaceTargetMB: 0}`)
	h.OK(`{compact: "c", force: true}`)
	h.OK(`{compact: "system.views"}`)
	for _, number := range []string{`1`, `1.0`, `{$numberLong: "1"}`, `{$numberDecimal: "1"}`} { // compact.idl: a bool
		h.Fails(14, `{compact: "c", force: `+number+`}`)
	}
	for command, code := range map[string]int32{
		`{autoCompact: true, runOnce: true}`: 0, `{autoCompact: false}`: 0, `{autoCompact: false, runOnce: true}`: 0, `{autoCompact: true, freeSpaceTargetMB: {$numberLong: "8796093022208"}}`: 2,
		`{autoCompact: 1}`: 14, `{autoCompact: true, freeSpaceTargetMB: 0}`: 2,
	} {
		if reply := h.Admin(command); reply.Lookup("code").Int32() != code && reply.Lookup("code").Int32() != 314 {
			t.Errorf("%s answered %s", command, reply)
		}
	}
}

// While autoCompact is on, other options are refused, and the same ones change nothing.
func TestAutoCompactIsConfiguredOnce(t *testing.T) {
	h := harness.New(t)
	for _, step := range []struct {
		arguments string
		code      int32
	}{
		{`false`, 0}, {`true, freeSpaceTargetMB: 30`, 0}, {`true, freeSpaceTargetMB: 30`, 0}, {`true, freeSpaceTargetMB: 50`, 23}, {`true`, 23},
		{`true, freeSpaceTargetMB: 30, runOnce: true`, 23}, {`false, freeSpaceTargetMB: {$numberLong: "9223372036854775807"}`, 0},
		{`true`, 0}, {`true, freeSpaceTargetMB: 20`, 0}, {`true, freeSpaceTargetMB: 21`, 23}, {`false`, 0},
	} {
		if r := h.Admin(`{autoCompact: ` + step.arguments + `}`); r.Lookup("code").Int32() != step.code {
			t.Errorf("autoCompact: %s: %s, want %d", step.arguments, r, step.code)
		}
	}
}

func TestReIndex(t *testing.T) {
	h := harness.New(t)
	h.OK(`{insert: "c", documents: [{_id: 1, a: 1}, {_id: 2, a: 2}]}`)
	h.OK(`{createIndexes: "c", indexes: [{key: {a: 1}, name: "a_1", unique: true}]}`)
	reply := h.OK(`{reIndex: "c"}`)
	if reply.Lookup("nIndexesWas").Int32() != 2 || reply.Lookup("nIndexes").Int32() != 2 || reply.Lookup("indexes").Doc().Len() != 2 {
		t.Errorf("answered %s", reply)
	}
	h.Fails(11000, `{insert: "c", documents: [{_id: 1}]}`)
	h.Fails(11000, `{insert: "c", documents: [{_id: 3, a: 1}]}`)
	if n := len(harness.Docs(h.OK(`{find: "c", filter: {a: 2}, hint: "a_1"}`))); n != 1 {
		t.Errorf("found %d", n)
	}
	h.Fails(26, `{reIndex: "none"}`)
}

func TestDBHash(t *testing.T) {
	h := harness.New(t)
	h.OK(`{insert: "b", documents: [{_id: 2}, {_id: 1}]}`)
	h.OK(`{create: "a", capped: true, size: 4096}`)
	reply := h.OK(`{dbHash: 1}`)
	sum := md5.New()
	sum.Write(harness.Relaxed(`{_id: 1}`))
	sum.Write(harness.Relaxed(`{_id: 2}`))
	b, a := hex.EncodeToString(sum.Sum(nil)), "d41d8cd98f00b204e9800998ecf8427e"
	if got := reply.Lookup("collections").Doc().String(); got != value.NewDoc("a", value.String(a), "b", value.String(b)).String() {
		t.Errorf("collections %s", got)
	}
	both := md5.Sum([]byte(a + b))
	if got := reply.Lookup("md5").Str(); got != hex.EncodeToString(both[:]) {
		t.Errorf("md5 %s", got)
	}
	if reply.Lookup("capped").Doc().Index(0).Str() != "a" || reply.Lookup("uuids").Doc().Len() != 2 {
		t.Errorf("answered %s", reply)
	}
	if one := h.OK(`{dbHash: 1, collections: ["b"]}`).Lookup("collections").Doc(); one.Len() != 1 {
		t.Errorf("collections %s", one)
	}
	h.Fails(2, `{dbHash: 1, collections: [1]}`)
}

func TestFileMD5(t *testing.T) {
	h := harness.New(t)
	h.OK(`{insert: "fs.chunks", documents: [{files_id: 1, n: 1, data: {$binary: {base64: "bG8=", subType: "00"}}}, {files_id: 1, n: 0, data: {$binary: {base64: "aGVs", subType: "00"}}},
		{files_id: 2, n: 1, data: {$binary: {base64: "aGVs", subType: "00"}}}]}`)
	if reply := h.OK(`{filemd5: 1, root: "fs"}`); reply.Lookup("md5").Str() != "5d41402abc4b2a76b9719d911017c592" || reply.Lookup("numChunks").Int32() != 2 {
		t.Errorf("answered %s", reply) // md5 of "hello"
	}
	if reply := h.OK(`{filemd5: 9, root: "fs"}`); reply.Lookup("md5").Str() != "d41d8cd98f00b204e9800998ecf8427e" {
		t.Errorf("answered %s", reply)
	}
	h.Fails(10042, `{filemd5: 2, root: "fs"}`)
	h.Fails(40414, `{filemd5: 1}`)
}

func TestLogCommands(t *testing.T) {
	var out bytes.Buffer
	rotated := 0
	h := harness.NewWith(t, kernel.Options{Log: zerolog.New(&out), RotateLog: func() error { rotated++; return nil }})
	for command, code := range map[string]int32{
		`{logRotate: 1}`: 0, `{logRotate: "server"}`: 0, `{logRotate: "audit"}`: 4, `{logRotate: {}}`: 14, `{dropConnections: 1, hostAndPort: ["a:0"]}`: 9, `{dropConnections: 1, hostAndPort: ["[::1]:27017", null]}`: 0, `{logRotate: "x"}`: 4,
		`{logApplicationMessage: "hello from the application"}`: 0, `{logApplicationMessage: 1}`: 14,
		`{dropConnections: 1, hostAndPort: ["a:1"]}`: 0, `{dropConnections: 1}`: 40414, `{dropConnections: 1, hostAndPort: [":1"]}`: 9,
	} {
		if reply := h.Admin(command); reply.Lookup("code").Int32() != code {
			t.Errorf("%s answered %s", command, reply)
		}
	}
	if rotated != 2 || !strings.Contains(out.String(), "hello from the application") {
		t.Errorf("rotated %d times, logged %s", rotated, out.String())
	}
}

func TestSetIndexCommitQuorum(t *testing.T) {
	h := harness.New(t)
	h.OK(`{insert: "c", documents: [{_id: 1}]}`)
	h.Fails(27, `{setIndexCommitQuorum: "c", indexNames: ["a_1"], commitQuorum: 1}`)
	h.Fails(27, `{setIndexCommitQuorum: "c", indexNames: [], commitQuorum: 1}`)
	h.Fails(26, `{setIndexCommitQuorum: "none", indexNames: ["a_1"], commitQuorum: 1}`)
	h.Fails(40414, `{setIndexCommitQuorum: "c"}`)
}
