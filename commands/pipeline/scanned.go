package pipeline

import (
	"github.com/duskdb/duskdb/commands/canonical"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/exec"
	"github.com/duskdb/duskdb/query/agg"
	"github.com/duskdb/duskdb/query/plan"
	"github.com/duskdb/duskdb/value"
)

// scannedLookup reads a whole collection for each value, because no index has the
// equality of a $lookup. It implements stage.Scanned.
type scannedLookup struct {
	*preparedLookup
	q       *canonical.Query
	version uint64
	command int // the command the version belongs to, see Execution.Resumed; -1: none yet
}

// Open implements agg.Prepared.
func (p *scannedLookup) Open() (agg.Source, error) {
	it, err := p.a.Documents(p.x, p.info, p.q)
	return agg.Source{Iterator: it, Sorted: p.a.Sorted}, err
}

// Ahead implements agg.Prepared.
func (*scannedLookup) Ahead() int { return 1 }

// ReadAhead implements agg.Prepared.
func (*scannedLookup) ReadAhead([]value.Value) {}

// Version implements stage.Scanned. A command that continues a cursor reads the collection
// again if it has changed, or if documents may have expired.
func (p *scannedLookup) Version() uint64 {
	command := p.x.Resumed()
	if p.command == command {
		return p.version
	}
	c := p.x.Running()
	stamp, err := c.Svc.Engine.Stamp(p.info.Namespace)
	if p.command = command; err != nil || stamp == 0 || c.Transaction() != nil || catalog.Of(p.info).MayHide() {
		p.version++ // differs from the version of the command before
	} else {
		p.version = stamp << 16
	}
	return p.version
}

// scans reports whether a plan reads the collection as it is, whatever the value is.
func scans(a *exec.AccessPath, r *agg.Request) bool {
	return a.Plan.Type == plan.CollScan && !a.Plan.Reverse && len(r.Meta) == 0
}
