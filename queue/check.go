package queue

import (
	"strings"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// CheckUpdate refuses update, replace and findAndModify on a queue, whose
// messages only the queue commands may change. It accepts other collections.
func CheckUpdate(info *storage.Info) error {
	kind, _ := KindOf(info.Options)
	if kind == 0 {
		return nil
	}
	return mongoerr.Newf(mongoerr.IllegalOperation, "cannot modify the messages of the %s %s", kind, info.Namespace)
}

// CheckIndex refuses index specifications that a queue cannot have. On a
// dead-letter queue it allows only indexes that can never refuse a message.
func CheckIndex(info *storage.Info, spec value.Doc) error {
	if !IsQueue(info.Options) {
		return nil
	}
	if spec.Has("expireAfterSeconds") {
		return mongoerr.Newf(mongoerr.CannotCreateIndex, "TTL indexes are not supported on the message queue %s", info.Namespace)
	}
	n, plain := 0, true
	for name, v := range spec.Lookup("key").Doc().All() {
		if name == Field || strings.HasPrefix(name, Field+".") {
			return mongoerr.Newf(mongoerr.CannotCreateIndex, "The field '%s' of the message queue %s is owned by the server and cannot be indexed", Field, info.Namespace)
		}
		n++
		plain = plain && v.IsNumber() && !strings.Contains(name, "$")
	}
	if DeadLetterOf(info.Options) != "" && (n != 1 || !plain || spec.Lookup("unique").Truthy() || spec.Lookup("prepareUnique").Truthy()) {
		return mongoerr.Newf(mongoerr.CannotCreateIndex, "Only plain single-field indexes that are not unique are allowed on the dead-letter queue %s", info.Namespace)
	}
	return nil
}
