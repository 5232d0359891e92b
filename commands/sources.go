package commands

import (
	"github.com/duskdb/duskdb/commands/changestream"
	"github.com/duskdb/duskdb/commands/ddl"
	"github.com/duskdb/duskdb/commands/diagnostics"
	"github.com/duskdb/duskdb/commands/pipeline"
	"github.com/duskdb/duskdb/commands/settings"
)

func init() {
	pipeline.Sources = map[string]pipeline.Source{
		"$changeStream":       changestream.Open,
		"$collStats":          pipeline.OpenCollStats,
		"$indexStats":         pipeline.OpenIndexStats,
		"$currentOp":          diagnostics.OpenCurrentOp,
		"$listLocalSessions":  pipeline.OpenSessions,
		"$listSessions":       pipeline.OpenSessions,
		"$planCacheStats":     pipeline.OpenPlanCacheStats,
		"$listCatalog":        pipeline.OpenListCatalog,
		"$listClusterCatalog": ddl.OpenListClusterCatalog,
		"$querySettings":      settings.OpenQuerySettings,
		"$queryStats":         diagnostics.OpenQueryStats,
		"$listSampledQueries": pipeline.OpenNothing,
	}
}
