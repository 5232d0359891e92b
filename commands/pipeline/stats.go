package pipeline

import (
	"errors"
	"strings"

	"github.com/duskdb/duskdb/commands/args"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/observe"
	"github.com/duskdb/duskdb/internal/reserved"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// HiddenCollection reports whether a collection is the server's own and is not listed.
func HiddenCollection(ns storage.Namespace) bool { return strings.HasPrefix(ns.Coll, "$") }

// sizes are the figures of one collection.
type sizes struct {
	count, bytes int64
	indexes      map[string]int64
	order        []string
	indexBytes   int64
	meta         *catalog.Meta
}

// sizesOf measures a collection; that of a time series is its buckets. info is nil
// if the collection does not exist.
func sizesOf(c *kernel.Call, ns storage.Namespace) (s sizes, info *storage.Info, err error) {
	err = c.View(func(tx storage.Tx) error {
		s, info = sizes{indexes: map[string]int64{}, meta: catalog.None}, nil
		coll, err := catalog.Open(tx, ns)
		if errors.Is(err, storage.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		info = coll.Info()
		s.meta = catalog.Of(info)
		if s.meta.Kind == catalog.TimeSeries {
			if coll, err = tx.Collection(storage.Namespace{DB: ns.DB, Coll: reserved.Buckets(ns.Coll)}); err != nil {
				return err
			}
		}
		if s.count, err = coll.Count(); err != nil {
			return err
		}
		if s.bytes, err = coll.Size(); err != nil {
			return err
		}
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

// CollStatsArgs are the arguments of collStats.
type CollStatsArgs struct {
	CollStats value.Value `arg:"collStats"`
	Lower     value.Value `arg:"collstats"`
	Scale     value.Value `arg:"scale"`
	Verbose   value.Value `arg:"verbose"`
}

// CollStatsSpec decodes CollStatsArgs.
var CollStatsSpec = args.New[CollStatsArgs]("collStats")

// AppendCollStats writes the figures of collStats and of $collStats, sizes divided
// by scale.
func AppendCollStats(c *kernel.Call, b *value.Builder, ns storage.Namespace, scale int64) error {
	s, _, err := sizesOf(c, ns)
	if err != nil {
		return err
	}
	if s.meta.Kind == catalog.View {
		return catalog.NotOnView(ns)
	}
	b.String("ns", ns.String())
	n := func(key string, v int64) { b.Append(key, value.Int(v/scale)) }
	n("size", s.bytes)
	if s.meta.Kind == catalog.TimeSeries {
		b.StartDocument("timeseries").String("bucketsNs", ns.DB+"."+reserved.Buckets(ns.Coll)).Append("bucketCount", value.Int(s.count)).
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
	return nil
}

func average(total, n int64) int64 {
	if n == 0 {
		return 0
	}
	return total / n
}

// DBStatsArgs are the arguments of dbStats.
type DBStatsArgs struct {
	DBStats value.Value    `arg:"dbStats"`
	Lower   value.Value    `arg:"dbstats"`
	Scale   value.Value    `arg:"scale"`
	Free    args.LooseBool `arg:"freeStorage"`
}

// DBStatsSpec decodes DBStatsArgs.
var DBStatsSpec = args.New[DBStatsArgs]("dbStats")

// databaseTotals is what dbStats adds up: bytes of documents, and bytes in
// indexes.
type databaseTotals struct {
	Collections, Views, Objects, Bytes, Indexes, InIndexes int64
}

// DatabaseTotals adds up the collections of the command's database. Time series
// count as views, their buckets as collections.
func DatabaseTotals(c *kernel.Call) (t databaseTotals, err error) {
	err = c.View(func(tx storage.Tx) error {
		t = databaseTotals{}
		infos, err := catalog.List(tx, c.DB)
		if err != nil {
			return err
		}
		for _, info := range infos {
			m := catalog.Of(info)
			if m.Kind == catalog.View || m.Kind == catalog.TimeSeries {
				t.Views++
				continue
			}
			if HiddenCollection(info.Namespace) {
				continue
			}
			coll, err := catalog.Open(tx, info.Namespace)
			if err != nil {
				return err
			}
			t.Collections++
			records, err := coll.Count()
			if err != nil {
				return err
			}
			size, err := coll.Size()
			if err != nil {
				return err
			}
			t.Objects += records
			t.Bytes += size
			t.Indexes += int64(len(m.Listed))
			n, err := observe.IndexBytes(coll)
			if err != nil {
				return err
			}
			t.InIndexes += n
		}
		return nil
	})
	return t, err
}
