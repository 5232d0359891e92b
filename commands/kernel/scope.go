package kernel

import (
	"github.com/duskdb/duskdb/internal/dialect"
	"github.com/duskdb/duskdb/query/expr"
)

// QueryScope is the scope of the expressions of queries and pipelines that run now. Unlike
// those of stored definitions they are of this server: one that is no member of a set has no
// $$CLUSTER_TIME.
func (s *Service) QueryScope() *expr.Scope {
	root := s.RootScope()
	if s.Replicated() {
		return root
	}
	if root == nil {
		return newestAlone
	}
	return root.Alone()
}

// newestAlone is the scope of most servers that are no members of a set. Nothing is declared
// in it.
var newestAlone = expr.NewScope(dialect.Mongo82).Alone()
