package write

import (
	"strings"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/agg/stage"
	"github.com/duskdb/duskdb/value"
)

// outStage is $out.
type outStage struct {
	stage.Opaque
	target stage.OutTarget
}

// ParseOut compiles $out.
func ParseOut(p *stage.Parser, v value.Value) ([]stage.Stage, error) {
	s := &outStage{target: stage.OutTarget{DB: p.DB}}
	switch v.Kind() {
	case value.KindString:
		s.target.Coll = strings.Clone(v.Str())
	case value.KindDocument:
		if err := s.parseObject(v.Doc()); err != nil {
			return nil, err
		}
	default:
		return nil, mongoerr.Newf(16990, "$out only supports a string or object argument, but found %s", v.Kind())
	}
	return []stage.Stage{s}, checkOutTarget(p, s.target.DB, s.target.Coll)
}

func (s *outStage) parseObject(d value.Doc) (err error) {
	seen := map[string]bool{}
	for k, f := range d.All() {
		if seen[k] {
			return mongoerr.DuplicateField("$out." + k)
		}
		seen[k] = true
		if f.Kind() == value.KindNull && (k == "db" || k == "coll" || k == "timeseries") { // as if it were not there
			seen[k] = false
			continue
		}
		switch k {
		case "db":
			s.target.DB, err = stage.StringField("$out", k, f)
		case "coll":
			s.target.Coll, err = stage.StringField("$out", k, f)
		case "timeseries":
			if s.target.TimeSeries, err = stage.ObjectField("$out", k, f); err == nil {
				err = checkTimeSeries(s.target.TimeSeries)
			}
		default:
			err = stage.UnknownField("$out", k)
		}
		if err != nil {
			return err
		}
	}
	for _, name := range []string{"db", "coll"} {
		if !seen[name] {
			return stage.MissingField("$out", name)
		}
	}
	return nil
}

// timeSeriesOptions are the options of a time series with their types.
var timeSeriesOptions = map[string]string{
	"bucketMaxSpanSeconds": "number", "bucketRoundingSeconds": "number", "granularity": "string", "metaField": "string", "timeField": "string",
}

func checkTimeSeries(d value.Doc) error {
	for k, f := range d.All() {
		want, ok := timeSeriesOptions[k]
		switch {
		case ok && f.Kind() == value.KindNull: // as if it were not there
		case !ok:
			return stage.UnknownField("$out.timeseries", k)
		case want == "string" && f.Kind() != value.KindString:
			return stage.WrongType("$out.timeseries", k, f, want)
		case want == "number" && !f.IsNumber():
			return stage.WrongTypes("$out.timeseries", k, f, "long, int, decimal, double")
		}
	}
	if d.Lookup("timeField").IsNullish() {
		return stage.MissingField("$out.timeseries", "timeField")
	}
	return nil
}

func checkOutTarget(p *stage.Parser, db, coll string) error {
	switch {
	case stage.ValidTarget(db, strings.ReplaceAll(coll, "$", "_")) && strings.Contains(coll, "$"):
		return badTarget(p, "Invalid collection name: %s", coll)
	case len(db)+1+len(coll) > maxNamespace:
		return badTarget(p, "Fully qualified namespace is too long. Namespace: %s.%s Max: %d", db, coll, maxNamespace)
	case !stage.ValidTarget(db, coll):
		return mongoerr.Newf(mongoerr.InvalidNamespace, "Invalid $out target namespace, %s.%s", db, coll)
	case strings.HasPrefix(coll, "system."):
		return mongoerr.Newf(17385, "Can't $out to special collection: %s", coll)
	case stage.IsInternalDB(db):
		return mongoerr.Newf(31321, "Can't $out to internal database: %s", db)
	}
	return nil
}

// badTarget is the error for a name that mongod refuses when it renames the new
// collection.
func badTarget(p *stage.Parser, format string, args ...any) error {
	return mongoerr.Newf(mongoerr.IllegalOperation, "error with target namespace: "+format, args...).
		WithPrefix(p.Scope.Dialect().AggregationFailed(p.DB + "." + p.Coll))
}

// maxNamespace is the maximum length in bytes of a database name and a collection
// name together.
const maxNamespace = 255

func (s *outStage) Name() string { return "$out" }

func (s *outStage) Spec() value.Value {
	b := value.NewBuilder().String("coll", s.target.Coll).String("db", s.target.DB)
	if s.target.TimeSeries != nil {
		b.Document("timeseries", s.target.TimeSeries)
	}
	return value.Document(b.Doc())
}

func (s *outStage) Involved() []string { return []string{s.target.DB + "." + s.target.Coll} }

func (s *outStage) WritesTo() (db, coll string) { return s.target.DB, s.target.Coll }

func (s *outStage) Open(x *stage.Exec, src stage.Iterator) (stage.Iterator, error) {
	return stage.Pull(src, func() (value.Doc, error) {
		w, err := x.Host.Out(x, s.target)
		if err != nil {
			return nil, err
		}
		defer w.Abort()
		for {
			d, err := src.Next()
			if err != nil {
				return nil, err
			}
			if d == nil {
				return nil, w.Commit()
			}
			if err := w.Write(withID(x, d)); err != nil {
				return nil, err
			}
		}
	}), nil
}

// withID returns a document with an _id: if it has none, a new one as its first
// field.
func withID(x *stage.Exec, d value.Doc) value.Doc {
	if d.Has("_id") {
		return d
	}
	b := value.NewBuilder().Append("_id", value.ObjectID(value.NewOID(x.Env.Now)))
	it := d.Iter()
	for it.Next() {
		b.Raw(it.Element())
	}
	return b.Doc()
}
