package commands

import (
	"crypto/md5" //nolint:gosec // the commands are defined by it
	"encoding/hex"
	"hash"
	"os"
	"strings"

	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// hashCommands compare what is stored by its hash.
func hashCommands() []command {
	return []command{
		{name: "dbHash", aliases: []string{"dbhash"}, run: runDBHash, flags: reads, action: "dbHash", on: onDatabase, help: "hashes of the collections of a database"},
		{name: "filemd5", run: runFileMD5, flags: reads, action: "find", on: onDatabase, help: "hash of a GridFS file"},
	}
}

type dbHashArgs struct {
	Upper       value.Value `arg:"dbHash"`
	Lower       value.Value `arg:"dbhash"`
	Collections value.Value `arg:"collections"`
	Skip        looseBool   `arg:"skipTempCollections"`
}

var dbHashSpec = newArgs[dbHashArgs]("dbHash").lenient()

// runDBHash hashes the documents of each collection in the order of their
// _id, and the hashes in the order of the names.
func runDBHash(c *Call) error {
	var a dbHashArgs
	if err := dbHashSpec.decode(c.Body, &a); err != nil {
		return err
	}
	wanted := map[string]bool{}
	if a.Collections.Kind() != value.KindArray { // which mongod does not look at
		a.Collections = value.NewArray()
	}
	for v := range a.Collections.Doc().Values() {
		if v.Kind() != value.KindString {
			return mongoerr.New(mongoerr.BadValue, "collections entries have to be strings")
		}
		wanted[v.Str()] = true
	}
	start := c.svc.real.NowMillis()
	infos, err := c.hashedCollections(wanted)
	if err != nil {
		return err
	}
	b, all := c.reply, md5.New() //nolint:gosec // see above
	host, _ := os.Hostname()
	b.String("host", host)
	b.StartDocument("collections")
	for _, info := range infos {
		sum, err := c.hashCollection(info)
		if err != nil {
			return translate(info.Namespace, err)
		}
		b.String(info.Namespace.Coll, sum)
		all.Write([]byte(sum))
	}
	b.End()
	b.StartArray("capped")
	for _, info := range infos {
		if metaOf(info).capped {
			b.String("", info.Namespace.Coll)
		}
	}
	b.End()
	b.StartDocument("uuids")
	for _, info := range infos {
		b.Append(info.Namespace.Coll, value.Binary(4, info.UUID[:]))
	}
	b.End()
	b.String("md5", hexSum(all)).Append("timeMillis", value.Int(c.svc.real.NowMillis()-start))
	return nil
}

// hashedCollections are the collections that dbHash covers: none that are
// each server's own.
func (c *Call) hashedCollections(wanted map[string]bool) (infos []*storage.Info, err error) {
	err = c.view(func(tx storage.Tx) error {
		infos = nil
		for _, info := range tx.Collections(c.DB) {
			name, kind := info.Namespace.Coll, metaOf(info).kind
			switch {
			case len(wanted) > 0 && !wanted[name], hiddenCollection(info.Namespace), kind == view, kind == timeSeries,
				strings.HasPrefix(name, "system.") && !isBuckets(name) && name != "system.js" && name != "system.users" && name != "system.roles":
				continue
			}
			infos = append(infos, info)
		}
		return nil
	})
	return infos, err
}

func (c *Call) hashCollection(info *storage.Info) (string, error) {
	sum := md5.New() //nolint:gosec // see above
	s := scan{}
	if info.Index(idIndex) != nil {
		s = scan{index: idIndex, ranges: []storage.KeyRange{{}}}
	}
	src := newRecords(newExecution(c), info, []scan{s})
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
	File    value.Value `arg:"filemd5,required"`
	Root    string      `arg:"root,required"`
	Partial looseBool   `arg:"partialOk"`
	State   value.Value `arg:"md5state"`
}

var fileMD5Spec = newArgs[fileMD5Args]("filemd5")

// runFileMD5 hashes the chunks of a GridFS file in their order.
func runFileMD5(c *Call) error {
	var a fileMD5Args
	if err := fileMD5Spec.decode(c.Body, &a); err != nil {
		return err
	}
	if !a.State.IsMissing() || bool(a.Partial) {
		return mongoerr.New(mongoerr.InvalidOptions, "filemd5 cannot be continued from an earlier state")
	}
	ns := storage.Namespace{DB: c.DB, Coll: a.Root + ".chunks"}
	if err := checkNamespace(ns); err != nil {
		return err
	}
	chunks, sum, err := c.hashChunks(ns, a.File)
	if err != nil {
		return translate(ns, err)
	}
	c.reply.Int32("numChunks", chunks).String("md5", sum)
	return nil
}

var errChunkOrder = mongoerr.New(10042, "chunks out of order")

func (c *Call) hashChunks(ns storage.Namespace, file value.Value) (n int32, sum string, err error) {
	h := md5.New() //nolint:gosec // see above
	info, err := c.lookup(ns)
	if err != nil || info == nil {
		return 0, hexSum(h), err
	}
	q := &readQuery{filter: value.NewDoc("files_id", value.Document(value.NewDoc("$eq", file))), sort: value.NewDoc("files_id", value.Int32(1), "n", value.Int32(1))}
	if err := c.compileFilter(q, metaOf(info)); err != nil {
		return 0, "", err
	}
	src, err := c.openRecords(newExecution(c), info, q)
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
