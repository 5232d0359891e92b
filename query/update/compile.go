package update

import (
	"maps"
	"slices"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// operators are the update operators, with the functions that compile their
// arguments. Please keep sorted.
var operators = map[string]func(c *compiler, path string, v value.Value) (modifier, error){
	"$addToSet":    compileAddToSet,
	"$bit":         compileBit,
	"$currentDate": compileCurrentDate,
	"$inc":         compileInc,
	"$max":         compileMax,
	"$min":         compileMin,
	"$mul":         compileMul,
	"$pop":         compilePop,
	"$pull":        compilePull,
	"$pullAll":     compilePullAll,
	"$push":        compilePush,
	"$rename":      compileRename,
	"$set":         compileSet,
	"$setOnInsert": compileSetOnInsert,
	"$unset":       compileUnset,
}

// Operators lists the update operators, sorted.
func Operators() []string { return slices.Sorted(maps.Keys(operators)) }

// compiler builds the tree of an operator document.
type compiler struct {
	u       *Update
	root    *object
	filters map[string]*arrayFilter
	order   []*arrayFilter // the filters in their original order
}

// compileOperators compiles a document of operators, and checks that all array
// filters are used.
func compileOperators(spec value.Doc, o Options) (*Update, error) {
	u := &Update{opts: o, root: &object{}, paths: []string{}}
	c := &compiler{u: u, root: u.root}
	if err := c.parseFilters(o.ArrayFilters); err != nil {
		return nil, err
	}
	for name, v := range spec.All() {
		if err := c.operator(name, v); err != nil {
			return nil, err
		}
	}
	if err := c.checkFiltersUsed(spec); err != nil {
		return nil, err
	}
	seal(u.root)
	u.grow = len(spec)
	return u, nil
}

// operator adds all paths of one operator.
func (c *compiler) operator(name string, v value.Value) error {
	compile := operators[name]
	if compile == nil {
		return mongoerr.Newf(mongoerr.FailedToParse, "Unknown modifier: %s. Expected a valid update modifier or"+
			" pipeline-style update specified as an array", name)
	}
	if v.Kind() != value.KindDocument {
		return mongoerr.Newf(mongoerr.FailedToParse, "Modifiers operate on fields but we found type %s instead."+
			" For example: {$mod: {<field>: ...}} not {%s: %s}", v.Kind(), name, v)
	}
	c.u.paths = slices.Grow(c.u.paths, v.Doc().Len())
	c.root.children = slices.Grow(c.root.children, v.Doc().Len())
	for path, arg := range v.Doc().All() {
		if err := c.field(name, path, arg); err != nil {
			return err
		}
	}
	return nil
}

// field adds one path of one operator to the tree. $rename adds two leaves:
// the source, so that conflicts with other operators are detected, and the
// target, which does the work.
func (c *compiler) field(name, path string, arg value.Value) error {
	var moved *movedAway
	if name == "$rename" {
		moved = &movedAway{}
		if err := c.place(path, path, moved); err != nil {
			return err
		}
		if arg.Kind() != value.KindString {
			return mongoerr.Newf(mongoerr.BadValue, "The 'to' field for $rename must be a string: %s", elementString(path, arg))
		}
	}
	target := path
	if moved != nil {
		target = arg.Str()
	}
	parts, err := parsePath(target)
	if err != nil {
		return err
	}
	m, err := operators[name](c, path, arg)
	if err != nil {
		return err
	}
	if moved != nil {
		moved.to = m.(*rename)
	}
	c.u.paths = append(c.u.paths, target)
	return c.add(target, parts, &leaf{m})
}

func (c *compiler) place(dotted, touched string, m modifier) error {
	parts, err := parsePath(dotted)
	if err != nil {
		return err
	}
	c.u.paths = append(c.u.paths, touched)
	return c.add(dotted, parts, &leaf{m})
}

// elementString prints a field as mongod prints elements: a.b: 1.
func elementString(name string, v value.Value) string { return name + ": " + v.String() }
