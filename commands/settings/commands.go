package settings

import (
	"github.com/duskdb/duskdb/commands/kernel"
)

// Commands returns the commands that read and change settings for all clients.
func Commands() []kernel.Command {
	return []kernel.Command{
		// Defaults and cluster parameters.
		{Name: "getDefaultRWConcern", Run: runGetDefaultRWConcern, Flags: kernel.AdminOnly, Action: "getDefaultRWConcern", On: kernel.OnCluster, Help: "default read and write concern"},
		{Name: "setDefaultRWConcern", Run: runSetDefaultRWConcern, Flags: kernel.AdminOnly | kernel.Writes, Action: "setDefaultRWConcern", On: kernel.OnCluster, Help: "set the default read and write concern"},
		{Name: "getClusterParameter", Run: runGetClusterParameter, Flags: kernel.AdminOnly, Action: "getClusterParameter", On: kernel.OnCluster, Help: "read cluster parameters"},
		{Name: "setClusterParameter", Run: runSetClusterParameter, Flags: kernel.AdminOnly, Action: "setClusterParameter", On: kernel.OnCluster, Help: "change a cluster parameter"},
		{Name: "setUserWriteBlockMode", Run: runSetUserWriteBlockMode, Flags: kernel.AdminOnly, Action: "setUserWriteBlockMode", On: kernel.OnCluster, Help: "stop the writes of users, or allow them again"},
		{Name: "setFeatureCompatibilityVersion", Run: runSetFCV, Flags: kernel.AdminOnly | kernel.Writes, Action: "setFeatureCompatibilityVersion", On: kernel.OnCluster, Help: "set the version whose features may be used"},

		// Server parameters.
		{Name: "getParameter", Run: runGetParameter, Flags: kernel.AdminOnly, Action: "getParameter", On: kernel.OnCluster, Help: "read server parameters"},
		{Name: "setParameter", Run: runSetParameter, Flags: kernel.AdminOnly, Action: "setParameter", On: kernel.OnCluster, Help: "change server parameters"},

		// Query settings.
		{Name: "setQuerySettings", Run: runSetQuerySettings, Flags: kernel.AdminOnly, Action: "querySettings", On: kernel.OnCluster, Help: "indexes for a shape of query, or that it is refused"},
		{Name: "removeQuerySettings", Run: runRemoveQuerySettings, Flags: kernel.AdminOnly, Action: "querySettings", On: kernel.OnCluster, Help: "forget what was set for a shape of query"},

		// The plan cache and index filters.
		{Name: "planCacheClear", Run: runPlanCacheClear, Action: "planCacheWrite", On: kernel.OnCollection, Help: "forget cached plans"},
		{Name: "planCacheClearFilters", Run: runPlanCacheClearFilters, Action: "planCacheIndexFilter", On: kernel.OnCollection, Help: "remove index filters"},
		{Name: "planCacheListFilters", Run: runPlanCacheListFilters, Action: "planCacheIndexFilter", On: kernel.OnCollection, Help: "list index filters"},
		{Name: "planCacheSetFilter", Run: runPlanCacheSetFilter, Action: "planCacheIndexFilter", On: kernel.OnCollection, Help: "limit the indexes for a shape of query"},
	}
}
