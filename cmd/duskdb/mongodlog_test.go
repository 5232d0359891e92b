package main

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/duskdb/duskdb/server"
)

// mongodFields is a line of mongod's log, as its manual describes it ("Log Messages",
// "Structured Logging").
type mongodFields struct {
	T struct {
		Date time.Time `json:"$date"`
	} `json:"t"`
	S    string         `json:"s"`
	C    string         `json:"c"`
	ID   int            `json:"id"`
	Ctx  string         `json:"ctx"`
	Msg  string         `json:"msg"`
	Attr map[string]any `json:"attr"`
	// What was cut, and the sizes of documents that were.
	Truncated map[string]any `json:"truncated"`
	Size      map[string]any `json:"size"`
}

// mongodForm has the fields in mongod's order and padding, by which text tools find them.
var mongodForm = regexp.MustCompile(`^\{"t":\{"\$date":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}[+-]\d\d:\d\d"\},"s":"([IWEF]|D[1-5])", {1,2}"c":"[A-Z-]+", +"id":\d+, *"ctx":"[^"]+","msg":"`)

func parseMongodLine(t *testing.T, line string) mongodFields {
	t.Helper()
	var f mongodFields
	d := json.NewDecoder(strings.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	if !mongodForm.MatchString(line) || f.ID == 0 || f.T.Date.IsZero() {
		t.Errorf("%s has not the form of mongod", line)
	}
	return f
}

// Each kind of line of the log gets the names that mongod 8.0 has for it; what mongod has
// not gets an id beyond its own.
func TestMongodLog(t *testing.T) {
	for _, tt := range []struct{ given, want string }{
		{
			`{"level":"debug","c":"NETWORK","verbosity":1,"remote":"127.0.0.1:5","connectionId":7,"connectionCount":3,"time":"2026-01-02T03:04:05.678+00:00","message":"Connection accepted"}`,
			`{"t":{"$date":"2026-01-02T03:04:05.678+00:00"},"s":"I",  "c":"NETWORK",  "id":22943,   "ctx":"listener","msg":"Connection accepted","attr":{"remote":"127.0.0.1:5","connectionId":7,"connectionCount":3}}`,
		},
		{
			`{"level":"debug","c":"NETWORK","verbosity":1,"ctx":"conn7","remote":"127.0.0.1:5","connectionId":7,"connectionCount":2,"time":"2026-01-02T03:04:05.678+00:00","message":"Connection ended"}`,
			`{"t":{"$date":"2026-01-02T03:04:05.678+00:00"},"s":"I",  "c":"NETWORK",  "id":22944,   "ctx":"conn7","msg":"Connection ended","attr":{"remote":"127.0.0.1:5","connectionId":7,"connectionCount":2}}`,
		},
		{
			`{"level":"info","address":"127.0.0.1:27017","dbpath":"/data","tls":"disabled","time":"2026-01-02T03:04:05.678+02:00","message":"Waiting for connections"}`,
			`{"t":{"$date":"2026-01-02T03:04:05.678+02:00"},"s":"I",  "c":"NETWORK",  "id":23016,   "ctx":"listener","msg":"Waiting for connections","attr":{"port":27017,"dbpath":"/data","address":"127.0.0.1:27017","ssl":"disabled"}}`,
		},
		{
			`{"level":"info","ctx":"conn3","user":"ann","db":"admin","mechanism":"SCRAM-SHA-256","remote":"127.0.0.1:5","time":"2026-01-02T03:04:05.678+00:00","message":"Successfully authenticated"}`,
			`{"t":{"$date":"2026-01-02T03:04:05.678+00:00"},"s":"I",  "c":"ACCESS",   "id":5286306, "ctx":"conn3","msg":"Successfully authenticated","attr":{"client":"127.0.0.1:5","user":"ann","db":"admin","mechanism":"SCRAM-SHA-256","result":0}}`,
		},
		{
			`{"level":"warn","error":"AuthenticationFailed: Authentication failed.","ctx":"conn3","user":"ann","db":"admin","mechanism":"SCRAM-SHA-256","remote":"127.0.0.1:5","time":"2026-01-02T03:04:05.678+00:00","message":"Failed to authenticate"}`,
			`{"t":{"$date":"2026-01-02T03:04:05.678+00:00"},"s":"I",  "c":"ACCESS",   "id":5286307, "ctx":"conn3","msg":"Failed to authenticate","attr":{"client":"127.0.0.1:5","user":"ann","db":"admin","mechanism":"SCRAM-SHA-256","error":"AuthenticationFailed: Authentication failed.","result":18}}`,
		},
		{
			`{"level":"info","ns":"shop.c","durationMillis":123,"ctx":"conn9","remote":"127.0.0.1:5","attr":{"op":"query","ns":"shop.c","command":{"find":"c","filter":{"a":1},"$db":"shop"},"keysExamined":0,"docsExamined":10,"cursorExhausted":true,"numYield":0,"nreturned":1,"queryHash":"AB","locks":{},"responseLength":99,"protocol":"op_msg","millis":123,"planSummary":"COLLSCAN","ts":{"$date":"2026-01-02T03:04:05.678Z"},"client":"127.0.0.1","appName":"app","allUsers":[],"user":""},"time":"2026-01-02T03:04:05.678+00:00","message":"Slow query"}`,
			`{"t":{"$date":"2026-01-02T03:04:05.678+00:00"},"s":"I",  "c":"COMMAND",  "id":51803,   "ctx":"conn9","msg":"Slow query","attr":{"type":"command","ns":"shop.c","appName":"app","command":{"find":"c","filter":{"a":1},"$db":"shop"},"planSummary":"COLLSCAN","keysExamined":0,"docsExamined":10,"cursorExhausted":true,"numYields":0,"nreturned":1,"queryHash":"AB","reslen":99,"locks":{},"storage":{},"remote":"127.0.0.1:5","protocol":"op_msg","durationMillis":123}}`,
		},
		{ // one statement of an update
			`{"level":"info","ns":"shop.c","durationMillis":123,"ctx":"conn9","remote":"127.0.0.1:5","attr":{"op":"update","ns":"shop.c","command":{"q":{"a":1},"u":{"$inc":{"b":1}},"c":{},"multi":true},"keysExamined":0,"docsExamined":10,"nMatched":5,"nModified":5,"nUpserted":0,"numYield":0,"locks":{},"ok":0,"errMsg":"no","errName":"BadValue","errCode":2,"responseLength":45,"protocol":"op_msg","millis":123,"planSummary":"COLLSCAN"},"time":"2026-01-02T03:04:05.678+00:00","message":"Slow query"}`,
			`{"t":{"$date":"2026-01-02T03:04:05.678+00:00"},"s":"I",  "c":"WRITE",    "id":51803,   "ctx":"conn9","msg":"Slow query","attr":{"type":"update","ns":"shop.c","command":{"q":{"a":1},"u":{"$inc":{"b":1}},"c":{},"multi":true},"planSummary":"COLLSCAN","keysExamined":0,"docsExamined":10,"nMatched":5,"nModified":5,"nUpserted":0,"numYields":0,"reslen":45,"ok":0,"errMsg":"no","errName":"BadValue","errCode":2,"locks":{},"storage":{},"remote":"127.0.0.1:5","durationMillis":123}}`,
		},
	} {
		var b bytes.Buffer
		if _, err := (mongodLog{out: &b, port: 27017}).Write([]byte(tt.given + "\n")); err != nil || b.String() != tt.want+"\n" {
			t.Errorf("%v\n%swant\n%s", err, &b, tt.want)
		}
		parseMongodLine(t, strings.TrimSpace(b.String()))
	}
	var b bytes.Buffer
	_, _ = mongodLog{out: &b}.Write([]byte(`{"level":"debug","c":"QUERY","verbosity":2,"plan":"<x>","time":"2026-01-02T03:04:05.678+00:00","message":"The \"plan\""}` + "\n"))
	if f := parseMongodLine(t, b.String()); f.ID < ownIDs || f.S != "D2" || f.C != "QUERY" || f.Msg != `The "plan"` || f.Attr["plan"] != "<x>" {
		t.Errorf("%+v", f)
	}
	b.Reset()
	if n, err := (mongodLog{out: &b}).Write([]byte("no JSON\n")); n != 8 || err != nil || b.String() != "no JSON\n" {
		t.Errorf("%d, %v, %q", n, err, &b)
	}
}

// On a terminal a slow operation says first how long it took, and where; its command is cut.
func TestSlowLineForPeople(t *testing.T) {
	line := map[string]any{"ns": "shop.c", "durationMillis": 123.0, "ctx": "conn1", "remote": "127.0.0.1:5", "attr": map[string]any{
		"op": "query", "planSummary": "COLLSCAN", "docsExamined": 10.0, "command": map[string]any{"find": strings.Repeat("é", 300)},
	}}
	if err := forPeople(line); err != nil {
		t.Fatal(err)
	}
	command, _ := line["command"].(string)
	if line["planSummary"] != "COLLSCAN" || line["docsExamined"] != 10.0 || line["attr"] != nil || len(command) > shortCommand+len("…") || !strings.HasSuffix(command, "…") {
		t.Errorf("%v", line)
	}
	other := map[string]any{"message": "x"}
	if err := forPeople(other); err != nil || len(other) != 1 {
		t.Errorf("%v: %v", other, err)
	}
}

// TestMongodLogTruncated: what was cut is listed behind the attributes, as in mongod's log, in the
// file and in the ring of getLog.
func TestMongodLogTruncated(t *testing.T) {
	path, lines := filepath.Join(t.TempDir(), "log"), &server.LogLines{}
	s := parse(t, "--logpath", path, "--logFormat", "mongod")
	log, file, err := s.logger(lines, &server.LogLimit{})
	if err != nil {
		t.Fatal(err)
	}
	defer file.file.Close()
	long := strings.Repeat("x", 1_000_000)
	log.Warn().Str("user", long).Str("remote", "127.0.0.1:5").Msg("Failed to authenticate")
	log.Info().Str("ns", "d.c").Int64("durationMillis", 5).RawJSON("attr", []byte(`{"op":"query","ns":"d.c","command":{"find":"c"},"errMsg":"`+long+`"}`)).
		RawJSON("truncated", []byte(`{"command":{"filter":{"type":"string","size":1000000}}}`)).RawJSON("size", []byte(`{"command":1000050}`)).Msg("Slow query")
	kept, _ := lines.Last()
	written := strings.Split(strings.TrimSpace(readLog(t, path)), "\n")
	if len(kept) != 2 || strings.Join(kept, "\n") != strings.Join(written, "\n") {
		t.Fatalf("%d lines are kept, %d written", len(kept), len(written))
	}
	login, slow := parseMongodLine(t, written[0]), parseMongodLine(t, written[1])
	if len(written[0]) > 11<<10 || login.Truncated["user"] == nil || login.Size != nil || len(login.Attr["user"].(string)) != 10<<10 {
		t.Errorf("%.300s", written[0])
	}
	if len(written[1]) > 11<<10 || slow.Truncated["command"] == nil || slow.Truncated["errMsg"] == nil || slow.Size["command"] != 1000050.0 || slow.Attr["ns"] != "d.c" {
		t.Errorf("%.300s … %s", written[1], written[1][len(written[1])-300:])
	}
}
