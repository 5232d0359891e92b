package crud_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/value"
)

// open runs a command that opens a cursor on test.c and returns the getMore for it.
func open(h *harness.Harness, command string) string {
	h.Helper()
	id := h.OK(command).Lookup("cursor").Doc().Lookup("id").Int64()
	if id == 0 {
		h.Fatalf("%s opened no cursor", command)
	}
	return fmt.Sprintf(`{getMore: {$numberLong: "%d"}, collection: "c"}`, id)
}

// A cursor belongs to the session and the transaction that opened it: the codes are
// those of mongod's validateLSID and validateTxnNumber.
func TestCursorBelongsToSession(t *testing.T) {
	t.Parallel()
	h := harness.New(t).AsMember()
	h.OK(`{insert: "c", documents: [{_id: 1}, {_id: 2}, {_id: 3}]}`)
	in := func(command, session string) string {
		return strings.TrimSuffix(command, "}") + `, lsid: {id: {$uuid: "00000000-0000-4000-8000-00000000000` + session + `"}}}`
	}
	const find = `{find: "c", batchSize: 1}`
	outside, inside := open(h, find), open(h, in(find, "1"))
	h.Fails(50736, in(outside, "1"))
	h.Fails(50737, inside)
	h.Fails(50738, in(inside, "2"))
	inTxn := open(h, harness.InTxnArgs(find, 1, true))
	h.Fails(50740, strings.TrimSuffix(inTxn, "}")+`, `+harness.Lsid+`}`)
	h.OK(harness.InTxnArgs(inTxn, 1, false)) // in its own it goes on
	h.EndTxn("abortTransaction", 1)
	mine := open(h, strings.TrimSuffix(find, "}")+`, `+harness.Lsid+`}`)
	h.OK(harness.InTxnArgs(`{find: "c"}`, 2, true))
	h.Fails(50739, harness.InTxnArgs(mine, 2, false))
	h.OK(in(inside, "1")) // none of the refusals ended the cursor
	h.OK(outside)
	h.Fails(43, outside)
}

// A cursor whose getMore fails is closed.
func TestFailedCursorEnds(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	h.OK(`{insert: "c", documents: [{_id: 1, a: 2}, {_id: 2, a: 1}, {_id: 3, a: 0}]}`)
	more := open(h, `{aggregate: "c", pipeline: [{$project: {a: {$divide: [1, "$a"]}}}], cursor: {batchSize: 1}}`)
	h.Fails(2, strings.TrimSuffix(more, "}")+`, maxTimeMS: 5}`) // only awaitData cursors wait
	if text := h.Fails(2, more); !strings.Contains(text, "can't $divide by zero") {
		t.Errorf("said %s", text)
	}
	h.Fails(43, more)
}

