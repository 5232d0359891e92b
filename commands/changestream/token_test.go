package changestream_test

import (
	"testing"

	"github.com/duskdb/duskdb/commands/changestream"
	"github.com/duskdb/duskdb/commands/changestream/token"
	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/value"
)

// The contents of a token besides the kind of the event, as in published tokens: the
// document's key, or the description of the command.
func TestNamesOfEvents(t *testing.T) {
	for _, tt := range []struct{ op, key, description string }{
		{`{op: "i", o: {_id: 1, name: "x"}}`, `{_id: 1}`, ""},
		{`{op: "u", o: {$v: 2, diff: {}}, o2: {_id: "user_123"}}`, `{_id: "user_123"}`, ""},
		{`{op: "d", o: {_id: 1}}`, `{_id: 1}`, ""},
		{`{op: "c", o: {drop: "data"}, o2: {numRecords: 1}}`, "", ""},
		{`{op: "c", o: {dropDatabase: 1}}`, "", ""},
		{`{op: "c", o: {renameCollection: "ddd73_replica.orders", to: "ddd73_replica.orders_archive", stayTemp: false}}`, "", `{to: {db: "ddd73_replica", coll: "orders_archive"}}`},
		{`{op: "c", o: {create: "x", changeStreamPreAndPostImages: {enabled: true}, idIndex: {v: 2, key: {_id: 1}, name: "_id_"}}}`, "", `{changeStreamPreAndPostImages: {enabled: true}, idIndex: {v: 2, key: {_id: 1}, name: "_id_"}}`},
	} {
		o := &token.LogOp{Op: harness.Relaxed(tt.op)}
		for name, d := range map[string]struct {
			got  value.Doc
			want string
		}{"key": {changestream.DocumentKey(o.Op), tt.key}, "description": {changestream.Describe(o), tt.description}} {
			if want := d.want != ""; (d.got != nil) != want || want && string(d.got) != string(harness.Relaxed(d.want)) {
				t.Errorf("%s of %s: %s, want %s", name, tt.op, d.got, d.want)
			}
		}
	}
}

// The token of a fragment leads to that of its event.
func TestWholeText(t *testing.T) {
	made := (&token.Token{TS: 1, Event: true, ID: harness.Relaxed(`{operationType: "insert", documentKey: {_id: 1}}`)}).Encode()
	part := fragmentOf(made, 3)
	got, err := token.Decode(part)
	if want := made.Lookup("_data").Str(); err != nil || got.Fragment != 4 || changestream.WholeText(&got, part) != want {
		t.Errorf("read %+v (%v): %s, want %s", got, err, changestream.WholeText(&got, part), want)
	}
}

// Keys with equal numbers of different types are equal, and streams can continue after
// each of them.
func TestStreamGoesOnBehindNumbers(t *testing.T) {
	h := harness.New(t)
	s := h.Watch("c", `{}`, "")
	h.OK(`{insert: "c", documents: [{_id: 1.0}, {_id: {$numberLong: "2"}}, {_id: {$numberDecimal: "3"}}, {_id: -0.0}, {_id: {a: [{$numberLong: "5"}]}}, {_id: 6}]}`)
	events := s.Events()
	for i, e := range events {
		token := e.Lookup("_id").Doc()
		if got := len(h.Watch("c", `{"resumeAfter": `+token.JSON()+`}`, "").Events()); got != len(events)-i-1 {
			t.Errorf("%d events behind %s", got, token)
		}
	}
}

// An invalid token is refused in every option.
func TestBadTokens(t *testing.T) {
	h := harness.New(t)
	h.OK(`{create: "c"}`)
	for _, tt := range []struct {
		code  int32
		token string
	}{
		{40647, `{}`}, {40648, `{"_data": "82", "_typeBits": 1}`}, {9, `{"_data": "xy"}`}, {40649, `{"_data": ""}`}, {15, `{"_data": "82"}`},
		{50811, `{"_data": "00"}`}, {50795, `{"_data": "8263DF8648000000022B0604"}`}, {207, `{"_data": "8263DF8648000000022B042C0100296E3C6100460004"}`},
	} {
		for _, option := range []string{"resumeAfter", "startAfter"} {
			h.Fails(tt.code, `{"aggregate": "c", "pipeline": [{"$changeStream": {"`+option+`": `+tt.token+`}}], "cursor": {}}`)
		}
	}
}
