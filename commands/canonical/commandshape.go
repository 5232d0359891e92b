package canonical

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/query/collation"
	"github.com/duskdb/duskdb/query/match"
	"github.com/duskdb/duskdb/value"
)

// The shape of a find, an aggregate or a distinct is what is left of it without
// its constants: query settings hold for a shape, and its hash names it where
// operations are shown. Filters are written out, each condition with its operator;
// their order makes a difference, as in mongod.

// ShapedCommands are the commands that have a shape, with the fields that are
// part of it, in this order, and how each is written.
var ShapedCommands = map[string][]shapedField{
	"find": {
		{"filter", shapeOfFilter}, {"sort", shapeOfSort}, {"projection", shapeOfProjection}, {"skip", shapeOfLiteral}, {"limit", shapeOfLiteral},
		{"min", shapeOfValues}, {"max", shapeOfValues}, {"hint", verbatim}, {"let", shapeOfValues}, {"collation", shapeOfCollation},
		{"singleBatch", verbatim}, {"allowDiskUse", verbatim}, {"returnKey", verbatim}, {"showRecordId", verbatim}, {"tailable", verbatim}, {"awaitData", verbatim},
	},
	"aggregate": {{"pipeline", shapeOfPipeline}, {"hint", verbatim}, {"let", shapeOfValues}, {"collation", shapeOfCollation}, {"allowDiskUse", verbatim}},
	"distinct":  {{"key", verbatim}, {"query", shapeOfFilter}, {"hint", verbatim}, {"collation", shapeOfCollation}},
}

type shapedField struct {
	name  string
	shape func(value.Value) value.Value
}

// countShape are the fields of count's shape, which has statistics but no settings.
var countShape = []shapedField{{"query", shapeOfFilter}, {"limit", shapeOfLiteral}, {"skip", shapeOfLiteral}, {"hint", verbatim}, {"collation", shapeOfCollation}}

// ShapeOfLiteral is the kind of a constant.
func ShapeOfLiteral(v value.Value) value.Value { return shapeOfLiteral(v) }

// HasStatistics reports whether $queryStats shows a command.
func HasStatistics(command string) bool {
	return command == "count" || ShapedCommands[command] != nil
}

// StatisticsShape is the shape of a command that has statistics, and its name.
func StatisticsShape(db string, command value.Doc) (shape value.Doc, hash string) {
	name, _ := command.First()
	if name == "count" {
		shape = shapeOf(db, command, countShape)
	} else {
		shape = CommandShape(db, command)
	}
	return shape, shapeHashOf(shape)
}

// CommandShape is the shape of a command on a database; nil: it has none.
func CommandShape(db string, command value.Doc) value.Doc {
	name, _ := command.First()
	fields, ok := ShapedCommands[name]
	if !ok {
		return nil
	}
	return shapeOf(db, command, fields)
}

func shapeOf(db string, command value.Doc, fields []shapedField) value.Doc {
	name, first := command.First()
	b := value.NewBuilder()
	b.StartDocument("cmdNs").String("db", db)
	if first.Kind() == value.KindString {
		b.String("coll", first.Str())
	} else {
		b.String("coll", "$cmd.aggregate")
	}
	b.End()
	b.String("command", name)
	for _, f := range fields {
		v, given := command.Get(f.name)
		empty := v.Kind() == value.KindDocument && v.Doc().IsEmpty() // counts as absent
		if given && v.Kind() != value.KindNull && !empty {
			b.Append(f.name, f.shape(v))
		}
	}
	return b.Doc()
}

// shapeHashOf names a shape.
func shapeHashOf(shape value.Doc) string {
	sum := sha256.Sum256(SortedFields(shape))
	return strings.ToUpper(hex.EncodeToString(sum[:]))
}

// QueryShapeHash is the name of the shape of a command, "" if it has none.
func QueryShapeHash(db string, command value.Doc) string {
	if shape := CommandShape(db, command); shape != nil {
		return shapeHashOf(shape)
	}
	return ""
}

