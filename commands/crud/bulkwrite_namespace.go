package crud

import (
	"github.com/duskdb/duskdb/commands/args"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/exec"
	"github.com/duskdb/duskdb/commands/gate"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// The namespaces of a bulkWrite, to which its operations refer by number.

type nsInfoArgs struct {
	NS         string         `arg:"ns,required"`
	UUID       args.UUID      `arg:"collectionUUID"`
	EncInfo    value.Value    `arg:"encryptionInformation"`
	TimeSeries args.LooseBool `arg:"isTimeseriesNamespace"`
}

var nsInfoSpec = args.New[nsInfoArgs]("bulkWrite.nsInfo")

// bulkNamespace is one of them.
type bulkNamespace struct {
	storage.Namespace
	uuid value.Value // the expected UUID of the collection; Missing: any
}

func (w *bulkWrite) readNamespaces(inBody args.Array) error {
	docs, err := gate.List(w.c, "nsInfo", inBody)
	if err != nil {
		return err
	}
	for _, d := range docs.All() {
		var a nsInfoArgs
		if err := nsInfoSpec.DecodeNested("bulkWrite.nsInfo", d, &a); err != nil {
			return err
		}
		ns, err := catalog.ParseNamespace(a.NS)
		if err != nil {
			shown := a.NS
			if ns.Coll == "" {
				shown = ns.DB
			}
			return mongoerr.Newf(mongoerr.InvalidNamespace, "Invalid namespace specified for bulkWrite: '%s'", shown)
		}
		if a.TimeSeries {
			return mongoerr.New(7934201, "'isTimeseriesNamespace' parameter can only be set when the request is sent on 'system.buckets' namespace to each shard")
		}
		uuid := value.Value(a.UUID)
		if _, id := uuid.Binary(); a.UUID.Given() && len(id) != 16 {
			return catalog.ErrInvalidUUID
		}
		w.namespaces = append(w.namespaces, bulkNamespace{ns, uuid})
	}
	return nil
}

// checkOps makes sure that each operation names one of the namespaces.
func (w *bulkWrite) checkOps() error {
	for _, op := range w.ops {
		if op.ns >= len(w.namespaces) {
			return mongoerr.Newf(mongoerr.BadValue, "BulkWrite ops entry %s has an invalid nsInfo index.", op.doc)
		}
	}
	return nil
}

// writable reports whether operations may write to a namespace.
func (w *bulkWrite) writable(i int) error {
	ns := &w.namespaces[i]
	if err := w.c.CheckWriteNamespace(ns.Namespace); err != nil || ns.uuid.IsMissing() {
		return err
	}
	info, err := exec.Lookup(w.c, ns.Namespace)
	if err != nil || info != nil && args.IsUUID(ns.uuid) && value.Equal(ns.uuid, value.Binary(4, info.UUID[:])) {
		return err
	}
	return w.c.ExpectUUID(ns.Namespace, args.UUID(ns.uuid))
}
