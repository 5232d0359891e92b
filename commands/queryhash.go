package commands

import (
	"fmt"
	"hash/fnv"
	"net"
	"slices"
	"strconv"

	"github.com/duskdb/duskdb/query/match"
	"github.com/duskdb/duskdb/query/plan"
	"github.com/duskdb/duskdb/value"
)

// shape is what queries have in common that differ in values only: operators
// and paths of the filter, the sort, the projection, the collation.
func (q *readQuery) shape() uint64 {
	return queryShape(q.matcher, q.sort, q.projection, collationDoc(q.collator))
}

func queryShape(m *match.Matcher, sort, projection, collation value.Doc) uint64 {
	h := m.Shape()
	for _, d := range []value.Doc{sort, projection, collation} {
		if d != nil && !d.IsEmpty() {
			for _, b := range d {
				h = (h ^ uint64(b)) * 1099511628211 // FNV-1a
			}
		}
		h = (h ^ 0xff) * 1099511628211
	}
	return h
}

// shapeHash is a shape as explain shows it.
func shapeHash(shape uint64) string { return fmt.Sprintf("%08X", uint32(shape)^uint32(shape>>32)) }

// planCacheKey names a shape together with the indexes that are of use for it.
func planCacheKey(q *readQuery, p *plan.Plan) string {
	names := []string{}
	for _, p := range append([]*plan.Plan{p}, p.Rejected...) {
		if p.Index != nil {
			names = append(names, p.Index.Name)
		}
	}
	slices.Sort(names)
	h := fnv.New64a()
	for _, name := range slices.Compact(names) {
		_, _ = h.Write(append([]byte(name), 0))
	}
	return shapeHash(q.shape() ^ h.Sum64())
}

// localPort is the port the client connected to.
func (c *Call) localPort() int32 {
	_, port, err := net.SplitHostPort(c.conn.Local)
	if err != nil {
		return 0
	}
	n, _ := strconv.Atoi(port)
	return int32(n)
}
