package applyops

import (
	"github.com/duskdb/duskdb/commands/access"
	"github.com/duskdb/duskdb/commands/args"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// demand is the privilege that a list of oplog entries requires in addition to
// those of its entries. A greater demand includes the smaller ones.
type demand uint8

const (
	plain     demand = iota
	useUUID          // an entry names a collection by its UUID
	forceUUID        // an entry chooses the UUID of a new collection
	superuser        // only who may do everything
)

// MaxDepth limits the nesting of applyOps within applyOps.
const MaxDepth = 10

// hasUUID reports whether a field of the document, at its top level, is a UUID.
func hasUUID(d value.Doc) bool {
	for _, v := range d.All() {
		if v.Kind() != value.KindBinary {
			continue
		}
		if subtype, _ := v.Binary(); subtype == 4 {
			return true
		}
	}
	return false
}

// mayApplyTo checks the privileges for the actions that an entry performs on the
// documents of a collection.
func mayApplyTo(c *kernel.Call, a *arguments, e *entry, ns storage.Namespace) error {
	var actions []string
	switch e.Op {
	case "i":
		actions = []string{"insert"}
	case "u":
		actions = []string{"update"}
		if e.Upserts() {
			actions = append(actions, "insert")
		}
	case "d":
		actions = []string{"remove"}
	default:
		return mongoerr.New(mongoerr.FailedToParse, "Unrecognized opType")
	}
	if a.Bypass && e.Op != "d" {
		actions = append(actions, "bypassDocumentValidation")
	}
	return access.Need(c, access.Pattern(ns), actions...)
}

// arguments are the arguments of applyOps.
type arguments struct {
	Ops          args.Array      `arg:"applyOps,required,any"`
	AllowAtomic  args.AnyBool    `arg:"allowAtomic"`
	AlwaysUpsert args.StrictBool `arg:"alwaysUpsert"`
	Prepare      value.Value     `arg:"prepare"`
	PartialTxn   value.Value     `arg:"partialTxn"`
	Count        args.LongOnly   `arg:"count"`
	Bypass       args.LooseBool  `arg:"bypassDocumentValidation"`
	PreCondition value.Value     `arg:"preCondition"`
	Mode         value.Value     `arg:"oplogApplicationMode"`
}

// entry are the fields of an oplog entry that applyOps reads.
type entry struct {
	Op     string      `arg:"op"`
	NS     string      `arg:"ns"`
	O      value.Doc   `arg:"o"`
	O2     value.Doc   `arg:"o2"`
	UUID   value.Value `arg:"ui"`
	Upsert *bool       `arg:"b"`

	Doc value.Doc // the entry, unchanged
}

// argumentsSpec and entrySpec decode the arguments of applyOps and the entries
// in it. Unknown fields are ignored, as by mongod.
var (
	argumentsSpec = args.New[arguments]("applyOps").Lenient()
	entrySpec     = args.New[entry]("applyOps.applyOps").Lenient()
)

// Check refuses the options that earlier versions had.
func (a *arguments) Check() error {
	switch {
	case !a.PreCondition.IsMissing():
		return mongoerr.New(6711600, "applyOps command no longer supports the 'preCondition' option")
	case bool(a.AlwaysUpsert):
		return mongoerr.New(6711601, "applyOps command no longer supports the 'alwaysUpsert' option")
	}
	return nil
}

// Nested decodes an applyOps that is an entry of another one. It inherits
// bypassDocumentValidation from the outer one.
func (a *arguments) Nested(o value.Doc) (*arguments, error) {
	var inner arguments
	if err := argumentsSpec.Decode(o, &inner); err != nil {
		return nil, err
	}
	inner.Bypass = inner.Bypass || a.Bypass
	return &inner, inner.Check()
}

// Upserts reports whether an update inserts a document if it finds none.
func (e *entry) Upserts() bool { return e.Upsert != nil && *e.Upsert }

// Collection returns the collection of an entry, which may name it by UUID. The
// error is NamespaceNotFound if there is no collection with the UUID.
func (e *entry) Collection(tx storage.Tx, ns storage.Namespace) (storage.Namespace, error) {
	if e.UUID.IsMissing() {
		return ns, nil
	}
	_, id := e.UUID.Binary()
	infos, err := tx.Collections("")
	if err != nil {
		return ns, err
	}
	for _, info := range infos {
		if string(info.UUID[:]) == string(id) {
			return info.Namespace, nil
		}
	}
	return ns, mongoerr.Newf(mongoerr.NamespaceNotFound, "No namespace with UUID %x", id)
}

// Missing returns the outcome of an entry for a collection that does not exist:
// deletes succeed, others fail with NamespaceNotFound.
func (e *entry) Missing(ns storage.Namespace) error {
	if e.Op == "d" {
		return nil
	}
	return mongoerr.Newf(mongoerr.NamespaceNotFound, "cannot apply insert or update operation on a non-existent namespace %s: %s", ns, e.Doc)
}

// loggedCommands are the commands that an oplog holds and that can be
// applied, and the form in which a client would give them.
var loggedCommands = map[string]func(o value.Doc) value.Doc{
	"create": asLogged, "drop": asLogged, "dropDatabase": asLogged, "renameCollection": asLogged, "collMod": asLogged,
	"dropIndexes": asLogged, "deleteIndexes": asLogged, "convertToCapped": asLogged, "applyOps": asLogged,
	"createIndexes":    func(o value.Doc) value.Doc { return indexesOf(o, value.NewArray(value.Document(rest(o)))) },
	"commitIndexBuild": func(o value.Doc) value.Doc { return indexesOf(o, o.Lookup("indexes")) },
	"startIndexBuild":  nil,
	"abortIndexBuild":  nil,
}

func asLogged(o value.Doc) value.Doc { return o }

// rest is a document without its first field.
func rest(o value.Doc) value.Doc {
	it := o.Iter()
	it.Next()
	b := value.NewBuilder()
	b.Raw(it.Rest())
	return b.Doc()
}

func indexesOf(o value.Doc, indexes value.Value) value.Doc {
	_, coll := o.First()
	return value.NewDoc("createIndexes", coll, "indexes", indexes)
}
