package commands

import (
	"net"
	"strings"
	"time"

	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/query/plan"
	"github.com/duskdb/duskdb/value"
)

// profileEntry describes a command that has run, in the form of
// system.profile.
func (c *Call) profileEntry(reply value.Doc, err error, took time.Duration) value.Doc {
	b := value.NewBuilder()
	b.String("op", opKind(c.cmd.name)).String("ns", operationNamespace(c.op)).Document("command", truncated(c.profiledCommand()))
	if c.counts.origin != nil {
		b.Document("originatingCommand", truncated(c.counts.origin))
	}
	cursor, hasCursor := reply.Get("cursor")
	if id := cursor.Doc().Lookup("id").Int64(); id != 0 {
		b.Int64("cursorid", id)
	}
	b.Append("keysExamined", value.Int(c.counts.keys)).Append("docsExamined", value.Int(c.counts.docs))
	if c.counts.sorted {
		b.Bool("hasSortStage", true)
	}
	if hasCursor && cursor.Doc().Lookup("id").Int64() == 0 {
		b.Bool("cursorExhausted", true)
	}
	c.appendWriteCounts(b, reply)
	b.Int32("numYield", 0)
	if hasCursor {
		b.Append("nreturned", value.Int(c.counts.returned))
	}
	c.counts.appendShape(b)
	if c.counts.access != nil && !c.counts.access.byID() {
		if hash := queryShapeHash(c.DB, c.op.body); hash != "" {
			b.String("queryShapeHash", hash)
		}
	}
	b.StartDocument("locks").End()
	if err != nil {
		e := mongoerr.From(err)
		b.Int32("ok", 0).String("errMsg", e.Message).String("errName", e.Code.Name()).Int32("errCode", int32(e.Code))
	}
	b.Int32("responseLength", int32(len(reply))).String("protocol", "op_msg").Append("millis", value.Int(took.Milliseconds()))
	if p := c.counts.summary(); p != "" {
		b.String("planSummary", p)
	}
	b.Date("ts", c.now)
	c.appendClient(b)
	return b.Doc()
}

// profiledCommand is the command as the profiler shows it: an update or
// delete of one statement by that statement.
func (c *Call) profiledCommand() value.Doc {
	argument := map[string]string{"update": "updates", "delete": "deletes"}[c.cmd.name]
	if argument == "" {
		return c.op.body
	}
	var only value.Doc
	n := 0
	if docs, err := c.list(argument, array(c.Body.Lookup(argument).Doc())); err == nil {
		for _, d := range docs.all() {
			only = d
			if n++; n > 1 {
				return c.op.body
			}
		}
	}
	if n == 0 {
		return c.op.body
	}
	b := value.NewBuilder()
	for name, v := range only.All() {
		if name == "hint" && v.Kind() == value.KindString { // as the statement is read: the name in a document
			v = value.Document(value.NewDoc("$hint", v))
		}
		b.Append(name, v)
	}
	if comment, ok := c.op.body.Get("comment"); ok && !only.Has("comment") {
		b.Append("comment", comment)
	}
	return b.Doc()
}

// mostProfiled is the size of a command that is shown whole.
const mostProfiled = 50 << 10

// truncated is a command as the profile shows it: a long one as the beginning
// of its text, and its comment.
func truncated(d value.Doc) value.Doc {
	if len(d) <= mostProfiled {
		return d
	}
	comment, commented := d.Get("comment")
	rest := value.NewBuilder()
	for name, v := range d.All() {
		if name != "comment" {
			rest.Append(name, v)
		}
	}
	text := rest.Doc().String()
	if len(text) > mostProfiled {
		text = strings.ToValidUTF8(text[:mostProfiled-3], "") + "..."
	}
	b := value.NewBuilder()
	b.String("$truncated", text)
	if commented {
		b.Append("comment", comment)
	}
	return b.Doc()
}

// appendWriteCounts writes what a command changed, as its reply tells.
func (c *Call) appendWriteCounts(b *value.Builder, reply value.Doc) {
	n := reply.Lookup("n").SafeInt64()
	switch c.cmd.name {
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

func (c *Call) appendClient(b *value.Builder) {
	host, _, err := net.SplitHostPort(c.conn.Remote)
	if err != nil {
		host = c.conn.Remote
	}
	b.String("client", host)
	if _, app := c.conn.clientInfo(); app != "" {
		b.String("appName", app)
	}
	b.StartArray("allUsers")
	if u := c.conn.user; u != nil {
		b.StartDocument("").String("user", u.Name.Name).String("db", u.Name.DB).End()
	}
	b.End()
	if u := c.conn.user; u != nil {
		b.String("user", u.Name.Name+"@"+u.Name.DB)
	} else {
		b.String("user", "")
	}
}

// appendShape names the shape of the query that was planned. A look-up of one
// _id has none.
func (o *opCounts) appendShape(b *value.Builder) {
	if o.access == nil || o.access.byID() {
		return
	}
	hash, key := o.access.shapes()
	b.String("queryHash", hash).String("planCacheShapeHash", hash).String("planCacheKey", key)
}

// summary names the plan in a few words, as mongod's planSummary.
func (o *opCounts) summary() string { return planSummary(o.plan, o.access) }

// planSummary is the plan of a query: the text where there was no choice to
// make, else what was chosen.
func planSummary(text string, a planned) string {
	if a == nil {
		return text
	}
	return a.summary()
}

// mostSummarized bounds a summary, in bytes: a disjunction may have as many
// scans as there is room for branches in a message.
const mostSummarized = 10 << 10

func summarize(p *plan.Plan) string {
	if p.Type != plan.Union {
		return summarizeOne(p)
	}
	var b strings.Builder
	if !summarizeParts(&b, p) {
		b.WriteString(", ...")
	}
	return b.String()
}

// summarizeParts writes the scans that a plan joins, and reports whether there
// was room for all of them.
func summarizeParts(b *strings.Builder, p *plan.Plan) bool {
	for _, part := range p.Parts {
		if part.Type == plan.Union {
			if !summarizeParts(b, part) {
				return false
			}
			continue
		}
		if b.Len() > mostSummarized {
			return false
		}
		if b.Len() > 0 {
			b.WriteString(", ")
		}
		b.WriteString(summarizeOne(part))
	}
	return true
}

// summarizeOne names a plan that joins no others.
func summarizeOne(p *plan.Plan) string {
	switch p.Type {
	case plan.CollScan:
		return "COLLSCAN"
	case plan.Nothing:
		return "EOF"
	case plan.ByID:
		return "IDHACK"
	}
	if p.Index == nil {
		return ""
	}
	if p.Skip > 0 {
		return "DISTINCT_SCAN " + p.Index.Key.String()
	}
	return "IXSCAN " + p.Index.Key.String()
}
