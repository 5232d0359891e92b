package commands

import (
	"strconv"
	"strings"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// event returns the document of an operation; nil for one that is before the
// place the stream resumes at.
func (cs *changeStream) event(o *logOp) (value.Doc, error) {
	e := cs.shared(o)
	if cs.resume.passes(e.token) {
		return nil, nil
	}
	cs.made, cs.named, cs.split = e.token, e.named, false
	cs.closed = o.invalidate
	if e.key == nil {
		return e.event, nil
	}
	return cs.withImages(e, o)
}

// make makes an event, for all streams that want the same.
func (cs *changeStream) make(o *logOp) (e sharedEvent) {
	kind := eventKind(o)
	t := tokenData{ts: o.ts, event: true, index: o.index, fromInvalidate: o.invalidate}
	uuid, ok := uuidOf(o.op)
	if ok {
		t.uuid = &uuid
	}
	e.key = documentKey(o.op)
	described := description(o)
	t.identify(o, kind, e.key, described)
	e.token, e.named = t.encode(), t
	b := value.NewBuilder()
	b.Document("_id", e.token).String("operationType", kind).Append("clusterTime", stampValue(o.ts))
	if cs.expanded && ok && !o.invalidate {
		b.Append("collectionUUID", value.Binary(4, uuid[:]))
	}
	if o.lsid != nil && !o.invalidate {
		b.Document("lsid", o.lsid).Append("txnNumber", o.txn)
	}
	b.Date("wallTime", o.wall)
	switch {
	case o.invalidate:
	case e.key == nil:
		cs.appendCommand(b, o, kind, described)
	default:
		cs.appendChange(b, o, kind, e.key)
	}
	e.event = b.Doc()
	return e
}

func uuidOf(op value.Doc) (id [16]byte, ok bool) {
	_, data := op.Lookup("ui").Binary()
	return id, copy(id[:], data) == len(id)
}

// eventKind is the operationType of an operation.
func eventKind(o *logOp) string {
	if o.invalidate {
		return "invalidate"
	}
	if kind := documentEvent(o.op); kind != "" {
		return kind
	}
	name, _ := o.op.Lookup("o").Doc().First()
	switch name {
	case "renameCollection":
		return "rename"
	case "collMod":
		return "modify"
	case "commitIndexBuild":
		return "createIndexes"
	}
	return name
}

// documentEvent is the operationType of an operation on a document, else "".
func documentEvent(op value.Doc) string {
	switch op.Lookup("op").Str() {
	case "i":
		return "insert"
	case "d":
		return "delete"
	case "u":
		if first, _ := op.Lookup("o").Doc().First(); first == "$v" {
			return "update"
		}
		return "replace"
	}
	return ""
}

// documentKey is the key of the document that an operation is about, nil for
// a command.
func documentKey(op value.Doc) value.Doc {
	switch op.Lookup("op").Str() {
	case "i":
		return value.NewDoc("_id", op.Lookup("o").Doc().Lookup("_id"))
	case "u":
		return op.Lookup("o2").Doc()
	case "d":
		return op.Lookup("o").Doc()
	}
	return nil
}

// identify sets what names the event in its token: the document's key, or
// the command with its description.
func (t *tokenData) identify(o *logOp, kind string, key, description value.Doc) {
	if o.invalidate { // named after what it follows
		before := *o
		before.invalidate = false
		kind = eventKind(&before)
	}
	b := value.NewBuilder()
	b.String("operationType", kind)
	if key != nil {
		b.Document("documentKey", key)
	} else if description != nil {
		b.Document("operationDescription", description)
	}
	t.id = b.Doc()
}

// appendChange writes what changed in a document.
func (cs *changeStream) appendChange(b *value.Builder, o *logOp, kind string, key value.Doc) {
	full := o.op.Lookup("o")
	if kind == "insert" || kind == "replace" {
		b.Document("fullDocument", cs.shown(o, full.Doc()))
	}
	db, coll, _ := strings.Cut(o.op.Lookup("ns").Str(), ".")
	b.StartDocument("ns").String("db", db).String("coll", coll).End()
	b.Document("documentKey", key)
	switch {
	case kind == "update" && cs.raw:
		b.Append("rawUpdateDescription", full)
	case kind == "update":
		cs.appendUpdate(b, full.Doc().Lookup("diff").Doc())
	}
	cs.appendExpiration(b, o)
}

// shown is a version of a document that an operation has made, as finds show it.
func (cs *changeStream) shown(o *logOp, d value.Doc) value.Doc {
	db, coll, _ := strings.Cut(o.op.Lookup("ns").Str(), ".")
	info, err := cs.x.running().lookup(storage.Namespace{DB: db, Coll: coll})
	if uuid, ok := uuidOf(o.op); err != nil || info == nil || ok && info.UUID != uuid {
		return d
	}
	return metaOf(info).shown(d, o.wall)
}

// appendExpiration tells why something has been removed by the server.
func (cs *changeStream) appendExpiration(b *value.Builder, o *logOp) {
	if cs.expanded {
		b.Append("expiration", o.op.Lookup("expiration"))
	}
}

// appendUpdate writes updateDescription.
func (cs *changeStream) appendUpdate(b *value.Builder, diff value.Doc) {
	u := updateDescription{updated: value.NewBuilder(), removed: value.NewBuilder(), truncated: value.NewBuilder(), paths: value.NewBuilder()}
	u.walk(diff, nil, false)
	b.StartDocument("updateDescription").Document("updatedFields", u.updated.Doc())
	b.Array("removedFields", u.removed.Doc()).Array("truncatedArrays", u.truncated.Doc())
	if cs.expanded {
		b.Document("disambiguatedPaths", u.paths.Doc())
	}
	b.End()
}

// updateDescription turns the difference of two versions into dotted paths.
type updateDescription struct {
	updated, removed, truncated, paths *value.Builder
	removedN, truncatedN               int
}

// pathPart is a component of a path: a name, or a position in an array.
type pathPart struct {
	name     string
	position bool
}

func (u *updateDescription) walk(diff value.Doc, at []pathPart, array bool) {
	if array {
		u.walkArray(diff, at)
		return
	}
	for name, v := range diff.All() {
		switch {
		case name == "d":
			for field := range v.Doc().All() {
				u.removed.String(strconv.Itoa(u.removedN), u.path(at, pathPart{name: field}))
				u.removedN++
			}
		case name == "u" || name == "i":
			for field, e := range v.Doc().All() {
				u.updated.Append(u.path(at, pathPart{name: field}), e)
			}
		case strings.HasPrefix(name, "s"):
			sub := v.Doc()
			u.walk(sub, append(at[:len(at):len(at)], pathPart{name: name[1:]}), sub.Lookup("a").Truthy())
		}
	}
}

func (u *updateDescription) walkArray(diff value.Doc, at []pathPart) {
	for name, v := range diff.All() {
		switch {
		case name == "a":
		case name == "l":
			u.truncated.StartDocument(strconv.Itoa(u.truncatedN)).String("field", u.path(at)).Append("newSize", v).End()
			u.truncatedN++
		case name[0] == 'u':
			u.updated.Append(u.path(at, pathPart{name[1:], true}), v)
		case name[0] == 's':
			sub := v.Doc()
			u.walk(sub, append(at[:len(at):len(at)], pathPart{name[1:], true}), sub.Lookup("a").Truthy())
		}
	}
}

// path joins the components. Where the dotted form could be read in more
// than one way, disambiguatedPaths tells how it is meant.
func (u *updateDescription) path(at []pathPart, more ...pathPart) string {
	parts := append(at[:len(at):len(at)], more...)
	names := make([]string, len(parts))
	ambiguous := false
	for i, p := range parts {
		names[i] = p.name
		ambiguous = ambiguous || !p.position && (strings.Contains(p.name, ".") || isDigits(p.name) && i > 0)
	}
	dotted := strings.Join(names, ".")
	if ambiguous {
		u.paths.StartArray(dotted)
		for _, p := range parts {
			if n, err := strconv.Atoi(p.name); p.position && err == nil {
				u.paths.Int32("", int32(n))
			} else {
				u.paths.String("", p.name)
			}
		}
		u.paths.End()
	}
	return dotted
}

func isDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == "" && (s == "0" || s[0] != '0')
}
