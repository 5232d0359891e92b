package harness

import (
	"fmt"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/replication"
	"github.com/duskdb/duskdb/value"
)

// Finds compares the first batch of a command with a JSON array of documents.
func (h *Harness) Finds(command, want string) {
	h.Helper()
	if got := value.NewArray(docValues(Docs(h.OK(command)))...).String(); got != value.MustJSON(`{"d":`+want+`}`).Lookup("d").String() {
		h.Errorf("%s\nfound %s, want %s", command, got, want)
	}
}

func docValues(list []value.Doc) (values []value.Value) {
	for _, d := range list {
		values = append(values, value.Document(d))
	}
	return values
}

// Lsid is the session id of tests, as a field of a command.
const Lsid = `"lsid": {"id": {"$binary": {"base64": "AAAAAAAAAAAAAAAAAAAAAA==", "subType": "04"}}}`

// InTxnArgs adds to a command the arguments of a statement of transaction n.
func InTxnArgs(command string, n int, first bool) string {
	start := ""
	if first {
		start = `, "startTransaction": true`
	}
	return strings.TrimSuffix(command, "}") + fmt.Sprintf(`, %s, "txnNumber": {"$numberLong": "%d"}, "autocommit": false%s}`, Lsid, n, start)
}

// RetryArgs adds to a command the arguments of a retryable write with txnNumber n.
func RetryArgs(command string, n int) string {
	return strings.TrimSuffix(command, "}") + fmt.Sprintf(`, %s, "txnNumber": {"$numberLong": "%d"}}`, Lsid, n)
}

// EndTxn runs commitTransaction or abortTransaction for transaction n.
func (h *Harness) EndTxn(name string, n int) value.Doc {
	return h.Admin(InTxnArgs(`{"`+name+`": 1}`, n, false))
}

// Count returns the number of documents that a find on coll shows.
func (h *Harness) Count(coll string) int { return len(Docs(h.OK(`{"find": "` + coll + `"}`))) }

// IndexNames returns the names of the indexes in the order of listIndexes, each
// followed by a space.
func (h *Harness) IndexNames(coll string) (names string) {
	h.Helper()
	for _, d := range Docs(h.OK(`{listIndexes: "` + coll + `"}`)) {
		names += d.Lookup("name").Str() + " "
	}
	return names
}

// HelloAfter runs an awaitable hello, which returns once the topology version is
// greater than counter.
func (h *Harness) HelloAfter(counter int64) value.Doc {
	h.Helper()
	return h.Admin(fmt.Sprintf(`{"hello": 1, "topologyVersion": {"processId": {"$oid": "%s"}, "counter": {"$numberLong": "%d"}}, "maxAwaitTimeMS": 60000}`,
		h.Svc.ProcessID.Hex(), counter))
}

// Listed returns the documents of listCollections.
func (h *Harness) Listed() []value.Doc {
	h.Helper()
	return Docs(h.OK(`{"listCollections": 1}`))
}

// LoneServer skips a test over an engine that several servers share: clients see a
// mongos then, and that has not what the test is about.
func (h *Harness) LoneServer(what string) *Harness {
	h.Helper()
	if h.Svc.InCluster() {
		h.Skip("a mongos has not: " + what)
	}
	return h
}

// Plain returns a reply without the times that only members of replica sets and of
// clusters send.
func Plain(reply value.Doc) value.Doc {
	b := value.NewBuilder()
	for name, v := range reply.All() {
		if name != "$clusterTime" && name != "operationTime" {
			b.Append(name, v)
		}
	}
	return b.Doc()
}

// AsMember makes the server of the harness the member of a replica set. One of a
// cluster stays what it is: it has transactions, times and change streams as well.
func (h *Harness) AsMember() *Harness {
	h.Helper()
	if h.Svc.InCluster() {
		return h
	}
	h.Svc.Options.ReplSet = "rs"
	if err := replication.JoinSet(h.Svc); err != nil {
		h.Fatal(err)
	}
	return h
}

