package commands

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/duskdb/duskdb/auth"
	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// sessionKey identifies a logical session: the client's UUID, and the user
// it belongs to.
type sessionKey struct {
	id   [16]byte
	user string // "db.name"; the digest of a name behind a zero, where only that is known
	// child tells apart the sessions within a session, that members of a cluster
	// run transactions in on behalf of a client: txnNumber, if any, and txnUUID.
	child string
}

// digest is what stands for the user outside of the server.
func (k sessionKey) digest() [sha256.Size]byte {
	if len(k.user) == 1+sha256.Size && k.user[0] == 0 {
		return [sha256.Size]byte([]byte(k.user[1:]))
	}
	return sha256.Sum256([]byte(k.userAt()))
}

// userAt is the user as "name@db"; "": nobody, or not known.
func (k sessionKey) userAt() string {
	if n, err := auth.ParseID(k.user); err == nil {
		return n.String()
	}
	return ""
}

// lsid reads a session's id; prefix is how messages name it. The digest of
// another user may be given by who may impersonate others, or has one of the
// privileges.
func (c *Call) lsid(d value.Doc, prefix string, privileges ...string) (key sessionKey, err error) {
	key.user = c.userName()
	var uid, number, child value.Value
	found := false
	for name, v := range d.All() {
		switch name {
		case "id":
			found = true
			if key.id, err = uuid(v, prefix, "id"); err != nil {
				return key, err
			}
		case "uid":
			uid = v
		case "txnNumber":
			number = v
		case "txnUUID":
			child = v
		default:
			return key, mongoerr.Newf(40415, "BSON field '%s.%s' is an unknown field.", prefix, name)
		}
	}
	if !found {
		return key, mongoerr.Newf(40414, "BSON field '%s.id' is missing but a required field", prefix)
	}
	if uid.IsMissing() && number.IsMissing() && child.IsMissing() {
		return key, nil
	}
	if key.child, err = childOf(number, child, prefix); err == nil && !uid.IsMissing() {
		err = c.setDigest(&key, uid, prefix, privileges)
	}
	return key, err
}

// newUUID makes a random UUID.
func newUUID() (id [16]byte) {
	_, _ = rand.Read(id[:]) // never fails
	id[6] = id[6]&0x0f | 0x40
	id[8] = id[8]&0x3f | 0x80
	return id
}

// uuidText is a UUID as messages show it.
func uuidText(id [16]byte) string {
	return fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}

// uuid reads a UUID.
func uuid(v value.Value, prefix, name string) (id [16]byte, err error) {
	subtype, data := v.Binary()
	switch {
	case v.Kind() == value.KindNull || v.Kind() == value.KindUndefined:
		return id, mongoerr.Newf(mongoerr.IDLFailedToParse, "BSON field '%s.%s' is missing but a required field", prefix, name)
	case v.Kind() == value.KindBinary && subtype == 4 && len(data) != len(id):
		return id, errNoUUID
	case v.Kind() != value.KindBinary || subtype != 4:
		return id, mongoerr.Newf(mongoerr.TypeMismatch, "BSON field '%s.%s' is the wrong type '%s', expected type 'UUID'", prefix, name, v.Kind())
	}
	copy(id[:], data)
	return id, nil
}

// childOf reads what tells apart the sessions within a session.
func childOf(number, child value.Value, prefix string) (string, error) {
	if child.IsMissing() {
		if !number.IsMissing() {
			return "", mongoerr.New(mongoerr.InvalidOptions, "Cannot specify txnNumber in lsid without specifying txnUUID")
		}
		return "", nil
	}
	var b []byte
	if !number.IsMissing() {
		if number.Kind() != value.KindInt64 {
			return "", typeError(prefix+".txnNumber", number, "long")
		}
		b = binary.BigEndian.AppendUint64(b, uint64(number.Int64()))
	}
	id, err := uuid(child, prefix, "txnUUID")
	return string(append(b, id[:]...)), err
}

// setDigest takes over a digest that the client gives.
func (c *Call) setDigest(key *sessionKey, uid value.Value, prefix string, privileges []string) error {
	digest, err := readDigest(uid, prefix+".uid")
	if err != nil || digest == key.digest() {
		return err
	}
	may := func(action string) bool { return c.may(auth.Cluster(), action) }
	if !slices.ContainsFunc(append(privileges, "impersonate"), may) {
		return mongoerr.New(mongoerr.Unauthorized, "Unauthorized to set user digest in LogicalSessionId")
	}
	key.user = "\x00" + string(digest[:])
	return nil
}

func readDigest(v value.Value, name string) (digest [sha256.Size]byte, err error) {
	subtype, data := v.Binary()
	switch {
	case v.Kind() != value.KindBinary:
		return digest, typeError(name, v, "binData")
	case subtype != 0:
		return digest, mongoerr.New(mongoerr.UnsupportedFormat, "SHA256Block only accepts BinDataGeneral type")
	case len(data) != len(digest):
		return digest, mongoerr.Newf(mongoerr.UnsupportedFormat, "Unsupported SHA256Block hash length: %d", len(data))
	}
	copy(digest[:], data)
	return digest, nil
}

// recordKey is a session's key as it is stored.
type recordKey struct {
	id    [16]byte
	uid   [sha256.Size]byte
	child string
}

func (k sessionKey) record() recordKey {
	return recordKey{id: k.id, uid: k.digest(), child: k.child}
}

func (k recordKey) doc() value.Doc {
	b := value.NewBuilder().Append("id", value.Binary(4, k.id[:])).Append("uid", value.Binary(0, k.uid[:]))
	child := []byte(k.child)
	if len(child) > 16 {
		b.Int64("txnNumber", int64(binary.BigEndian.Uint64(child)))
		child = child[8:]
	}
	if len(child) > 0 {
		b.Append("txnUUID", value.Binary(4, child))
	}
	return b.Doc()
}

func readRecordKey(d value.Doc) (k recordKey) {
	_, id := d.Lookup("id").Binary()
	_, uid := d.Lookup("uid").Binary()
	copy(k.id[:], id)
	copy(k.uid[:], uid)
	k.child, _ = childOf(d.Lookup("txnNumber"), d.Lookup("txnUUID"), "")
	return k
}
