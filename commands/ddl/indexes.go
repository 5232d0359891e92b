package ddl

import (
	"errors"
	"slices"

	"github.com/duskdb/duskdb/commands/args"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/create"
	"github.com/duskdb/duskdb/commands/exec"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/oplog"
	"github.com/duskdb/duskdb/commands/session"
	"github.com/duskdb/duskdb/commands/write"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/index"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/ttl"
	"github.com/duskdb/duskdb/value"
)

type createIndexesArgs struct {
	Create  value.Value    `arg:"createIndexes,required"`
	Indexes args.Array     `arg:"indexes,required"`
	Quorum  value.Value    `arg:"commitQuorum"`
	Ignore  args.LooseBool `arg:"ignoreUnknownIndexOptions"`
	Version value.Value    `arg:"v"`
	UUID    args.UUID      `arg:"collectionUUID"`
}

var createIndexesSpec = args.New[createIndexesArgs]("createIndexes")

func runCreateIndexes(c *kernel.Call) error {
	var a createIndexesArgs
	if err := createIndexesSpec.Decode(c.Body, &a); err != nil {
		return err
	}
	ns, err := c.NamespaceOf(a.Create)
	if err != nil {
		return err
	}
	given, err := args.ArrayDocs("createIndexes", "indexes", a.Indexes)
	if err != nil {
		return err
	}
	if len(given) == 0 {
		return mongoerr.New(mongoerr.BadValue, "Must specify at least one index to create")
	}
	if a.Ignore {
		for i, d := range given {
			given[i] = index.KnownOptions(d)
		}
	}
	if err := checkCommitQuorum(c, a.Quorum); err != nil {
		return err
	}
	switch {
	case ns.Coll == catalog.SystemViews:
		return mongoerr.Newf(mongoerr.InvalidNamespace, "cannot write to %s", ns)
	case ns == oplog.Namespace:
		return mongoerr.New(mongoerr.CannotCreateIndex, "cannot create an index on the oplog")
	case ns == oplog.Transactions:
		return mongoerr.Newf(mongoerr.IllegalOperation, "not allowed to create index on %s", ns)
	}
	if err := c.ExpectUUID(ns, a.UUID); err != nil { // before expired documents are removed for it
		return err
	}
	if _, missing := missingIndexes(c, ns, given); len(missing) > 0 {
		c.TakesLong()
		if _, err := write.RemoveExpiredAhead(c, ns); err != nil {
			return kernel.Translate(ns, err)
		}
	}
	defer prepareIndexes(c, ns, given)()
	var before, after int
	var created bool
	err = c.Update(func(tx storage.Tx) error {
		if err := catalog.CheckUUID(tx, ns, a.UUID); err != nil {
			return err
		}
		before, after, created, err = createIndexes(c, tx, ns, given)
		return err
	})
	if err != nil {
		return kernel.Translate(ns, err)
	}
	c.Reply.Int32("numIndexesBefore", int32(before)).Int32("numIndexesAfter", int32(after))
	c.Reply.Bool("createdCollectionAutomatically", created)
	if before == after {
		c.Reply.String("note", "all indexes already exist")
	}
	return nil
}

// prepareIndexes lets the engine read the records for the indexes that seem to be
// missing, while other clients can write. An index that cannot be prepared is not
// created; the error says why.
func prepareIndexes(c *kernel.Call, ns storage.Namespace, given []value.Doc) (release func()) {
	var releases []func()
	release = func() {
		for _, r := range releases {
			r()
		}
	}
	engine, ok := c.Svc.Engine.(storage.IndexPreparer)
	if !ok || c.Transaction() != nil {
		return release
	}
	target, specs := missingIndexes(c, ns, given)
	for _, spec := range specs {
		if r, err := engine.PrepareIndex(c.Ctx, target, spec.Stored()); err == nil {
			releases = append(releases, r)
		}
	}
	return release
}

// missingIndexes returns the indexes to be made, according to the latest state, and the
// collection that will have them.
func missingIndexes(c *kernel.Call, ns storage.Namespace, given []value.Doc) (target storage.Namespace, missing []*index.Spec) {
	// After an error less is prepared: createIndexes meets the same error and reports
	// it.
	_ = c.View(func(tx storage.Tx) error {
		missing = nil
		coll, err := tx.Collection(ns)
		if err != nil {
			return err
		}
		var specs []*index.Spec
		if target, specs, err = parseIndexes(c, coll.Info(), given); err != nil {
			return err
		}
		if coll, err = tx.Collection(target); err != nil {
			return err
		}
		records, err := coll.Count()
		if err != nil {
			return err
		}
		if err := c.Svc.Memory.AdmitEntries(records * int64(len(specs))); err != nil {
			return err
		}
		for _, spec := range specs {
			if index.Conflict(catalog.Of(coll.Info()).ConflictCandidates(), spec, target.String()) == nil {
				missing = append(missing, spec)
			}
		}
		return nil
	})
	return target, missing
}