// An awaitData cursor returns an empty batch once maxTimeMS has passed and stays open;
// with documents it does not wait.
func TestAwaitData(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	h.OK(`{create: "c", capped: true, size: 4096}`)
	h.OK(`{insert: "c", documents: [{_id: 1}]}`)
	more := strings.TrimSuffix(open(h, `{find: "c", tailable: true, awaitData: true}`), "}")
	for _, want := range []int{0, 1} {
		if want == 1 {
			h.OK(`{insert: "c", documents: [{_id: 2}]}`)
		}
		cursor := h.OK(more + `, maxTimeMS: 1}`).Lookup("cursor").Doc()
		if n := cursor.Lookup("nextBatch").Doc().Len(); n != want || cursor.Lookup("id").Int64() == 0 {
			t.Errorf("answered %s, want %d documents and an open cursor", cursor, want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	b := value.NewBuilder()
	it := harness.Relaxed(more + `}`).Iter()
	b.Raw(it.Rest()).String("$db", "test")
	out, _ := harness.Answer(h.Svc, ctx, h.Conn, &kernel.Request{Body: b.Doc()}, nil)
	if code := value.Doc(out).Lookup("code").Int32(); code != 11601 {
		t.Errorf("a getMore whose client is gone answered %s", value.Doc(out))
	}
	h.Fails(43, more+`}`)
}

// A getMore whose maxTimeMS is 0 does not wait at all: it answers while the clock stands still.
func TestAwaitNothing(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	h.OK(`{create: "c", capped: true, size: 4096}`)
	h.OK(`{insert: "c", documents: [{_id: 1}]}`)
	more := open(h, `{find: "c", tailable: true, awaitData: true}`)
	h.Svc.Real = clock.NewManual(h.Svc.Real.Now())
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	body := harness.Relaxed(strings.TrimSuffix(more, "}") + `, maxTimeMS: 0, $db: "test"}`)
	out, _ := harness.Answer(h.Svc, ctx, h.Conn, &kernel.Request{Body: body}, nil)
	if value.Doc(out).Lookup("ok").AsDouble() != 1 {
		t.Errorf("answered %s", value.Doc(out))
	}
}

// With exhaustAllowed the server repeats the getMore until the cursor ends (OP_MSG,
// "exhaustAllowed").
func TestExhaust(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	h.OK(`{insert: "c", documents: [{_id: 1}, {_id: 2}, {_id: 3}]}`)
	more := strings.TrimSuffix(open(h, `{find: "c", batchSize: 1}`), "}") + `, batchSize: 1, $db: "test"}`
	request := &kernel.Request{Body: harness.Relaxed(more), Exhaust: true}
	for _, last := range []bool{false, false, true} {
		out, response := harness.Answer(h.Svc, t.Context(), h.Conn, request, nil)
		if id := value.Doc(out).Lookup("cursor").Doc().Lookup("id").Int64(); (id == 0) != last || (response.Next == nil) != last {
			t.Fatalf("answered %s, then %s", value.Doc(out), response.Next)
		}
		if !last && response.Next.String() != request.Body.String() {
			t.Errorf("goes on with %s", response.Next)
		}
		request.Body = response.Next
	}
}

// killCursors accepts any cursor ids; its reply lists those that do not exist.
func TestKillCursorsArguments(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	h.Fails(73, `{killCursors: "", cursors: [{$numberLong: "1"}]}`)
	h.Fails(14, `{killCursors: "c", cursors: ["x"]}`)
	reply := h.OK(`{killCursors: "c", cursors: [{$numberLong: "1"}]}`)
	if got := reply.Lookup("cursorsNotFound").String(); got != "[ 1 ]" {
		t.Errorf("not found %s", got)
	}
}

// With access control, a cursor of another session is refused before anything else is
// looked at: so is a cursor of no session, and of another user in a session of the same id.
func TestCursorOfAnotherSessionNeedsPrivilege(t *testing.T) {
	t.Parallel()
	h := harness.NewAuth(t)
	for _, name := range []string{"ann", "bob"} {
		h.User(name, "root@admin")
	}
	h.MustOn("test", `{"insert": "c", "documents": [{"_id": 1}, {"_id": 2}]}`)
	session := func(n string) string {
		if n == "" {
			return ""
		}
		return `, lsid: {id: {$uuid: "00000000-0000-4000-8000-00000000000` + n + `"}}`
	}
	for _, c := range []struct{ opener, of, user, in, text string }{
		{"ann", "1", "ann", "2", "Cursor session id (00000000-0000-4000-8000-000000000001 - %s -  - ) is not the same as the operation context's session id (00000000-0000-4000-8000-000000000002 - %[1]s -  - )"},
		{"ann", "", "ann", "2", "Cursor session id (none) is not the same as the operation context's session id (00000000-0000-4000-8000-000000000002 - %s -  - )"},
		{"ann", "1", "ann", "", "Cursor session id (00000000-0000-4000-8000-000000000001 - %s -  - ) is not the same as the operation context's session id (none)"},
		{"ann", "", "bob", "", ""},
		{"ann", "1", "bob", "1", "Cursor session id (00000000-0000-4000-8000-000000000001 - %s -  - ) is not the same as"},
	} {
		id := h.CursorOf(c.opener, "test", `{find: "c", batchSize: 1`+session(c.of)+`}`)
		reply := h.As(c.user, "test", fmt.Sprintf(`{getMore: {$numberLong: "%d"}, collection: "c"%s}`, id, session(c.in)))
		uid := sha256.Sum256([]byte("ann@admin"))
		want := fmt.Sprintf("cursor id %d was not created by the authenticated user", id)
		if c.text != "" {
			want = fmt.Sprintf(c.text, base64.StdEncoding.EncodeToString(uid[:]))
		}
		if reply.Lookup("code").Int32() != 13 || !strings.HasPrefix(reply.Lookup("errmsg").Str(), want) {
			t.Errorf("%+v: %s", c, reply)
		}
	}
}
