package commands

import (
	"errors"

	"github.com/duskdb/duskdb/index"
	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/query/agg"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/ttl"
	"github.com/duskdb/duskdb/value"
)

type createIndexesArgs struct {
	Create  value.Value `arg:"createIndexes,required"`
	Indexes array       `arg:"indexes,required"`
	Quorum  value.Value `arg:"commitQuorum"`
	Ignore  looseBool   `arg:"ignoreUnknownIndexOptions"`
	Version value.Value `arg:"v"`
	UUID    uuidArg     `arg:"collectionUUID"`
}

var createIndexesSpec = newArgs[createIndexesArgs]("createIndexes")

func runCreateIndexes(c *Call) error {
	var a createIndexesArgs
	if err := createIndexesSpec.decode(c.Body, &a); err != nil {
		return err
	}
	ns, err := c.namespaceOf(a.Create)
	if err != nil {
		return err
	}
	given, err := arrayDocs("createIndexes", "indexes", a.Indexes)
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
	if err := c.checkCommitQuorum(a.Quorum); err != nil {
		return err
	}
	switch ns {
	case oplogNS:
		return mongoerr.New(mongoerr.CannotCreateIndex, "cannot create an index on the oplog")
	case transactionsNS:
		return mongoerr.Newf(mongoerr.IllegalOperation, "not allowed to create index on %s", ns)
	}
	if err := c.expectUUID(ns, a.UUID); err != nil { // before anything is settled for it
		return err
	}
	if _, missing := c.missingIndexes(ns, given); len(missing) > 0 {
		if _, err := c.settleAhead(ns); err != nil {
			return translate(ns, err)
		}
	}
	defer c.prepareIndexes(ns, given)()
	var before, after int
	var created bool
	err = c.update(func(tx storage.Tx) error {
		if err := checkUUID(tx, ns, a.UUID); err != nil {
			return err
		}
		before, after, created, err = c.createIndexes(tx, ns, given)
		return err
	})
	if err != nil {
		return translate(ns, err)
	}
	c.reply.Int32("numIndexesBefore", int32(before)).Int32("numIndexesAfter", int32(after))
	c.reply.Bool("createdCollectionAutomatically", created)
	if before == after {
		c.reply.String("note", "all indexes already exist")
	}
	return nil
}

// prepareIndexes has the engine read the records for the indexes that seem to
// be missing, while others write. What cannot be prepared, for whatever
// reason, is created without, and that tells the reason.
func (c *Call) prepareIndexes(ns storage.Namespace, given []value.Doc) (release func()) {
	var releases []func()
	release = func() {
		for _, r := range releases {
			r()
		}
	}
	engine, ok := c.svc.engine.(storage.IndexPreparer)
	if !ok || c.transaction() != nil {
		return release
	}
	target, specs := c.missingIndexes(ns, given)
	for _, spec := range specs {
		if r, err := engine.PrepareIndex(c.ctx, target, spec.Stored()); err == nil {
			releases = append(releases, r)
		}
	}
	return release
}

// missingIndexes are the indexes to be made, as far as can be told from the
// latest state, and the collection that will carry them.
func (c *Call) missingIndexes(ns storage.Namespace, given []value.Doc) (target storage.Namespace, missing []*index.Spec) {
	_ = c.view(func(tx storage.Tx) error {
		coll, err := tx.Collection(ns)
		if err != nil {
			return err
		}
		var specs []*index.Spec
		if target, specs, err = c.parseIndexes(coll.Info(), given); err != nil {
			return err
		}
		if coll, err = tx.Collection(target); err != nil {
			return err
		}
		if err := c.svc.memory.admitEntries(coll.Count() * int64(len(specs))); err != nil {
			return err
		}
		for _, spec := range specs {
			if index.Conflict(metaOf(coll.Info()).known(), spec, target.String()) == nil {
				missing = append(missing, spec)
			}
		}
		return nil
	})
	return target, missing
}

