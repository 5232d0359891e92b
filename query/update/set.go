package update

import (
	"strings"

	"github.com/duskdb/duskdb/internal/dialect"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// set is $set.
type set struct{ constant }

// setOnInsert is $setOnInsert.
type setOnInsert struct{ set }

func compileSet(_ *compiler, _ string, v value.Value) (modifier, error) {
	return &set{constant: newConstant(v)}, nil
}

func compileSetOnInsert(_ *compiler, _ string, v value.Value) (modifier, error) {
	return &setOnInsert{set{newConstant(v)}}, nil
}

func (m *set) update(a *applier, e element) (outcome, error) {
	if m.is(e) {
		return unchanged, nil
	}
	return replaced, a.putConstant(&m.constant)
}

func (m *setOnInsert) update(a *applier, e element) (outcome, error) {
	if !a.insert {
		return unchanged, nil
	}
	return m.set.update(a, e)
}

func (m *set) create(a *applier) error { return a.putConstant(&m.constant) }

func (m *set) absent(*applier) (presence, error) { return creates, nil }

func (m *setOnInsert) absent(a *applier) (presence, error) {
	if !a.insert {
		return ignores, nil
	}
	return creates, nil
}

// unset is $unset. An array keeps its length: its element becomes null.
type unset struct{}

func compileUnset(*compiler, string, value.Value) (modifier, error) { return unset{}, nil }

func (unset) update(*applier, element) (outcome, error) { return removed, nil }
func (unset) create(*applier) error                     { return nil }
func (unset) absent(*applier) (presence, error)         { return ignores, nil }

// currentDate is $currentDate.
type currentDate struct {
	creator
	timestamp bool
}

func compileCurrentDate(_ *compiler, _ string, v value.Value) (modifier, error) {
	switch v.Kind() {
	case value.KindBool:
		return &currentDate{}, nil
	case value.KindDocument:
		return compileDateType(v.Doc())
	}
	return nil, mongoerr.Newf(mongoerr.BadValue, "%s is not valid type for $currentDate. Please use a boolean ('true')"+
		" or a $type expression ({$type: 'timestamp/date'}).", v.Kind())
}

// compileDateType compiles {$type: "date" or "timestamp"}.
func compileDateType(d value.Doc) (modifier, error) {
	m, found := &currentDate{}, false
	for name, v := range d.All() {
		if name != "$type" {
			return nil, mongoerr.Newf(mongoerr.BadValue, "Unrecognized $currentDate option: %s", name)
		}
		if v.Kind() != value.KindString {
			continue
		}
		switch v.Str() {
		case "date":
			m.timestamp, found = false, true
		case "timestamp":
			m.timestamp, found = true, true
		}
	}
	if !found {
		return nil, mongoerr.New(mongoerr.BadValue,
			"The '$type' string field is required to be 'date' or 'timestamp': {$currentDate: {field : {$type: 'date'}}}")
	}
	return m, nil
}

func (m *currentDate) update(a *applier, _ element) (outcome, error) { return replaced, m.create(a) }

func (m *currentDate) create(a *applier) error {
	if m.timestamp {
		a.put(a.u.timestamp(a.env))
	} else {
		a.put(value.DateTime(a.env.Now))
	}
	return a.checkDepth(0)
}

// rename is the target of a $rename. The value that it writes is found before
// the walk begins (see findRenamed), which is possible because no other
// operator may touch the source.
type rename struct {
	from  []string
	order int // place among the renames of the update
	text  string
}

// movedAway is the source of a $rename.
type movedAway struct{ to *rename }

// compileRename compiles the target of a $rename.
func compileRename(c *compiler, path string, v value.Value) (modifier, error) {
	target := v.Str()
	if strings.IndexByte(target, 0) >= 0 {
		return nil, c.u.opts.Dialect.Error(dialect.RenameNUL)
	}
	from, to := strings.Split(path, "."), strings.Split(target, ".")
	if path == target {
		return nil, mongoerr.Newf(mongoerr.BadValue, "The source and target field for $rename must differ: %s", elementString(path, v))
	}
	if isPrefix(from, to) || isPrefix(to, from) {
		return nil, mongoerr.Newf(mongoerr.BadValue, "The source and target field for $rename must not be on the same path: %s",
			elementString(path, v))
	}
	if isDynamic(from) {
		return nil, mongoerr.Newf(mongoerr.BadValue, "The source field for $rename may not be dynamic: %s", path)
	}
	if isDynamic(to) {
		return nil, mongoerr.Newf(mongoerr.BadValue, "The destination field for $rename may not be dynamic: %s", target)
	}
	m := &rename{from: from, order: len(c.u.renames), text: target}
	c.u.renames = append(c.u.renames, m)
	return m, nil
}

// findRenamed looks the sources of all renames up.
func (a *applier) findRenamed() error {
	if len(a.u.renames) == 0 {
		return nil
	}
	a.moved = make([]value.Value, len(a.u.renames))
	find := value.Doc.Lookup
	if len(a.u.renames) >= manyRenames {
		find = remembered()
	}
	for i, m := range a.u.renames {
		v, err := a.source(m.from, find)
		if err != nil {
			return err
		}
		a.moved[i] = v
	}
	return nil
}

// manyRenames is the number of renames from which on maps of the fields cost less than a search
// for each name.
const manyRenames = 32

// remembered returns a look-up that remembers the fields of the documents it has seen.
func remembered() func(value.Doc, string) value.Value {
	seen := map[*byte]map[string]value.Value{}
	return func(d value.Doc, name string) value.Value {
		fields := seen[&d[0]]
		if fields == nil {
			fields = map[string]value.Value{}
			for k, v := range d.All() {
				if _, twice := fields[k]; !twice {
					fields[k] = v
				}
			}
			seen[&d[0]] = fields
		}
		return fields[name]
	}
}

// source follows the path of a rename; it may not lead through an array.
func (a *applier) source(from []string, find func(value.Doc, string) value.Value) (value.Value, error) {
	v, array := value.Document(a.doc), ""
	for i, part := range from {
		here := v
		switch v.Kind() {
		case value.KindDocument:
			v = find(v.Doc(), part)
		case value.KindArray:
			n, ok := arrayIndex(part)
			if !ok {
				return v, notTraversable(from, i, here)
			}
			array = from[i-1]
			v = v.Doc().Index(n)
		default:
			return v, notTraversable(from, i, here)
		}
		if v.IsMissing() {
			return v, nil
		}
	}
	if array != "" {
		return v, mongoerr.Newf(mongoerr.BadValue, "The source field cannot be an array element, '%s' in doc with %s has an array field called '%s'",
			strings.Join(from, "."), a.idString("no id"), array)
	}
	return v, nil
}

func notTraversable(path []string, i int, v value.Value) error {
	return mongoerr.Newf(mongoerr.PathNotViable, "cannot use the part (%s of %s) to traverse the element ({%s})",
		path[i-1], strings.Join(path, "."), elementString(path[i-1], v))
}

func (m *rename) update(a *applier, _ element) (outcome, error) {
	p, err := m.absent(a)
	if err != nil || p != creates {
		return unchanged, err
	}
	return replaced, m.create(a)
}

func (m *rename) create(a *applier) error {
	v := a.moved[m.order]
	a.put(v)
	return a.checkDepth(depthOf(v))
}

func (m *rename) absent(a *applier) (presence, error) {
	if a.moved[m.order].IsMissing() {
		return ignores, nil
	}
	if a.inArray {
		return ignores, m.targetInArray(a, a.array)
	}
	return creates, nil
}

func (m *rename) targetInArray(a *applier, array string) error {
	return mongoerr.Newf(mongoerr.BadValue, "The destination field cannot be an array element, '%s' in doc with %s has an array field called '%s'",
		m.text, a.idString("no id"), array)
}

func (m *movedAway) update(a *applier, _ element) (outcome, error) {
	if a.moved[m.to.order].IsMissing() {
		return unchanged, nil
	}
	return removed, nil
}

func (m *movedAway) create(*applier) error             { return nil }
func (m *movedAway) absent(*applier) (presence, error) { return ignores, nil }
