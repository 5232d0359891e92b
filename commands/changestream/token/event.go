package token

import (
	"github.com/duskdb/duskdb/value"
)

// EventKind is the operationType of an operation.
func EventKind(o *LogOp) string {
	if o.Invalidate {
		return "invalidate"
	}
	if kind := DocumentEvent(o.Op); kind != "" {
		return kind
	}
	if IsShardEvent(o.Op) {
		return ShardEvent
	}
	name, _ := o.Op.Lookup("o").Doc().First()
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

// ShardEvent is the operationType of the event about a new shard key.
const ShardEvent = "shardCollection"

// IsShardEvent reports whether an operation notes that a collection has got a shard key.
// Other operations of its kind have no event.
func IsShardEvent(op value.Doc) bool {
	if op.Lookup("op").Str() != "n" {
		return false
	}
	name, _ := op.Lookup("o2").Doc().First()
	return name == ShardEvent
}

// DocumentEvent is the operationType of an operation on a document, else "".
func DocumentEvent(op value.Doc) string {
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

// Identify sets the part of the token that identifies the event: the key of the document,
// or the command and its description.
func (t *Token) Identify(o *LogOp, kind string, key, description value.Doc) {
	if o.Invalidate { // it has the name of the event that it follows
		before := *o
		before.Invalidate = false
		kind = EventKind(&before)
	}
	b := value.NewBuilder()
	b.String("operationType", kind)
	if key != nil {
		b.Document("documentKey", key)
	} else if description != nil {
		b.Document("operationDescription", description)
	}
	t.ID = b.Doc()
}

// LogOp is one operation of the log on its way to become an event.
type LogOp struct {
	Op         value.Doc   // as the log has it
	TS         uint64      // cluster time of the event
	Wall       int64       // wall time, in milliseconds since the epoch
	Index      int         // within the transaction
	ImageTS    uint64      // time of the entry that has the image, and its place there
	Image      int         // place of the operation in the entry
	LSID       value.Doc   // session of a transaction
	Txn        value.Value // txnNumber, of a transaction
	Invalidate bool        // the invalidation that follows op
}