// createIndexes adds the indexes that do not exist yet: all or none.
func (c *Call) createIndexes(tx storage.Tx, ns storage.Namespace, given []value.Doc) (before, after int, created bool, err error) {
	_, err = tx.Collection(ns)
	created = errors.Is(err, storage.ErrNotFound)
	coll, err := c.collectionForInsert(tx, ns)
	if err != nil {
		return 0, 0, false, err
	}
	given, added, err := c.createTSIndexes(tx, &coll, given)
	if err != nil {
		return 0, 0, false, err
	}
	target, specs, err := c.parseIndexes(coll.Info(), given)
	if err != nil {
		return 0, 0, false, err
	}
	known := metaOf(coll.Info()).known()
	if target != ns {
		if coll, err = tx.Collection(target); err != nil {
			return 0, 0, false, err
		}
		known = metaOf(coll.Info()).known()
	}
	before = metaOf(coll.Info()).catalogued() - added
	after = before + added
	old := known
	for _, spec := range specs {
		err := index.Conflict(known, spec, target.String())
		if mongoerr.Is(err, mongoerr.IndexAlreadyExists) && mongoerr.Is(index.Conflict(old, spec, target.String()), mongoerr.IndexAlreadyExists) {
			continue // but twice in one command it may not be
		}
		if err != nil {
			return 0, 0, false, err
		}
		if c.transaction() != nil {
			if err := c.indexInTransaction(coll); err != nil {
				return 0, 0, false, err
			}
		}
		if err := c.addIndex(tx, target, spec); err != nil {
			return 0, 0, false, err
		}
		known = append(known[:len(known):len(known)], spec)
		after++
	}
	return before, after, created, nil
}