// Refusal is a command on a database and the error that it must fail with. Code 0
// means that it succeeds.
type Refusal struct {
	DB, Command string
	Code        int32
	Text        string // "": any; ending in "*": the beginning
}

// Refuses runs each command and compares its error.
func (h *Harness) Refuses(list []Refusal) {
	h.Helper()
	for _, r := range list {
		reply := h.RunOn(r.DB, Relaxed(r.Command))
		code, text := reply.Lookup("code"), reply.Lookup("errmsg").Str()
		if first := reply.Lookup("writeErrors").Doc().Index(0); !first.IsMissing() {
			code, text = first.Doc().Lookup("code"), first.Doc().Lookup("errmsg").Str()
		}
		if code.IsMissing() != (r.Code == 0) || r.Code != 0 && code.Int32() != r.Code {
			h.Errorf("%s %s answered %s, want code %d", r.DB, r.Command, reply, r.Code)
			continue
		}
		if r.Text != "" && !Fits(text, r.Text) {
			h.Errorf("%s %s: %q, want %q", r.DB, r.Command, text, r.Text)
		}
	}
}

// Fits reports whether a text is the wanted one; the wanted one may end with * for any rest,
// or begin with it for any beginning.
func Fits(text, want string) bool {
	if end, open := strings.CutPrefix(want, "*"); open {
		return strings.HasSuffix(text, end)
	}
	begin, open := strings.CutSuffix(want, "*")
	return text == want || open && strings.HasPrefix(text, begin)
}

// UUIDOf returns the UUID of a collection as listCollections shows it.
func (h *Harness) UUIDOf(name string) value.Value {
	h.Helper()
	first := h.OK(fmt.Sprintf(`{listCollections: 1, filter: {name: %q}}`, name)).Lookup("cursor").Doc().Lookup("firstBatch").Doc().Index(0).Doc()
	return first.Lookup("info").Doc().Lookup("uuid")
}

// JSONOf returns a value in canonical extended JSON.
func JSONOf(v value.Value) string {
	s := value.NewDoc("v", v).CanonicalJSON()
	return s[len(`{"v":`) : len(s)-1]
}

// NewTestCommands returns a harness with enableTestCommands.
func NewTestCommands(t *testing.T) *Harness {
	return NewWith(t, kernel.Options{Parameters: map[string]string{"enableTestCommands": "1"}})
}

// SetFail sets the fail point failCommand.
func (h *Harness) SetFail(mode, data string) value.Doc {
	h.Helper()
	reply := h.Admin(fmt.Sprintf(`{configureFailPoint: "failCommand", mode: %s, data: %s}`, mode, data))
	if !reply.Lookup("ok").Truthy() {
		h.Fatalf("configureFailPoint answered %s", reply)
	}
	return reply
}

// Holds compares the documents of a collection, ordered by _id, with a list of
// documents in relaxed JSON.
func (h *Harness) Holds(coll, want string) {
	h.Helper()
	var got []string
	for _, d := range Docs(h.OK(`{find: "` + coll + `", sort: {_id: 1}}`)) {
		got = append(got, d.String())
	}
	var wanted []string
	for v := range Relaxed("{a: [" + strings.ReplaceAll(want, "} {_id", "}, {_id") + "]}").Lookup("a").Doc().Values() {
		wanted = append(wanted, v.Doc().String())
	}
	if strings.Join(got, " ") != strings.Join(wanted, " ") {
		h.Errorf("%s holds %v, want %v", coll, got, wanted)
	}
}

// BenchDocs is the number of documents that Fill inserts.
const BenchDocs = 1000

// Fill inserts BenchDocs documents {_id, n, text} into test.c.
func Fill(h *Harness) {
	for i := range BenchDocs {
		d := value.NewDoc("_id", value.Int32(int32(i)), "n", value.Int32(0), "text", value.String("the quick brown fox jumps over the lazy dog"))
		h.RunOn("test", value.NewDoc("insert", value.String("c"), "documents", value.NewArray(value.Document(d))))
	}
}
