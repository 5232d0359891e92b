package ddl

import (
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/create"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/oplog"
	"github.com/duskdb/duskdb/commands/write"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/index"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/ttl"
	"github.com/duskdb/duskdb/value"
)

// setDocumentPolicy switches document TTL on or off, or changes its policy, within a
// transaction. First it removes all documents that have expired under the old policy.
func setDocumentPolicy(c *kernel.Call, tx storage.Tx, coll storage.Collection, policy *ttl.DocumentPolicy) error {
	info, old := coll.Info(), catalog.Of(coll.Info()).DocTTL
	if err := write.New(c, tx, coll, true).RemoveExpired(); err != nil {
		return write.RefusedWith(err)
	}
	o := catalog.NewOptions(info.Options)
	if policy == nil {
		o.Set("documentTtl", value.Value{})
	} else {
		o.Set("documentTtl", value.Document(policy.Doc()))
	}
	if err := tx.SetOptions(info.Namespace, o.Doc()); err != nil {
		return err
	}
	if catalog.ExposesTS(old) != catalog.ExposesTS(policy) {
		if err := oplog.RebuildShown(tx, info.Namespace); err != nil {
			return err
		}
	}
	for _, spec := range create.DocumentTTLIndexes() {
		var err error
		switch has := info.Index(spec.Name) != nil; {
		case policy != nil && !has:
			err = tx.CreateIndex(info.Namespace, spec)
		case policy == nil && has && old != nil:
			err = tx.DropIndex(info.Namespace, spec.Name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// createTSIndex handles createIndexes on {_ts: 1} with expireAfterSeconds,
// which switches document TTL on (semantics.md §8.1). handled is false for
// any other index.
func createTSIndex(c *kernel.Call, tx storage.Tx, coll storage.Collection, spec value.Doc) (handled, created bool, err error) {
	if !c.Svc.Params.Bool("documentTtlTsIndex") {
		return false, false, nil
	}
	if c.Svc.Params.Bool("documentTtlStrictTsOnly") {
		if err := ttl.CheckStrict(spec); err != nil {
			return true, false, err
		}
	}
	policy, ok, err := ttl.ParseTSIndex(spec)
	if !ok || err != nil {
		return ok, false, err
	}
	info := coll.Info()
	m := catalog.Of(info)
	if m.DocTTL != nil {
		return true, false, m.DocTTL.CompareTSIndex(policy)
	}
	if wanted, err := index.Load(policy.TSIndex()); err == nil {
		if err := index.Conflict(m.Indexes, wanted, info.Namespace.String()); err != nil {
			return true, false, err
		}
	}
	if err := ttl.CheckTTLIndex(info.Namespace, info.Options, spec); err != nil {
		return true, false, err
	}
	if err := ttl.CheckIndexing(policy, ttl.LoadIndexingMode(info.Options)); err != nil {
		return true, false, err
	}
	return true, true, setDocumentPolicy(c, tx, coll, policy)
}

// setDocumentTTL applies documentTtl and indexingPolicy of collMod.
func (m *collMod) setDocumentTTL() error {
	a := m.args
	if a.DocumentTTL.IsMissing() && a.IndexingPolicy.IsMissing() {
		return nil
	}
	old := m.meta.DocTTL
	mode := ttl.LoadIndexingMode(m.info.Options)
	if !a.IndexingPolicy.IsMissing() {
		var err error
		if mode, err = ttl.ParseIndexingPolicy("collMod", a.IndexingPolicy); err != nil {
			return err
		}
	}
	policy := old
	if !a.DocumentTTL.IsMissing() {
		var err error
		if policy, err = old.Modify(a.DocumentTTL); err != nil {
			return err
		}
		if policy != nil {
			o := catalog.NewOptions(m.info.Options)
			o.Set("documentTtl", value.Document(policy.Doc()))
			if err := ttl.CheckCombination(m.info.Namespace, o.Doc()); err != nil {
				return err
			}
		}
	}
	if err := ttl.CheckIndexing(policy, mode); err != nil {
		return err
	}
	if !a.DocumentTTL.IsMissing() {
		if err := setDocumentPolicy(m.c, m.tx, m.coll, policy); err != nil {
			return err
		}
		m.add("documentTtl_old", policyValue(old))
		m.add("documentTtl_new", policyValue(policy))
	}
	return m.setIndexingMode(mode)
}

func (m *collMod) setIndexingMode(mode ttl.IndexingMode) error {
	if m.args.IndexingPolicy.IsMissing() {
		return nil
	}
	coll, err := m.tx.Collection(m.info.Namespace)
	if err != nil {
		return err
	}
	o := catalog.NewOptions(coll.Info().Options)
	o.Set("indexingPolicy", value.Value{})
	if mode != ttl.Consistent {
		o.Set("indexingPolicy", value.Document(mode.Doc()))
	}
	return m.tx.SetOptions(m.info.Namespace, o.Doc())
}

func policyValue(p *ttl.DocumentPolicy) value.Value {
	if p == nil {
		return value.Null()
	}
	return value.Document(p.Doc())
}

// setOnExpire applies the onExpire option of collMod.
func (m *collMod) setOnExpire() error {
	v := m.args.OnExpire
	if v.IsMissing() {
		return nil
	}
	on, err := ttl.ParseOnExpire("collMod", m.info.Namespace, v)
	if err != nil {
		return err
	}
	if err := create.CheckDeadLetterTarget(m.c, m.info.Namespace, on); err != nil {
		return err
	}
	targets := append(companions(m.info), m.info.Namespace)
	for _, ns := range targets {
		coll, err := m.tx.Collection(ns)
		if err != nil {
			return err
		}
		o := catalog.NewOptions(coll.Info().Options)
		o.Set("onExpire", value.Value{})
		if on != nil {
			o.Set("onExpire", value.Document(on.Doc()))
		}
		if err := ttl.CheckCombination(m.info.Namespace, o.Doc()); err != nil && on != nil {
			return err
		}
		if err := m.tx.SetOptions(ns, o.Doc()); err != nil {
			return err
		}
	}
	return nil
}

// isTSIndex reports whether collMod's index argument names the listed _ts index of a
// collection with document TTL, not a real index.
func (m *collMod) isTSIndex(x *collModIndexArgs) bool {
	return x.Name != nil && m.meta.IsTSIndex(value.String(*x.Name)) || x.KeyPattern != nil && m.meta.IsTSIndex(value.Document(x.KeyPattern))
}

// modifyTSIndex changes the default of document TTL through its index.
func (m *collMod) modifyTSIndex(x *collModIndexArgs) error {
	if x.Hidden != nil || x.PrepareUnique != nil || x.Unique != nil {
		return mongoerr.New(mongoerr.InvalidOptions, "the TTL index on '_ts' has only the option expireAfterSeconds")
	}
	n, err := ttl.ParseIndexModSeconds(x.ExpireAfter, m.meta.DocTTL.TSIndex().Lookup("key").Doc())
	if err != nil {
		return err
	}
	policy := *m.meta.DocTTL
	m.add("expireAfterSeconds_old", value.Int64(policy.Default))
	m.add("expireAfterSeconds_new", value.Int64(n))
	policy.Default = n
	return setDocumentPolicy(m.c, m.tx, m.coll, &policy)
}

// convertTSIndex turns an ordinary index on _ts into document TTL.
func (m *collMod) convertTSIndex(spec *index.Spec, n int64) error {
	policy, _, err := ttl.ParseTSIndex(value.NewDoc("key", value.Document(spec.Key), "expireAfterSeconds", value.Int64(n)))
	if err != nil {
		return mongoerr.New(mongoerr.InvalidOptions, mongoerr.From(err).Message)
	}
	m.add("expireAfterSeconds_new", value.Int64(n))
	if err := m.tx.DropIndex(m.info.Namespace, spec.Name); err != nil {
		return err
	}
	coll, err := m.tx.Collection(m.info.Namespace)
	if err != nil {
		return err
	}
	return setDocumentPolicy(m.c, m.tx, coll, policy)
}
