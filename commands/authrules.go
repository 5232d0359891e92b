package commands

import (
	"github.com/duskdb/duskdb/commands/access"
	"github.com/duskdb/duskdb/commands/ddl"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/users"
	"github.com/duskdb/duskdb/internal/auth"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/storage"
)

// demands returns the privileges that the entries need, including those of nested lists.
// It refuses entries that no applyOps may contain.
func demands(a *users.ApplyOpsArgs, depth int) (demand users.ApplyDemand, err error) {
	ops, err := entries(a)
	if err != nil {
		return 0, err
	}
	if len(ops) == 0 {
		return users.ApplySuperuser, nil
	}
	for i := range ops {
		e := &ops[i]
		name := ""
		if e.Op == "c" {
			name, _ = e.O.First()
		}
		if users.HasUUID(e.Doc) || name != "" && users.HasUUID(e.O) {
			demand = max(demand, users.ApplyUseUUID)
			if name == "create" {
				demand = max(demand, users.ApplyForceUUID)
			}
		}
		switch {
		case len(ops) > 1 && (name == "create" || name == "renameCollection"), e.Doc.Has("versionContext"):
			demand = users.ApplySuperuser
		case name == "dropDatabase" && depth > 0:
			return demand, mongoerr.New(9585500, "dropDatabase is not allowed inside nested applyOps")
		case name == "applyOps" && depth == users.MaxApplyDepth:
			return demand, mongoerr.New(mongoerr.FailedToParse, "Too many nested applyOps")
		case name == "applyOps":
			within, err := a.Nested(e.O)
			if err != nil {
				return demand, err
			}
			deeper, err := demands(within, depth+1)
			if err != nil {
				return demand, err
			}
			demand = max(demand, deeper)
		}
	}
	return demand, nil
}

// mayApplyOps checks the privileges for all entries, as if the client sent each of them
// as a command of its own.
func mayApplyOps(c *kernel.Call) error {
	if err := access.Need(c, auth.Cluster(), "applyOps"); err != nil {
		return err
	}
	var a users.ApplyOpsArgs
	if err := users.ApplyOpsSpec.Decode(c.Body, &a); err != nil {
		return err
	}
	demand, err := demands(&a, 0)
	if err != nil {
		return err
	}
	switch demand {
	case users.ApplySuperuser:
		if !c.User.MayEverything() {
			return access.ErrNotAuthorized
		}
		return nil
	case users.ApplyForceUUID:
		err = access.Need(c, auth.Cluster(), "forceUUID", "useUUID")
	case users.ApplyUseUUID:
		err = access.Need(c, auth.Cluster(), "useUUID")
	}
	if err != nil {
		return err
	}
	return mayApplyAll(c, &a)
}

// mayApplyAll checks the privileges for each entry.
func mayApplyAll(c *kernel.Call, a *users.ApplyOpsArgs) error {
	ops, err := entries(a)
	if err != nil {
		return err
	}
	for i := range ops {
		if err := mayApplyEntry(c, a, &ops[i]); err != nil {
			return err
		}
	}
	return nil
}

func mayApplyEntry(c *kernel.Call, a *users.ApplyOpsArgs, e *users.OplogEntryArgs) error {
	ns := access.SplitNamespace(e.NS)
	switch e.Op {
	case "n":
		return access.Need(c, auth.Cluster(), "appendOplogNote")
	case "c":
		return mayApplyCommand(c, a, ns.DB, e)
	}
	if err := c.View(func(tx storage.Tx) error {
		if named, err := e.Collection(tx, ns); err == nil { // else it cannot be applied
			ns = named
		}
		return nil
	}); err != nil {
		return err
	}
	return users.MayApplyTo(c, a, e, ns)
}

// mayApplyCommand checks the privileges that the logged command needs.
func mayApplyCommand(c *kernel.Call, a *users.ApplyOpsArgs, db string, e *users.OplogEntryArgs) error {
	name, _ := e.O.First()
	form := users.LoggedCommands[name]
	switch {
	case form == nil:
		return mongoerr.New(mongoerr.FailedToParse, "Unrecognized command in op")
	case name == "applyOps":
		inner, err := a.Nested(e.O)
		if err != nil {
			return err
		}
		return mayApplyAll(c, inner)
	case name == "renameCollection":
		db = "admin"
	}
	sub := *c
	sub.DB, sub.Body, sub.Sequences = db, form(e.O), nil
	first, _ := sub.Body.First()
	if sub.Cmd = c.Svc.Table[first]; sub.Cmd == nil {
		return mongoerr.New(mongoerr.FailedToParse, "Unrecognized command in op")
	}
	return access.AuthorizeCommand(&sub)
}

func init() {
	users.AuthRules = map[string]func(*kernel.Call) error{
		"_mergeAuthzCollections":   users.MayMergeAuth,
		"aggregate":                users.MayAggregate,
		"applyOps":                 mayApplyOps,
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
