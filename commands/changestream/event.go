package changestream

import (
	"strconv"
	"strings"

	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/changestream/token"
	"github.com/duskdb/duskdb/commands/clustertime"
	"github.com/duskdb/duskdb/commands/exec"
	"github.com/duskdb/duskdb/commands/oplog"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// event returns the document of an operation; nil for one that is before the
// place the stream resumes at.
func (cs *Stream) event(o *token.LogOp) (value.Doc, error) {
	e := cs.shared(o)
	if cs.Resume.passes(e.Token) {
		return nil, nil
	}
	cs.made, cs.named, cs.split = e.Token, e.Named, false
	cs.closed = o.Invalidate
	if e.Key == nil {
		return e.Event, nil
	}
	return cs.withImages(e, o)
}

// make makes an event, which all streams of the group share.
func (cs *Stream) make(o *token.LogOp) (e oplog.SharedEvent) {
	kind := token.EventKind(o)
	t := token.Token{TS: o.TS, Event: true, Index: o.Index, FromInvalidate: o.Invalidate}
	uuid, ok := uuidOf(o.Op)
	if ok {
		t.UUID = &uuid
	}
	e.Key = DocumentKey(o.Op)
	described := Describe(o)
	t.Identify(o, kind, e.Key, described)
	e.Token, e.Named = t.Encode(), t
	b := value.NewBuilder()
	if kind == "rename" && !o.Invalidate { // the one event that begins with another field
		b.Append("to", described.Lookup("to"))
	}
	b.Document("_id", e.Token).String("operationType", kind).Append("clusterTime", clustertime.Value(o.TS))
	if cs.expanded && ok && !o.Invalidate {
		b.Append("collectionUUID", value.Binary(4, uuid[:]))
	}
	if o.LSID != nil && !o.Invalidate {
		b.Document("lsid", o.LSID).Append("txnNumber", o.Txn)
	}
	b.Date("wallTime", o.Wall)
	switch {
	case o.Invalidate:
	case e.Key == nil:
		cs.appendCommand(b, o, kind, described)
	default:
		cs.appendChange(b, o, kind, e.Key)
	}
	e.Event = b.Doc()
	return e
}

func uuidOf(op value.Doc) (id [16]byte, ok bool) {
	_, data := op.Lookup("ui").Binary()
	return id, copy(id[:], data) == len(id)
}

// DocumentKey returns the key of the document that an operation is about, nil for
// a command.
func DocumentKey(op value.Doc) value.Doc {
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

// appendChange writes what changed in a document.
func (cs *Stream) appendChange(b *value.Builder, o *token.LogOp, kind string, key value.Doc) {
	full := o.Op.Lookup("o")
	if kind == "insert" || kind == "replace" {
		b.Document("fullDocument", cs.shown(o, full.Doc()))
	}
	db, coll, _ := strings.Cut(o.Op.Lookup("ns").Str(), ".")
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
func (cs *Stream) shown(o *token.LogOp, d value.Doc) value.Doc {
	db, coll, _ := strings.Cut(o.Op.Lookup("ns").Str(), ".")
	info, err := exec.Lookup(cs.x.Running(), storage.Namespace{DB: db, Coll: coll})
	if uuid, ok := uuidOf(o.Op); err != nil || info == nil || ok && info.UUID != uuid {
		return d
	}
	return catalog.Of(info).Shown(d, o.Wall)
}

// appendExpiration writes why the server removed a document.
func (cs *Stream) appendExpiration(b *value.Builder, o *token.LogOp) {
	if cs.expanded {
		b.Append("expiration", o.Op.Lookup("expiration"))
	}
}

// appendUpdate writes updateDescription.
func (cs *Stream) appendUpdate(b *value.Builder, diff value.Doc) {
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

// path joins the components. If the dotted form is ambiguous, it adds the components to
// disambiguatedPaths.
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

// shared returns an event as the first stream of the group made it.
func (cs *Stream) shared(o *token.LogOp) oplog.SharedEvent {
	k := oplog.EventKey{TS: o.TS, Index: o.Index, Invalidate: o.Invalidate, Expanded: cs.expanded, Raw: cs.raw}
	e, ok := cs.w.Find(k)
	if !ok {
		e = cs.make(o)
		cs.w.Keep(k, e)
	}
	return e
}
