package changestream

import (
	"strings"

	"github.com/duskdb/duskdb/commands/changestream/token"
	"github.com/duskdb/duskdb/internal/reserved"
	"github.com/duskdb/duskdb/timeseries"
	"github.com/duskdb/duskdb/value"
)

// appendCommand writes what happened to a collection or database. The
// description is of expanded events.
func (cs *Stream) appendCommand(b *value.Builder, o *token.LogOp, kind string, description value.Doc) {
	_, first := o.Op.Lookup("o").Doc().First()
	db := commandDB(o.Op)
	switch kind {
	case "dropDatabase":
		b.StartDocument("ns").String("db", db).End()
	case "rename":
		appendNamespace(b, "ns", first.Str())
	case token.ShardEvent:
		appendNamespace(b, "ns", o.Op.Lookup("ns").Str())
	default:
		appendNamespace(b, "ns", db+"."+first.Str())
	}
	if cs.expanded && description != nil {
		b.Document("operationDescription", description)
	}
	if kind == "modify" && o.Op.Has("ui") {
		appendStateBefore(b, o)
	}
	if kind == "create" {
		b.String("nsType", namespaceType(description))
	}
	cs.appendExpiration(b, o)
}

func appendNamespace(b *value.Builder, name, full string) {
	db, coll, _ := strings.Cut(full, ".")
	b.StartDocument(name).String("db", db).String("coll", coll).End()
}

// namespaceType returns the nsType of what has been created.
func namespaceType(description value.Doc) string {
	switch on := description.Lookup("viewOn"); {
	case on.IsMissing():
		return "collection"
	case reserved.IsBuckets(on.Str()):
		return "timeseries"
	}
	return "view"
}

// Describe returns the operationDescription of a command, which also is part
// of its token; nil if it has none.
func Describe(o *token.LogOp) value.Doc {
	cmd := o.Op.Lookup("o").Doc()
	rest := cmd.Iter()
	rest.Next()
	b := value.NewBuilder()
	if token.IsShardEvent(o.Op) {
		rest = o.Op.Lookup("o2").Doc().Iter()
		rest.Next()
		return b.Raw(rest.Rest()).Doc()
	}
	switch rest.Key() {
	case "create", "collMod":
		if aboutSeries(o.Op) {
			return seriesView(o.Op)
		}
		b.Raw(rest.Rest())
	case "createIndexes":
		b.StartArray("indexes").StartDocument("").Raw(rest.Rest()).End().End()
	case "commitIndexBuild":
		b.Append("indexes", cmd.Lookup("indexes"))
	case "dropIndexes":
		b.StartArray("indexes").Append("", o.Op.Lookup("o2")).End()
	case "renameCollection":
		appendNamespace(b, "to", cmd.Lookup("to").Str())
		b.Append("dropTarget", cmd.Lookup("dropTarget"))
	default:
		return nil
	}
	if d := b.Doc(); !d.IsEmpty() {
		return d
	}
	return nil
}

// aboutSeries reports whether an entry is about a time series, not about its buckets or
// another collection.
func aboutSeries(op value.Doc) bool {
	cmd := op.Lookup("o").Doc()
	return op.Lookup("ui").IsMissing() && cmd.Has("timeseries")
}

// seriesView describes a time series as the view that it is in events.
func seriesView(op value.Doc) value.Doc {
	cmd := op.Lookup("o").Doc()
	_, name := cmd.First()
	o := timeseries.LoadOptions(cmd.Lookup("timeseries"))
	if was := timeseries.LoadOptions(op.Lookup("o2").Doc().Lookup("collectionOptions_old").Doc().Lookup("timeseries")); was != nil {
		o, _ = was.CollMod(cmd.Lookup("timeseries")) // it was valid when it ran
	}
	b := value.NewBuilder().String("viewOn", reserved.Buckets(name.Str()))
	if o != nil {
		b.Array("pipeline", o.ViewPipeline())
	}
	return b.Doc()
}

// appendStateBefore writes the options that collMod has changed.
func appendStateBefore(b *value.Builder, o *token.LogOp) {
	old := o.Op.Lookup("o2").Doc()
	b.StartDocument("stateBeforeChange").StartDocument("collectionOptions").Append("uuid", o.Op.Lookup("ui"))
	it := old.Lookup("collectionOptions_old").Doc().Iter()
	b.Raw(it.Rest()).End()
	b.Append("indexOptions", old.Lookup("indexOptions_old")).End()
}
