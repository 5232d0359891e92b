package expr

import (
	"github.com/duskdb/duskdb/internal/dialect"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

var (
	evalType             = ofOne(func(v value.Value) value.Value { return value.String(v.Kind().String()) })
	evalIsNumber         = ofOne(func(v value.Value) value.Value { return value.Bool(v.IsNumber()) })
	evalToHashedIndexKey = ofOne(func(v value.Value) value.Value { return value.Int64(value.HashedKey(v)) })
)

// evalBinarySize evaluates $binarySize: the number of bytes of a string or of
// binary data.
func evalBinarySize(c *call, env *Env) (value.Value, error) {
	v, err := c.args[0].eval(env)
	switch {
	case err != nil:
		return value.Value{}, err
	case v.IsNullish():
		return value.Null(), nil
	case v.Kind() != value.KindBinary && v.Kind() != value.KindString:
		return value.Value{}, mongoerr.Newf(51276, "$binarySize requires a string or BinData argument, found: %s", v.Kind())
	}
	n := len(v.Bytes())
	if sub, _ := v.Binary(); v.Kind() == value.KindBinary && sub == 2 {
		n += 4 // the old subtype includes its repeated length
	}
	return value.Int32(int32(n)), nil
}

func evalBsonSize(c *call, env *Env) (value.Value, error) {
	v, null, err := ofKind(c.args[0], env, value.KindDocument, 31393, "$bsonSize requires a document input, found: %s")
	if null || err != nil {
		return value.Null(), err
	}
	return value.Int32(int32(v.Doc().Size())), nil
}

func parseRand(p *parser, op *operator, v value.Value) (node, error) {
	if v.Kind() != value.KindDocument && v.Kind() != value.KindArray {
		return nil, mongoerr.New(10065, "invalid parameter: expected an object ($rand)")
	}
	if !v.Doc().IsEmpty() {
		return nil, mongoerr.New(3040501, "$rand does not currently accept arguments")
	}
	return p.call(op), nil
}

func evalRand(_ *call, env *Env) (value.Value, error) { return value.Double(env.Rand()), nil }

func evalTsSecond(c *call, env *Env) (value.Value, error) {
	return timestampPart(c, env, 5687301, func(t, _ uint32) uint32 { return t })
}

func evalTsIncrement(c *call, env *Env) (value.Value, error) {
	return timestampPart(c, env, 5687302, func(_, i uint32) uint32 { return i })
}

func timestampPart(c *call, env *Env, code mongoerr.Code, part func(t, i uint32) uint32) (value.Value, error) {
	v, err := c.args[0].eval(env)
	switch {
	case err != nil:
		return value.Value{}, err
	case v.IsNullish():
		return value.Null(), nil
	case v.Kind() != value.KindTimestamp:
		// sic: mongod
		return value.Value{}, mongoerr.Newf(code, " Argument to %s must be a timestamp, but is %s", c.op.name, v.Kind())
	}
	return value.Int64(int64(part(v.Timestamp()))), nil
}

// metaNames are the names that $meta accepts.
var metaNames = map[string]MetaKind{
	"expiresAt":               MetaExpiresAt,
	"geoNearDistance":         MetaGeoNearDistance,
	"geoNearPoint":            MetaGeoNearPoint,
	"indexKey":                MetaIndexKey,
	"randVal":                 MetaRandVal,
	"recordId":                MetaRecordID,
	"score":                   MetaScore,
	"scoreDetails":            MetaScoreDetails,
	"searchHighlights":        MetaSearchHighlights,
	"searchRootDocumentId":    MetaSearchRootDocumentID,
	"searchScore":             MetaSearchScore,
	"searchScoreDetails":      MetaSearchScoreDetails,
	"searchSequenceToken":     MetaSearchSequenceToken,
	"sortKey":                 MetaSortKey,
	"textScore":               MetaTextScore,
	"timeseriesBucketMaxTime": MetaTimeseriesBucketMaxTime,
	"timeseriesBucketMinTime": MetaTimeseriesBucketMinTime,
	"vectorSearchScore":       MetaVectorSearchScore,
}

// metaKind returns the kind of metadata that {$meta: name} names.
func metaKind(d dialect.Dialect, v value.Value) (MetaKind, error) {
	if v.Kind() != value.KindString {
		return 0, mongoerr.New(17307, "$meta only supports string arguments")
	}
	k, ok := metaNames[v.Str()]
	if !ok || (k == MetaScore || k == MetaScoreDetails) && !d.Has(dialect.RankFusion) {
		return 0, d.Error(dialect.MetaUnknown, v.Str())
	}
	return k, nil
}

// meta reads a piece of the document's metadata.
type meta struct {
	kind MetaKind
	name value.Value
}

func parseMeta(p *parser, _ *operator, v value.Value) (node, error) {
	k, err := metaKind(p.scope.Dialect(), v)
	if err != nil {
		return nil, err
	}
	return &meta{k, v}, nil
}

func (m *meta) eval(env *Env) (value.Value, error) { return env.Meta.Get(m.kind), nil }

func (m *meta) deps(d *depSink) {
	if d.meta != nil {
		d.meta(m.kind)
	}
}

func (m *meta) serial() value.Value { return value.Document(value.NewDoc("$meta", m.name)) }
