package expr

import (
	"slices"

	"github.com/duskdb/duskdb/internal/dialect"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// Scope is the compile-time environment of variables: their names and the
// slots of their values. A child sees its parent's names and may shadow them.
// A nil *Scope has no user variables.
type Scope struct {
	parent *Scope
	names  []variable
	index  value.NameIndex // the last place of each name in names, if there are many
	next   int             // first free slot
	late   bool

	dialect dialect.Dialect
	alone   bool // see Alone
}

// ErrAlone is the error of $$CLUSTER_TIME on a server that is no member of a set.
var ErrAlone = mongoerr.New(10071200, "system variable $$CLUSTER_TIME is not available in standalone mode")

// manyNames is the number of names from which on a map is faster than a scan.
const manyNames = 12

type variable struct {
	name  string
	slot  int
	fixed *value.Value // the value of a constant; then slot is -1
}

// NewScope returns a scope without user variables, for expressions as a version of MongoDB
// understands them.
func NewScope(d dialect.Dialect) *Scope { return &Scope{dialect: d} }

// Alone makes s the scope of a server that is no member of a set: an expression with
// $$CLUSTER_TIME is refused whether or not it is evaluated. In versions without
// [dialect.ClusterTimeOfSets] it fails where it is evaluated. It returns s.
func (s *Scope) Alone() *Scope {
	s.alone = s.dialect.Has(dialect.ClusterTimeOfSets)
	return s
}

// Child returns a scope inside s. Its slots follow those of s.
func (s *Scope) Child() *Scope {
	return &Scope{parent: s, next: s.size(), dialect: s.Dialect(), alone: s.isAlone()}
}

// Root returns a scope like s without variables.
func (s *Scope) Root() *Scope {
	if s == nil {
		return nil
	}
	return &Scope{dialect: s.dialect, alone: s.alone}
}

func (s *Scope) isAlone() bool { return s != nil && s.alone }

// Dialect is the version of MongoDB as which expressions are compiled; the newest for a nil
// scope.
func (s *Scope) Dialect() dialect.Dialect {
	if s == nil {
		return dialect.Mongo82
	}
	return s.dialect
}

// Late returns a child of s in which constant sub-expressions are evaluated
// with the documents and not at compile time. mongod parses the pipeline of an
// update but never optimizes it, so an error in it occurs only when a document
// is updated.
func (s *Scope) Late() *Scope {
	c := s.Child()
	c.late = true
	return c
}

func (s *Scope) isLate() bool {
	for ; s != nil; s = s.parent {
		if s.late {
			return true
		}
	}
	return false
}

// Declare adds a variable and returns its slot in Env.Vars. The name is not
// checked: see [CheckVariableName]. A name declared twice keeps its slot.
func (s *Scope) Declare(name string) int {
	if i := s.place(name); i >= 0 && s.names[i].slot >= 0 {
		return s.names[i].slot
	}
	slot := s.next
	s.next++
	s.add(variable{name: name, slot: slot})
	return slot
}

func (s *Scope) add(v variable) {
	s.names = append(s.names, v)
	switch {
	case len(s.names) > manyNames:
		s.index.Add(v.name, len(s.names)-1, s.name)
	case len(s.names) == manyNames:
		for i := range s.names {
			s.index.Add(s.names[i].name, i, s.name)
		}
	}
}

func (s *Scope) name(place int) string { return s.names[place].name }

// place returns where this scope itself declares a name, -1 if it does not.
func (s *Scope) place(name string) int {
	if len(s.names) >= manyNames {
		return s.index.Find(name, s.name)
	}
	for i := len(s.names) - 1; i >= 0; i-- {
		if s.names[i].name == name {
			return i
		}
	}
	return -1
}

// DeclareConst adds a name that stands for a constant, such as KEEP in
// $redact.
func (s *Scope) DeclareConst(name string, v value.Value) {
	s.add(variable{name: name, slot: -1, fixed: &v})
}

// Lookup finds the slot of a variable.
func (s *Scope) Lookup(name string) (slot int, ok bool) {
	v, ok := s.find(name)
	return v.slot, ok && v.slot >= 0
}

// Names lists the variables that are visible, the innermost first.
func (s *Scope) Names() (names []string) {
	for ; s != nil; s = s.parent {
		for i := len(s.names) - 1; i >= 0; i-- {
			names = append(names, s.names[i].name)
		}
	}
	return names
}

func (s *Scope) size() int {
	if s == nil {
		return 0
	}
	return s.next
}

func (s *Scope) find(name string) (variable, bool) {
	for ; s != nil; s = s.parent {
		if i := s.place(name); i >= 0 {
			return s.names[i], true
		}
	}
	return variable{}, false
}

// Let is a compiled list of variable definitions.
type Let struct {
	slots []int
	exprs []*Expr
	names []string
}

// internalConstants are the names that servers of a cluster pass to each other
// in "let".
var internalConstants = map[string]bool{"NOW": true, "CLUSTER_TIME": true, "IS_MR": true, "JS_SCOPE": true}

// ScopeWithLet returns the scope of a command's "let". A definition may use
// earlier ones but no fields, because there is no document: evaluate the
// definitions once with [Let.Once].
func ScopeWithLet(d dialect.Dialect, let value.Doc) (*Scope, *Let, error) {
	s, l := NewScope(d), newLet(let.Len())
	s.names = make([]variable, 0, let.Len())
	for name, v := range let.All() {
		if internalConstants[name] {
			return nil, nil, mongoerr.Newf(4738901, "Attempt to set internal constant: %s", name)
		}
		if err := CheckVariableName(name); err != nil {
			return nil, nil, err
		}
		e, err := Compile(v, s)
		if err != nil {
			return nil, nil, err
		}
		if e.usesDocument() {
			return nil, nil, mongoerr.New(4890500, "Command let Expression tried to access a field, but this is not"+
				" allowed because command let expressions run before the query examines any documents.")
		}
		l.add(name, s.Declare(name), e)
	}
	return s, l, nil
}

// WithLet returns a child of s with the variables of a stage's "let" ($lookup,
// $merge): all definitions are compiled in s itself and may use fields. Bind
// them for each document.
func (s *Scope) WithLet(let value.Doc) (*Scope, *Let, error) {
	child, l := s.Child(), newLet(let.Len())
	for name, v := range let.All() {
		if err := CheckVariableName(name); err != nil {
			return nil, nil, err
		}
		e, err := Compile(v, s)
		if err != nil {
			return nil, nil, err
		}
		l.add(name, child.Declare(name), e)
	}
	return child, l, nil
}

func newLet(n int) *Let {
	return &Let{slots: make([]int, 0, n), exprs: make([]*Expr, 0, n), names: make([]string, 0, n)}
}

func (l *Let) add(name string, slot int, e *Expr) {
	l.names, l.slots, l.exprs = append(l.names, name), append(l.slots, slot), append(l.exprs, e)
}

// Len is the number of variables.
func (l *Let) Len() int { return len(l.exprs) }

// Exprs are the definitions in order; they must not be changed.
func (l *Let) Exprs() []*Expr { return l.exprs }

// Bind evaluates the definitions on d in env and stores them into the
// variables of into (which may be env itself).
func (l *Let) Bind(env, into *Env, d value.Doc) error {
	if n := len(l.slots); n > 0 && l.slots[n-1] >= cap(into.Vars) {
		into.Vars = slices.Grow(into.Vars, l.slots[n-1]+1-len(into.Vars))
	}
	for i, e := range l.exprs {
		v, err := e.Eval(env, d)
		if err != nil {
			return err
		}
		into.Set(l.slots[i], v)
	}
	return nil
}

// Once evaluates the definitions of a command's "let" for env itself, before
// the command knows its constants: $$NOW, $$CLUSTER_TIME and $$USER_ROLES are
// not available to them.
func (l *Let) Once(env *Env) error {
	defer func(bare bool, roles value.Value) { env.Bare, env.UserRoles = bare, roles }(env.Bare, env.UserRoles)
	env.Bare, env.UserRoles = true, value.Value{}
	return l.Bind(env, env, value.EmptyDoc)
}

// Missing returns a variable without a value in env, among those for which
// needed is true.
func (l *Let) Missing(env *Env, needed func(name string) bool) (name string, ok bool) {
	for i, slot := range l.slots {
		if env.Get(slot).IsMissing() && needed(l.names[i]) {
			return l.names[i], true
		}
	}
	return "", false
}

// CheckVariableName checks a name that a user wants to define.
func CheckVariableName(name string) error {
	if name == "" {
		return mongoerr.New(mongoerr.FailedToParse, "empty variable names are not allowed")
	}
	if name == "CURRENT" {
		return nil
	}
	if c := name[0]; (c < 'a' || c > 'z') && c < 0x80 {
		return mongoerr.Newf(mongoerr.FailedToParse, "'%s' starts with an invalid character for a user variable name", name)
	}
	return checkVariableRest(name)
}

// checkVariableRead checks a name that a user wants to read.
func checkVariableRead(name string) error {
	if name == "" {
		return mongoerr.New(mongoerr.FailedToParse, "empty variable names are not allowed")
	}
	if c := name[0]; (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && c < 0x80 {
		return mongoerr.Newf(mongoerr.FailedToParse, "'%s' starts with an invalid character for a user variable name", name)
	}
	return checkVariableRest(name)
}

func checkVariableRest(name string) error {
	for i := 1; i < len(name); i++ {
		c := name[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c >= 0x80:
		default:
			return mongoerr.Newf(mongoerr.FailedToParse, "'%s' contains an invalid character for a variable name: '%c'", name, c)
		}
	}
	return nil
}
