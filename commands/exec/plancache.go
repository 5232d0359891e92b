package exec

import (
	"net"
	"os"
	"slices"
	"strconv"

	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/value"
)

// PlanCacheStats returns the documents of $planCacheStats for a collection. It leaves out
// the fields about mongod's trial runs.
func PlanCacheStats(c *kernel.Call, pc *catalog.PlanCache) (docs []value.Doc) {
	if pc == nil {
		return nil
	}
	pc.Mu.RLock()
	entries := make([]catalog.CachedPlan, 0, len(pc.Entries))
	for _, e := range pc.Entries {
		entries = append(entries, *e)
	}
	pc.Mu.RUnlock()
	slices.SortFunc(entries, func(a, b catalog.CachedPlan) int { return int(a.Created - b.Created) })
	for i := range entries {
		b := value.NewBuilder()
		entries[i].Append(b)
		b.String("host", LocalHost(c))
		docs = append(docs, b.Doc())
	}
	return docs
}

// LocalHost is the server as "host:port", by its host's name and the port the client connected to.
func LocalHost(c *kernel.Call) string {
	host, _ := os.Hostname() // "" if it has no name
	return net.JoinHostPort(host, strconv.Itoa(int(LocalPort(c))))
}

// LocalPort is the port the client connected to.
func LocalPort(c *kernel.Call) int32 {
	_, port, err := net.SplitHostPort(c.Conn.Local)
	if err != nil {
		return 0
	}
	n, _ := strconv.Atoi(port)
	return int32(n)
}
