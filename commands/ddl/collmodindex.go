package ddl

import (
	"errors"
	"strings"

	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/write"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/index"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/ttl"
	"github.com/duskdb/duskdb/value"
)

// The changes of collMod to an index.

type collModIndexArgs struct {
	KeyPattern    value.Doc   `arg:"keyPattern"`
	Name          *string     `arg:"name"`
	ExpireAfter   value.Value `arg:"expireAfterSeconds"`
	Hidden        *bool       `arg:"hidden"`
	PrepareUnique *bool       `arg:"prepareUnique"`
	Unique        *bool       `arg:"unique"`
}

// modifyIndex changes expireAfterSeconds, hidden, prepareUnique or unique of
// one index (semantics.md §3.5).
func (m *collMod) modifyIndex() error {
	var x collModIndexArgs
	if err := collModIndexSpec.DecodeNested("collMod.index", m.args.Index, &x); err != nil {
		return err
	}
	if m.isTSIndex(&x) {
		return m.modifyTSIndex(&x)
	}
	if err := x.check(m.meta); err != nil {
		return err
	}
	if err := m.checkClusteredHidden(&x); err != nil {
		return err
	}
	if m.meta.Kind == catalog.TimeSeries {
		return m.modifyBucketIndex(&x)
	}
	if m.c.Svc.Params.Bool("documentTtlStrictTsOnly") && !x.ExpireAfter.IsMissing() {
		if spec, err := m.findIndex(&x); err == nil && !ttl.IsTSKey(spec.Key) {
			return ttl.ErrStrict
		}
	}
	spec, err := m.findIndex(&x)
	if err != nil {
		return err
	}
	if x.prepares(spec) && (x.Hidden != nil || x.Unique != nil || !x.ExpireAfter.IsMissing()) {
		return mongoerr.New(mongoerr.InvalidOptions, "prepareUnique cannot be combined with any other modification.")
	}
	if !x.ExpireAfter.IsMissing() && ttl.IsTSKey(spec.Key) && m.c.Svc.Params.Bool("documentTtlTsIndex") {
		return m.convertTSIndex(spec, x.ExpireAfter.SafeInt64())
	}
	if spec, err = m.setExpire(spec, &x); err != nil {
		return err
	}
	if spec, err = m.setHidden(spec, &x); err != nil {
		return err
	}
	if spec, err = m.setUnique(spec, &x); err != nil || m.args.DryRun {
		return err
	}
	m.noteIndex(spec.Name)
	return m.tx.SetIndex(m.info.Namespace, spec.Stored())
}

// noteIndex keeps for the change log what the reply says of an index: the new
// values, and the old ones.
func (m *collMod) noteIndex(name string) {
	now, was := value.NewBuilder().String("name", name), value.NewBuilder()
	for _, f := range m.reply {
		if option, ok := strings.CutSuffix(f.Key, "_new"); ok {
			now.Append(option, f.Value)
		} else if option, ok := strings.CutSuffix(f.Key, "_old"); ok {
			was.Append(option, f.Value)
		}
	}
	m.indexNow, m.indexWas = now.Doc(), was.Doc()
}

func (x *collModIndexArgs) check(meta *catalog.Meta) error {
	switch {
	case x.KeyPattern != nil && x.Name != nil:
		return mongoerr.New(mongoerr.InvalidOptions, "Cannot specify both key pattern and name.")
	case x.KeyPattern == nil && x.Name == nil:
		return mongoerr.New(mongoerr.InvalidOptions, "Must specify either index name or key pattern.")
	case x.ExpireAfter.IsMissing() && x.Hidden == nil && x.PrepareUnique == nil && x.Unique == nil:
		return mongoerr.New(mongoerr.InvalidOptions, "no expireAfterSeconds, hidden, unique, or prepareUnique field")
	case meta.Kind == catalog.TimeSeries && !x.ExpireAfter.IsMissing():
		return mongoerr.New(mongoerr.InvalidOptions, "TTL indexes are not supported for time-series collections. Please refer to the documentation and use the top-level 'expireAfterSeconds' option instead")
	case meta.Kind == catalog.TimeSeries && x.PrepareUnique != nil:
		return mongoerr.New(mongoerr.InvalidOptions, "PrepareUnique is not supported for time-series collections")
	case x.Unique != nil && !*x.Unique:
		return mongoerr.New(mongoerr.BadValue, "Cannot make index non-unique")
	}
	if x.ExpireAfter.IsMissing() {
		return nil
	}
	_, err := ttl.ParseIndexModSeconds(x.ExpireAfter, singleField)
	return err
}

// singleField is used in place of the key of an index that is not known yet.
var singleField = value.NewDoc("x", value.Int32(1))

func (m *collMod) findIndex(x *collModIndexArgs) (*index.Spec, error) {
	if x.Name != nil {
		for _, s := range m.meta.Indexes {
			if s.Name == *x.Name && !s.Clustered {
				return s, nil
			}
		}
		return nil, mongoerr.Newf(mongoerr.IndexNotFound, "cannot find index %s for ns %s", *x.Name, m.info.Namespace)
	}
	var found []*index.Spec
	for _, s := range m.meta.Listed {
		if s.Clustered {
			continue
		}
		if value.CompareDocs(s.Key, x.KeyPattern, nil) == 0 {
			found = append(found, s)
		}
	}
	switch len(found) {
	case 0:
		return nil, mongoerr.Newf(mongoerr.IndexNotFound, "cannot find index %s for ns %s", x.KeyPattern, m.info.Namespace)
	case 1:
		return found[0], nil
	}
	return nil, mongoerr.Newf(mongoerr.AmbiguousIndexKeyPattern, "index keyPattern %s matches %d indexes, must use index name. Conflicting indexes:%s, %s", x.KeyPattern, len(found), found[0].Catalog(), found[1].Catalog())
}

