package commands

import (
	"strings"

	"github.com/duskdb/duskdb/value"
)

// appendCommand writes what happened to a collection or database. The
// description is of expanded events.
func (cs *changeStream) appendCommand(b *value.Builder, o *logOp, kind string, description value.Doc) {
	_, first := o.op.Lookup("o").Doc().First()
	db := commandDB(o.op)
	switch kind {
	case "dropDatabase":
		b.StartDocument("ns").String("db", db).End()
	case "rename":
		appendNamespace(b, "ns", first.Str())
		b.Append("to", description.Lookup("to"))
	default:
		appendNamespace(b, "ns", db+"."+first.Str())
	}
	if cs.expanded && description != nil {
		b.Document("operationDescription", description)
	}
	if kind == "modify" && o.op.Has("o2") {
		appendStateBefore(b, o)
	}
	cs.appendExpiration(b, o)
}

func appendNamespace(b *value.Builder, name, full string) {
	db, coll, _ := strings.Cut(full, ".")
	b.StartDocument(name).String("db", db).String("coll", coll).End()
}

// description is the operationDescription of a command, which also is part
// of its token; nil if it has none.
func description(o *logOp) value.Doc {
	cmd := o.op.Lookup("o").Doc()
	rest := cmd.Iter()
	rest.Next()
	b := value.NewBuilder()
	switch rest.Key() {
	case "create", "collMod":
		b.Raw(rest.Rest())
	case "createIndexes":
		b.StartArray("indexes").StartDocument("").Raw(rest.Rest()).End().End()
	case "dropIndexes":
		b.StartArray("indexes").Append("", o.op.Lookup("o2")).End()
	case "renameCollection":
		appendNamespace(b, "to", cmd.Lookup("to").Str())
		b.Append("dropTarget", cmd.Lookup("dropTarget"))
	default:
		return nil
	}
	return b.Doc()
}

// appendStateBefore writes the options that collMod has changed.
func appendStateBefore(b *value.Builder, o *logOp) {
	old := o.op.Lookup("o2").Doc()
	b.StartDocument("stateBeforeChange").StartDocument("collectionOptions").Append("uuid", o.op.Lookup("ui"))
	it := old.Lookup("collectionOptions_old").Doc().Iter()
	b.Raw(it.Rest()).End()
	b.Append("indexOptions", old.Lookup("indexOptions_old")).End()
}
