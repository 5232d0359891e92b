package sharding

import (
	"strings"

	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/ddl"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/index"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

const hashed = "hashed"

// checkKey refuses documents that cannot be shard keys.
func checkKey(key value.Doc) error {
	bad := func(format string, args ...any) error { return mongoerr.Newf(mongoerr.BadValue, format, args...) }
	if key.IsEmpty() {
		return bad("Shard key is empty")
	}
	hashes := 0
	for name, v := range key.All() {
		switch {
		case name == "":
			return bad("Field %s is empty", name)
		case strings.Contains("."+name+".", ".."):
			return bad("Field %s contains empty parts", name)
		case v.Str() == hashed:
			hashes++
		case !v.IsNumber() || v.AsDouble() != 1:
			return bad("Field %s can only be 1 or 'hashed'", name)
		}
		for part := range strings.SplitSeq(name, ".") {
			if strings.HasPrefix(part, "$") {
				return bad("Field %s contains parts that start with '$'", name)
			}
		}
	}
	if hashes > 1 {
		return bad("Shard key can contain at most one 'hashed' field, but found: %s", key)
	}
	return nil
}

func isHashed(key value.Doc) bool {
	for _, v := range key.All() {
		if v.Str() == hashed {
			return true
		}
	}
	return false
}

// plainKey returns the key with its numbers as integers, so that equal keys are the same
// bytes.
func plainKey(key value.Doc) value.Doc {
	b := value.NewBuilder()
	for name, v := range key.All() {
		if v.IsNumber() {
			v = value.Int32(1)
		}
		b.Append(name, v)
	}
	return b.Doc()
}

// isPrefix reports whether the fields of key begin with those of prefix.
func isPrefix(prefix, key value.Doc) bool {
	it := key.Iter()
	for name, v := range prefix.All() {
		if !it.Next() || it.Key() != name || value.Compare(it.Value(), v) != 0 {
			return false
		}
	}
	return true
}

// isNamePrefix is isPrefix without the values.
func isNamePrefix(prefix, key value.Doc) bool {
	it := key.Iter()
	for name := range prefix.All() {
		if !it.Next() || it.Key() != name {
			return false
		}
	}
	return true
}

// shardKey is a proposed shard key.
type shardKey struct {
	ns       storage.Namespace
	key      value.Doc
	unique   bool
	implicit bool // an index may be made for it
	enforce  bool // the index must be unique if the key is
	refined  bool // the collection has another key
	reshard  bool // the index may also be made if there are documents
}

// ensureIndex makes sure that there is an index that begins with the key.
func (k *shardKey) ensureIndex(c *kernel.Call, tx storage.Tx, coll storage.Collection) error {
	useful, err := k.useful(coll)
	if useful || err != nil {
		return err
	}
	if !k.implicit && !k.refined {
		return mongoerr.New(6373200, "Must have an index compatible with the proposed shard key")
	}
	first, err := storageIsEmpty(coll)
	if err != nil {
		return err
	}
	if k.refined && !k.reshard || !first && !k.reshard {
		doing := "sharding the collection"
		if k.refined {
			doing = "refining the shard key of the collection"
		}
		return mongoerr.New(mongoerr.InvalidOptions, "Please create an index that starts with the proposed shard key before "+doing)
	}
	return ddl.EnsureIndex(c, tx, k.ns, k.spec(catalog.Of(coll.Info())))
}

func storageIsEmpty(coll storage.Collection) (bool, error) {
	n, err := coll.Count()
	return n == 0, err
}

// spec describes the index to be made.
func (k *shardKey) spec(m *catalog.Meta) value.Doc {
	b := value.NewBuilder().Document("key", k.key).String("name", index.DefaultName(k.key))
	if m.Collation != nil {
		b.StartDocument("collation").String("locale", "simple").End()
	}
	if k.unique {
		b.Bool("unique", true)
	}
	return b.Doc()
}

// useful reports whether an index serves the key. It returns an error if a unique index is
// not compatible with the key.
func (k *shardKey) useful(coll storage.Collection) (found bool, err error) {
	var exact *index.Spec
	for _, spec := range catalog.Of(coll.Info()).Indexes {
		if spec.IsUnique && !spec.IsID() && k.enforce && !isNamePrefix(k.key, spec.Key) {
			return false, mongoerr.Newf(mongoerr.InvalidOptions, "can't shard collection '%s' with unique index on %s and proposed shard key %s. Uniqueness can't be maintained unless shard key is a prefix", k.ns, spec.Key, k.key)
		}
		if spec.Sparse || spec.Partial != nil || spec.Collation != nil || !isPrefix(k.key, spec.Key) {
			continue
		}
		stats, err := coll.IndexStats(spec.Name)
		if err != nil {
			return false, err
		}
		if stats.Multikey != 0 {
			continue
		}
		found = true
		if isPrefix(spec.Key, k.key) {
			exact = spec
		}
	}
	if !found || !k.unique || !k.enforce {
		return found, nil
	}
	switch {
	case exact == nil:
		return false, nil // a unique one may be made
	case !exact.IsUnique && !exact.IsID():
		return false, mongoerr.Newf(mongoerr.InvalidOptions, "can't shard collection %s, %s index not unique, and unique index explicitly specified", k.ns, k.key)
	}
	return true, nil
}