// createIndexes adds the indexes that do not exist yet: all or none.
func createIndexes(c *kernel.Call, tx storage.Tx, ns storage.Namespace, given []value.Doc) (before, after int, created bool, err error) {
	_, err = tx.Collection(ns)
	created = errors.Is(err, storage.ErrNotFound)
	if created && slices.ContainsFunc(given, func(d value.Doc) bool { return d.Has("clustered") }) {
		return 0, 0, false, mongoerr.New(6100900, "Cannot implicitly create a new collection with createIndex 'clustered' option")
	}
	coll, err := write.CollectionForInsert(c, tx, ns)
	if err != nil {
		return 0, 0, false, err
	}
	given, added, err := createTSIndexes(c, tx, &coll, given)
	if err != nil {
		return 0, 0, false, err
	}
	target, specs, err := parseIndexes(c, coll.Info(), given)
	if err != nil {
		return 0, 0, false, err
	}
	known := catalog.Of(coll.Info()).ConflictCandidates()
	if target != ns {
		if coll, err = tx.Collection(target); err != nil {
			return 0, 0, false, err
		}
		known = catalog.Of(coll.Info()).ConflictCandidates()
	}
	before = catalog.Of(coll.Info()).IndexCount() - added
	after = before + added
	old := known
	for _, spec := range specs {
		err := index.Conflict(known, spec, target.String())
		if mongoerr.Is(err, mongoerr.IndexAlreadyExists) && mongoerr.Is(index.Conflict(old, spec, target.String()), mongoerr.IndexAlreadyExists) {
			continue // a name that is used twice in the command is refused
		}
		if err != nil {
			return 0, 0, false, err
		}
		if c.Transaction() != nil {
			if err := indexInTransaction(c, coll); err != nil {
				return 0, 0, false, err
			}
		}
		if err := AddIndex(c, tx, target, spec); err != nil {
			return 0, 0, false, err
		}
		known = append(known[:len(known):len(known)], spec)
		after++
	}
	return before, after, created, nil
}

// createTSIndexes takes the TTL indexes on _ts out of the list: they are
// document TTL. added is how many were not there before.
func createTSIndexes(c *kernel.Call, tx storage.Tx, coll *storage.Collection, given []value.Doc) (rest []value.Doc, added int, err error) {
	ns := (*coll).Info().Namespace
	for _, d := range given {
		handled, created, err := createTSIndex(c, tx, *coll, d)
		if err != nil {
			return nil, 0, err
		}
		if !handled {
			rest = append(rest, d)
			continue
		}
		if created {
			added++
		}
		if *coll, err = tx.Collection(ns); err != nil {
			return nil, 0, err
		}
	}
	return rest, added, nil
}

// parseIndexes reads the specifications, and returns the collection that carries
// the indexes: the buckets, for a time series.
func parseIndexes(c *kernel.Call, info *storage.Info, given []value.Doc) (storage.Namespace, []*index.Spec, error) {
	m := catalog.Of(info)
	if m.Kind == catalog.TimeSeries {
		return create.ParseBucketIndexes(c, info, given)
	}
	var collationSpec value.Doc
	if m.Collation != nil {
		collationSpec = m.Collation.Doc()
	}
	specs := make([]*index.Spec, 0, len(given))
	for _, d := range given {
		if err := create.CheckIndexAllowed(c, info, d); err != nil {
			return info.Namespace, nil, err
		}
		s, err := index.Parse(d, index.ParseOptions{Collation: collationSpec})
		if err != nil {
			return info.Namespace, nil, err
		}
		specs = append(specs, s)
	}
	return info.Namespace, specs, nil
}

// indexInTransaction refuses new indexes except on empty collections that the
// transaction has made.
func indexInTransaction(c *kernel.Call, coll storage.Collection) error {
	ns := coll.Info().Namespace.String()
	committed, err := isCommitted(c, coll.Info())
	switch {
	case err != nil:
		return err
	case committed:
		return oplog.NotInTransaction("Cannot create new indexes on existing collection " + ns + " in a multi-document transaction.")
	}
	records, err := coll.Count()
	if err == nil && records > 0 {
		err = oplog.NotInTransaction("Cannot create new indexes on non-empty collection " + ns + " in a multi-document transaction.")
	}
	return err
}

