package pipeline

import (
	"strings"

	"github.com/duskdb/duskdb/commands/args"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/exec"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/observe"
	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// HiddenCollection tells the server's own collections, which no listing
// shows.
func HiddenCollection(ns storage.Namespace) bool { return strings.HasPrefix(ns.Coll, "$") }

// sizes are the figures of one collection.
type sizes struct {
	count, bytes int64
	indexes      map[string]int64
	order        []string
	indexBytes   int64
	meta         *catalog.Meta
}

func SizesOf(c *kernel.Call, ns storage.Namespace) (s sizes, info *storage.Info, err error) {
	s.indexes, s.meta = map[string]int64{}, catalog.None
	err = c.View(func(tx storage.Tx) error {
		coll, err := tx.Collection(ns)
		if err != nil {
			return nil
		}
		info = coll.Info()
		s.meta = catalog.Of(info)
		if s.meta.Kind == catalog.TimeSeries {
			if coll, err = tx.Collection(storage.Namespace{DB: ns.DB, Coll: catalog.BucketsPrefix + ns.Coll}); err != nil {
				return err
			}
		}
		s.count, s.bytes = coll.Count(), coll.Size()
		for _, spec := range catalog.Of(coll.Info()).Listed {
			st, err := catalog.Of(coll.Info()).IndexStats(coll, spec)
			if err != nil {
				return err
			}
			s.indexes[spec.Name] = st.Bytes
			s.order = append(s.order, spec.Name)
			s.indexBytes += st.Bytes
		}
		return nil
	})
	return s, info, err
}

type StatsArgs struct {
	CollStats value.Value `arg:"collStats"`
	Lower     value.Value `arg:"collstats"`
	Scale     value.Value `arg:"scale"`
	Verbose   value.Value `arg:"verbose"`
}

var StatsSpec = args.New[StatsArgs]("collStats")

// AppendCollStats writes the figures, as collStats and $collStats give them.
func AppendCollStats(c *kernel.Call, b *value.Builder, ns storage.Namespace, scale int64) error {
	s, info, err := SizesOf(c, ns)
	if err != nil {
		return err
	}
	if s.meta.Kind == catalog.View {
		return catalog.ErrIsView(ns)
	}
	b.String("ns", ns.String())
	n := func(key string, v int64) { b.Append(key, value.Int(v/scale)) }
	n("size", s.bytes)
	if s.meta.Kind == catalog.TimeSeries {
		b.StartDocument("timeseries").String("bucketsNs", ns.DB+"."+catalog.BucketsPrefix+ns.Coll).Append("bucketCount", value.Int(s.count)).
			Append("avgBucketSize", value.Int(average(s.bytes, s.count))).End()
	} else {
		b.Append("count", value.Int(s.count))
		if s.count > 0 {
			b.Append("avgObjSize", value.Int(average(s.bytes, s.count)))
		}
	}
	b.Int32("numOrphanDocs", 0)
	n("storageSize", s.bytes)
	n("freeStorageSize", 0)
	b.Bool("capped", s.meta.Capped)
	if s.meta.Capped {
		b.Append("max", value.Int(s.meta.CappedMax))
		n("maxSize", s.meta.CappedLen)
	}
	b.Append("nindexes", value.Int(int64(len(s.order))))
	b.StartArray("indexBuilds").End()
	n("totalIndexSize", s.indexBytes)
	n("totalSize", s.bytes+s.indexBytes)
	b.StartDocument("indexSizes")
	for _, name := range s.order {
		n(name, s.indexes[name])
	}
	b.End()
	b.Append("scaleFactor", value.Int(scale))
	_ = info
	return nil
}

func average(total, n int64) int64 {
	if n == 0 {
		return 0
	}
	return total / n
}

type DbStatsArgs struct {
	DBStats value.Value    `arg:"dbStats"`
	Lower   value.Value    `arg:"dbstats"`
	Scale   value.Value    `arg:"scale"`
	Free    args.LooseBool `arg:"freeStorage"`
}

var DbStatsSpec = args.New[DbStatsArgs]("dbStats")

// databaseTotals is what dbStats adds up: bytes of documents, and bytes in
// indexes.
type databaseTotals struct {
	Collections, Views, Objects, Bytes, Indexes, InIndexes int64
}

func DatabaseTotals(c *kernel.Call) (t databaseTotals, err error) {
	err = c.View(func(tx storage.Tx) error {
		for _, info := range tx.Collections(c.DB) {
			m := catalog.Of(info)
			if m.Kind == catalog.View || m.Kind == catalog.TimeSeries {
				t.Views++
				continue
			}
			coll, err := tx.Collection(info.Namespace)
			if err != nil || HiddenCollection(info.Namespace) {
				continue
			}
			t.Collections++
			t.Objects += coll.Count()
			t.Bytes += coll.Size()
			t.Indexes += int64(len(m.Listed))
			t.InIndexes += observe.IndexBytes(coll)
		}
		return nil
	})
	if t.Views > 0 { // system.views, which has a document for each and an index on _id
		t.Collections, t.Objects, t.Indexes = t.Collections+1, t.Objects+t.Views, t.Indexes+1
	}
	return t, err
}

type dataSizeArgs struct {
	DataSize   *string        `arg:"dataSize"`
	Lower      *string        `arg:"datasize"`
	KeyPattern value.Doc      `arg:"keyPattern"`
	Min        value.Doc      `arg:"min"`
	Max        value.Doc      `arg:"max"`
	Estimate   args.LooseBool `arg:"estimate"`
}

var dataSizeSpec = args.New[dataSizeArgs]("dataSize")

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
	s, info, err := SizesOf(c, ns)
	if err != nil || info == nil {
		return 0, 0, err
	}
	if catalog.Of(info).ReadThrough() {
		return 0, 0, catalog.ErrIsView(ns)
	}
	if a.Min == nil {
		return s.bytes, s.count, nil
	}
	key := a.KeyPattern
	if key == nil {
		key = patternOf(a.Min)
	}
	q := exec.Query{Min: a.Min, Max: a.Max, Hint: value.Document(key)}
	if err := exec.CompileFilter(c, &q, catalog.Of(info)); err != nil {
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

type ValidateArgs struct {
	Validate   value.Value  `arg:"validate,required"`
	Full       args.AnyBool `arg:"full"`
	Background args.AnyBool `arg:"background"`
	FastCount  args.AnyBool `arg:"enforceFastCount"`
	Repair     args.AnyBool `arg:"repair"`
	Metadata   args.AnyBool `arg:"metadata"`
	Conforms   args.AnyBool `arg:"checkBSONConformance"`
	Multikey   args.AnyBool `arg:"fixMultikey"`
}

// Fields that mean nothing are no error to validate, and drivers send some.
var ValidateSpec = args.New[ValidateArgs]("validate").Lenient()

// Check refuses combinations of options. Whatever they are, all there is to
// check is checked.
func (a *ValidateArgs) Check(c *kernel.Call) error {
	const begins = "Running the validate command with "
	for _, x := range []struct {
		bad bool
		why string
	}{
		{bool(a.Background && a.Full), "both { background: true } and { full: true } is not supported."},
		{bool(a.Background && a.FastCount), "both { background: true } and { enforceFastCount: true } is not supported."},
		{bool(a.Background && a.Repair), "both { background: true } and { repair: true } is not supported."},
		{bool(a.Metadata && (a.Background || a.Full || a.FastCount || a.Repair || a.Conforms)), "{ metadata: true } is not supported with any other options"},
		{bool(a.Repair) && c.Svc.InReplicaSet(), "{ repair: true } can only be performed in standalone mode."},
	} {
		if x.bad {
			return mongoerr.New(mongoerr.InvalidOptions, begins+x.why)
		}
	}
	if bool(a.Background) && !c.Svc.InReplicaSet() {
		return mongoerr.New(mongoerr.CommandNotSupported, begins+"{ background: true } is not supported in standalone mode.")
	}
	return nil
}

// RepairMode is what validate would mend; there is never anything to mend, as
// indexes are made of the documents at every start.
func (a *ValidateArgs) RepairMode() string {
	switch {
	case bool(a.Repair):
		return "FixErrors"
	case bool(a.Multikey):
		return "AdjustMultikey"
	}
	return "None"
}

// MaxProblems is how many problems validate names.
const MaxProblems = 20
