package queue

import (
	"strings"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/query/match"
	"github.com/duskdb/duskdb/query/update"
	"github.com/duskdb/duskdb/value"
)

// Rules select the messages of a topic for a subscription. They are immutable.
type Rules struct {
	doc  value.Doc // the array as it was given
	list []rule
}

// rule is one of them. A message is selected by any rule without an action, once; each rule
// with an action makes a copy of its own, which it changes.
type rule struct {
	name   string
	never  bool           // the filter false
	filter *match.Matcher // nil: the filter true
	action *update.Update // nil: none
}

// defaultRules are those of a subscription that was created without rules, as in Service Bus.
var defaultRules = func() Rules {
	d := value.NewBuilder().Append("0", value.Document(value.NewDoc("name", value.String("$Default"), "filter", value.Bool(true)))).Doc()
	r, err := parseRules("rules", value.Array(d))
	if err != nil {
		panic(err)
	}
	return r
}()

// The bounds of the rules of a subscription: their number is that of the SQL filters of a
// topic in Service Bus.
const (
	maxRules     = 2000
	maxRulesSize = 1 << 20
)

func parseRules(name string, v value.Value) (r Rules, err error) {
	if v.Kind() != value.KindArray {
		return r, errType(name, v, "type 'array'")
	}
	if n := len(v.Doc()); n > maxRulesSize {
		return r, mongoerr.Newf(mongoerr.BadValue, "The rules of a subscription may have at most %d bytes, found %d", maxRulesSize, n)
	}
	r.doc = v.Doc().Clone()
	seen := map[string]bool{}
	for v := range r.doc.Values() {
		if v.Kind() != value.KindDocument {
			return r, errType(name, v, "type 'object'")
		}
		one, err := parseRule(name, v.Doc())
		switch {
		case err != nil:
			return r, err
		case seen[one.name]:
			return r, mongoerr.Newf(mongoerr.BadValue, "There are two rules with the name '%s'", one.name)
		case len(r.list) == maxRules:
			return r, mongoerr.Newf(mongoerr.BadValue, "A subscription may have at most %d rules", maxRules)
		}
		seen[one.name] = true
		r.list = append(r.list, one)
	}
	return r, nil
}

// ruleFields read the fields of a rule.
var ruleFields = map[string]func(r *rule, field string, v value.Value) error{
	"name": func(r *rule, field string, v value.Value) error {
		r.name = v.Str()
		if v.Kind() != value.KindString || r.name == "" || len(r.name) > maxIDLength {
			return mongoerr.Newf(mongoerr.BadValue, "The value of '%s' must be a string of 1 to %d bytes, found %s", field, maxIDLength, v)
		}
		return nil
	},
	"filter":            (*rule).setFilter,
	"correlationFilter": (*rule).setCorrelation,
	"action":            (*rule).setAction,
}

// sqlFields are what the SQL of Service Bus would be called.
var sqlFields = map[string]bool{"sqlFilter": true, "sqlExpression": true, "sqlAction": true, "sqlRuleAction": true}

func parseRule(name string, d value.Doc) (r rule, err error) {
	seen := map[string]bool{}
	for field, v := range d.All() {
		read, path := ruleFields[field], name+"."+field
		switch {
		case sqlFields[field]:
			return r, errSQL(field)
		case read == nil:
			return r, mongoerr.UnknownField(path)
		case seen[field]:
			return r, mongoerr.DuplicateField(path)
		}
		seen[field] = true
		if err := read(&r, path, v); err != nil {
			return r, err
		}
	}
	switch {
	case !seen["name"]:
		return r, mongoerr.MissingField(name + ".name")
	case seen["filter"] == seen["correlationFilter"]:
		return r, mongoerr.Newf(mongoerr.BadValue, "The rule '%s' needs either filter or correlationFilter", r.name)
	}
	return r, nil
}

func errSQL(field string) error {
	return mongoerr.Newf(mongoerr.InvalidOptions, "SQL is not supported in '%s': write a filter in MongoDB's query language, and an action with update operators", field)
}

// setFilter reads true, false, or a filter of the query language.
func (r *rule) setFilter(field string, v value.Value) (err error) {
	switch v.Kind() {
	case value.KindBool:
		r.never = !v.Bool()
		return nil
	case value.KindString:
		return errSQL(field)
	case value.KindDocument:
		if r.filter, err = match.Compile(v.Doc(), match.Options{}); err != nil {
			return err
		}
		if script := r.filter.Scripted(); script != "" { // others wait while rules are evaluated
			return mongoerr.Newf(mongoerr.BadValue, "%s is not allowed in this context", script)
		}
		return nil
	}
	return errType(field, v, "types '[bool, object]'")
}

