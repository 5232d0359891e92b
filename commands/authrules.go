package commands

import (
	"github.com/duskdb/duskdb/commands/access"
	"github.com/duskdb/duskdb/commands/applyops"
	"github.com/duskdb/duskdb/commands/ddl"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/users"
	"github.com/duskdb/duskdb/internal/auth"
)

// authRules check the privileges of the commands where these depend on the arguments. A rule
// must cover everything that the command may do: if an argument is given twice, it checks both.
var authRules = map[string]func(*kernel.Call) error{
	"_mergeAuthzCollections":   users.MayMergeAuth,
	"aggregate":                users.MayAggregate,
	"applyOps":                 applyops.May,
	"bulkWrite":                users.MayBulkWrite,
	"cloneCollectionAsCapped":  users.MayCloneAsCapped,
	"collMod":                  users.MayCollMod,
	"create":                   users.MayCreate,
	"createRole":               users.MayCreateRole,
	"createUser":               users.MayCreateUser,
	"currentOp":                users.MayCurrentOp,
	"customAction":             ddl.MayCustomAction,
	"dataSize":                 users.MayDataSize,
	"delete":                   users.MayDelete,
	"dropAllRolesFromDatabase": users.MayDropRole,
	"dropAllUsersFromDatabase": users.MayDropUser,
	"dropRole":                 users.MayDropRole,
	"dropUser":                 users.MayDropUser,
	"duskBackup":               mayBackup,
	"expirationStats":          users.MayForecast,
	"explain":                  users.MayExplain,
	"filemd5":                  users.MayHashFile,
	"findAndModify":            users.MayFindAndModify,
	"getDiagnosticData":        users.MayDiagnose,
	"grantPrivilegesToRole":    users.MayGrantPrivileges,
	"grantRolesToRole":         users.MayGrantRoles,
	"grantRolesToUser":         users.MayGrantRoles,
	"insert":                   users.MayInsert,
	"invalidateUserCache":      users.MayInvalidate,
	"killCursors":              users.MayKillCursors,
	"killOp":                   users.MayKillOp,
	"listCollections":          users.MayListCollections,
	"listDatabases":            users.MayListDatabases,
	"mapReduce":                users.MayMapReduce,
	"mqAcceptSession":          users.MayReceive,
	"mqPurge":                  users.MayPurge,
	"mqReceive":                users.MayReceive,
	"mqResubmit":               users.MayResubmit,
	"mqRestore":                users.MayRestoreMessages,
	"profile":                  users.MayProfile,
	"renameCollection":         users.MayRename,
	"revokePrivilegesFromRole": users.MayRevokePrivileges,
	"revokeRolesFromRole":      users.MayRevokeRoles,
	"revokeRolesFromUser":      users.MayRevokeRoles,
	"rolesInfo":                users.MayViewRoles,
	"update":                   users.MayUpdate,
	"updateRole":               users.MayUpdateRole,
	"updateUser":               users.MayUpdateUser,
	"usersInfo":                users.MayViewUsers,
	"validateDBMetadata":       users.MayValidateMetadata,
}

// mayBackup: a backup that is sent to the client has all data, those of the users included,
// so the client must be allowed to read them; the role backup has these privileges.
func mayBackup(c *kernel.Call) error {
	if err := access.Need(c, auth.Cluster(), "fsync"); err != nil || !c.Body.Lookup("stream").Truthy() {
		return err
	}
	for _, on := range []auth.Pattern{auth.AnyNormal(), auth.AnyBuckets(), auth.Database("local"), auth.Database("config"), auth.Namespace("admin", "system.users")} {
		if err := access.Need(c, on, "find"); err != nil {
			return err
		}
	}
	return nil
}