func (m *collMod) setExpire(spec *index.Spec, x *collModIndexArgs) (*index.Spec, error) {
	if x.ExpireAfter.IsMissing() {
		return spec, nil
	}
	switch {
	case spec.IsID():
		return nil, mongoerr.New(mongoerr.InvalidOptions, "the _id field does not support TTL indexes")
	case spec.Key.Len() != 1:
		return nil, mongoerr.New(mongoerr.InvalidOptions, "TTL indexes are single-field indexes, compound indexes do not support TTL")
	}
	if err := ttl.CheckTTLIndex(m.info.Namespace, m.info.Options, m.args.Index); err != nil {
		return nil, mongoerr.New(mongoerr.InvalidOptions, mongoerr.From(err).Message)
	}
	n, err := ttl.ParseIndexModSeconds(x.ExpireAfter, singleField)
	if err != nil {
		return nil, err
	}
	if spec.ExpireAfter != nil {
		m.add("expireAfterSeconds_old", value.Int64(*spec.ExpireAfter))
	}
	m.add("expireAfterSeconds_new", value.Int64(n))
	if spec.ExpireAfter == nil || *spec.ExpireAfter != n {
		m.c.Svc.IndexUse.Forget(m.info, spec.Name)
	}
	return spec.WithExpire(n)
}

// checkClusteredHidden refuses to hide the clustered index. All other changes to it fail
// with IndexNotFound, since it is not a separate index.
func (m *collMod) checkClusteredHidden(x *collModIndexArgs) error {
	if x.Hidden == nil || m.meta.Clustered == nil {
		return nil
	}
	for _, s := range m.meta.Listed {
		if s.Clustered && (x.Name != nil && *x.Name == s.Name || x.KeyPattern != nil && value.CompareDocs(s.Key, x.KeyPattern, nil) == 0) {
			return mongoerr.New(6011800, "The 'hidden' option is not supported for a clusteredIndex")
		}
	}
	return nil
}

func (m *collMod) setHidden(spec *index.Spec, x *collModIndexArgs) (*index.Spec, error) {
	if x.Hidden == nil {
		return spec, nil
	}
	if catalog.IsSystem(m.info.Namespace.Coll) {
		return nil, mongoerr.New(mongoerr.BadValue, "Can't hide index on system collection")
	}
	if spec.IsID() {
		return nil, mongoerr.New(mongoerr.BadValue, "can't hide _id index")
	}
	if spec.Hidden != *x.Hidden {
		m.add("hidden_old", value.Bool(spec.Hidden))
		m.add("hidden_new", value.Bool(*x.Hidden))
		m.c.Svc.IndexUse.Forget(m.info, spec.Name)
	}
	return spec.WithHidden(*x.Hidden)
}

// prepares reports whether prepareUnique changes something. An index that is unique
// has nothing to prepare.
func (x *collModIndexArgs) prepares(spec *index.Spec) bool {
	return x.PrepareUnique != nil && *x.PrepareUnique != spec.PrepareUnique && !spec.IsUnique
}

func (m *collMod) setUnique(spec *index.Spec, x *collModIndexArgs) (*index.Spec, error) {
	if x.prepares(spec) {
		m.add("prepareUnique_old", value.Bool(spec.PrepareUnique))
		m.add("prepareUnique_new", value.Bool(*x.PrepareUnique))
		return spec.WithPrepareUnique(*x.PrepareUnique)
	}
	if x.Unique == nil || spec.IsUnique {
		return spec, nil
	}
	if !spec.PrepareUnique {
		return nil, mongoerr.New(mongoerr.InvalidOptions, "Cannot make index unique with 'prepareUnique=false'. Run collMod to set it first.")
	}
	if err := m.becomeUnique(spec); err != nil {
		return nil, err
	}
	if !m.args.DryRun {
		m.add("unique_new", value.Bool(true))
	}
	return spec.WithUnique()
}

// becomeUnique looks for documents with the same key. It removes expired documents, which
// do not count.
func (m *collMod) becomeUnique(spec *index.Spec) error {
	see := m.c.Visible(m.coll)
	if err := m.checkDuplicates(spec, see); err != nil || bool(m.args.DryRun) {
		return err
	}
	kept := write.New(m.c, m.tx, m.coll, true).RemoveExpired()
	if kept != nil && errors.Is(kept, ttl.ErrKept) && m.checkDuplicates(spec, kernel.Visible{Coll: m.coll, Meta: catalog.None}) == nil {
		return nil
	}
	return write.RefusedWith(kept)
}

// checkDuplicates looks for keys that several records share.
func (m *collMod) checkDuplicates(spec *index.Spec, see kernel.Visible) error {
	var violations, ids []value.Value
	var last []byte
	flush := func() {
		if len(ids) > 1 {
			violations = append(violations, value.Document(value.NewDoc("ids", value.NewArray(ids...))))
		}
		ids = nil
	}
	err := see.Entries(spec.Name, storage.KeyRange{}, func(key []byte, r storage.Record) bool {
		if key = spec.Order(key); string(key) != string(last) {
			flush()
			last = append(last[:0], key...)
		}
		ids = append(ids, r.Doc.Lookup("_id"))
		return true
	})
	flush()
	if err != nil || violations == nil {
		return err
	}
	return mongoerr.New(mongoerr.CannotConvertIndexToUnique, "Cannot convert the index to unique. Please resolve conflicting documents before running collMod again.").
		WithExtra("violations", value.NewArray(violations...))
}
