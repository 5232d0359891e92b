package transaction

import (
	"slices"

	"github.com/duskdb/duskdb/commands/access"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/session"
	"github.com/duskdb/duskdb/internal/auth"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// UserKey is the key of the sessions of {user, db}.
func UserKey(d value.Doc) session.Key {
	return session.Key{User: auth.Name{Name: d.Lookup("user").Str(), DB: d.Lookup("db").Str()}.ID()}
}

// LSID reads a session's id. prefix is its name in messages. The id may have the digest of
// another user if the client has the privilege impersonate, or one of the given privileges.
func LSID(c *kernel.Call, d value.Doc, prefix string, privileges ...string) (key session.Key, err error) {
	key.User = access.UserName(c)
	if id, ok := PlainID(d); ok {
		key.ID = id
		return key, nil
	}
	var uid, number, child value.Value
	found := false
	for name, v := range d.All() {
		switch name {
		case "id":
			found = true
			if key.ID, err = session.ReadUUID(v, prefix, "id"); err != nil {
				return key, err
			}
		case "uid":
			uid = v
		case "txnNumber":
			number = v
		case "txnUUID":
			child = v
		default:
			return key, mongoerr.UnknownField(prefix + "." + name)
		}
	}
	if !found {
		return key, mongoerr.MissingField(prefix + ".id")
	}
	if uid.IsMissing() && number.IsMissing() && child.IsMissing() {
		return key, nil
	}
	if key.Child, err = session.ReadChild(number, child, prefix); err == nil && !uid.IsMissing() {
		err = setDigest(c, &key, uid, prefix, privileges)
	}
	return key, err
}

// PlainID reads an lsid that has nothing but its UUID, as drivers send it.
func PlainID(d value.Doc) (id [16]byte, ok bool) {
	const head = "\x1e\x00\x00\x00\x05id\x00\x10\x00\x00\x00\x04" // {id: UUID(…
	if len(d) != len(head)+len(id)+1 || string(d[:len(head)]) != head {
		return id, false
	}
	copy(id[:], d[len(head):])
	return id, true
}

// setDigest sets the digest that the client gives.
func setDigest(c *kernel.Call, key *session.Key, uid value.Value, prefix string, privileges []string) error {
	digest, err := session.ReadDigest(uid, prefix+".uid")
	if err != nil || digest == key.Digest() {
		return err
	}
	may := func(action string) bool { return access.May(c, auth.Cluster(), action) }
	if !slices.ContainsFunc(append(privileges, "impersonate"), may) {
		return mongoerr.New(mongoerr.Unauthorized, "Unauthorized to set user digest in LogicalSessionId")
	}
	key.User = "\x00" + string(digest[:])
	return nil
}
