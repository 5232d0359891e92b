package commands

import (
	"github.com/duskdb/duskdb/index"
	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/ttl"
	"github.com/duskdb/duskdb/value"
)

// planExpiry adds the expiry options of create to a planned collection:
// documentTtl, indexingPolicy and onExpire (semantics.md §7.6).
func (c *Call) planExpiry(ns storage.Namespace, a *createArgs, p *creation) (*creation, error) {
	if err := ttl.CheckCombination(ns, c.Body); err != nil {
		return nil, err
	}
	main := &p.parts[0]
	o := newOptions(main.options)
	mode := ttl.Consistent
	if !a.IndexingPolicy.IsMissing() {
		var err error
		if mode, err = ttl.ParseIndexingPolicy("create", a.IndexingPolicy); err != nil {
			return nil, err
		}
		if mode != ttl.Consistent {
			o.set("indexingPolicy", value.Document(mode.Doc()))
		}
	}
	if !a.DocumentTTL.IsMissing() {
		policy, err := ttl.ParseDocumentPolicy(a.DocumentTTL)
		if err != nil {
			return nil, err
		}
		if err := ttl.CheckIndexing(policy, mode); err != nil {
			return nil, err
		}
		o.set("documentTtl", value.Document(policy.Doc()))
		main.indexes = append(main.indexes, documentIndexes()...)
	}
	if !a.OnExpire.IsMissing() {
		on, err := ttl.ParseOnExpire("create", ns, a.OnExpire)
		if err != nil {
			return nil, err
		}
		if err := c.checkDeadLetterTarget(ns, on); err != nil {
			return nil, err
		}
		for i := range p.parts {
			if po := newOptions(p.parts[i].options); i > 0 && on != nil {
				po.set("onExpire", value.Document(on.Doc()))
				p.parts[i].options = po.doc()
			}
		}
		if on != nil {
			o.set("onExpire", value.Document(on.Doc()))
		}
	}
	main.options = o.doc()
	return p, nil
}

// documentIndexes are the internal indexes of document TTL.
func documentIndexes() (specs []storage.IndexSpec) {
	for _, i := range ttl.DocumentIndexes() {
		specs = append(specs, storage.IndexSpec{Name: i.Name, Spec: index.InternalSpec(i.Name, i.Path, index.Order(i.Order))})
	}
	return specs
}

