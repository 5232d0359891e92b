package commands

import (
	"errors"
	"strings"

	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// withImages adds to the event of a document its versions before and after,
// as fullDocument and fullDocumentBeforeChange ask for them.
func (cs *changeStream) withImages(e sharedEvent, o *logOp) (value.Doc, error) {
	kind := documentEvent(o.op)
	wantsAfter := kind == "update" && cs.full != "" && cs.full != "default"
	wantsBefore := kind != "insert" && cs.before != "" && cs.before != "off"
	if !wantsAfter && !wantsBefore {
		return e.event, nil
	}
	uuid, _ := uuidOf(o.op)
	var before, after value.Doc
	err := cs.x.running().svc.engine.View(cs.x.running().ctx, func(tx storage.Tx) (err error) {
		before, after = nil, nil
		if wantsBefore || cs.full != "updateLookup" {
			if before, err = preImageOf(tx, o, uuid); err != nil {
				return err
			}
		}
		if wantsAfter && cs.full == "updateLookup" {
			after, err = cs.lookUp(tx, o.op.Lookup("ns").Str(), e.key, uuid)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if wantsAfter && cs.full != "updateLookup" && before != nil {
		after = cs.shown(o, applyDiff(before, o.op.Lookup("o").Doc().Lookup("diff").Doc()))
	}
	b := value.NewBuilder()
	it := e.event.Iter()
	b.Raw(it.Rest())
	if wantsAfter {
		if after == nil && cs.full == "required" {
			return nil, mongoerr.Newf(mongoerr.NoMatchingDocument, "Change stream was configured to require a post-image for all update events, but the post-image was not found for event: %s", cs.made)
		}
		appendOrNull(b, "fullDocument", after)
	}
	if wantsBefore {
		if before == nil && cs.before == "required" {
			return nil, mongoerr.Newf(mongoerr.NoMatchingDocument, "Change stream was configured to require a pre-image for all update, delete and replace events, but the pre-image was not found for event: %s", cs.made)
		}
		appendOrNull(b, "fullDocumentBeforeChange", before)
	}
	return b.Doc(), nil
}

func appendOrNull(b *value.Builder, name string, d value.Doc) {
	if d == nil {
		b.Null(name)
		return
	}
	b.Document(name, d)
}

// preImageOf finds the version before an operation, nil if none was kept.
func preImageOf(tx storage.Tx, o *logOp, uuid [16]byte) (value.Doc, error) {
	coll, err := tx.Collection(preImagesNS)
	if err != nil {
		return nil, nil
	}
	id := preImageID(uuid, o.imageTS, int64(o.image))
	r, ok, err := coll.Find(idIndex, value.AppendKey(nil, value.Document(id)))
	if !ok || err != nil {
		return nil, err
	}
	return r.Doc.Lookup("preImage").Doc(), nil
}

// lookUp reads the document as it is now.
func (cs *changeStream) lookUp(tx storage.Tx, full string, key value.Doc, uuid [16]byte) (value.Doc, error) {
	db, name, _ := strings.Cut(full, ".")
	coll, err := tx.Collection(storage.Namespace{DB: db, Coll: name})
	if errors.Is(err, storage.ErrNotFound) {
		return nil, nil
	}
	if err != nil || cs.matchUUID && coll.Info().UUID != uuid {
		return nil, err
	}
	see := cs.x.running().sight(coll)
	r, ok, err := see.byID(key.Lookup("_id"))
	if !ok || err != nil {
		return nil, err
	}
	return see.meta.shown(r.Doc, r.TS), nil
}
