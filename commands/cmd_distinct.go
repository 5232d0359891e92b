package commands

import (
	"slices"
	"strings"

	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

type distinctArgs struct {
	Distinct  value.Value `arg:"distinct,required"`
	Key       string      `arg:"key,required"`
	Query     value.Doc   `arg:"query"`
	Collation value.Doc   `arg:"collation"`
	Hint      value.Value `arg:"hint,any"`
}

var distinctSpec = newArgs[distinctArgs]("distinct")

func runDistinct(c *Call) error {
	var a distinctArgs
	if err := distinctSpec.decode(c.Body, &a); err != nil {
		return err
	}
	ns, err := c.findNamespace(a.Distinct)
	if err != nil {
		return err
	}
	if err := a.check(); err != nil {
		return err
	}
	c.svc.metrics.opcounters.command.Add(1)
	if err := c.heedQuerySettings(c.Body, false); err != nil {
		return err
	}
	info, err := c.lookup(ns)
	if err != nil {
		return err
	}
	if err := c.noteRead(info); err != nil {
		return err
	}
	x := newExecution(c)
	x.env.Bare = true // as of mongod, which gives them to aggregate, find and updates
	collator, err := operationCollation(a.Collation, metaOf(info))
	if err != nil {
		return err
	}
	set := newDistinctSet(a.Key, collator)
	if err := c.fillDistinct(x, ns, info, &a, collator, set); err != nil {
		return translate(ns, err)
	}
	if set.bytes > MaxDocumentBytes {
		return mongoerr.New(17217, "distinct too big, 16mb cap")
	}
	c.reply.Append("values", value.NewArray(set.sorted()...))
	if c.held != nil {
		c.reply.Append("atClusterTime", stampValue(c.held.ts))
	}
	if metaOf(info).readThrough() { // rewritten as an aggregation, whose answer mongod gives with an int
		c.noOK = true
		c.reply.Int32("ok", 1)
	}
	return nil
}

func (a *distinctArgs) check() error {
	if strings.IndexByte(a.Key, 0) >= 0 {
		return mongoerr.New(31032, "Key field cannot contain an embedded null byte")
	}
	return checkHint(a.Hint)
}

func (c *Call) fillDistinct(x *execution, ns storage.Namespace, info *storage.Info, a *distinctArgs, collator value.Collator, set *distinctSet) error {
	if metaOf(info).readThrough() {
		return c.distinctView(ns, a, set)
	}
	q := readQuery{filter: a.Query, hint: a.Hint, collator: collator, fields: []string{a.Key}, distinct: a.Key}
	x.env.Collation = collator
	if err := c.compileFilter(&q, metaOf(info)); err != nil || info == nil {
		return err
	}
	src, err := c.openRecords(x, info, &q)
	if err != nil {
		return err
	}
	defer src.Close()
	for {
		r, ok, err := src.Next()
		if !ok || err != nil {
			return err
		}
		set.add(r.Doc)
	}
}

// distinctSet collects the distinct values behind a path; of equal ones, the
// first that was seen.
type distinctSet struct {
	path     value.Path
	collator value.Collator
	seen     map[string]struct{}
	values   []value.Value
	bytes    int
	scratch  []byte
}

func newDistinctSet(key string, c value.Collator) *distinctSet {
	return &distinctSet{path: value.ParsePath(key), collator: c, seen: map[string]struct{}{}}
}

func (s *distinctSet) add(d value.Doc) {
	s.path.Walk(d, func(v value.Value) bool {
		if v.Kind() == value.KindArray {
			for e := range v.Doc().Values() {
				s.addValue(e)
			}
			return false
		}
		s.addValue(v)
		return false
	})
}

// sorted are the values in ascending order.
func (s *distinctSet) sorted() []value.Value {
	slices.SortFunc(s.values, func(a, b value.Value) int { return value.CompareWith(a, b, s.collator) })
	return s.values
}

func (s *distinctSet) addValue(v value.Value) {
	if v.IsMissing() {
		return
	}
	s.scratch = value.AppendKeyWith(s.scratch[:0], v, s.collator)
	if _, known := s.seen[string(s.scratch)]; known {
		return
	}
	s.seen[string(s.scratch)] = struct{}{}
	s.values = append(s.values, v)
	s.bytes += len(v.Bytes()) + 16
}
