package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"strconv"
	"strings"
)

// mongodLog writes the lines of the log in the form of mongod's, which programs that read
// its logs understand: one JSON document a line, with t, s, c, id, ctx, msg and attr.
type mongodLog struct {
	out  io.Writer
	port int
}

// timeFormat is the time of a line: milliseconds and the offset, as mongod's iso8601-local.
const timeFormat = "2006-01-02T15:04:05.000-07:00"

// mongodLine is what mongod calls a line of ours. An id is that of the same event in mongod.
type mongodLine struct {
	id        int
	component string
	ctx       string
	attr      func(l *logLine, port int) // changes the attributes to those of mongod; nil: they stay
}

// mongodLines are the lines that mongod has as well. Others have the id that [ownID] makes.
var mongodLines = map[string]mongodLine{
	"DuskDB starting":               {4615611, "CONTROL", "initandlisten", startAttr},
	"Waiting for connections":       {23016, "NETWORK", "listener", waitingAttr},
	"Connection accepted":           {22943, "NETWORK", "listener", nil},
	"Connection ended":              {22944, "NETWORK", "", nil},
	"client metadata":               {51800, "NETWORK", "", nil},
	"Successfully authenticated":    {5286306, "ACCESS", "", authAttr},
	"Failed to authenticate":        {5286307, "ACCESS", "", authAttr},
	"Checking authorization failed": {20436, "ACCESS", "", nil},
	"Slow query":                    {51803, "COMMAND", "", slowAttr},
	"Received signal":               {23377, "CONTROL", "SignalHandler", nil},
	"Shutting down":                 {23138, "CONTROL", "", nil},
	"Now exiting":                   {20565, "CONTROL", "", nil},
}

// logField is a field of a line, as JSON.
type logField struct {
	name  string
	value json.RawMessage
}

// logLine is a line as zerolog writes it.
type logLine struct {
	level, message, at, component, ctx string
	verbosity                          int
	attr                               []logField
}

// Write rewrites a line. It writes a line that it does not understand as it is.
func (m mongodLog) Write(p []byte) (int, error) {
	l, err := readLogLine(p)
	if err != nil {
		return m.out.Write(p)
	}
	if _, err := m.out.Write(l.asMongod(m.port)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// readFields parses a document; its fields keep their order.
func readFields(p []byte) (fields []logField, err error) {
	d := json.NewDecoder(bytes.NewReader(p))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, errors.Join(errors.New("not a document"), err)
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		f := logField{}
		f.name, _ = key.(string)
		if err := d.Decode(&f.value); err != nil {
			return nil, err
		}
		fields = append(fields, f)
	}
	return fields, nil
}

// readLogLine parses a line.
func readLogLine(p []byte) (*logLine, error) {
	fields, err := readFields(p)
	if err != nil {
		return nil, err
	}
	l := &logLine{}
	known := map[string]any{"level": &l.level, "message": &l.message, "time": &l.at, "c": &l.component, "ctx": &l.ctx, "verbosity": &l.verbosity}
	for _, f := range fields {
		if to := known[f.name]; to == nil {
			l.attr = append(l.attr, f)
		} else if err := json.Unmarshal(f.value, to); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// asMongod is the line in the form of mongod, with its padding.
func (l *logLine) asMongod(port int) []byte {
	of, known := mongodLines[l.message]
	if !known {
		of = mongodLine{id: ownID(l.message), component: "-"}
	}
	if l.component == "" {
		l.component = of.component
	}
	cut, size := l.take("truncated"), json.RawMessage(nil)
	if cut != nil {
		size = l.take("size")
	}
	if of.attr != nil {
		of.attr(l, port)
	}
	if l.ctx == "" {
		l.ctx = cmp.Or(of.ctx, "main")
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, `{"t":{"$date":%s},"s":%-6s"c":%-12s"id":%-9s"ctx":%s,"msg":%s`,
		jsonText(l.at), jsonText(l.severity(known))+",", jsonText(l.component)+",", strconv.Itoa(of.id)+",", jsonText(l.ctx), jsonText(l.message))
	if len(l.attr) > 0 {
		b.WriteString(`,"attr":`)
		b.Write(document(l.attr))
	}
	if cut != nil {
		b.WriteString(`,"truncated":`)
		b.Write(cut)
	}
	if size != nil {
		b.WriteString(`,"size":`)
		b.Write(size)
	}
	b.WriteString("}\n")
	return b.Bytes()
}

// severity is that of mongod, to which lines that it logs at level 0 are not debugging.
func (l *logLine) severity(known bool) string {
	switch l.level {
	case "warn":
		return "W"
	case "error":
		return "E"
	case "fatal", "panic":
		return "F"
	case "debug", "trace":
		if !known {
			return "D" + strconv.Itoa(max(l.verbosity, 1))
		}
	}
	return "I"
}

// ownIDs is the first id of messages that mongod does not have; its own are below.
const ownIDs = 90_000_000

// ownID makes an id for a message: always the same.
func ownID(message string) int {
	h := fnv.New32a()
	_, _ = io.WriteString(h, message)
	return ownIDs + int(h.Sum32()%9_999_999)
}

func jsonText(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s)
	return strings.TrimSuffix(b.String(), "\n")
}

// document writes fields as a document.
func document(fields []logField) []byte {
	b := []byte{'{'}
	for i, f := range fields {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, jsonText(f.name)...), ':'), f.value...)
	}
	return append(b, '}')
}

