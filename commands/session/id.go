package session

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"github.com/duskdb/duskdb/commands/args"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/internal/auth"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// Key identifies a logical session: the client's UUID, and the user
// it belongs to.
type Key struct {
	ID   [16]byte // lsid.id
	User string   // "db.name"; the digest of a name behind a zero, where only that is known
	// Child tells apart the sessions within a session, that members of a cluster
	// run transactions in on behalf of a client: txnNumber, if any, and txnUUID.
	Child string
}

// Digest returns the digest that identifies the user in session ids.
func (k Key) Digest() [sha256.Size]byte {
	if len(k.User) == 1+sha256.Size && k.User[0] == 0 {
		return [sha256.Size]byte([]byte(k.User[1:]))
	}
	return sha256.Sum256([]byte(k.UserName()))
}

// UserName returns the user as "name@db"; "": nobody, or not known.
func (k Key) UserName() string {
	if n, err := auth.ParseID(k.User); err == nil {
		return n.String()
	}
	return ""
}

// Reader returns a number that stands for the session on all servers.
func (k Key) Reader() uint64 {
	digest := k.Digest()
	sum := sha256.New()
	_, _ = sum.Write(k.ID[:])
	_, _ = sum.Write(digest[:])
	_, _ = sum.Write([]byte(k.Child))
	return binary.BigEndian.Uint64(sum.Sum(nil))
}

// FormatUUID returns a UUID as messages show it.
func FormatUUID(id [16]byte) string {
	return fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}

// ReadUUID reads the UUID in the field prefix.name.
func ReadUUID(v value.Value, prefix, name string) (id [16]byte, err error) {
	subtype, data := v.Binary()
	switch {
	case v.Kind() == value.KindNull || v.Kind() == value.KindUndefined:
		return id, mongoerr.MissingField(prefix + "." + name)
	case v.Kind() == value.KindBinary && subtype == 4 && len(data) != len(id):
		return id, catalog.ErrInvalidUUID
	case v.Kind() != value.KindBinary || subtype != 4:
		return id, args.WrongUUID(prefix+"."+name, v)
	}
	copy(id[:], data)
	return id, nil
}

// ReadChild reads txnNumber and txnUUID of an lsid, which tell apart the sessions within
// a session.
func ReadChild(number, child value.Value, prefix string) (string, error) {
	if child.IsMissing() {
		if !number.IsMissing() {
			return "", mongoerr.New(mongoerr.InvalidOptions, "Cannot specify txnNumber in lsid without specifying txnUUID")
		}
		return "", nil
	}
	var b []byte
	if !number.IsMissing() {
		if number.Kind() != value.KindInt64 {
			return "", args.TypeError(prefix+".txnNumber", number, "long")
		}
		b = binary.BigEndian.AppendUint64(b, uint64(number.Int64()))
	}
	id, err := ReadUUID(child, prefix, "txnUUID")
	return string(append(b, id[:]...)), err
}

// ReadDigest reads a SHA-256 digest of a user name in the field of that name.
func ReadDigest(v value.Value, name string) (digest [sha256.Size]byte, err error) {
	subtype, data := v.Binary()
	switch {
	case v.Kind() != value.KindBinary:
		return digest, args.TypeError(name, v, "binData")
	case subtype != 0:
		return digest, args.WrongSubtype(name, v, "general")
	case len(data) != len(digest):
		return digest, mongoerr.Newf(mongoerr.UnsupportedFormat, "Unsupported SHA256Block hash length: %d", len(data))
	}
	copy(digest[:], data)
	return digest, nil
}

// RecordKey is a session's key as it is stored.
type RecordKey struct {
	id    [16]byte
	UID   [sha256.Size]byte // digest of the user: lsid.uid
	child string
}

// Record returns the key of the session's record.
func (k Key) Record() RecordKey {
	return RecordKey{id: k.ID, UID: k.Digest(), child: k.Child}
}

// Doc returns the key as the _id of the record in config.transactions.
func (k RecordKey) Doc() value.Doc {
	b := value.NewBuilder().Append("id", value.Binary(4, k.id[:])).Append("uid", value.Binary(0, k.UID[:]))
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

func readRecordKey(d value.Doc) (k RecordKey) {
	_, id := d.Lookup("id").Binary()
	_, uid := d.Lookup("uid").Binary()
	copy(k.id[:], id)
	copy(k.UID[:], uid)
	k.child, _ = ReadChild(d.Lookup("txnNumber"), d.Lookup("txnUUID"), "")
	return k
}