// createTSIndexes takes the TTL indexes on _ts out of the list: they are
// document TTL. added is how many were not there before.
func (c *Call) createTSIndexes(tx storage.Tx, coll *storage.Collection, given []value.Doc) (rest []value.Doc, added int, err error) {
	ns := (*coll).Info().Namespace
	for _, d := range given {
		handled, created, err := c.createTSIndex(tx, *coll, d)
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

// catalogued is how many of its indexes a collection counts, as commands
// report it: not that by which it is clustered.
func (m *collectionMeta) catalogued() int {
	n := len(m.listed)
	if m.clustered != nil && m.kind != timeSeriesBuckets {
		n--
	}
	return n
}

// parseIndexes reads the specifications, and tells which collection carries
// the indexes: the buckets, for a time series.
func (c *Call) parseIndexes(info *storage.Info, given []value.Doc) (storage.Namespace, []*index.Spec, error) {
	m := metaOf(info)
	if m.kind == timeSeries {
		return c.parseBucketIndexes(info, given)
	}
	var collationSpec value.Doc
	if m.collation != nil {
		collationSpec = m.collation.Doc()
	}
	specs := make([]*index.Spec, 0, len(given))
	for _, d := range given {
		if err := c.checkIndexAllowed(info, d); err != nil {
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

// indexInTransaction refuses new indexes but on empty collections that the
// transaction has made.
func (c *Call) indexInTransaction(coll storage.Collection) error {
	ns := coll.Info().Namespace.String()
	committed, err := c.isCommitted(coll.Info())
	switch {
	case err != nil:
		return err
	case committed:
		return notInTransaction("Cannot create new indexes on existing collection " + ns + " in a multi-document transaction.")
	case coll.Count() > 0:
		return notInTransaction("Cannot create new indexes on non-empty collection " + ns + " in a multi-document transaction.")
	}
	return nil
}

// isCommitted tells whether a collection is there for everybody, and not only
// in the transaction that made it.
func (c *Call) isCommitted(info *storage.Info) (committed bool, err error) {
	err = c.svc.engine.View(c.ctx, func(tx storage.Tx) error {
		coll, err := tx.Collection(info.Namespace)
		if errors.Is(err, storage.ErrNotFound) {
			return nil
		}
		committed = err == nil && coll.Info().UUID == info.UUID
		return err
	})
	return committed, err
}

// addIndex builds one index over what is there.
func (c *Call) addIndex(tx storage.Tx, ns storage.Namespace, spec *index.Spec) error {
	coll, err := tx.Collection(ns)
	if err != nil {
		return err
	}
	if err := c.svc.memory.admitEntries(coll.Count()); err != nil {
		return err
	}
	kept := c.newWriter(tx, coll, true).settle()
	if kept != nil && !errors.Is(kept, ttl.ErrKept) {
		return kept
	}
	err = tx.CreateIndex(ns, spec.Stored())
	if err != nil && kept != nil {
		return refusedWith(kept) // what nobody sees must not be what the command fails of
	}
	var dup *storage.DuplicateKeyError
	if !errors.As(err, &dup) {
		return err
	}
	r, _ := coll.Get(dup.Existing)
	keyValue := spec.KeyValue(r.Doc, dup.Key)
	return mongoerr.Newf(mongoerr.DuplicateKey, "Index build failed: %s: Collection %s ( %s ) :: caused by :: E11000 duplicate key error collection: %s index: %s dup key: %s",
		uuidText(newUUID()), ns, uuidText(coll.Info().UUID), ns, spec.Name, keyValue).
		WithExtra("keyPattern", value.Document(spec.Key)).WithExtra("keyValue", value.Document(keyValue))
}

type listIndexesArgs struct {
	List    value.Value `arg:"listIndexes,required"`
	Cursor  value.Doc   `arg:"cursor"`
	Builds  looseBool   `arg:"includeBuildUUIDs"`
	Details looseBool   `arg:"includeIndexBuildInfo"`
}

var listIndexesSpec = newArgs[listIndexesArgs]("listIndexes")

func runListIndexes(c *Call) error {
	var a listIndexesArgs
	if err := listIndexesSpec.decode(c.Body, &a); err != nil {
		return err
	}
	ns, info, err := c.findCollection(a.List)
	if err != nil {
		return err
	}
	if info == nil {
		return mongoerr.Newf(mongoerr.NamespaceNotFound, "ns does not exist: %s", ns)
	}
	if metaOf(info).kind == view {
		return errIsView(ns)
	}
	if a.Builds && a.Details {
		return mongoerr.New(mongoerr.InvalidOptions, "The includeBuildUUIDs flag and includeBuildIndexInfo flag cannot both be set to true")
	}
	docs, err := c.listedIndexes(info)
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
	size, err := cursorBatch(a.Cursor)
	if err != nil {
		return err
	}
	return c.firstBatch(cursorRequest{ns: ns, it: agg.Docs(docs...), batchSize: size, idFirst: true})
}

func (c *Call) listedIndexes(info *storage.Info) ([]value.Doc, error) {
	if metaOf(info).kind == timeSeries {
		return c.listedBucketIndexes(info)
	}
	var docs []value.Doc
	for _, spec := range metaOf(info).listed {
		docs = append(docs, spec.Doc())
	}
	return docs, nil
}

type dropIndexesArgs struct {
	Drop    value.Value `arg:"dropIndexes"`
	OldDrop value.Value `arg:"deleteIndexes"`
	Index   value.Value `arg:"index,required"`
	UUID    uuidArg     `arg:"collectionUUID"`
}

var dropIndexesSpec = newArgs[dropIndexesArgs]("dropIndexes")

func runDropIndexes(c *Call) error {
	var a dropIndexesArgs
	if err := dropIndexesSpec.decode(c.Body, &a); err != nil {
		return err
	}
	ns, err := c.namespace()
	if err != nil {
		return err
	}
	if err := c.expectUUID(ns, a.UUID); err != nil {
		return err
	}
	if mayNameTSIndex(a.Index) {
		reopen, err := c.endPolicy(ns)
		defer reopen()
		if err != nil {
			return translate(ns, err)
		}
	}
	var was int
	var all bool
	err = c.update(func(tx storage.Tx) (err error) {
		if err := checkUUID(tx, ns, a.UUID); err != nil {
			return err
		}
		was, all, err = c.dropIndexes(tx, ns, a.Index)
		return err
	})
	if err != nil {
		return translate(ns, err)
	}
	c.reply.Int32("nIndexesWas", int32(was))
	if all {
		c.reply.String("msg", "non-_id indexes dropped for collection")
	}
	return nil
}

// dropIndexes removes what find names, and returns how many indexes there
// were and whether it names all of them.
func (c *Call) dropIndexes(tx storage.Tx, ns storage.Namespace, find value.Value) (was int, all bool, err error) {
	coll, err := tx.Collection(ns)
	if err != nil {
		if errors.Is(err, storage.ErrNotFound) {
			err = mongoerr.Newf(mongoerr.NamespaceNotFound, "ns not found %s", ns)
		}
		return 0, false, err
	}
	if err := c.checkWritable(coll); err != nil {
		return 0, false, err
	}
	info := coll.Info()
	if metaOf(info).kind == timeSeries {
		if info, find, err = c.bucketIndex(tx, info, find); err != nil {
			return 0, false, err
		}
	}
	was = metaOf(info).catalogued()
	if drops, rest := metaOf(info).dropsTSIndex(find); drops {
		if err := c.setDocumentPolicy(tx, coll, nil); err != nil {
			return 0, false, err
		}
		if find = rest; find.IsMissing() {
			return was, false, nil
		}
	}
	names, all, err := indexesToDrop(metaOf(info), find)
	if err != nil {
		return 0, false, err
	}
	for _, name := range names {
		if err := c.removeIndex(tx, info, name); err != nil {
			return 0, false, err
		}
	}
	return was, all, nil
}

func isAll(v value.Value) bool { return v.Str() == "*" }

// indexesToDrop resolves the index argument: a name, "*", a list of names,
// or a key pattern.
func indexesToDrop(m *collectionMeta, v value.Value) (names []string, all bool, err error) {
	switch v.Kind() {
	case value.KindString:
		if v.Str() == "*" {
			for _, s := range m.indexes {
				if !s.IsID() {
					names = append(names, s.Name)
				}
			}
			return names, true, nil
		}
		name, err := m.indexToDrop(v.Str())
		return []string{name}, false, err
	case value.KindArray:
		if list := v.Doc(); list.Len() == 1 && isAll(list.Index(0)) {
			return indexesToDrop(m, list.Index(0))
		}
		for e := range v.Doc().Values() {
			if e.Kind() != value.KindString {
				return nil, false, wrongType("dropIndexes", "index", e, "string")
			}
			name, err := m.indexToDrop(e.Str())
			if err != nil {
				return nil, false, err
			}
			names = append(names, name)
		}
		return names, false, nil
	case value.KindDocument:
		spec, err := m.indexByKey(v.Doc())
		if err != nil {
			return nil, false, err
		}
		name, err := m.indexToDrop(spec.Name)
		return []string{name}, false, err
	}
	return nil, false, mongoerr.Newf(mongoerr.TypeMismatch, "BSON field 'dropIndexes.index' is the wrong type '%s', expected types '[string, object, array]'", v.Kind())
}

func (m *collectionMeta) indexToDrop(name string) (string, error) {
	for _, s := range m.indexes {
		if s.Name != name {
			continue
		}
		if s.Clustered {
			return "", mongoerr.New(5979800, "cannot drop the clustered index")
		}
		if s.IsID() {
			return "", mongoerr.New(mongoerr.InvalidOptions, "cannot drop _id index")
		}
		return name, nil
	}
	return "", mongoerr.Newf(mongoerr.IndexNotFound, "index not found with name [%s]", name)
}

// indexByKey finds the one index with a key pattern.
func (m *collectionMeta) indexByKey(key value.Doc) (*index.Spec, error) {
	var found []*index.Spec
	for _, s := range m.listed {
		if value.CompareDocs(s.Key, key, nil) == 0 {
			found = append(found, s)
		}
	}
	switch len(found) {
	case 0:
		return nil, mongoerr.Newf(mongoerr.IndexNotFound, "can't find index with key: %s", key)
	case 1:
		return found[0], nil
	}
	return nil, mongoerr.Newf(mongoerr.AmbiguousIndexKeyPattern, "%d indexes found for key: %s, identify by name instead. Conflicting indexes: %s, %s", len(found), key, found[0].Doc(), found[1].Doc())
}

// removeIndex drops one index.
func (c *Call) removeIndex(tx storage.Tx, info *storage.Info, name string) error {
	c.svc.indexUse.forget(info, name)
	return tx.DropIndex(info.Namespace, name)
}
