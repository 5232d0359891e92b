package main

import (
	"strings"
	"testing"
	"time"

	"github.com/duskdb/duskdb/value"
	"github.com/duskdb/duskdb/wire"
)

func TestParseAddress(t *testing.T) {
	for _, c := range []struct{ in, want, err string }{
		{"mongodb://127.0.0.1:27018", "127.0.0.1:27018", ""},
		{"mongodb://localhost", "localhost:27017", ""},
		{"mongodb://localhost/test?directConnection=true", "localhost:27017", ""},
		{"mongodb://[::1]:5", "[::1]:5", ""},
		{"mongodb://[::1]", "[::1]:27017", ""},
		{"db.example:1", "db.example:1", ""},
		{"db.example", "db.example:27017", ""},
		{"mongodb://u:secret@h", "", "authentication is not supported"},
		{"mongodb://a,b", "", "exactly one host"},
		{"", "", "exactly one host"},
		{"http://h", "", "only mongodb://"},
		{"mongodb+srv://h", "", "only mongodb://"},
	} {
		got, err := parseAddress(c.in)
		if got != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%q: %q, %v", c.in, got, err)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("the error tells the password: %v", err)
		}
	}
}

func TestReplyError(t *testing.T) {
	failed := value.NewDoc("index", value.Int32(0), "code", value.Int32(11000), "errmsg", value.String("dup"))
	for _, c := range []struct {
		reply value.Doc
		want  string
	}{
		{value.NewDoc("ok", value.Double(1)), ""},
		{value.NewDoc("ok", value.Int32(1)), ""},
		{value.NewDoc("ok", value.Double(0), "errmsg", value.String("no such command: 'x'"), "code", value.Int32(59)), "no such command: 'x' (code 59)"},
		{value.NewDoc("n", value.Int32(0), "writeErrors", value.NewArray(value.Document(failed)), "ok", value.Double(1)), "dup (code 11000)"},
		{value.EmptyDoc, " (code 0)"},
	} {
		err := replyError(c.reply)
		if (err == nil) != (c.want == "") || err != nil && err.Error() != c.want {
			t.Errorf("%x: %v, want %q", c.reply, err, c.want)
		}
	}
}

func TestDialRefused(t *testing.T) {
	s, err := startNull(0)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.close(); err != nil {
		t.Fatal(err)
	}
	if _, err := dial(s.addr(), wire.Uncompressed, time.Now().Add(time.Minute)); err == nil {
		t.Error("a closed server answers")
	}
}

// TestNullProcess starts this binary again as a null server.
func TestNullProcess(t *testing.T) {
	p, err := openTarget("null", 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := ping(p.addr); err != nil {
		t.Error(err)
	}
	if err := p.stop(); err != nil {
		t.Error(err)
	}
	if err := ping(p.addr); err == nil {
		t.Error("the process still answers")
	}
}
