package diagnostics

import (
	"net"
	"time"

	"github.com/duskdb/duskdb/commands/args"
	"github.com/duskdb/duskdb/commands/canonical"
	"github.com/duskdb/duskdb/commands/exec"
	"github.com/duskdb/duskdb/commands/gate"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/observe"
	"github.com/duskdb/duskdb/commands/write"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/value"
)

// Observe is called with the reply of every command that ran.
func Observe(s *kernel.Service, c *kernel.Call, reply value.Doc, err error) {
	if c.Op == nil || c.Cmd.Has(kernel.Waits) {
		return
	}
	recordQuery(s, c, reply, err)
	took := c.Took - c.Counts.Waited
	setting := s.Profiler.Of(c.DB)
	if setting.Level != 0 && !c.Profiled() {
		setting.Level = 0
	}
	slow := took.Milliseconds() >= s.Profiler.SlowMS.Load()
	told := exec.TellsOf(s, c)
	if setting.Level == 0 && setting.Filter == nil && !slow && !told {
		return
	}
	slow = slow && s.Profiler.Sampled()
	if setting.Filter == nil && setting.Level < 2 && !slow && !told {
		return
	}
	entry := profileEntry(c, reply, err, took)
	hit := slow
	if setting.Filter != nil {
		hit, _ = setting.Filter.Match(expr.NewEnv(c.Now), entry)
	}
	if hit || told {
		logSlow(c, entry, took)
	}
	if setting.Level == 2 || setting.Level == 1 && hit {
		if err := write.WriteProfile(s, c, entry); err != nil {
			s.Log.Warn().Err(err).Str("db", c.DB).Msg("cannot write to system.profile")
		}
	}
}

// logSlow writes the line of a slow operation: the entry, with commands that are truncated as
// attributes of the log, not as those of the profiler.
func logSlow(c *kernel.Call, entry value.Doc, took time.Duration) {
	limit := c.Svc.Options.LogLimit.Bytes()
	text, cut, sizes := []byte{'{'}, value.NewBuilder(), value.NewBuilder()
	for name, v := range entry.All() {
		d := value.NewDoc(name, v)
		switch name {
		case "command":
			d = value.NewDoc(name, value.Document(profiledCommand(c)))
		case "originatingCommand":
			d = value.NewDoc(name, value.Document(c.Counts.Origin))
		}
		if len(text) > 1 {
			text = append(text, ',')
		}
		if name != "command" && name != "originatingCommand" { // their texts are cut by the log itself
			field := d.JSON()
			text = append(text, field[1:len(field)-1]...)
			continue
		}
		shown := observe.LogDocument(d.Lookup(name).Doc(), limit)
		text = append(append(text, `"`+name+`":`...), shown.Text...)
		if shown.Truncated != nil {
			cut.Document(name, shown.Truncated)
			sizes.Int64(name, int64(shown.Size))
		}
	}
	line := c.Svc.Log.Info().Str("ns", entry.Lookup("ns").Str()).Int64("durationMillis", took.Milliseconds()).
		Str("ctx", c.Conn.Context()).Str("remote", c.Conn.Remote).RawJSON("attr", append(text, '}'))
	if d := cut.Doc(); !d.IsEmpty() {
		line.RawJSON("truncated", []byte(d.JSON())).RawJSON("size", []byte(sizes.Doc().JSON()))
	}
	line.Msg("Slow query")
}

