package diagnostics

import (
	"github.com/duskdb/duskdb/commands/canonical"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/create"
	"github.com/duskdb/duskdb/commands/exec"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/index"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/timeseries"
	"github.com/duskdb/duskdb/ttl"
	"github.com/duskdb/duskdb/value"
)

// proposal is a policy that a collection does not have.
type proposal struct {
	info storage.Info // the collection as it would be with the policy; of a time series, its buckets
	of   ttl.Policy   // the kind of the policy
	name string       // the name of its index; "" if the policy is the collection's
}

// explainPolicy counts the documents that a policy would make overdue at once. It decides by
// the rules by which a pass decides.
func explainPolicy(c *kernel.Call, info *storage.Info, a *explainExpiryArgs) error {
	p, err := propose(c, info, a.Policy)
	if err != nil {
		return err
	}
	stored, err := exec.Lookup(c, p.info.Namespace)
	if err != nil {
		return err
	}
	x := exec.NewExecution(c)
	x.Packed = true
	q := &canonical.Query{Filter: value.EmptyDoc, Scope: c.Svc.RootScope()}
	if err := canonical.CompileFilter(c, q, catalog.Of(stored)); err != nil {
		return err
	}
	src, err := exec.OpenRecords(c, x, stored, q)
	if err != nil {
		return err
	}
	defer src.Close()
	return p.count(c, src, a.Limit)
}

// count writes how many documents there are, how many have a date, and how many are overdue;
// complete: these are all, and not as many as the limit.
func (p *proposal) count(c *kernel.Call, src exec.RecordSource, limit *int64) error {
	var examined, dated, overdue int64
	complete := false
	for {
		rec, ok, err := src.Next()
		if err != nil {
			return err
		}
		if complete = !ok; complete || limit != nil && examined >= *limit {
			break
		}
		n, err := documentsIn(&p.info, rec)
		if err != nil {
			return err
		}
		examined += n
		if at, ok := p.expiresAt(rec); ok {
			dated += n
			if at <= c.Now {
				overdue += n
			}
		}
	}
	c.Reply.Date("now", c.Now).Int64("examined", examined).Int64("dated", dated).Int64("overdue", overdue).Bool("complete", complete)
	return nil
}

// documentsIn is the number of documents in a record: those of a bucket are measurements.
func documentsIn(info *storage.Info, rec storage.Record) (int64, error) {
	if m := catalog.Of(info); m.Kind == catalog.Buckets {
		n, err := timeseries.Count(m.Series, rec.Doc)
		return int64(n), err
	}
	return 1, nil
}

// expiresAt is when a record would expire by the policy; ok is false if it never would.
func (p *proposal) expiresAt(rec storage.Record) (ms int64, ok bool) {
	rules := catalog.Of(&p.info).Rules
	if p.of == ttl.Document { // its indexes are not there yet
		return rules.Document.ExpiresAt(&rec)
	}
	for _, e := range rules.Expiries(&p.info, rec) {
		if e.By.Policy == p.of && (p.name == "" || e.By.Index == p.name) {
			return e.At, true
		}
	}
	return 0, false
}

// propose reads a policy with the checks of the command that would set it: the specification
// of a TTL index, {expireAfterSeconds} of a collection, or {documentTtl}.
func propose(c *kernel.Call, info *storage.Info, policy value.Doc) (*proposal, error) {
	p := &proposal{info: *info}
	var err error
	switch {
	case policy.Has("key"):
		err = p.addIndex(c, policy)
	case policy.Has("documentTtl"):
		err = p.setDocument(policy.Lookup("documentTtl"))
	case policy.Has("expireAfterSeconds"):
		err = p.setSeconds(c, policy.Lookup("expireAfterSeconds"))
	default:
		err = mongoerr.New(mongoerr.FailedToParse, "policy needs one of key, expireAfterSeconds and documentTtl")
	}
	if err != nil {
		return nil, err
	}
	p.info.Meta = catalog.NewIndexer().Attach(&p.info)
	return p, nil
}