// isCommitted reports whether a collection exists for everybody, and not only in
// the command's transaction.
func isCommitted(c *kernel.Call, info *storage.Info) (committed bool, err error) {
	err = c.Svc.Engine.View(c.Ctx, func(tx storage.Tx) error {
		committed = false
		coll, err := tx.Collection(info.Namespace)
		if errors.Is(err, storage.ErrNotFound) {
			return nil
		}
		committed = err == nil && coll.Info().UUID == info.UUID
		return err
	})
	return committed, err
}

// AddIndex builds one index over the existing documents.
func AddIndex(c *kernel.Call, tx storage.Tx, ns storage.Namespace, spec *index.Spec) error {
	coll, err := tx.Collection(ns)
	if err != nil {
		return err
	}
	records, err := coll.Count()
	if err != nil {
		return err
	}
	if err := c.Svc.Memory.AdmitEntries(records); err != nil {
		return err
	}
	kept := write.New(c, tx, coll, true).RemoveExpired()
	if kept != nil && !errors.Is(kept, ttl.ErrKept) {
		return kept
	}
	err = tx.CreateIndex(ns, spec.Stored())
	if err != nil && kept != nil {
		return write.RefusedWith(kept) // not DuplicateKey: the client cannot see the expired document
	}
	var dup *storage.DuplicateKeyError
	if !errors.As(err, &dup) {
		return err
	}
	r, _, err := coll.Get(dup.Existing)
	if err != nil {
		return err
	}
	keyValue := spec.KeyValue(r.Doc, dup.Key)
	return mongoerr.Newf(mongoerr.DuplicateKey, "Index build failed: %s: Collection %s ( %s ) :: caused by :: E11000 duplicate key error collection: %s index: %s dup key: %s",
		session.FormatUUID(catalog.NewUUID()), ns, session.FormatUUID(coll.Info().UUID), ns, spec.Name, keyValue.Abridged()).
		WithExtra("keyPattern", value.Document(spec.Key)).WithExtra("keyValue", value.Document(keyValue))
}

type listIndexesArgs struct {
	List    value.Value    `arg:"listIndexes,required"`
	Cursor  value.Doc      `arg:"cursor"`
	Builds  args.LooseBool `arg:"includeBuildUUIDs"`
	Details args.LooseBool `arg:"includeIndexBuildInfo"`
}

var listIndexesSpec = args.New[listIndexesArgs]("listIndexes")

func runListIndexes(c *kernel.Call) error {
	var a listIndexesArgs
	if err := listIndexesSpec.Decode(c.Body, &a); err != nil {
		return err
	}
	size, err := args.BatchSize("listIndexes.cursor", a.Cursor, args.WholeBatch)
	if err != nil {
		return err
	}
	ns, info, err := exec.FindCollection(c, a.List)
	if err != nil {
		return err
	}
	if info == nil {
		return mongoerr.Newf(mongoerr.NamespaceNotFound, "ns does not exist: %s", ns)
	}
	if catalog.Of(info).Kind == catalog.View {
		return catalog.NotOnView(ns)
	}
	if a.Builds && a.Details {
		return mongoerr.New(mongoerr.InvalidOptions, "The includeBuildUUIDs flag and includeBuildIndexInfo flag cannot both be set to true")
	}
	docs, err := listedIndexes(c, info)
	if err != nil {
		return err
	}
	for i, d := range docs {
		docs[i] = index.Listed(d)
	}
	if a.Details {
		for i, d := range docs {
			docs[i] = value.NewDoc("spec", value.Document(d))
		}
	}
	return exec.FirstBatch(c, exec.CursorRequest{NS: ns, It: exec.Known(docs), BatchSize: size, IDFirst: true})
}

func listedIndexes(c *kernel.Call, info *storage.Info) ([]value.Doc, error) {
	if catalog.Of(info).Kind == catalog.TimeSeries {
		return exec.ListedBucketIndexes(c, info)
	}
	var docs []value.Doc
	for _, spec := range catalog.Of(info).Listed {
		docs = append(docs, spec.Doc())
	}
	return docs, nil
}

type dropIndexesArgs struct {
	Drop    value.Value `arg:"dropIndexes"`
	OldDrop value.Value `arg:"deleteIndexes"`
	Index   value.Value `arg:"index,required"`
	UUID    args.UUID   `arg:"collectionUUID"`
}

