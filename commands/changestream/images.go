package changestream

import (
	"errors"
	"strings"

	"github.com/duskdb/duskdb/commands/changestream/token"
	"github.com/duskdb/duskdb/commands/oplog"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/internal/reserved"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// withImages adds to the event of a document its versions before and after,
// as fullDocument and fullDocumentBeforeChange ask for them.
func (cs *Stream) withImages(e oplog.SharedEvent, o *token.LogOp) (value.Doc, error) {
	kind := token.DocumentEvent(o.Op)
	wantsAfter := kind == "update" && cs.full != "" && cs.full != "default"
	wantsBefore := kind != "insert" && cs.before != "" && cs.before != "off"
	if !wantsAfter && !wantsBefore {
		return e.Event, nil
	}
	uuid, _ := uuidOf(o.Op)
	var before, after value.Doc
	err := cs.x.Running().Svc.Engine.View(cs.x.Running().Ctx, func(tx storage.Tx) (err error) {
		before, after = nil, nil
		if wantsBefore || cs.full != "updateLookup" {
			if before, err = preImageOf(tx, o, uuid); err != nil {
				return err
			}
		}
		if wantsAfter && cs.full == "updateLookup" {
			after, err = cs.lookUp(tx, o.Op.Lookup("ns").Str(), e.Key, uuid)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if wantsAfter && cs.full != "updateLookup" && before != nil {
		after = cs.shown(o, oplog.ApplyDiff(before, o.Op.Lookup("o").Doc().Lookup("diff").Doc()))
	}
	switch {
	case wantsAfter && after == nil && cs.full == "required":
		return nil, lacksImage("post-image for all update events, but the post-image", e.Event)
	case wantsBefore && before == nil && cs.before == "required":
		return nil, lacksImage("pre-image for all update, delete and replace events, but the pre-image", e.Event)
	}
	b := value.NewBuilder()
	for name, v := range e.Event.All() {
		if wantsAfter && name == "ns" { // where inserts have it, too
			appendOrNull(b, "fullDocument", after)
		}
		b.Append(name, v)
	}
	if wantsBefore {
		appendOrNull(b, "fullDocumentBeforeChange", before)
	}
	return b.Doc(), nil
}

// lacksImage is the error of a stream that requires images, for an event without.
func lacksImage(what string, event value.Doc) error {
	return mongoerr.Newf(mongoerr.NoMatchingDocument, "Change stream was configured to require a %s was not found for event: %s",
		what, value.Document(event).Compact())
}

func appendOrNull(b *value.Builder, name string, d value.Doc) {
	if d == nil {
		b.Null(name)
		return
	}
	b.Document(name, d)
}

// preImageOf finds the version before an operation, nil if none was kept.
func preImageOf(tx storage.Tx, o *token.LogOp, uuid [16]byte) (value.Doc, error) {
	coll, err := tx.Collection(oplog.PreImages)
	if err != nil {
		return nil, nil
	}
	id := oplog.PreImageID(uuid, o.ImageTS, int64(o.Image))
	r, ok, err := coll.Find(reserved.IDIndex, value.AppendKey(nil, value.Document(id)))
	if !ok || err != nil {
		return nil, err
	}
	return r.Doc.Lookup("preImage").Doc(), nil
}

// lookUp reads the document as it is now.
func (cs *Stream) lookUp(tx storage.Tx, full string, key value.Doc, uuid [16]byte) (value.Doc, error) {
	db, name, _ := strings.Cut(full, ".")
	coll, err := tx.Collection(storage.Namespace{DB: db, Coll: name})
	if errors.Is(err, storage.ErrNotFound) {
		return nil, nil
	}
	if err != nil || cs.matchUUID && coll.Info().UUID != uuid {
		return nil, err
	}
	see := cs.x.Running().Visible(coll)
	r, ok, err := see.ByID(key.Lookup("_id"))
	if !ok || err != nil {
		return nil, err
	}
	return see.Meta.Shown(r.Doc, r.TS), nil
}
