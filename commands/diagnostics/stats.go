package diagnostics

import (
	"math"

	"github.com/duskdb/duskdb/commands/gate"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/pipeline"
)

func runCollStats(c *kernel.Call) error {
	var a pipeline.CollStatsArgs
	if err := pipeline.CollStatsSpec.Decode(c.Body, &a); err != nil {
		return err
	}
	ns, err := c.Namespace()
	if err != nil {
		return err
	}
	scale, err := gate.ScaleOf("collStats", a.Scale)
	if err != nil {
		return err
	}
	return pipeline.AppendCollStats(c, c.Reply, ns, scale)
}

func runDBStats(c *kernel.Call) error {
	var a pipeline.DBStatsArgs
	if err := pipeline.DBStatsSpec.Decode(c.Body, &a); err != nil {
		return err
	}
	scale, err := gate.ScaleOf("dbStats", a.Scale)
	if err != nil {
		return err
	}
	t, err := pipeline.DatabaseTotals(c)
	if err != nil {
		return err
	}
	b := c.Reply
	d := func(key string, n int64) { b.Double(key, float64(n/scale)) }
	b.String("db", c.DB).Int64("collections", t.Collections).Int64("views", t.Views).Int64("objects", t.Objects)
	avg := 0.0
	if t.Objects > 0 {
		avg = float64(t.Bytes) / float64(t.Objects)
	}
	b.Double("avgObjSize", avg)
	d("dataSize", t.Bytes)
	free := func(key string) { // no free space is reserved: the data are in memory
		if a.Free {
			d(key, 0)
		}
	}
	d("storageSize", t.Bytes)
	free("freeStorageSize")
	b.Int64("indexes", t.Indexes)
	d("indexSize", t.InIndexes)
	free("indexFreeStorageSize")
	d("totalSize", t.Bytes+t.InIndexes)
	free("totalFreeStorageSize")
	b.Int64("scaleFactor", scale)
	used, total := diskUsage(c.Svc.Options.DBPath)
	d("fsUsedSize", used)
	d("fsTotalSize", total)
	return nil
}

// diskUsage is the use of the file system under a path, in bytes.
func diskUsage(path string) (used, total int64) {
	u, t := fileSystem(path)
	return int64(min(u, math.MaxInt64)), int64(min(t, math.MaxInt64))
}