// proposedName is the name of an index that is proposed without one.
const proposedName = "proposed"

func (p *proposal) addIndex(c *kernel.Call, given value.Doc) error {
	if !given.Has("expireAfterSeconds") {
		return mongoerr.New(mongoerr.FailedToParse, "policy needs expireAfterSeconds beside key")
	}
	if c.Svc.Params.Bool("documentTtlTsIndex") {
		if policy, ok, err := ttl.ParseTSIndex(given); ok || err != nil {
			if err != nil {
				return err
			}
			return p.replaceDocument(policy)
		}
	}
	if !given.Has("name") {
		b := value.NewBuilder()
		it := given.Iter()
		given = b.Raw(it.Rest()).String("name", proposedName).Doc()
	}
	spec, err := p.parseIndex(c, given)
	if err != nil {
		return err
	}
	p.of, p.name = ttl.Index, spec.Name
	if catalog.Of(&p.info).Kind == catalog.Buckets {
		p.of = ttl.PartialBucket
	}
	p.info.Indexes = []storage.IndexInfo{{IndexSpec: spec.Stored(), Index: spec}}
	return nil
}

// parseIndex reads the specification of an index; that of a time series is on its buckets.
func (p *proposal) parseIndex(c *kernel.Call, given value.Doc) (*index.Spec, error) {
	m := catalog.Of(&p.info)
	if m.Kind == catalog.TimeSeries {
		_, specs, err := create.ParseBucketIndexes(c, &p.info, []value.Doc{given})
		if err != nil {
			return nil, err
		}
		return specs[0], p.useBuckets(c)
	}
	if err := create.CheckIndexAllowed(c, &p.info, given); err != nil {
		return nil, err
	}
	var collation value.Doc
	if m.Collation != nil {
		collation = m.Collation.Doc()
	}
	return index.Parse(given, index.ParseOptions{Collation: collation})
}

// useBuckets goes on with the collection of the buckets of a time series.
func (p *proposal) useBuckets(c *kernel.Call) error {
	info, err := exec.Lookup(c, canonical.BucketsOf(p.info.Namespace))
	switch {
	case err != nil:
		return err
	case info == nil:
		return mongoerr.Newf(mongoerr.NamespaceNotFound, "ns does not exist: %s", canonical.BucketsOf(p.info.Namespace))
	}
	p.info = *info
	return nil
}

func (p *proposal) setSeconds(c *kernel.Call, v value.Value) error {
	seconds, err := ttl.ParseCollectionSeconds(v, c.Now)
	if err != nil {
		return err
	}
	switch m := catalog.Of(&p.info); {
	case m.Kind == catalog.TimeSeries:
		p.of = ttl.TimeSeries
		if err := p.useBuckets(c); err != nil {
			return err
		}
	case m.Clustered != nil:
		p.of = ttl.Clustered
	}
	return p.setOption("expireAfterSeconds", value.Int64(seconds))
}

func (p *proposal) setDocument(v value.Value) error {
	policy, err := catalog.Of(&p.info).DocTTL.Modify(v)
	if err != nil {
		return err
	}
	if policy == nil {
		return mongoerr.New(mongoerr.FailedToParse, "policy needs a documentTtl that is on")
	}
	return p.replaceDocument(policy)
}

func (p *proposal) replaceDocument(policy *ttl.DocumentPolicy) error {
	if err := ttl.CheckIndexing(policy, ttl.LoadIndexingMode(p.info.Options)); err != nil {
		return err
	}
	p.of = ttl.Document
	return p.setOption("documentTtl", value.Document(policy.Doc()))
}

// setOption sets an option of the collection, if it goes together with the others.
func (p *proposal) setOption(name string, v value.Value) error {
	o := catalog.NewOptions(p.info.Options)
	o.Set(name, v)
	p.info.Options = o.Doc()
	return ttl.CheckCombination(p.info.Namespace, p.info.Options)
}