var dropIndexesSpec = args.New[dropIndexesArgs]("dropIndexes")

func runDropIndexes(c *kernel.Call) error {
	var a dropIndexesArgs
	if err := dropIndexesSpec.Decode(c.Body, &a); err != nil {
		return err
	}
	ns, err := c.Namespace()
	if err != nil {
		return err
	}
	if err := c.ExpectUUID(ns, a.UUID); err != nil {
		return err
	}
	if catalog.MayNameTSIndex(a.Index) {
		reopen, err := write.EndPolicy(c, ns)
		defer reopen()
		if err != nil {
			return kernel.Translate(ns, err)
		}
	}
	var was int
	var all bool
	err = c.Update(func(tx storage.Tx) (err error) {
		if err := catalog.CheckUUID(tx, ns, a.UUID); err != nil {
			return err
		}
		was, all, err = dropIndexes(c, tx, ns, a.Index)
		return err
	})
	if err != nil {
		return kernel.Translate(ns, err)
	}
	c.Reply.Int32("nIndexesWas", int32(was))
	if all {
		c.Reply.String("msg", "non-_id indexes dropped for collection")
	}
	return nil
}

// dropIndexes removes what find names, and returns how many indexes there
// were and whether it names all of them.
func dropIndexes(c *kernel.Call, tx storage.Tx, ns storage.Namespace, find value.Value) (was int, all bool, err error) {
	coll, err := catalog.Open(tx, ns)
	if err != nil {
		if errors.Is(err, storage.ErrNotFound) {
			err = mongoerr.Newf(mongoerr.NamespaceNotFound, "ns not found %s", ns)
		}
		return 0, false, err
	}
	if err := write.CheckWritable(c, coll); err != nil {
		return 0, false, err
	}
	info := coll.Info()
	if catalog.Of(info).Kind == catalog.TimeSeries {
		if info, find, err = create.BucketIndex(c, tx, info, find); err != nil {
			return 0, false, err
		}
	}
	was = catalog.Of(info).IndexCount()
	if drops, rest := catalog.Of(info).DropsTSIndex(find); drops {
		if err := setDocumentPolicy(c, tx, coll, nil); err != nil {
			return 0, false, err
		}
		if find = rest; find.IsMissing() {
			return was, false, nil
		}
	}
	names, all, err := indexesToDrop(catalog.Of(info), find)
	if err != nil {
		return 0, false, err
	}
	for _, name := range names {
		if err := removeIndex(c, tx, info, name); err != nil {
			return 0, false, err
		}
	}
	return was, all, nil
}

// indexesToDrop resolves the index argument: a name, "*", a list of names,
// or a key pattern.
func indexesToDrop(m *catalog.Meta, v value.Value) (names []string, all bool, err error) {
	switch v.Kind() {
	case value.KindString:
		if v.Str() == "*" {
			for _, s := range m.Indexes {
				if !s.IsID() {
					names = append(names, s.Name)
				}
			}
			return names, true, nil
		}
		name, err := m.IndexToDrop(v.Str())
		return []string{name}, false, err
	case value.KindArray:
		if list := v.Doc(); list.Len() == 1 && catalog.IsWildcard(list.Index(0)) {
			return indexesToDrop(m, list.Index(0))
		}
		for e := range v.Doc().Values() {
			if e.Kind() != value.KindString {
				return nil, false, args.WrongType("dropIndexes", "index", e, "string")
			}
			name, err := m.IndexToDrop(e.Str())
			if err != nil {
				return nil, false, err
			}
			names = append(names, name)
		}
		return names, false, nil
	case value.KindDocument:
		spec, err := m.IndexByKey(v.Doc())
		if err != nil {
			return nil, false, err
		}
		name, err := m.IndexToDrop(spec.Name)
		return []string{name}, false, err
	}
	return nil, false, mongoerr.Newf(mongoerr.TypeMismatch, "BSON field 'dropIndexes.index' is the wrong type '%s', expected types '[string, object, array]'", v.Kind())
}

// removeIndex drops one index.
func removeIndex(c *kernel.Call, tx storage.Tx, info *storage.Info, name string) error {
	c.Svc.IndexUse.Forget(info, name)
	return tx.DropIndex(info.Namespace, name)
}

// EnsureIndex adds an index to a collection, unless it has one like it.
func EnsureIndex(c *kernel.Call, tx storage.Tx, ns storage.Namespace, spec value.Doc) error {
	_, _, _, err := createIndexes(c, tx, ns, []value.Doc{spec})
	return err
}
