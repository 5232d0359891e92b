package diagnostics

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"hash"
	"strings"

	"github.com/duskdb/duskdb/commands/canonical"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/exec"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/pipeline"
	"github.com/duskdb/duskdb/query/agg"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// recordQuery records a query that has succeeded, for $queryStats. One with a cursor is
// recorded when that ends, with what its getMores have done.
func recordQuery(s *kernel.Service, c *kernel.Call, reply value.Doc, err error) {
	if !s.QueryStats.On() || err != nil || !canonical.HasStatistics(c.Cmd.Name) || !s.QueryStats.Wants(s.Real.Now()) {
		return
	}
	if c.Body.Lookup("explain").Truthy() || startsWithQueryStats(c.Body) {
		return
	}
	shape, hash := canonical.StatisticsShape(c.DB, c.Body)
	run := s.QueryStats.Run(statisticsKey(c, shape), hash, s.Clock.NowMillis)
	run.Add(&c.Counts, c.Took)
	cursor := reply.Lookup("cursor").Doc()
	if id := cursor.Lookup("id").Int64(); id == 0 || !s.Cursors.Attach(id, run) {
		run.End()
	}
}

// startsWithQueryStats reports whether an aggregate reads the statistics themselves.
func startsWithQueryStats(body value.Doc) bool {
	first := body.Lookup("pipeline").Doc().Index(0)
	name, _ := first.Doc().First()
	return name == "$queryStats"
}

// statisticsKey is what tells a query from others besides its shape.
func statisticsKey(c *kernel.Call, shape value.Doc) value.Doc {
	b := value.NewBuilder()
	b.Document("queryShape", shape)
	if v := c.Body.Lookup("comment"); !v.IsMissing() {
		b.Append("comment", canonical.ShapeOfLiteral(v))
	}
	appendConcern(b, c.Generic.ReadConcern)
	if c.Generic.APIGiven {
		b.String("apiVersion", c.Generic.APIVersion)
	}
	for _, name := range []string{"apiStrict", "apiDeprecationErrors"} {
		b.Append(name, c.Body.Lookup(name))
	}
	if mode := c.Generic.ReadPref.Lookup("mode"); mode.Str() != "" && mode.Str() != "primary" {
		b.Document("$readPreference", c.Generic.ReadPref)
	}
	if meta, _ := c.Conn.ClientInfo(); meta != nil {
		b.Document("client", meta)
	}
	b.String("collectionType", collectionType(c))
	if hint := c.Body.Lookup("hint"); hint.Kind() == value.KindDocument && !hint.Doc().IsEmpty() {
		b.Append("hint", hint)
	} else if hint.Kind() == value.KindString {
		b.Document("hint", value.NewDoc("$hint", hint))
	}
	if c.Generic.MaxTime > 0 {
		b.String("maxTimeMS", "?number")
	}
	appendOwn(b, c.Body)
	return b.Doc()
}

// appendConcern writes a read concern, of whose times only the types count.
func appendConcern(b *value.Builder, concern value.Doc) {
	if concern == nil {
		return
	}
	b.StartDocument("readConcern")
	for name, v := range concern.All() {
		if name != "level" {
			v = canonical.ShapeOfLiteral(v)
		}
		b.Append(name, v)
	}
	b.End()
}

// appendOwn writes the arguments that are of one command.
func appendOwn(b *value.Builder, body value.Doc) {
	for _, name := range []string{"allowPartialResults", "noCursorTimeout", "bypassDocumentValidation"} {
		b.Append(name, body.Lookup(name))
	}
	if body.Has("batchSize") {
		b.String("batchSize", "?number")
	}
	if body.Lookup("cursor").Doc().Has("batchSize") {
		b.Document("cursor", value.NewDoc("batchSize", value.String("?number")))
	}
}

// collectionType says what the query reads.
func collectionType(c *kernel.Call) string {
	_, v := c.Body.First()
	switch {
	case exec.StartsStream(c.Body.Lookup("pipeline").Doc()):
		return "changeStream"
	case v.Kind() != value.KindString:
		return "virtual"
	}
	info, err := exec.Lookup(c, storage.Namespace{DB: c.DB, Coll: v.Str()})
	if err != nil || info == nil {
		return "nonExistent"
	}
	return catalog.Of(info).Kind.Type()
}

// OpenQueryStats lists the statistics of queries: the stage $queryStats.
func OpenQueryStats(h *pipeline.Environment, _ *agg.Exec, s agg.Special) (agg.Iterator, error) {
	c := h.Exec.Running()
	docs := c.Svc.QueryStats.List(uint32(c.Now / 1000)) //nolint:gosec // seconds
	transform := s.Spec.Lookup("transformIdentifiers").Doc()
	if transform.Lookup("algorithm").Str() == "hmac-sha-256" {
		_, secret := transform.Lookup("hmacKey").Binary()
		for i, d := range docs {
			docs[i] = disguised(d, secret)
		}
	}
	return agg.Docs(docs...), nil
}

// disguised returns an entry in which names are replaced by hashes with a secret.
func disguised(d value.Doc, secret []byte) value.Doc {
	h := hmac.New(sha256.New, secret)
	b := value.NewBuilder()
	for name, v := range d.All() {
		if name == "key" {
			v = disguisedKey(h, v.Doc())
		}
		b.Append(name, v)
	}
	return b.Doc()
}

func disguisedKey(h hash.Hash, key value.Doc) value.Value {
	b := value.NewBuilder()
	for name, v := range key.All() {
		switch name {
		case "hint":
			v = disguisedValue(h, v)
		case "queryShape":
			shape := value.NewBuilder()
			for part, of := range v.Doc().All() {
				switch part {
				case "command":
				case "cmdNs":
					of = value.Document(value.NewDoc("db", disguisedValue(h, of.Doc().Lookup("db")), "coll", disguisedValue(h, of.Doc().Lookup("coll"))))
				default:
					of = disguisedValue(h, of)
				}
				shape.Append(part, of)
			}
			v = value.Document(shape.Doc())
		}
		b.Append(name, v)
	}
	return value.Document(b.Doc())
}

// disguisedValue replaces what may be the name of a field, of a variable or of a collection:
// all strings but the types of constants, and all names but those of operators.
func disguisedValue(h hash.Hash, v value.Value) value.Value {
	switch v.Kind() {
	case value.KindString:
		return value.String(disguisedText(h, v.Str()))
	case value.KindDocument, value.KindArray:
		b := value.NewBuilder()
		for name, of := range v.Doc().All() {
			if v.Kind() == value.KindDocument && !strings.HasPrefix(name, "$") {
				name = disguisedText(h, name)
			}
			b.Append(name, disguisedValue(h, of))
		}
		if v.Kind() == value.KindArray {
			return value.Array(b.Doc())
		}
		return value.Document(b.Doc())
	}
	return v
}

// disguisedText replaces each part of a path.
func disguisedText(h hash.Hash, text string) string {
	if strings.HasPrefix(text, "?") || text == "" {
		return text
	}
	rest := strings.TrimLeft(text, "$")
	parts := strings.Split(rest, ".")
	for i, part := range parts {
		h.Reset()
		_, _ = h.Write([]byte(part)) // never fails
		parts[i] = base64.StdEncoding.EncodeToString(h.Sum(nil))
	}
	return text[:len(text)-len(rest)] + strings.Join(parts, ".")
}
