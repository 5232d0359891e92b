package diagnostics

import (
	"crypto/md5"
	"encoding/hex"
	"hash"
	"os"
	"strings"

	"github.com/duskdb/duskdb/commands/args"
	"github.com/duskdb/duskdb/commands/canonical"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/exec"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/pipeline"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/internal/reserved"
	"github.com/duskdb/duskdb/query/plan"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

type dbHashArgs struct {
	Upper       value.Value    `arg:"dbHash"`
	Lower       value.Value    `arg:"dbhash"`
	Collections value.Value    `arg:"collections"`
	Skip        args.LooseBool `arg:"skipTempCollections"`
}

var dbHashSpec = args.New[dbHashArgs]("dbHash").Lenient()

// runDBHash hashes the documents of each collection in the order of their
// _id, and the hashes in the order of the names.
func runDBHash(c *kernel.Call) error {
	var a dbHashArgs
	if err := dbHashSpec.Decode(c.Body, &a); err != nil {
		return err
	}
	wanted := map[string]bool{}
	if a.Collections.Kind() != value.KindArray { // mongod ignores these
		a.Collections = value.NewArray()
	}
	for v := range a.Collections.Doc().Values() {
		if v.Kind() != value.KindString {
			return mongoerr.New(mongoerr.BadValue, "collections entries have to be strings")
		}
		wanted[v.Str()] = true
	}
	start := c.Svc.Real.NowMillis()
	infos, err := hashedCollections(c, wanted)
	if err != nil {
		return err
	}
	b, all := c.Reply, md5.New() //nolint:gosec // see above
	host, _ := os.Hostname()
	b.String("host", host)
	b.StartDocument("collections")
	for _, info := range infos {
		sum, err := hashCollection(c, info)
		if err != nil {
			return kernel.Translate(info.Namespace, err)
		}
		b.String(info.Namespace.Coll, sum)
		all.Write([]byte(sum))
	}
	b.End()
	b.StartArray("capped")
	for _, info := range infos {
		if catalog.Of(info).Capped {
			b.String("", info.Namespace.Coll)
		}
	}
	b.End()
	b.StartDocument("uuids")
	for _, info := range infos {
		b.Append(info.Namespace.Coll, value.Binary(4, info.UUID[:]))
	}
	b.End()
	b.String("md5", hexSum(all)).Append("timeMillis", value.Int(c.Svc.Real.NowMillis()-start))
	return nil
}

// hashedCollections returns the collections that dbHash covers. It leaves out those
// that members of a replica set do not share.
func hashedCollections(c *kernel.Call, wanted map[string]bool) (infos []*storage.Info, err error) {
	err = c.View(func(tx storage.Tx) error {
		infos = nil
		all, err := catalog.List(tx, c.DB)
		if err != nil {
			return err
		}
		for _, info := range all {
			name, kind := info.Namespace.Coll, catalog.Of(info).Kind
			switch {
			case len(wanted) > 0 && !wanted[name], pipeline.HiddenCollection(info.Namespace), kind == catalog.View, kind == catalog.TimeSeries,
				strings.HasPrefix(name, "system.") && !reserved.IsBuckets(name) && name != "system.js" && name != catalog.SystemViews && name != "system.users" && name != "system.roles":
				continue
			}
			infos = append(infos, info)
		}
		return nil
	})
	return infos, err
}

func hashCollection(c *kernel.Call, info *storage.Info) (string, error) {
	sum := md5.New() //nolint:gosec // see above
	s := exec.Scan{}
	if info.Index(reserved.IDIndex) != nil {
		s = exec.Scan{Index: reserved.IDIndex, Ranges: plan.RangesOf(plan.Range{})}
	}
	src := exec.NewScanIterator(exec.NewExecution(c), info, []exec.Scan{s})
	defer src.Close()
	for {
		r, ok, err := src.Next()
		if err != nil || !ok {
			return hexSum(sum), err
		}
		sum.Write(r.Doc)
	}
}

func hexSum(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)) }

type fileMD5Args struct {
	File    value.Value    `arg:"filemd5,required"`
	Root    string         `arg:"root,required"`
	Partial args.LooseBool `arg:"partialOk"`
	State   value.Value    `arg:"md5state"`
}

var fileMD5Spec = args.New[fileMD5Args]("filemd5")

// runFileMD5 hashes the chunks of a GridFS file in their order.
func runFileMD5(c *kernel.Call) error {
	var a fileMD5Args
	if err := fileMD5Spec.Decode(c.Body, &a); err != nil {
		return err
	}
	if !a.State.IsMissing() || bool(a.Partial) {
		return mongoerr.New(mongoerr.InvalidOptions, "filemd5 cannot be continued from an earlier state")
	}
	ns := storage.Namespace{DB: c.DB, Coll: a.Root + ".chunks"}
	if err := catalog.CheckNamespace(ns); err != nil {
		return err
	}
	chunks, sum, err := hashChunks(c, ns, a.File)
	if err != nil {
		return kernel.Translate(ns, err)
	}
	c.Reply.Int32("numChunks", chunks).String("md5", sum)
	return nil
}

var errChunkOrder = mongoerr.New(10042, "chunks out of order")

func hashChunks(c *kernel.Call, ns storage.Namespace, file value.Value) (n int32, sum string, err error) {
	h := md5.New() //nolint:gosec // see above
	info, err := exec.Lookup(c, ns)
	if err != nil || info == nil {
		return 0, hexSum(h), err
	}
	q := &canonical.Query{Filter: value.NewDoc("files_id", value.Document(value.NewDoc("$eq", file))), Query: plan.Query{Sort: value.NewDoc("files_id", value.Int32(1), "n", value.Int32(1))}}
	if err := canonical.CompileFilter(c, q, catalog.Of(info)); err != nil {
		return 0, "", err
	}
	src, err := exec.OpenRecords(c, exec.NewExecution(c), info, q)
	if err != nil {
		return 0, "", err
	}
	defer src.Close()
	for {
		r, ok, err := src.Next()
		if err != nil || !ok {
			return n, hexSum(h), err
		}
		if r.Doc.Lookup("n").SafeInt64() != int64(n) {
			return n, "", errChunkOrder
		}
		_, data := r.Doc.Lookup("data").Binary()
		h.Write(data)
		n++
	}
}
