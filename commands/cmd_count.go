package commands

import (
	"cmp"
	"math"

	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/query/plan"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

type countArgs struct {
	Count     value.Value `arg:"count,required"`
	Query     value.Doc   `arg:"query"`
	Limit     value.Value `arg:"limit,any"`
	Skip      int64       `arg:"skip,nonneg"`
	Hint      value.Value `arg:"hint,any"`
	Collation value.Doc   `arg:"collation"`
	Fields    value.Value `arg:"fields"`
	EncInfo   value.Value `arg:"encryptionInformation"`
}

var countSpec = newArgs[countArgs]("count")

func runCount(c *Call) error {
	var a countArgs
	if err := countSpec.decode(c.Body, &a); err != nil {
		return err
	}
	ns, err := c.findNamespace(a.Count)
	if err != nil {
		return err
	}
	if err := checkHint(a.Hint); err != nil {
		return err
	}
	c.svc.metrics.opcounters.command.Add(1)
	n, err := c.count(ns, &a)
	if err != nil {
		return translate(ns, err)
	}
	if n == int64(int32(n)) {
		c.reply.Int32("n", int32(n))
	} else {
		c.reply.Int64("n", n)
	}
	return nil
}

// limit is the most that is counted, 0 without a limit: its sign says nothing.
func (a *countArgs) limit() (int64, error) {
	if a.Limit.IsMissing() {
		return 0, nil
	}
	if !a.Limit.IsNumber() {
		return 0, mongoerr.New(mongoerr.BadValue, "limit value is not a valid number")
	}
	n, ok := a.Limit.AsInt64()
	switch {
	case a.Limit.IsNaN():
		return 0, mongoerr.Newf(mongoerr.FailedToParse, "Expected an integer, but found NaN in: limit: %s", a.Limit)
	case !ok && math.Abs(a.Limit.AsDouble()) >= 1<<63:
		return 0, mongoerr.Newf(mongoerr.FailedToParse, "Cannot represent as a 64-bit integer: limit: %s", a.Limit)
	case !ok:
		return 0, mongoerr.Newf(mongoerr.FailedToParse, "Expected an integer: limit: %s", a.Limit)
	case n == math.MinInt64:
		return 0, mongoerr.New(mongoerr.BadValue, "Limit value for count cannot be min long")
	}
	return max(n, -n), nil
}

func (c *Call) count(ns storage.Namespace, a *countArgs) (int64, error) {
	limit, err := a.limit()
	if err != nil {
		return 0, err
	}
	info, err := c.lookup(ns)
	if err != nil {
		return 0, err
	}
	m := metaOf(info)
	if m.readThrough() {
		return c.countView(ns, a, limit)
	}
	if err := c.noteRead(info); err != nil {
		return 0, err
	}
	x := newExecution(c)
	x.env.Bare = true // as of mongod, which gives them to aggregate, find and updates
	q := readQuery{filter: a.Query, hint: a.Hint, fields: []string{}}
	if q.collator, err = operationCollation(a.Collation, m); err != nil {
		return 0, err
	}
	x.env.Collation = q.collator
	if err := c.compileFilter(&q, m); err != nil {
		return 0, err
	}
	if info == nil {
		return 0, nil
	}
	if n, ok, err := c.countWhole(info, &q); ok || err != nil {
		return clampCount(n, a.Skip, limit), err
	}
	how, err := c.access(x, info, &q)
	if err != nil {
		return 0, err
	}
	most := int64(0)
	if limit > 0 {
		most = a.Skip + limit
	}
	if countable(how, info) {
		n, ok, err := c.countEntries(x, info, how.plan, most)
		if ok || err != nil {
			return clampCount(n, a.Skip, limit), err
		}
	}
	n, err := c.countMatches(x, info, how, &q, most)
	return clampCount(n, a.Skip, limit), err
}

// countMatches counts by reading the documents, until there are most of them
// unless that is 0.
func (c *Call) countMatches(x *execution, info *storage.Info, how *access, q *readQuery, most int64) (n int64, err error) {
	src, err := how.open(x, info, q)
	if err != nil {
		return 0, err
	}
	defer src.Close()
	for most == 0 || n < most {
		_, ok, err := src.Next()
		if !ok || err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// countWhole answers from the collection's counter where every record
// counts, but for those that have expired, which the expiry indexes know.
func (c *Call) countWhole(info *storage.Info, q *readQuery) (n int64, ok bool, err error) {
	if !q.matcher.MatchesAll() || !q.hint.IsMissing() {
		return 0, false, nil
	}
	err = c.view(func(tx storage.Tx) error {
		coll, err := tx.Collection(info.Namespace)
		if err != nil {
			return err
		}
		n, err = c.sight(coll).count()
		return err
	})
	return n, true, err
}

// countable tells whether the entries of an index can be counted instead of
// documents: those in the plan's ranges are the matching ones.
func countable(a *access, info *storage.Info) bool {
	p := a.plan
	return p.Exact && !p.Dedup && (p.Type == plan.IndexScan || p.Type == plan.ByID) && !metaOf(info).isQueue
}

// countEntries counts the entries in the ranges of a plan, no further than
// most (0: all). ok is false if some of the documents may have expired.
func (c *Call) countEntries(x *execution, info *storage.Info, p *plan.Plan, most int64) (n int64, ok bool, err error) {
	err = c.view(func(tx storage.Tx) error {
		coll, err := tx.Collection(info.Namespace)
		if err != nil {
			return err
		}
		if ok = c.sight(coll).allVisible(); !ok {
			return nil
		}
		stop := error(nil)
		for _, r := range p.Ranges {
			err := coll.ScanIndex(p.Index.Name, storage.KeyRange{Lo: r.Lo, Hi: r.Hi}, func([]byte, storage.RecordID) bool {
				n++
				if n&1023 == 0 {
					stop = c.interrupted()
				}
				return stop == nil && n != most
			})
			if err != nil || stop != nil || n == most && most > 0 {
				return cmp.Or(err, stop)
			}
		}
		return nil
	})
	x.stats.keysExamined += n
	c.counts.keys += n
	return n, ok, err
}

func clampCount(n, skip, limit int64) int64 {
	n = max(n-skip, 0)
	if limit > 0 {
		n = min(n, limit)
	}
	return n
}