func verbatim(v value.Value) value.Value { return v }

// shapeOfLiteral is the kind of a constant.
func shapeOfLiteral(v value.Value) value.Value {
	switch {
	case v.IsNumber():
		return value.String("?number")
	case v.Kind() == value.KindArray:
		return shapeOfArray(v)
	}
	return value.String("?" + v.Kind().String())
}

// shapeOfArray is the kind of an array of constants: how many there are makes
// no difference.
func shapeOfArray(v value.Value) value.Value {
	kind := ""
	for e := range v.Doc().Values() {
		k := shapeOfLiteral(e).Str()
		if kind != "" && k != kind {
			return value.String("?array<>")
		}
		kind = k
	}
	if kind == "" {
		return value.String("[]")
	}
	return value.String("?array<" + kind + ">")
}

// shapeOfFilter is the shape of a filter. One that does not compile has that of
// a document of expressions.
func shapeOfFilter(v value.Value) value.Value {
	if v.Kind() != value.KindDocument {
		return shapeOfLiteral(v)
	}
	m, err := match.Compile(v.Doc(), match.Options{AllowNear: true, Text: catalog.PlainText})
	if err != nil {
		return shapeOfExpression(v)
	}
	return value.Document(shapeOfConditions(m.Unordered()))
}

func shapeOfConditions(d value.Doc) value.Doc {
	b := value.NewBuilder()
	for key, v := range d.All() {
		switch {
		case (key == "$and" || key == "$or" || key == "$nor") && v.Kind() == value.KindArray:
			b.StartArray(key)
			for e := range v.Doc().Values() {
				b.Document("", shapeOfConditions(e.Doc()))
			}
			b.End()
		case key == "$expr":
			b.Append(key, shapeOfExpression(v))
		case key == "$jsonSchema":
			b.Append(key, v)
		case v.Kind() == value.KindDocument && IsOperators(v.Doc()):
			b.Document(key, shapeOfOperators(v.Doc()))
		case strings.HasPrefix(key, "$"):
			b.Append(key, shapeOfExpression(v))
		default:
			b.StartDocument(key).Append("$eq", shapeOfLiteral(v)).End()
		}
	}
	return b.Doc()
}

// IsOperators reports whether a document is an expression of operators and not a value:
// whether its first field begins with '$'.
func IsOperators(d value.Doc) bool {
	name, _ := d.First()
	return strings.HasPrefix(name, "$")
}

func shapeOfOperators(d value.Doc) value.Doc {
	b := value.NewBuilder()
	for op, v := range d.All() {
		switch {
		case op == "$exists":
			b.Append(op, v)
		case op == "$type":
			if v.Kind() != value.KindArray {
				v = value.NewArray(v)
			}
			b.Append(op, v)
		case op == "$not" && v.Kind() == value.KindDocument:
			b.Document(op, shapeOfOperators(v.Doc()))
		case op == "$elemMatch" && v.Kind() == value.KindDocument && IsOperators(v.Doc()) && !isLogical(v.Doc()):
			b.Document(op, shapeOfOperators(v.Doc()))
		case op == "$elemMatch" && v.Kind() == value.KindDocument:
			b.Document(op, shapeOfConditions(v.Doc()))
		default:
			b.Append(op, shapeOfLiteral(v))
		}
	}
	return b.Doc()
}

func isLogical(d value.Doc) bool {
	name, _ := d.First()
	return name == "$and" || name == "$or" || name == "$nor" || name == "$expr"
}

// shapeOfSort writes directions alike, whatever their types.
func shapeOfSort(v value.Value) value.Value {
	b := value.NewBuilder()
	for name, e := range v.Doc().All() {
		if e.IsNumber() {
			e = value.Int32(int32(e.SafeInt64()))
		}
		b.Append(name, e)
	}
	return value.Document(b.Doc())
}