// take removes a field and returns its value; nil if the line lacks it.
func (l *logLine) take(name string) json.RawMessage {
	for i, f := range l.attr {
		if f.name == name {
			l.attr = append(l.attr[:i:i], l.attr[i+1:]...)
			return f.value
		}
	}
	return nil
}

// set adds a field, unless it has no value.
func (l *logLine) set(name string, v json.RawMessage) {
	if v != nil {
		l.attr = append(l.attr, logField{name, v})
	}
}

func startAttr(l *logLine, port int) {
	path := l.take("dbpath")
	l.set("port", json.RawMessage(strconv.Itoa(port)))
	l.set("dbPath", path)
	l.set("architecture", json.RawMessage(jsonText(strconv.Itoa(strconv.IntSize)+"-bit")))
}

func waitingAttr(l *logLine, _ int) {
	ssl := l.take("tls")
	if address := l.take("address"); address != nil {
		var text string
		if json.Unmarshal(address, &text) == nil {
			if port, err := strconv.Atoi(text[strings.LastIndexByte(text, ':')+1:]); err == nil {
				l.attr = append([]logField{{"port", json.RawMessage(strconv.Itoa(port))}}, l.attr...)
			}
		}
		l.set("address", address)
	}
	l.set("ssl", ssl)
}

// authAttr: mongod names the address client, and has the code of the result.
func authAttr(l *logLine, _ int) {
	remote, failed := l.take("remote"), l.take("error")
	l.level = "info"
	l.attr = append([]logField{{"client", remote}}, l.attr...)
	if failed != nil {
		l.set("error", failed)
		l.set("result", json.RawMessage("18")) // AuthenticationFailed
		return
	}
	l.set("result", json.RawMessage("0"))
}

// slowNames are the names of the fields of system.profile in the log, where they differ; ""
// if the log does not have them.
var slowNames = map[string]string{
	"op": "", "ns": "", "numYield": "numYields", "responseLength": "reslen", "millis": "", "planSummary": "", "ts": "", "client": "", "appName": "",
	"allUsers": "", "user": "", "command": "", "originatingCommand": "", "protocol": "", "locks": "", "ok": "", "errMsg": "", "errName": "", "errCode": "",
}

// slowAttr makes the attributes of a slow operation from its entry in system.profile.
func slowAttr(l *logLine, _ int) {
	entry, remote, took := l.take("attr"), l.take("remote"), l.take("durationMillis")
	profile, err := readFields(entry)
	if err != nil {
		return
	}
	old := map[string]json.RawMessage{}
	for _, f := range profile {
		old[f.name] = f.value
	}
	kind := `"command"`
	if op := string(old["op"]); op == `"update"` || op == `"remove"` {
		if statement, err := readFields(old["command"]); err == nil && len(statement) > 0 && statement[0].name == "q" {
			kind, l.component = op, "WRITE" // a statement of an update or delete
		}
	}
	l.attr = nil
	l.set("type", json.RawMessage(kind))
	for _, name := range []string{"ns", "appName", "command", "originatingCommand", "planSummary"} {
		l.set(name, old[name])
	}
	for _, f := range profile {
		if name, other := slowNames[f.name]; !other {
			l.set(f.name, f.value)
		} else if name != "" {
			l.set(name, f.value)
		}
	}
	for _, name := range []string{"ok", "errMsg", "errName", "errCode", "locks"} {
		l.set(name, old[name])
	}
	l.set("storage", json.RawMessage("{}"))
	l.set("remote", remote)
	if kind == `"command"` {
		l.set("protocol", old["protocol"])
	}
	l.set("durationMillis", took)
}