// profileEntry describes a command that has run, in the form of
// system.profile.
func profileEntry(c *kernel.Call, reply value.Doc, err error, took time.Duration) value.Doc {
	b := value.NewBuilder()
	b.String("op", opKind(c.Cmd.Name)).String("ns", kernel.OperationNamespace(c.Op)).Document("command", kernel.Truncated(profiledCommand(c), kernel.MaxProfiled))
	if c.Counts.Origin != nil {
		b.Document("originatingCommand", kernel.Truncated(c.Counts.Origin, kernel.MaxProfiled))
	}
	cursor, hasCursor := reply.Get("cursor")
	if id := cursor.Doc().Lookup("id").Int64(); id != 0 {
		b.Int64("cursorid", id)
	}
	b.Append("keysExamined", value.Int(c.Counts.Keys)).Append("docsExamined", value.Int(c.Counts.Docs))
	if c.Counts.Sorted {
		b.Bool("hasSortStage", true)
	}
	if hasCursor && cursor.Doc().Lookup("id").Int64() == 0 {
		b.Bool("cursorExhausted", true)
	}
	appendWriteCounts(c, b, reply)
	b.Int32("numYield", 0)
	if hasCursor {
		b.Append("nreturned", value.Int(c.Counts.Returned))
	}
	exec.AppendShape(&c.Counts, b)
	if c.Counts.Access != nil && !c.Counts.Access.ByID() {
		if hash := canonical.QueryShapeHash(c.DB, c.Op.Body); hash != "" {
			b.String("queryShapeHash", hash)
		}
	}
	b.StartDocument("locks").End()
	if err != nil {
		e := mongoerr.From(err)
		b.Int32("ok", 0).String("errMsg", e.Message).String("errName", e.Code.Name()).Int32("errCode", int32(e.Code))
	}
	b.Int32("responseLength", int32(len(reply))).String("protocol", "op_msg").Append("millis", value.Int(took.Milliseconds()))
	if p := exec.PlanSummaryOf(&c.Counts); p != "" {
		b.String("planSummary", p)
	}
	b.Date("ts", c.Now)
	appendClient(c, b)
	return b.Doc()
}

// profiledCommand is the command as the profiler shows it: an update or delete of one
// statement by that statement, a getMore with the comment of the command that it continues.
func profiledCommand(c *kernel.Call) value.Doc {
	if c.Counts.Origin != nil {
		return kernel.WithComment(c.Op.Body, c.Counts.Origin)
	}
	argument := map[string]string{"update": "updates", "delete": "deletes"}[c.Cmd.Name]
	if argument == "" {
		return c.Op.Body
	}
	var only value.Doc
	n := 0
	if docs, err := gate.List(c, argument, args.Array(c.Body.Lookup(argument).Doc())); err == nil {
		for _, d := range docs.All() {
			only = d
			if n++; n > 1 {
				return c.Op.Body
			}
		}
	}
	if n == 0 {
		return c.Op.Body
	}
	b := value.NewBuilder()
	for name, v := range only.All() {
		if name == "hint" && v.Kind() == value.KindString { // the statement has it as {$hint: name}
			v = value.Document(value.NewDoc("$hint", v))
		}
		b.Append(name, v)
	}
	if comment, ok := c.Op.Body.Get("comment"); ok && !only.Has("comment") {
		b.Append("comment", comment)
	}
	return b.Doc()
}

// appendWriteCounts writes the numbers of documents that a command changed, taken from its reply.
func appendWriteCounts(c *kernel.Call, b *value.Builder, reply value.Doc) {
	n := reply.Lookup("n").SafeInt64()
	switch c.Cmd.Name {
	case "insert":
		b.Append("ninserted", value.Int(n))
	case "delete":
		b.Append("ndeleted", value.Int(n))
	case "update":
		upserts := int64(reply.Lookup("upserted").Doc().Len())
		b.Append("nMatched", value.Int(n-upserts)).Append("nModified", value.Int(reply.Lookup("nModified").SafeInt64()))
		b.Append("nUpserted", value.Int(upserts))
	case "findAndModify":
		last := reply.Lookup("lastErrorObject").Doc()
		switch {
		case !last.Has("updatedExisting"):
			b.Append("ndeleted", last.Lookup("n"))
		case last.Has("upserted"):
			b.Int32("nUpserted", 1)
		default:
			b.Append("nMatched", last.Lookup("n"))
		}
	}
}

func appendClient(c *kernel.Call, b *value.Builder) {
	host, _, err := net.SplitHostPort(c.Conn.Remote)
	if err != nil {
		host = c.Conn.Remote
	}
	b.String("client", host)
	if _, app := c.Conn.ClientInfo(); app != "" {
		b.String("appName", app)
	}
	b.StartArray("allUsers")
	if u := c.Conn.User; u != nil {
		b.StartDocument("").String("user", u.Name.Name).String("db", u.Name.DB).End()
	}
	b.End()
	if u := c.Conn.User; u != nil {
		b.String("user", u.Name.Name+"@"+u.Name.DB)
	} else {
		b.String("user", "")
	}
}
