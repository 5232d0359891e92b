package order

import "github.com/duskdb/duskdb/value"

// keyer makes the keys of documents for a sort. It reads the first field of the sort faster
// than [Pattern.AppendKey] does, and with it recognises documents that a sort with a limit will
// not return: it lies behind that of the worst document kept. No key is made for them.
// With more than two fields the key is made all the same, since it is an error if two of
// them are arrays.
type keyer struct {
	s      *Stage
	finder value.Finder
	part   *Part // the first field; nil if it needs another way
	bounds bool  // it is compared with the worst document's
	key    []byte

	worst value.Value
	at    int // Sorter.replaced when worst was read, and 1; 0: it was not
	vain  int // documents lately that were not excluded, less those that were
	idle  int // the number of documents to leave out, because the last ones were in vain
}

func newKeyer(s *Stage) *keyer {
	k := &keyer{s: s}
	k.bounds = s.Limit > 0 && len(s.Pattern) <= 2
	if part := &s.Pattern[0]; (k.bounds || len(s.Pattern) == 1) && !part.Meta && part.P.Len() == 1 {
		k.part, k.finder = part, value.NewFinder(part.Path)
	}
	return k
}

// add adds a document to the sorter, unless it cannot be among the first.
func (k *keyer) add(r *Sorter, d value.Doc) (err error) {
	if k.part == nil {
		return k.addKeyed(r, d)
	}
	alone := len(k.s.Pattern) == 1
	var v value.Value
	if alone {
		v = k.first(d)
	}
	if k.bounds && r.full() && k.looks() {
		if !alone {
			v = k.first(d)
		}
		if k.excludes(r, v) {
			return nil
		}
	}
	if !alone || v.Kind() == value.KindArray {
		return k.addKeyed(r, d)
	}
	if v.IsMissing() {
		v = value.Null()
	}
	k.key = appendPart(k.key[:0], v, k.part.Desc, k.s.Collator)
	return r.AddKeyed(k.key, d)
}

// addKeyed adds a document with the key of all fields.
func (k *keyer) addKeyed(r *Sorter, d value.Doc) (err error) {
	if k.key, err = k.s.AppendKey(k.key[:0], r.x.Env, d); err != nil {
		return err
	}
	return r.AddKeyed(k.key, d)
}

// looks reports whether the next document is compared with the worst before it has a key.
func (k *keyer) looks() bool {
	if k.idle > 0 {
		k.idle--
		return false
	}
	return true
}

// excludes reports whether the sorter has no use for a document with v in its first field.
// Only values of one type are compared, whose order is simple.
func (k *keyer) excludes(r *Sorter, v value.Value) bool {
	if k.at != r.replaced+1 {
		k.worst, k.at = k.first(r.worst().Doc), r.replaced+1
	}
	if k.behind(v) {
		k.vain = max(k.vain-1, 0)
		return true
	}
	if k.vain++; k.vain > 32 {
		k.vain, k.idle = 0, 512
	}
	return false
}

// behind reports whether a value certainly sorts behind that of the worst document.
func (k *keyer) behind(v value.Value) bool {
	if !ordered(v) || !ordered(k.worst) || v.Kind().Rank() != k.worst.Kind().Rank() {
		return false
	}
	c := value.Compare(v, k.worst)
	return c > 0 && !k.part.Desc || c < 0 && k.part.Desc
}

// first returns the value of the first field of the sort.
func (k *keyer) first(d value.Doc) value.Value {
	k.finder.Reset(d)
	_, v := k.finder.Next()
	return v
}

// ordered reports whether values of the type of v are sorted as they are, whatever the
// collation.
func ordered(v value.Value) bool {
	switch v.Kind() {
	case value.KindInt32, value.KindInt64, value.KindDouble, value.KindDateTime, value.KindObjectID, value.KindTimestamp:
		return true
	}
	return false
}
