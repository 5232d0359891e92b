package window

import (
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/agg/flow"
	"github.com/duskdb/duskdb/query/agg/stage"
	"github.com/duskdb/duskdb/value"
)

// ParseFill compiles $fill to a $setWindowFields and an $addFields.
func ParseFill(p *stage.Parser, v value.Value) ([]stage.Stage, error) {
	if v.Kind() != value.KindDocument {
		return nil, mongoerr.Newf(mongoerr.FailedToParse, "The $fill stage specification must be an object, found %s", v.Kind())
	}
	f := fillSpec{window: value.NewBuilder(), add: value.NewBuilder()}
	for k, arg := range v.Doc().All() {
		if err := f.option(k, arg); err != nil {
			return nil, err
		}
	}
	if f.output == nil {
		return nil, stage.MissingField("$fill", "output")
	}
	if f.output.IsEmpty() {
		return nil, mongoerr.New(6050203, "The output field in '$fill' must contain an object with at least one element")
	}
	if !f.partitionBy.IsMissing() && f.partitionFields != nil {
		return nil, mongoerr.New(6050204, "Maximum one of 'partitionBy' and 'partitionByFields can be specified in '$fill'")
	}
	for name, out := range f.output.All() {
		if err := f.field(name, out); err != nil {
			return nil, err
		}
	}
	return f.stages(p)
}

// fillSpec is a $fill while it is parsed.
type fillSpec struct {
	output          value.Doc
	sortBy          value.Value
	partitionBy     value.Value
	partitionFields []string
	window, add     *value.Builder // outputs by method and by value
	windows, adds   int
}

func (f *fillSpec) option(k string, arg value.Value) (err error) {
	switch k {
	case "output":
		f.output, err = stage.ObjectField("$fill", k, arg)
	case "sortBy":
		_, err = stage.ObjectField("$fill", k, arg)
		f.sortBy = arg
	case "partitionBy":
		if arg.Kind() != value.KindString && arg.Kind() != value.KindDocument {
			return stage.WrongTypes("$fill", k, arg, "string, object")
		}
		f.partitionBy = arg
	case "partitionByFields":
		f.partitionFields, err = stage.StringsField("$fill", k, arg)
		for _, name := range f.partitionFields {
			if name == "" || name[0] == '$' {
				return mongoerr.New(mongoerr.FailedToParse, "Paths in 'partitionByFields' should not be prefixed with '$'")
			}
		}
	default:
		err = stage.UnknownField("$fill", k)
	}
	return err
}

// field reads {name: {method: …}} or {name: {value: …}}.
func (f *fillSpec) field(name string, v value.Value) error {
	if v.Kind() != value.KindDocument {
		return mongoerr.New(6050200, "Each fill output specification must be an object with exactly one field")
	}
	method, hasMethod := v.Doc().Get("method")
	fill, hasValue := v.Doc().Get("value")
	for k := range v.Doc().All() {
		if k != "method" && k != "value" {
			return stage.UnknownField("$fill", k)
		}
	}
	ref := value.String("$" + name)
	switch {
	case hasMethod && hasValue:
		return mongoerr.New(6050201, "Each fill output specification must have exactly one of 'method' or 'value' fields, not both")
	case hasMethod && method.Kind() != value.KindString:
		return stage.WrongType("$fill", "method", method, "string")
	case hasMethod && method.Str() == "locf":
		f.window.StartDocument(name).Append("$locf", ref).End()
		f.windows++
	case hasMethod && method.Str() == "linear":
		f.window.StartDocument(name).Append("$linearFill", ref).End()
		f.windows++
	case hasMethod:
		return mongoerr.New(6050202, "Method must be either locf or linear")
	case hasValue:
		f.add.StartDocument(name).Append("$ifNull", value.NewArray(ref, fill)).End()
		f.adds++
	}
	return nil
}

func (f *fillSpec) stages(p *stage.Parser) (stages []stage.Stage, err error) {
	if f.windows > 0 && p.Update {
		return nil, mongoerr.New(mongoerr.InvalidOptions, "$_internalSetWindowFields is not allowed to be used within an update")
	}
	if f.windows > 0 {
		b := value.NewBuilder().Document("output", f.window.Doc())
		b.Append("sortBy", f.sortBy).Append("partitionBy", f.partitionBy)
		if f.partitionFields != nil {
			by := value.NewBuilder()
			for _, name := range f.partitionFields {
				by.String(name, "$"+name)
			}
			b.Document("partitionBy", by.Doc())
		}
		if stages, err = ParseSetWindowFields(p, value.Document(b.Doc())); err != nil {
			return nil, err
		}
	}
	if f.adds > 0 {
		add, err := flow.ParseAddFields(p, value.Document(f.add.Doc()))
		if err != nil {
			return nil, err
		}
		stages = append(stages, add...)
	}
	return stages, nil
}
