package group

import "github.com/duskdb/duskdb/value"

// groupTable finds groups by their keys. Keys that are equal in MongoDB's order belong to
// one group, whatever their types. Whole numbers and strings are found without being
// converted to the bytes that sort like a value.
type groupTable struct {
	collator value.Collator
	numbers  map[int64]*group  // groups by whole numbers that fit a long
	texts    map[string]*group // groups by strings and symbols, without a collation
	others   map[string]*group // groups by the key of an index
	key      []byte
}

func newGroupTable(c value.Collator) groupTable {
	return groupTable{collator: c, numbers: map[int64]*group{}, texts: map[string]*group{}, others: map[string]*group{}}
}

// find returns the group of a key, nil if it is new.
func (t *groupTable) find(id value.Value) *group {
	if n, ok := id.AsInt64(); ok {
		return t.numbers[n]
	}
	if t.isText(id) {
		return t.texts[id.Str()]
	}
	t.key = value.AppendKeyWith(t.key[:0], id, t.collator)
	return t.others[string(t.key)]
}

func (t *groupTable) isText(id value.Value) bool {
	return t.collator == nil && (id.Kind() == value.KindString || id.Kind() == value.KindSymbol)
}

// add adds a group that was not found, and returns how much memory its key takes.
func (t *groupTable) add(grp *group) (size int) {
	if n, ok := grp.id.AsInt64(); ok {
		t.numbers[n] = grp
		return 16
	}
	if t.isText(grp.id) {
		t.texts[grp.id.Str()] = grp
		return 16
	}
	key := string(value.AppendKeyWith(t.key[:0], grp.id, t.collator))
	t.others[key] = grp
	return 2 * len(key)
}

// clear forgets all groups.
func (t *groupTable) clear() {
	clear(t.numbers)
	clear(t.texts)
	clear(t.others)
}
