package users

import (
	"github.com/duskdb/duskdb/commands/kernel"
)

// Commands are the commands for login, users and roles.
func Commands() []kernel.Command {
	return []kernel.Command{
		{Name: "saslStart", Run: runSASLStart, Flags: kernel.PreAuth | kernel.Secret | kernel.NoSession, Help: "begin to log in"},
		{Name: "saslContinue", Run: runSASLContinue, Flags: kernel.PreAuth | kernel.Secret | kernel.NoSession, Help: "continue to log in"},
		{Name: "authenticate", Run: runAuthenticate, Flags: kernel.PreAuth | kernel.Secret | kernel.NoSession, Help: "log in by a certificate"},
		{Name: "logout", Run: runLogout, Flags: kernel.PreAuth | kernel.NoSession, Help: "log out"},
		{Name: "connectionStatus", Run: runConnectionStatus, Flags: kernel.PreAuth, Help: "who is logged in"},

		{Name: "createUser", Run: runCreateUser, Flags: kernel.Writes | kernel.Secret, Help: "create a user"},
		{Name: "updateUser", Run: runUpdateUser, Flags: kernel.Writes | kernel.Secret, Help: "change a user"},
		{Name: "dropUser", Run: runDropUser, Flags: kernel.Writes, Help: "drop a user"},
		{Name: "dropAllUsersFromDatabase", Run: runDropAllUsers, Flags: kernel.Writes, Help: "drop all users of a database"},
		{Name: "grantRolesToUser", Run: runGrantRolesToUser, Flags: kernel.Writes, Help: "give roles to a user"},
		{Name: "revokeRolesFromUser", Run: runRevokeRolesFromUser, Flags: kernel.Writes, Help: "take roles from a user"},
		{Name: "usersInfo", Run: runUsersInfo, Help: "describe users"},

		{Name: "createRole", Run: runCreateRole, Flags: kernel.Writes, Help: "create a role"},
		{Name: "updateRole", Run: runUpdateRole, Flags: kernel.Writes, Help: "change a role"},
		{Name: "dropRole", Run: runDropRole, Flags: kernel.Writes, Help: "drop a role"},
		{Name: "dropAllRolesFromDatabase", Run: runDropAllRoles, Flags: kernel.Writes, Help: "drop all roles of a database"},
		{Name: "grantPrivilegesToRole", Run: runGrantPrivileges, Flags: kernel.Writes, Help: "give privileges to a role"},
		{Name: "revokePrivilegesFromRole", Run: runRevokePrivileges, Flags: kernel.Writes, Help: "take privileges from a role"},
		{Name: "grantRolesToRole", Run: runGrantRolesToRole, Flags: kernel.Writes, Help: "make a role inherit others"},
		{Name: "revokeRolesFromRole", Run: runRevokeRolesFromRole, Flags: kernel.Writes, Help: "make a role inherit others no more"},
		{Name: "rolesInfo", Run: runRolesInfo, Help: "describe roles"},
		{Name: "_mergeAuthzCollections", Run: runMergeAuth, Flags: kernel.AdminOnly | kernel.Writes, Help: "take over users and roles from a restored dump"},
		{Name: "invalidateUserCache", Run: runInvalidateUserCache, Flags: kernel.AdminOnly, Help: "forget what is known of users"},
		{Name: "rotateCertificates", Run: runRotateCertificates, Flags: kernel.AdminOnly, Action: "rotateCertificates", On: kernel.OnCluster, Help: "read the TLS certificates again"},
	}
}
