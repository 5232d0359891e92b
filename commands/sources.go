package commands

func init() {
	specialSources = map[string]specialSource{
		"$changeStream":       openChangeStream,
		"$collStats":          openCollStats,
		"$indexStats":         openIndexStats,
		"$currentOp":          openCurrentOp,
		"$listLocalSessions":  openSessions,
		"$listSessions":       openSessions,
		"$planCacheStats":     openPlanCacheStats,
		"$listCatalog":        openListCatalog,
		"$querySettings":      openQuerySettings,
		"$listSampledQueries": openNothing,
	}
}
