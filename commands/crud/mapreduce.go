package crud

import (
	"github.com/duskdb/duskdb/commands/access"
	"github.com/duskdb/duskdb/commands/args"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/exec"
	"github.com/duskdb/duskdb/commands/explain"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/pipeline"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/agg"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

type mapReduceArgs struct {
	Upper     value.Value    `arg:"mapReduce"`
	Lower     value.Value    `arg:"mapreduce"`
	Map       value.Value    `arg:"map,required"`
	Reduce    value.Value    `arg:"reduce,required"`
	Out       value.Value    `arg:"out,required"`
	Query     value.Doc      `arg:"query"`
	Sort      value.Doc      `arg:"sort"`
	Collation value.Doc      `arg:"collation"`
	Limit     *int64         `arg:"limit"`
	Finalize  value.Value    `arg:"finalize"`
	Scope     value.Doc      `arg:"scope"`
	Verbose   *bool          `arg:"verbose"`
	JSMode    *bool          `arg:"jsMode"`
	Bypass    args.LooseBool `arg:"bypassDocumentValidation"`
}

var mapReduceSpec = args.New[mapReduceArgs]("mapReduce")

// mapReduce is a mapReduce, checked: since MongoDB 4.4 it is an aggregation.
type mapReduce struct {
	mapReduceArgs
	ns       storage.Namespace
	maps     string // the functions
	reduces  string
	finalize string
	out      mapReduceOut
}

// mapReduceOut is where the results go.
type mapReduceOut struct {
	mode string // inline, replace, merge or reduce
	db   string // "": the command's
	coll string
}

// runMapReduce runs the pipeline that a mapReduce stands for.
func runMapReduce(c *kernel.Call) error {
	c.Body = c.Body.Clone()
	c.Svc.Metrics.Opcounters.Command.Add(1)
	r, m, err := openMapReduce(c, c.Body)
	if err != nil {
		return err
	}
	if m.out.mode == "inline" && c.HasClientWriteConcern() {
		return mongoerr.New(mongoerr.InvalidOptions, "Command does not support writeConcern")
	}
	it, err := r.Pipeline.Open(r.Agg)
	if err != nil {
		return kernel.Translate(r.NS, err)
	}
	if err := m.write(c, it); err != nil {
		return mongoerr.From(kernel.Translate(r.NS, err)).WithPrefix(mapReduceFailed)
	}
	if m.out.mode == "inline" {
		return nil
	}
	m.out.appendTo(c.Reply)
	return nil
}

// mapReduceFailed is mongod's prefix for errors of a running mapReduce.
const mapReduceFailed = "MapReduce internal error"

// write reads the results. Results that the pipeline does not write to a collection go
// into the reply.
func (m *mapReduce) write(c *kernel.Call, it agg.Iterator) error {
	if m.out.mode != "inline" {
		return pipeline.Drain(it)
	}
	defer it.Close()
	c.Reply.StartArray("results")
	for {
		d, err := it.Next()
		if err != nil {
			return err
		}
		if d == nil {
			c.Reply.End()
			return nil
		}
		if c.Reply.Len()+len(d) > kernel.MaxDocumentBytes {
			return mongoerr.New(mongoerr.BSONObjectTooLarge, "too much data for in memory map/reduce")
		}
		if err := c.AwaitReplyMemory(c.Reply.Len() + len(d)); err != nil {
			return err
		}
		c.Reply.Document("", d)
	}
}

func (o *mapReduceOut) appendTo(b *value.Builder) {
	if o.db == "" {
		b.String("result", o.coll)
		return
	}
	b.Document("result", value.NewDoc("db", value.String(o.db), "collection", value.String(o.coll)))
}

// openMapReduce compiles the command to an aggregation.
func openMapReduce(c *kernel.Call, body value.Doc) (*pipeline.Aggregation, *mapReduce, error) {
	m := &mapReduce{}
	if err := mapReduceSpec.Decode(body, &m.mapReduceArgs); err != nil {
		return nil, nil, err
	}
	_, name := body.First()
	var err error
	if m.ns, err = c.NamespaceOf(name); err != nil {
		return nil, nil, err
	}
	if err := m.check(); err != nil {
		return nil, nil, err
	}
	if info, err := exec.Lookup(c, m.ns); err != nil {
		return nil, nil, err
	} else if k := catalog.Of(info).Kind; k == catalog.View || k == catalog.TimeSeries {
		return nil, nil, mongoerr.New(mongoerr.CommandNotSupportedOnView, "mapReduce on a view is not supported")
	}
	c.Scripts.Stored, c.Scripts.Globals = true, m.Scope
	r, err := pipeline.CompileAggregate(c, &exec.AggregateArgs{
		Aggregate: value.String(m.ns.Coll), Pipeline: args.Array(m.pipeline()), Collation: m.Collation, Bypass: m.Bypass,
	})
	if err != nil {
		return nil, nil, m.compileError(c, err)
	}
	return r, m, nil
}

// check reads the arguments that have several forms: the functions and out.
func (m *mapReduce) check() (err error) {
	if m.maps, err = functionText("map", m.Map); err != nil {
		return err
	}
	if m.reduces, err = functionText("reduce", m.Reduce); err != nil {
		return err
	}
	if k := m.Finalize.Kind(); k != value.Missing && k != value.KindNull && k != value.KindUndefined {
		if m.finalize, err = functionText("finalize", m.Finalize); err != nil {
			return err
		}
	}
	if m.Limit != nil && *m.Limit < 0 {
		return mongoerr.New(15958, "The limit specified to mapReduce must be positive")
	}
	return m.out.read(m.Out)
}

// functionText is the source of a function of the command. CodeWScope was
// dropped in MongoDB 4.4.
func functionText(name string, v value.Value) (string, error) {
	switch v.Kind() {
	case value.KindString, value.KindCode:
		return v.Clone().Str(), nil
	case value.KindCodeScope:
		if _, scope := v.CodeScope(); scope.IsEmpty() {
			code, _ := v.Clone().CodeScope()
			return code, nil
		}
	}
	return "", mongoerr.Newf(mongoerr.BadValue, "'%s' must be of string or code type", name)
}

// OutModes maps the fields of out that name a collection to their modes.
var OutModes = map[string]string{"replace": "replace", "normal": "replace", "merge": "merge", "reduce": "reduce"}

func (o *mapReduceOut) read(v value.Value) error {
	switch v.Kind() {
	case value.KindString:
		o.mode, o.coll = "replace", v.Clone().Str()
		return o.check()
	case value.KindDocument:
	default:
		return mongoerr.New(13606, "'out' has to be a string or an object")
	}
	sharded := false
	for name, f := range v.Doc().All() {
		switch {
		case name == "inline":
			o.mode = "inline"
		case OutModes[name] != "":
			if f.Kind() != value.KindString {
				return args.WrongType("mapReduce.out", name, f, "string")
			}
			o.mode, o.coll = OutModes[name], f.Clone().Str()
		case name == "db":
			if f.Kind() != value.KindString {
				return args.WrongType("mapReduce.out", name, f, "string")
			}
			o.db = f.Clone().Str()
		case name == "sharded":
			sharded = f.Truthy()
		case name == "nonAtomic":
			if !f.Truthy() {
				return mongoerr.New(15895, "The nonAtomic:false option is no longer allowed in the mapReduce command. Please omit or specify nonAtomic:true")
			}
		default:
			return mongoerr.UnknownField("mapReduce.out." + name)
		}
	}
	switch {
	case o.mode == "":
		return mongoerr.New(13522, "please specify one of [replace|merge|reduce|inline] in 'out' object")
	case sharded:
		return mongoerr.New(mongoerr.InvalidOptions, "Cannot use mapReduce to create a new sharded collection. Please create and shard the target collection before proceeding.")
	}
	return o.check()
}

func (o *mapReduceOut) check() error {
	switch {
	case o.mode == "inline":
		return nil
	case o.db == "admin" || o.db == "config" || o.db == "local":
		return mongoerr.New(mongoerr.CommandNotSupported, "cannot target internal database as output")
	case o.coll == "":
		return mongoerr.New(mongoerr.InvalidNamespace, "Invalid output namespace for MapReduce")
	}
	return nil
}

// pipeline is the aggregation that a mapReduce stands for.
func (m *mapReduce) pipeline() value.Doc {
	var p value.ArrayBuilder
	stage := func(name string, v value.Value) { p.Append(value.Document(value.NewDoc(name, v))) }
	doc := func(pairs ...any) value.Value { return value.Document(value.NewDoc(pairs...)) }
	if m.Query != nil {
		stage("$match", value.Document(m.Query))
	}
	if m.Sort != nil {
		stage("$sort", value.Document(m.Sort))
	}
	if m.Limit != nil && *m.Limit > 0 {
		stage("$limit", value.Int64(*m.Limit))
	}
	stage("$project", doc(
		"emits", doc("$_internalJsEmit", doc("eval", value.String(m.maps), "this", value.String("$$ROOT"))),
		"_id", value.Bool(false)))
	stage("$unwind", value.String("$emits"))
	stage("$group", doc(
		"_id", value.String("$emits.k"),
		"value", doc("$_internalJsReduce", doc("data", value.String("$emits"), "eval", value.String(m.reduces)))))
	if m.finalize != "" {
		stage("$project", m.call(m.finalize, value.String("$_id"), value.String("$value")))
	}
	if v := m.target(); !v.IsMissing() {
		p.Append(v)
	}
	return p.Value().Doc()
}

// call is a projection whose field value is the result of a function.
func (m *mapReduce) call(code string, args ...value.Value) value.Value {
	f := value.NewDoc("body", value.String(code), "args", value.NewArray(args...), "lang", value.String("js"))
	return value.Document(value.NewDoc("value", value.Document(value.NewDoc("$function", value.Document(f)))))
}

// target is the stage that writes the results, Missing for none.
func (m *mapReduce) target() value.Value {
	db := access.DatabaseOr(m.out.db, m.ns.DB)
	into := value.Document(value.NewDoc("db", value.String(db), "coll", value.String(m.out.coll)))
	merge := func(whenMatched value.Value) value.Value {
		// without "on" it is by _id, whatever the collation of the command
		d := value.NewDoc("into", into, "whenMatched", whenMatched, "whenNotMatched", value.String("insert"))
		return value.Document(value.NewDoc("$merge", value.Document(d)))
	}
	switch m.out.mode {
	case "replace":
		return value.Document(value.NewDoc("$out", into))
	case "merge":
		return merge(value.String("replace"))
	case "reduce":
		both := value.NewArray(value.String("$value"), value.String("$$new.value"))
		stages := []value.Value{value.Document(value.NewDoc("$project", m.call(m.reduces, value.String("$_id"), both)))}
		if m.finalize != "" {
			stages = append(stages, value.Document(value.NewDoc("$project", m.call(m.finalize, value.String("$_id"), value.String("$value")))))
		}
		return merge(value.NewArray(stages...))
	}
	return value.Value{}
}

// compileError turns an error of the pipeline into the error of mapReduce.
func (m *mapReduce) compileError(c *kernel.Call, err error) error {
	e := mongoerr.From(err)
	at := access.DatabaseOr(m.out.db, c.DB)
	say := func(format string, args ...any) error { return mongoerr.Newf(e.Code, format, args...) }
	switch e.Code {
	case mongoerr.InvalidNamespace:
		return say("Invalid output namespace %s.%s for MapReduce", at, m.out.coll)
	case 15976:
		return say("The mapReduce sort option must have at least one sort key")
	case 15958:
		return say("The limit specified to mapReduce must be positive")
	case 17385, 31319:
		return say("Can't output mapReduce results to special collection %s", m.out.coll)
	case 31320, 31321:
		return say("Can't output mapReduce results to internal DB %s", at)
	}
	return e.WithPrefix(mapReduceFailed)
}

// explainMapReduce explains the aggregation that a mapReduce stands for.
func explainMapReduce(c *kernel.Call, body value.Doc, verbosity string) error {
	r, _, err := openMapReduce(c, body)
	if err != nil {
		return err
	}
	c.Body = body
	return explain.Pipeline(c, r, value.Value{}, verbosity)
}