func shapeOfProjection(v value.Value) value.Value {
	b := value.NewBuilder()
	for name, e := range v.Doc().All() {
		switch {
		case e.IsNumber() || e.Kind() == value.KindBool:
			b.Bool(name, e.Truthy())
		default:
			b.Append(name, shapeOfExpression(e))
		}
	}
	return value.Document(b.Doc())
}

func shapeOfCollation(v value.Value) value.Value {
	c, err := collation.Parse(v.Doc())
	if err != nil || c == nil {
		return v
	}
	return value.Document(c.Doc())
}

// shapeOfValues is the shape of each field of a document.
func shapeOfValues(v value.Value) value.Value {
	b := value.NewBuilder()
	for name, e := range v.Doc().All() {
		b.Append(name, shapeOfExpression(e))
	}
	return value.Document(b.Doc())
}

// shapeOfExpression is the shape of an expression: paths, variables and
// operators stay.
func shapeOfExpression(v value.Value) value.Value { return shapeWithin(v, false) }

// shapeWithin returns the shape of a part of a stage. names reports whether its strings
// are names, not constants.
func shapeWithin(v value.Value, names bool) value.Value {
	switch v.Kind() {
	case value.KindString:
		if names || strings.HasPrefix(v.Str(), "$") {
			return v
		}
	case value.KindArray:
		if !names && isConstant(v) {
			return shapeOfArray(v)
		}
		b := value.NewBuilder()
		b.StartArray("a")
		for e := range v.Doc().Values() {
			b.Append("", shapeWithin(e, names))
		}
		b.End()
		return b.Doc().Lookup("a")
	case value.KindDocument:
		return shapeOfFields(v.Doc(), names)
	}
	return shapeOfLiteral(v)
}

func shapeOfFields(d value.Doc, names bool) value.Value {
	if name, v := d.First(); d.Len() == 1 && (name == "$const" || name == "$literal") {
		return shapeOfLiteral(v)
	}
	b := value.NewBuilder()
	for name, e := range d.All() {
		switch {
		case name == "pipeline" && e.Kind() == value.KindArray:
			b.Append(name, shapeOfPipeline(e))
		case (name == "sortBy" || name == "sort") && e.Kind() == value.KindDocument:
			b.Append(name, shapeOfSort(e))
		default:
			b.Append(name, shapeWithin(e, names))
		}
	}
	return value.Document(b.Doc())
}

// isConstant reports whether an array holds nothing but constants.
func isConstant(v value.Value) bool {
	for e := range v.Doc().Values() {
		switch {
		case e.Kind() == value.KindString && strings.HasPrefix(e.Str(), "$"),
			e.Kind() == value.KindDocument, e.Kind() == value.KindArray && !isConstant(e):
			return false
		}
	}
	return true
}

// stagesOfNames are the stages whose strings are names of fields, collections,
// units or methods.
var stagesOfNames = map[string]bool{
	"$count": true, "$densify": true, "$fill": true, "$geoNear": true, "$graphLookup": true, "$lookup": true, "$merge": true, "$out": true,
	"$setWindowFields": true, "$unionWith": true, "$unset": true, "$unwind": true,
}

func shapeOfPipeline(v value.Value) value.Value {
	b := value.NewBuilder()
	b.StartArray("a")
	for stage := range v.Doc().Values() {
		name, spec := stage.Doc().First()
		b.StartDocument("").Append(name, shapeOfStage(name, spec)).End()
	}
	b.End()
	return b.Doc().Lookup("a")
}

func shapeOfStage(name string, spec value.Value) value.Value {
	switch {
	case name == "$match":
		return shapeOfFilter(spec)
	case name == "$sort" && spec.Kind() == value.KindDocument:
		return shapeOfSort(spec)
	case name == "$project" && spec.Kind() == value.KindDocument:
		return shapeOfProjection(spec)
	case name == "$facet" && spec.Kind() == value.KindDocument:
		b := value.NewBuilder()
		for field, pipeline := range spec.Doc().All() {
			b.Append(field, shapeOfPipeline(pipeline))
		}
		return value.Document(b.Doc())
	}
	return shapeWithin(spec, stagesOfNames[name])
}
