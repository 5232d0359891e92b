package fusion

import (
	"fmt"
	"slices"
	"strings"

	"github.com/duskdb/duskdb/internal/editdistance"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/agg/stage"
	"github.com/duskdb/duskdb/value"
)

// specification is what $rankFusion and $scoreFusion are told.
type specification struct {
	stage         string // name of the stage
	inputs        []input
	scoreDetails  bool
	normalization string // way in which $scoreFusion makes scores comparable
	method        string // way in which it combines them; "": their average
	expression    value.Value
}

// input is one of the pipelines.
type input struct {
	name   string
	stages value.Doc
	weight float64
}

// reader reads the fields of an object. Fields that are null are as if they were not there.
type reader struct {
	where  string
	fields map[string]func(v value.Value) error
}

// read reads an object, as mongod's IDL parsers do.
func (r reader) read(d value.Doc, required ...string) error {
	if err := stage.NoDuplicates(r.where, d); err != nil {
		return err
	}
	for k, v := range d.All() {
		field, ok := r.fields[k]
		switch {
		case !ok:
			return stage.UnknownField(r.where, k)
		case v.IsNullish():
			continue
		}
		if err := field(v); err != nil {
			return err
		}
	}
	for _, name := range required {
		if d.Lookup(name).IsNullish() {
			return stage.MissingField(r.where, name)
		}
	}
	return nil
}

// object reads an object of the given fields.
func object(where, name string, fields map[string]func(v value.Value) error, required ...string) func(v value.Value) error {
	return func(v value.Value) error {
		d, err := stage.ObjectField(where, name, v)
		if err != nil {
			return err
		}
		return reader{where: where + "." + name, fields: fields}.read(d, required...)
	}
}

// boolean reads a boolean.
func boolean(where, name string, to *bool) func(v value.Value) error {
	return func(v value.Value) error {
		if v.Kind() != value.KindBool {
			return stage.WrongType(where, name, v, "bool")
		}
		*to = v.Bool()
		return nil
	}
}

// enumeration reads one of some words.
func enumeration(where, name string, to *string, words ...string) func(v value.Value) error {
	return func(v value.Value) error {
		s, err := stage.StringField(where, name, v)
		if err == nil && !slices.Contains(words, s) {
			err = mongoerr.Newf(mongoerr.BadValue, "Enumeration value '%s' for field '%s.%s' is not a valid value.", s, where, name)
		}
		*to = s
		return err
	}
}

// document reads an object that is looked at later.
func document(where, name string, to *value.Doc) func(v value.Value) error {
	return func(v value.Value) (err error) {
		*to, err = stage.ObjectField(where, name, v)
		return err
	}
}

// maxInputs is how many pipelines there may be: each becomes a stage.
const maxInputs = 1000

// readInputs reads the pipelines, which are sorted by name then.
func (s *specification) readInputs(pipelines value.Doc) error {
	if pipelines.IsEmpty() {
		return mongoerr.Newf(mongoerr.BadValue, "%s.input.pipelines must have at least one pipeline", s.stage)
	}
	for name, v := range pipelines.All() {
		if v.Kind() != value.KindArray {
			return mongoerr.New(mongoerr.TypeMismatch, "A pipeline must be an array of objects")
		}
		s.inputs = append(s.inputs, input{name: strings.Clone(name), stages: v.Doc(), weight: 1})
	}
	if len(s.inputs) > maxInputs {
		return mongoerr.Newf(7749501, "Pipeline length must be no longer than %d stages", maxInputs)
	}
	return nil
}

// checkNames checks the names of the pipelines, and sorts these.
func (s *specification) checkNames(duplicate mongoerr.Code) error {
	for _, in := range s.inputs {
		if err := stage.CheckFieldName(in.name); err != nil {
			return stage.WithPrefix(err, s.stage+" pipeline names must follow the naming rules of field path expressions.")
		}
	}
	slices.SortStableFunc(s.inputs, func(a, b input) int { return strings.Compare(a.name, b.name) })
	for i := 1; i < len(s.inputs); i++ {
		if name := s.inputs[i].name; name == s.inputs[i-1].name {
			return mongoerr.Newf(duplicate, "%s pipeline names must be unique, but found duplicate name '%s'.", s.stage, name)
		}
	}
	return nil
}

// readWeights reads the weights of pipelines; of the others it is 1.
func (s *specification) readWeights(weights value.Doc) error {
	var unknown []string
	matched := map[string]bool{}
	for name, v := range weights.All() {
		i := slices.IndexFunc(s.inputs, func(in input) bool { return in.name == name })
		if i < 0 {
			unknown = append(unknown, strings.Clone(name))
			continue
		}
		switch {
		case matched[name]:
			return mongoerr.Newf(9967401, "A pipeline named '%s' is specified more than once in the %s'combinations.weight' object.", name, s.stage)
		case !v.IsNumber():
			return mongoerr.New(13118, "unexpected or missing type value in BSON object")
		}
		w := v.AsDouble()
		if !(w >= 0) {
			return mongoerr.Newf(9460300, "%s's pipeline weight must be non-negative, but given %g for pipeline '%s'.", s.stage[1:], w, name)
		}
		s.inputs[i].weight, matched[s.inputs[i].name] = w, true
	}
	if n := weights.Len(); n > len(s.inputs) {
		return mongoerr.Newf(9460301, "%s input has more weights (%d) than pipelines (%d). "+
			"If 'combination.weights' is specified, there must be a less or equal number of weights as pipelines, each of which is unique and existing. "+
			"Possible extraneous specified weights = [%s]", s.stage, n, len(s.inputs), strings.Join(unknown, ", "))
	}
	if len(unknown) > 0 {
		return s.unknownWeights(unknown, matched)
	}
	return nil
}

// unknownWeights is the error of weights of pipelines that are not there. It suggests those
// that have no weight.
func (s *specification) unknownWeights(unknown []string, matched map[string]bool) error {
	var free []string
	for _, in := range s.inputs {
		if !matched[in.name] {
			free = append(free, in.name)
		}
	}
	var suggestions []string
	for _, name := range unknown {
		near := nearest(name, free)
		if len(near) == 1 {
			suggestions = append(suggestions, fmt.Sprintf("(provided: '%s' -> suggested: '%s')", name, near[0]))
		} else {
			suggestions = append(suggestions, fmt.Sprintf("(provided: '%s' -> suggestions: [%s])", name, strings.Join(near, ", ")))
		}
	}
	return mongoerr.Newf(9967500, "%s stage contained (%d) weight(s) in 'combination.weights' that did not reference valid pipeline names. Suggestions for valid pipeline names: %s",
		s.stage, len(unknown), strings.Join(suggestions, ", "))
}

// The bounds of what is compared for a suggestion.
const (
	maxNameLength = 64 // bytes
	maxNames      = 64
)

// nearest returns the names that take the fewest changes of letters to become name. Names
// that are long, or too many, are not compared.
func nearest(name string, names []string) (near []string) {
	best := -1
	for i, n := range names {
		if i >= maxNames || len(n) > maxNameLength || len(name) > maxNameLength {
			continue
		}
		switch d := editdistance.Levenshtein(name, n); {
		case best < 0 || d < best:
			best, near = d, []string{n}
		case d == best:
			near = append(near, n)
		}
	}
	return near
}
