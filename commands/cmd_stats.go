package commands

import (
	"math"

	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// statsCommands measure collections and databases.
func statsCommands() []command {
	return []command{
		{name: "collStats", aliases: []string{"collstats"}, run: runCollStats, action: "collStats", on: onCollection, help: "sizes of a collection"},
		{name: "dbStats", aliases: []string{"dbstats"}, run: runDBStats, action: "dbStats", on: onDatabase, help: "sizes of a database"},
		{name: "dataSize", aliases: []string{"datasize"}, run: runDataSize, action: "find", on: onCollection, help: "size of a range of documents"},
		{name: "validate", run: runValidate, action: "validate", on: onCollection, help: "check a collection and its indexes"},
	}
}

// sizes are the figures of one collection.
type sizes struct {
	count, bytes int64
	indexes      map[string]int64
	order        []string
	indexBytes   int64
	meta         *collectionMeta
}

func (c *Call) sizes(ns storage.Namespace) (s sizes, info *storage.Info, err error) {
	s.indexes, s.meta = map[string]int64{}, noMeta
	err = c.view(func(tx storage.Tx) error {
		coll, err := tx.Collection(ns)
		if err != nil {
			return nil
		}
		info = coll.Info()
		s.meta = metaOf(info)
		if s.meta.kind == timeSeries {
			if coll, err = tx.Collection(storage.Namespace{DB: ns.DB, Coll: bucketsPrefix + ns.Coll}); err != nil {
				return err
			}
		}
		s.count, s.bytes = coll.Count(), coll.Size()
		for _, spec := range metaOf(coll.Info()).listed {
			st, err := metaOf(coll.Info()).indexStats(coll, spec)
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

type statsArgs struct {
	CollStats value.Value `arg:"collStats"`
	Lower     value.Value `arg:"collstats"`
	Scale     value.Value `arg:"scale"`
	Verbose   value.Value `arg:"verbose"`
}

var statsSpec = newArgs[statsArgs]("collStats")

// scaleOf reads the scale option of a command: sizes are divided by it.
func scaleOf(command string, v value.Value) (int64, error) {
	if v.IsMissing() || v.Kind() == value.KindNull {
		return 1, nil
	}
	if !v.IsNumber() {
		return 0, wrongType(command, "scale", v, numberTypes)
	}
	const most = 1 << 50 // 1 PB
	switch n := v.SafeInt64(); {
	case n < 1:
		return 0, mongoerr.Newf(mongoerr.BadValue, "BSON field 'scale' value must be >= 1, actual value '%d'", n)
	case n > most:
		return 0, mongoerr.Newf(mongoerr.BadValue, "BSON field 'scale' value must be <= %d, actual value '%d'", int64(most), n)
	default:
		return n, nil
	}
}

func runCollStats(c *Call) error {
	var a statsArgs
	if err := statsSpec.decode(c.Body, &a); err != nil {
		return err
	}
	ns, err := c.namespace()
	if err != nil {
		return err
	}
	scale, err := scaleOf("collStats", a.Scale)
	if err != nil {
		return err
	}
	return c.appendCollStats(c.reply, ns, scale)
}

// appendCollStats writes the figures, as collStats and $collStats give them.
func (c *Call) appendCollStats(b *value.Builder, ns storage.Namespace, scale int64) error {
	s, info, err := c.sizes(ns)
	if err != nil {
		return err
	}
	if s.meta.kind == view {
		return errIsView(ns)
	}
	b.String("ns", ns.String())
	n := func(key string, v int64) { b.Append(key, value.Int(v/scale)) }
	n("size", s.bytes)
	if s.meta.kind == timeSeries {
		b.StartDocument("timeseries").String("bucketsNs", ns.DB+"."+bucketsPrefix+ns.Coll).Append("bucketCount", value.Int(s.count)).
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
	b.Bool("capped", s.meta.capped)
	if s.meta.capped {
		b.Append("max", value.Int(s.meta.cappedMax))
		n("maxSize", s.meta.cappedLen)
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

type dbStatsArgs struct {
	DBStats value.Value `arg:"dbStats"`
	Lower   value.Value `arg:"dbstats"`
	Scale   value.Value `arg:"scale"`
	Free    looseBool   `arg:"freeStorage"`
}

var dbStatsSpec = newArgs[dbStatsArgs]("dbStats")

func runDBStats(c *Call) error {
	var a dbStatsArgs
	if err := dbStatsSpec.decode(c.Body, &a); err != nil {
		return err
	}
	scale, err := scaleOf("dbStats", a.Scale)
	if err != nil {
		return err
	}
	t, err := c.databaseTotals()
	if err != nil {
		return err
	}
	b := c.reply
	d := func(key string, n int64) { b.Double(key, float64(n/scale)) }
	b.String("db", c.DB).Int64("collections", t.collections).Int64("views", t.views).Int64("objects", t.objects)
	avg := 0.0
	if t.objects > 0 {
		avg = float64(t.bytes) / float64(t.objects)
	}
	b.Double("avgObjSize", avg)
	d("dataSize", t.bytes)
	free := func(key string) { // of what is in memory, nothing is reserved
		if a.Free {
			d(key, 0)
		}
	}
	d("storageSize", t.bytes)
	free("freeStorageSize")
	b.Int64("indexes", t.indexes)
	d("indexSize", t.inIndexes)
	free("indexFreeStorageSize")
	d("totalSize", t.bytes+t.inIndexes)
	free("totalFreeStorageSize")
	b.Int64("scaleFactor", scale)
	used, total := diskUsage(c.svc.options.DBPath)
	d("fsUsedSize", used)
	d("fsTotalSize", total)
	return nil
}

// databaseTotals is what dbStats adds up: bytes of documents, and bytes in
// indexes.
type databaseTotals struct {
	collections, views, objects, bytes, indexes, inIndexes int64
}

func (c *Call) databaseTotals() (t databaseTotals, err error) {
	err = c.view(func(tx storage.Tx) error {
		for _, info := range tx.Collections(c.DB) {
			m := metaOf(info)
			if m.kind == view || m.kind == timeSeries {
				t.views++
				continue
			}
			coll, err := tx.Collection(info.Namespace)
			if err != nil || hiddenCollection(info.Namespace) {
				continue
			}
			t.collections++
			t.objects += coll.Count()
			t.bytes += coll.Size()
			t.indexes += int64(len(m.listed))
			t.inIndexes += indexBytes(coll)
		}
		return nil
	})
	if t.views > 0 { // system.views, which has a document for each and an index on _id
		t.collections, t.objects, t.indexes = t.collections+1, t.objects+t.views, t.indexes+1
	}
	return t, err
}

// indexBytes is how much the indexes of a collection take that are listed.
func indexBytes(coll storage.Collection) (n int64) {
	for _, spec := range metaOf(coll.Info()).listed {
		if st, err := metaOf(coll.Info()).indexStats(coll, spec); err == nil {
			n += st.Bytes
		}
	}
	return n
}

type dataSizeArgs struct {
	DataSize   *string   `arg:"dataSize"`
	Lower      *string   `arg:"datasize"`
	KeyPattern value.Doc `arg:"keyPattern"`
	Min        value.Doc `arg:"min"`
	Max        value.Doc `arg:"max"`
	Estimate   looseBool `arg:"estimate"`
}

var dataSizeSpec = newArgs[dataSizeArgs]("dataSize")

func runDataSize(c *Call) error {
	var a dataSizeArgs
	if err := dataSizeSpec.decode(c.Body, &a); err != nil {
		return err
	}
	name := a.DataSize
	if name == nil {
		name = a.Lower
	}
	if name == nil {
		return mongoerr.New(mongoerr.IDLFailedToParse, "BSON field 'dataSize.dataSize' is missing but a required field")
	}
	ns, err := parseNamespace(*name)
	if err != nil {
		return err
	}
	if (a.Min == nil) != (a.Max == nil) {
		return mongoerr.New(mongoerr.BadValue, "only one of min or max specified")
	}
	start := c.svc.real.NowMillis()
	size, count, err := c.dataSize(ns, &a)
	if err != nil {
		return translate(ns, err)
	}
	c.reply.Int64("size", size).Int64("numObjects", count).Int64("millis", c.svc.real.NowMillis()-start).Bool("estimate", bool(a.Estimate))
	return nil
}

func (c *Call) dataSize(ns storage.Namespace, a *dataSizeArgs) (size, count int64, err error) {
	s, info, err := c.sizes(ns)
	if err != nil || info == nil {
		return 0, 0, err
	}
	if metaOf(info).readThrough() {
		return 0, 0, errIsView(ns)
	}
	if a.Min == nil {
		return s.bytes, s.count, nil
	}
	key := a.KeyPattern
	if key == nil {
		key = patternOf(a.Min)
	}
	q := readQuery{min: a.Min, max: a.Max, hint: value.Document(key)}
	if err := c.compileFilter(&q, metaOf(info)); err != nil {
		return 0, 0, err
	}
	src, err := c.openRecords(newExecution(c), info, &q)
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

type validateArgs struct {
	Validate   value.Value `arg:"validate,required"`
	Full       anyBool     `arg:"full"`
	Background anyBool     `arg:"background"`
	FastCount  anyBool     `arg:"enforceFastCount"`
	Repair     anyBool     `arg:"repair"`
	Metadata   anyBool     `arg:"metadata"`
	Conforms   anyBool     `arg:"checkBSONConformance"`
	Multikey   anyBool     `arg:"fixMultikey"`
}

// Fields that mean nothing are no error to validate, and drivers send some.
var validateSpec = newArgs[validateArgs]("validate").lenient()

// check refuses combinations of options. Whatever they are, all there is to
// check is checked.
func (a *validateArgs) check(c *Call) error {
	const begins = "Running the validate command with "
	for _, x := range []struct {
		bad bool
		why string
	}{
		{bool(a.Background && a.Full), "both { background: true } and { full: true } is not supported."},
		{bool(a.Background && a.FastCount), "both { background: true } and { enforceFastCount: true } is not supported."},
		{bool(a.Background && a.Repair), "both { background: true } and { repair: true } is not supported."},
		{bool(a.Metadata && (a.Background || a.Full || a.FastCount || a.Repair || a.Conforms)), "{ metadata: true } is not supported with any other options"},
		{bool(a.Repair) && c.svc.inReplicaSet(), "{ repair: true } can only be performed in standalone mode."},
	} {
		if x.bad {
			return mongoerr.New(mongoerr.InvalidOptions, begins+x.why)
		}
	}
	if bool(a.Background) && !c.svc.inReplicaSet() {
		return mongoerr.New(mongoerr.CommandNotSupported, begins+"{ background: true } is not supported in standalone mode.")
	}
	return nil
}

// runValidate reads every record: whether it is sound BSON, whether every
// index has exactly its keys, and whether it passes the validator.
func runValidate(c *Call) error {
	var a validateArgs
	if err := validateSpec.decode(c.Body, &a); err != nil {
		return err
	}
	if err := a.check(c); err != nil {
		return err
	}
	ns, err := c.literalNamespace(a.Validate)
	if err != nil {
		return err
	}
	info, err := c.lookup(ns)
	if err != nil {
		return err
	}
	if info == nil {
		return mongoerr.Newf(mongoerr.NamespaceNotFound, "Collection '%s' does not exist to validate.", ns)
	}
	m := metaOf(info)
	if m.kind == view {
		return mongoerr.Newf(mongoerr.CommandNotSupportedOnView, "Cannot validate a view: %s", ns)
	}
	if m.kind == timeSeries {
		if info, err = c.lookup(storage.Namespace{DB: ns.DB, Coll: bucketsPrefix + ns.Coll}); err != nil {
			return err
		}
	}
	v := &validation{c: c, info: info, meta: metaOf(info), keys: map[string]int64{}}
	if err := v.run(); err != nil {
		return translate(ns, err)
	}
	v.append(ns, a.repairMode())
	return nil
}

// repairMode is what validate would mend; there is never anything to mend, as
// indexes are made of the documents at every start.
func (a *validateArgs) repairMode() string {
	switch {
	case bool(a.Repair):
		return "FixErrors"
	case bool(a.Multikey):
		return "AdjustMultikey"
	}
	return "None"
}

// maxProblems is how many problems validate names.
const maxProblems = 20

// diskUsage is the use of the file system under a path, in bytes.
func diskUsage(path string) (used, total int64) {
	u, t := fileSystem(path)
	return int64(min(u, math.MaxInt64)), int64(min(t, math.MaxInt64))
}