// setDocumentPolicy switches document TTL on, off, or over, within a
// transaction. What has expired under the old policy is gone for good first.
func (c *Call) setDocumentPolicy(tx storage.Tx, coll storage.Collection, policy *ttl.DocumentPolicy) error {
	info, old := coll.Info(), metaOf(coll.Info()).docTTL
	if err := c.newWriter(tx, coll, true).settle(); err != nil {
		return refusedWith(err)
	}
	o := newOptions(info.Options)
	if policy == nil {
		o.set("documentTtl", value.Value{})
	} else {
		o.set("documentTtl", value.Document(policy.Doc()))
	}
	if err := tx.SetOptions(info.Namespace, o.doc()); err != nil {
		return err
	}
	if exposesTS(old) != exposesTS(policy) {
		if err := rebuildShown(tx, info.Namespace); err != nil {
			return err
		}
	}
	for _, spec := range documentIndexes() {
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
func (c *Call) createTSIndex(tx storage.Tx, coll storage.Collection, spec value.Doc) (handled, created bool, err error) {
	if !c.svc.params.bool("documentTtlTsIndex") {
		return false, false, nil
	}
	if c.svc.params.bool("documentTtlStrictTsOnly") {
		if err := ttl.CheckStrict(spec); err != nil {
			return true, false, err
		}
	}
	policy, ok, err := ttl.ParseTSIndex(spec)
	if !ok || err != nil {
		return ok, false, err
	}
	info := coll.Info()
	m := metaOf(info)
	if m.docTTL != nil {
		return true, false, m.docTTL.CompareTSIndex(policy)
	}
	if wanted, err := index.Load(policy.TSIndex()); err == nil {
		if err := index.Conflict(m.indexes, wanted, info.Namespace.String()); err != nil {
			return true, false, err
		}
	}
	if err := ttl.CheckTTLIndex(info.Namespace, info.Options, spec); err != nil {
		return true, false, err
	}
	if err := ttl.CheckIndexing(policy, ttl.LoadIndexingMode(info.Options)); err != nil {
		return true, false, err
	}
	return true, true, c.setDocumentPolicy(tx, coll, policy)
}

// setDocumentTTL applies documentTtl and indexingPolicy of collMod.
func (m *collMod) setDocumentTTL() error {
	a := m.args
	if a.DocumentTTL.IsMissing() && a.IndexingPolicy.IsMissing() {
		return nil
	}
	old := m.meta.docTTL
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
			o := newOptions(m.info.Options)
			o.set("documentTtl", value.Document(policy.Doc()))
			if err := ttl.CheckCombination(m.info.Namespace, o.doc()); err != nil {
				return err
			}
		}
	}
	if err := ttl.CheckIndexing(policy, mode); err != nil {
		return err
	}
	if !a.DocumentTTL.IsMissing() {
		if err := m.c.setDocumentPolicy(m.tx, m.coll, policy); err != nil {
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
	o := newOptions(coll.Info().Options)
	o.set("indexingPolicy", value.Value{})
	if mode != ttl.Consistent {
		o.set("indexingPolicy", value.Document(mode.Doc()))
	}
	return m.tx.SetOptions(m.info.Namespace, o.doc())
}

func policyValue(p *ttl.DocumentPolicy) value.Value {
	if p == nil {
		return value.Null()
	}
	return value.Document(p.Doc())
}

// checkDeadLetterTarget refuses a target that can take no documents: nothing
// would ever expire.
func (c *Call) checkDeadLetterTarget(ns storage.Namespace, on *ttl.OnExpire) error {
	if on == nil {
		return nil
	}
	target := storage.Namespace{DB: ns.DB, Coll: on.DeadLetterTo}
	info, err := c.lookup(target)
	if err != nil || info == nil {
		return err
	}
	what := ""
	switch m := metaOf(info); {
	case m.kind == view:
		what = "a view"
	case m.kind == timeSeries:
		what = "a time-series collection"
	case m.isQueue:
		what = "a message queue"
	default:
		return nil
	}
	return mongoerr.Newf(mongoerr.InvalidOptions, "'onExpire.deadLetterTo' cannot be %s: %s", what, target)
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
	if err := m.c.checkDeadLetterTarget(m.info.Namespace, on); err != nil {
		return err
	}
	targets := append(companions(m.info), m.info.Namespace)
	for _, ns := range targets {
		coll, err := m.tx.Collection(ns)
		if err != nil {
			return err
		}
		o := newOptions(coll.Info().Options)
		o.set("onExpire", value.Value{})
		if on != nil {
			o.set("onExpire", value.Document(on.Doc()))
		}
		if err := ttl.CheckCombination(m.info.Namespace, o.doc()); err != nil && on != nil {
			return err
		}
		if err := m.tx.SetOptions(ns, o.doc()); err != nil {
			return err
		}
	}
	return nil
}

// isTSIndex reports whether collMod's index argument names the _ts index of
// a collection with document TTL, which is no real index.
func (m *collMod) isTSIndex(x *collModIndexArgs) bool {
	return x.Name != nil && m.meta.isTSIndex(value.String(*x.Name)) || x.KeyPattern != nil && m.meta.isTSIndex(value.Document(x.KeyPattern))
}

// modifyTSIndex changes the default of document TTL through its index.
func (m *collMod) modifyTSIndex(x *collModIndexArgs) error {
	if x.Hidden != nil || x.PrepareUnique != nil || x.Unique != nil {
		return mongoerr.New(mongoerr.InvalidOptions, "the TTL index on '_ts' has only the option expireAfterSeconds")
	}
	n, err := ttl.ParseIndexModSeconds(x.ExpireAfter, m.meta.docTTL.TSIndex().Lookup("key").Doc())
	if err != nil {
		return err
	}
	policy := *m.meta.docTTL
	m.add("expireAfterSeconds_old", value.Int64(policy.Default))
	m.add("expireAfterSeconds_new", value.Int64(n))
	policy.Default = n
	return m.c.setDocumentPolicy(m.tx, m.coll, &policy)
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
	return m.c.setDocumentPolicy(m.tx, coll, policy)
}
