package create

import (
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/exec"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/index"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/ttl"
	"github.com/duskdb/duskdb/value"
)

// planExpiry adds the expiry options of create to a planned collection:
// documentTtl, indexingPolicy and onExpire (semantics.md §7.6).
func planExpiry(c *kernel.Call, ns storage.Namespace, a *Args, p *Plan) (*Plan, error) {
	if err := ttl.CheckCombination(ns, c.Body); err != nil {
		return nil, err
	}
	main := &p.Parts[0]
	o := catalog.NewOptions(main.Options)
	mode := ttl.Consistent
	if !a.IndexingPolicy.IsMissing() {
		var err error
		if mode, err = ttl.ParseIndexingPolicy("create", a.IndexingPolicy); err != nil {
			return nil, err
		}
		if mode != ttl.Consistent {
			o.Set("indexingPolicy", value.Document(mode.Doc()))
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
		if policy != nil {
			o.Set("documentTtl", value.Document(policy.Doc()))
			main.Indexes = append(main.Indexes, DocumentTTLIndexes()...)
		}
	}
	if !a.OnExpire.IsMissing() {
		on, err := ttl.ParseOnExpire("create", ns, a.OnExpire)
		if err != nil {
			return nil, err
		}
		if err := CheckDeadLetterTarget(c, ns, on); err != nil {
			return nil, err
		}
		for i := range p.Parts {
			if po := catalog.NewOptions(p.Parts[i].Options); i > 0 && on != nil {
				po.Set("onExpire", value.Document(on.Doc()))
				p.Parts[i].Options = po.Doc()
			}
		}
		if on != nil {
			o.Set("onExpire", value.Document(on.Doc()))
		}
	}
	main.Options = o.Doc()
	return p, nil
}

// DocumentTTLIndexes returns the internal indexes of document TTL.
func DocumentTTLIndexes() (specs []storage.IndexSpec) {
	for _, i := range ttl.DocumentIndexes() {
		specs = append(specs, storage.IndexSpec{Name: i.Name, Spec: index.InternalSpec(i.Name, i.Path, index.Order(i.Order))})
	}
	return specs
}

// CheckDeadLetterTarget refuses a target of onExpire that cannot take documents,
// since nothing would ever expire: views, time series and queues. A target that
// does not exist is made when it is needed.
func CheckDeadLetterTarget(c *kernel.Call, ns storage.Namespace, on *ttl.OnExpire) error {
	if on == nil {
		return nil
	}
	target := storage.Namespace{DB: ns.DB, Coll: on.DeadLetterTo}
	info, err := exec.Lookup(c, target)
	if err != nil || info == nil {
		return err
	}
	what := ""
	switch m := catalog.Of(info); {
	case m.Kind == catalog.View:
		what = "a view"
	case m.Kind == catalog.TimeSeries:
		what = "a time-series collection"
	case m.IsQueue:
		what = "a message queue"
	default:
		return nil
	}
	return mongoerr.Newf(mongoerr.InvalidOptions, "'onExpire.deadLetterTo' cannot be %s: %s", what, target)
}