// setCorrelation reads the values that fields of a message must have.
func (r *rule) setCorrelation(field string, v value.Value) (err error) {
	if v.Kind() != value.KindDocument {
		return errType(field, v, "type 'object'")
	}
	if v.Doc().IsEmpty() {
		return mongoerr.Newf(mongoerr.BadValue, "The value of '%s' must name at least one field", field)
	}
	b := value.NewBuilder()
	for path, want := range v.Doc().All() {
		if strings.HasPrefix(path, "$") || want.Kind() == value.KindRegex || isOperators(want) {
			return mongoerr.Newf(mongoerr.BadValue, "A correlation filter compares fields with values, found '%s' in '%s': use 'filter' instead", path, field)
		}
		b.Append(path, value.Document(value.NewDoc("$eq", want)))
	}
	r.filter, err = match.Compile(b.Doc(), match.Options{})
	return err
}

// isOperators reports whether a filter would take a value as operators.
func isOperators(v value.Value) bool {
	if v.Kind() != value.KindDocument {
		return false
	}
	name, _ := v.Doc().First()
	return strings.HasPrefix(name, "$")
}

// setAction reads update operators, which may change the fields of the sender.
func (r *rule) setAction(field string, v value.Value) (err error) {
	if v.Kind() == value.KindString {
		return errSQL(field)
	}
	if v.Kind() != value.KindDocument {
		return errType(field, v, "type 'object'")
	}
	if r.action, err = update.Compile(value.Document(v.Doc().Clone()), update.Options{}); err != nil {
		return err
	}
	if r.action.IsReplacement() || r.action.NeedsPosition() {
		return mongoerr.Newf(mongoerr.BadValue, "The value of '%s' must have update operators alone, without the positional operator", field)
	}
	for _, path := range r.action.TouchedPaths() {
		if root, _, _ := strings.Cut(path, "."); root == Field || root == "_id" {
			return mongoerr.Newf(mongoerr.BadValue, "The action of a rule cannot change the field '%s'", path)
		}
	}
	return nil
}

// eachCopy calls fn for the copies of a message that a subscription gets, one at a time: for
// the message as it is, if a rule without an action selects it, and once for each action.
// failed is why a rule could not be evaluated, with its copies left out.
func (r *Rules) eachCopy(m *message, now int64, changes *Changes, fn func(*message) error) (failed, err error) {
	var shown value.Doc
	plain := false
	for i := range r.list {
		one := &r.list[i]
		if one.never || plain && one.action == nil {
			continue
		}
		if one.filter != nil && shown == nil {
			shown = m.encode(browsed, false)
		}
		c := *m
		ok, why := one.apply(&c, shown, now, changes)
		if mongoerr.Is(why, mongoerr.TransactionTooLarge) {
			return failed, why
		}
		if why != nil {
			failed = why
		}
		if !ok {
			continue
		}
		plain = plain || one.action == nil
		if err := fn(&c); err != nil {
			return failed, err
		}
	}
	return failed, nil
}

// apply reports whether the rule selects a message, and applies its action to it.
func (r *rule) apply(m *message, shown value.Doc, now int64, changes *Changes) (ok bool, err error) {
	if r.filter != nil {
		if ok, err = r.filter.Match(changes.ruleEnv(now), shown); !ok || err != nil {
			return false, err
		}
	}
	if r.action == nil {
		return true, nil
	}
	err = r.change(m, changes.ruleEnv(now))
	return err == nil, err
}

// change applies the action to a copy of a message.
func (r *rule) change(m *message, env *expr.Env) error {
	d, _, err := r.action.Apply(env, m.sent(), update.ApplyOptions{Position: -1})
	if err != nil {
		return err
	}
	if len(d) > maxDocument {
		return mongoerr.Newf(mongoerr.BSONObjectTooLarge, "Resulting message is larger than %d bytes: %d", maxDocument, len(d))
	}
	m.head, m.tail, m.rule = d[4:len(d)-1], nil, r.name
	return nil
}

// The steps that the evaluation of rules may take, about 20 million in a second: the sender
// waits for it, and other writers may wait for the sender.
const (
	ruleSteps   = 1_000_000 // of one rule for one message
	stepsToAsk  = 1000      // between two calls of Interrupt, about
	maxAllSteps = 20 * ruleSteps
)

// ruleEnv is the environment of one evaluation.
func (c *Changes) ruleEnv(now int64) *expr.Env {
	env, left := expr.NewEnv(now), ruleSteps
	c.steps++
	env.Interrupt = func() error {
		left -= stepsToAsk
		c.steps += stepsToAsk
		switch {
		case left < 0:
			return mongoerr.New(mongoerr.ExceededTimeLimit, "the rule takes too long")
		case c.steps > maxAllSteps:
			return errTooManySteps
		}
		return nil
	}
	return env
}

var errTooManySteps = mongoerr.New(mongoerr.TransactionTooLarge, "The rules of the subscriptions take too long for the messages of one command or transaction: send fewer at once")
