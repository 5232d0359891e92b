package pipeline

import (
	"github.com/duskdb/duskdb/commands/args"
	"github.com/duskdb/duskdb/commands/canonical"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/exec"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/index"
	"github.com/duskdb/duskdb/query/plan"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

type dataSizeArgs struct {
	DataSize   *string        `arg:"dataSize"`
	Lower      *string        `arg:"datasize"`
	KeyPattern value.Doc      `arg:"keyPattern"`
	Min        value.Doc      `arg:"min"`
	Max        value.Doc      `arg:"max"`
	Estimate   args.LooseBool `arg:"estimate"`
}

var dataSizeSpec = args.New[dataSizeArgs]("dataSize")

// RunDataSize runs dataSize: the size of a collection, or of the documents between
// two keys of an index.
func RunDataSize(c *kernel.Call) error {
	var a dataSizeArgs
	if err := dataSizeSpec.Decode(c.Body, &a); err != nil {
		return err
	}
	name := a.DataSize
	if name == nil {
		name = a.Lower
	}
	if name == nil {
		return mongoerr.MissingField("dataSize.dataSize")
	}
	ns, err := catalog.ParseNamespace(*name)
	if err != nil {
		return err
	}
	if (a.Min == nil) != (a.Max == nil) {
		return mongoerr.New(mongoerr.BadValue, "only one of min or max specified")
	}
	start := c.Svc.Real.NowMillis()
	size, count, err := dataSize(c, ns, &a)
	if err != nil {
		return kernel.Translate(ns, err)
	}
	c.Reply.Int64("size", size).Int64("numObjects", count).Int64("millis", c.Svc.Real.NowMillis()-start).Bool("estimate", bool(a.Estimate))
	return nil
}

func dataSize(c *kernel.Call, ns storage.Namespace, a *dataSizeArgs) (size, count int64, err error) {
	s, info, err := sizesOf(c, ns)
	if err != nil || info == nil {
		return 0, 0, err
	}
	if catalog.Of(info).ReadThrough() {
		return 0, 0, catalog.NotOnView(ns)
	}
	if a.Min == nil {
		return s.bytes, s.count, nil
	}
	r, err := a.keyRange(c, info)
	if err != nil || r.isEmpty() {
		return 0, 0, err
	}
	q := canonical.Query{Query: plan.Query{Min: r.min, Max: r.max, Hint: plan.Hint{Name: r.index.Name}}}
	if err := canonical.CompileFilter(c, &q, catalog.Of(info)); err != nil {
		return 0, 0, err
	}
	src, err := exec.OpenRecords(c, exec.NewExecution(c), info, &q)
	if err != nil {
		return 0, 0, err
	}
	defer src.Close()
	for {
		r, ok, err := src.Next()
		if err != nil || !ok {
			return size, count, err
		}
		size, count = size+int64(len(r.Doc)), count+1
	}
}

// keyRange is a range of an index: min is in it, max is not.
type keyRange struct {
	index    *index.Spec
	min, max value.Doc
}

// keyRange finds an index that begins with the given key pattern, or with the fields of min,
// and completes the bounds for it.
func (a *dataSizeArgs) keyRange(c *kernel.Call, info *storage.Info) (r keyRange, err error) {
	key := a.KeyPattern
	if key == nil {
		key = patternOf(a.Min)
	}
	err = c.View(func(tx storage.Tx) error {
		coll, err := catalog.Open(tx, info.Namespace)
		if err != nil {
			return err
		}
		for _, spec := range catalog.Of(info).Indexes {
			if spec.Kind != index.Plain || spec.Sparse || spec.Hidden || spec.Partial != nil || spec.Collation != nil || !begins(spec.Key, key) {
				continue
			}
			st, err := coll.IndexStats(spec.StoredName())
			if err == nil && st.Multikey == 0 {
				r.index = spec
			}
			if err != nil || r.index != nil {
				return err
			}
		}
		return mongoerr.New(mongoerr.OperationFailed, "Couldn't find valid index containing key pattern")
	})
	if err == nil {
		r.min, err = completeBound(r.index, a.Min)
	}
	if err == nil {
		r.max, err = completeBound(r.index, a.Max)
	}
	return r, err
}

// begins reports whether a key pattern begins with the fields of another one.
func begins(pattern, with value.Doc) bool {
	it := pattern.Iter()
	for name, direction := range with.All() {
		if !it.Next() || it.Key() != name || !value.Equal(it.Value(), direction) {
			return false
		}
	}
	return true
}

// completeBound gives a bound the remaining fields of an index, with the values that come
// first.
func completeBound(spec *index.Spec, bound value.Doc) (value.Doc, error) {
	b := value.NewBuilder()
	it := bound.Iter()
	for _, f := range spec.Fields {
		switch {
		case it.Next():
			if it.Key() != f.Path {
				return nil, mongoerr.Newf(16634, "field names of bound %s do not match those of keyPattern %s", bound, spec.Key)
			}
			b.Append(f.Path, it.Value())
		case f.Desc:
			b.Append(f.Path, value.MaxKey())
		default:
			b.Append(f.Path, value.MinKey())
		}
	}
	if it.Next() {
		return nil, mongoerr.Newf(16634, "field names of bound %s do not match those of keyPattern %s", bound, spec.Key)
	}
	return b.Doc(), nil
}

// isEmpty reports whether min does not come before max.
func (r *keyRange) isEmpty() bool {
	for _, f := range r.index.Fields {
		switch d := value.Compare(r.min.Lookup(f.Path), r.max.Lookup(f.Path)); {
		case d != 0 && f.Desc:
			return d < 0
		case d != 0:
			return d > 0
		}
	}
	return true
}

// patternOf makes {a: 1} of {a: value}.
func patternOf(d value.Doc) value.Doc {
	var b value.Builder
	b.Reset(nil)
	for name := range d.All() {
		b.Int32(name, 1)
	}
	return b.Doc()
}
