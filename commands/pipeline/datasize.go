package pipeline

import (
	"github.com/duskdb/duskdb/commands/args"
	"github.com/duskdb/duskdb/commands/canonical"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/exec"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/mongoerr"
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
	key := a.KeyPattern
	if key == nil {
		key = patternOf(a.Min)
	}
	q := canonical.Query{Min: a.Min, Max: a.Max, Hint: value.Document(key)}
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

// patternOf makes {a: 1} of {a: value}.
func patternOf(d value.Doc) value.Doc {
	var b value.Builder
	b.Reset(nil)
	for name := range d.All() {
		b.Int32(name, 1)
	}
	return b.Doc()
}
