package commands

import "github.com/duskdb/duskdb/query/agg"

// specialSources are the pipeline sources that are no collections.
var specialSources map[string]func(h *host, x *agg.Exec, s agg.Special) (agg.Iterator, error)
