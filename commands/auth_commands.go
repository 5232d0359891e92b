package commands

// authCommands are the commands to log in, and those on users and roles.
func authCommands() []command {
	return []command{
		{name: "saslStart", run: runSASLStart, flags: preAuth | secret | noSession, help: "begin to log in"},
		{name: "saslContinue", run: runSASLContinue, flags: preAuth | secret | noSession, help: "continue to log in"},
		{name: "authenticate", run: runAuthenticate, flags: preAuth | secret | noSession, help: "log in by a certificate"},
		{name: "logout", run: runLogout, flags: preAuth | noSession, help: "log out"},
		{name: "connectionStatus", run: runConnectionStatus, flags: preAuth, help: "who is logged in"},

		{name: "createUser", run: runCreateUser, flags: writes | secret, help: "create a user"},
		{name: "updateUser", run: runUpdateUser, flags: writes | secret, help: "change a user"},
		{name: "dropUser", run: runDropUser, flags: writes, help: "drop a user"},
		{name: "dropAllUsersFromDatabase", run: runDropAllUsers, flags: writes, help: "drop all users of a database"},
		{name: "grantRolesToUser", run: runGrantRolesToUser, flags: writes, help: "give roles to a user"},
		{name: "revokeRolesFromUser", run: runRevokeRolesFromUser, flags: writes, help: "take roles from a user"},
		{name: "usersInfo", run: runUsersInfo, help: "describe users"},

		{name: "createRole", run: runCreateRole, flags: writes, help: "create a role"},
		{name: "updateRole", run: runUpdateRole, flags: writes, help: "change a role"},
		{name: "dropRole", run: runDropRole, flags: writes, help: "drop a role"},
		{name: "dropAllRolesFromDatabase", run: runDropAllRoles, flags: writes, help: "drop all roles of a database"},
		{name: "grantPrivilegesToRole", run: runGrantPrivileges, flags: writes, help: "give privileges to a role"},
		{name: "revokePrivilegesFromRole", run: runRevokePrivileges, flags: writes, help: "take privileges from a role"},
		{name: "grantRolesToRole", run: runGrantRolesToRole, flags: writes, help: "make a role inherit others"},
		{name: "revokeRolesFromRole", run: runRevokeRolesFromRole, flags: writes, help: "make a role inherit others no more"},
		{name: "rolesInfo", run: runRolesInfo, help: "describe roles"},
		{name: "_mergeAuthzCollections", run: runMergeAuth, flags: adminOnly | writes, help: "take over users and roles from a restored dump"},
		{name: "invalidateUserCache", run: runInvalidateUserCache, flags: adminOnly, help: "forget what is known of users"},
		{name: "rotateCertificates", run: runRotateCertificates, flags: adminOnly, action: "rotateCertificates", on: onCluster, help: "read the TLS certificates again"},
	}
}
