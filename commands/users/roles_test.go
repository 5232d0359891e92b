package users_test

import (
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
)

// What the commands that change users and roles leave behind, step by step. want is
// part of what usersInfo or rolesInfo shows of ann or r afterwards.
func TestChangesOfUsersAndRoles(t *testing.T) {
	h := harness.NewAuth(t)
	h.MustOn("test", `{"createUser": "ann", "pwd": "p", "roles": []}`)
	h.MustOn("test", `{"createRole": "r", "roles": [], "privileges": []}`)
	const read, write, shop = `{"role": "read", "db": "test"}`, `{"role": "readWrite", "db": "test"}`, `{"role": "read", "db": "shop"}`
	const from = `[{"clientSource": ["10.0.0.0/8"]}]`
	privilege := func(coll, actions string) string {
		return `{"resource": {"db": "test", "collection": "` + coll + `"}, "actions": [` + actions + `]}`
	}
	user := func(command, field, want string) {
		h.Helper()
		h.MustOn("test", command)
		u := h.MustOn("test", `{"usersInfo": "ann", "showCredentials": true}`).Lookup("users").Doc().Index(0).Doc()
		if got := u.Lookup(field); harness.JSONOf(got) != harness.JSONOf(harness.Relaxed(`{v: `+want+`}`).Lookup("v")) {
			t.Errorf("after %s: %s is %s, want %s", command, field, got, want)
		}
	}
	user(`{"grantRolesToUser": "ann", "roles": ["read", `+shop+`]}`, "roles", `[`+read+`, `+shop+`]`)
	user(`{"grantRolesToUser": "ann", "roles": ["read"]}`, "roles", `[`+read+`, `+shop+`]`)
	user(`{"revokeRolesFromUser": "ann", "roles": [`+shop+`, "readWrite"]}`, "roles", `[`+read+`]`)
	user(`{"updateUser": "ann", "roles": ["readWrite"], "customData": {"a": 1}}`, "roles", `[`+write+`]`)
	user(`{"updateUser": "ann", "customData": {"b": 2}}`, "customData", `{"b": 2}`)
	user(`{"updateUser": "ann", "mechanisms": ["SCRAM-SHA-256"]}`, "mechanisms", `["SCRAM-SHA-256"]`)
	user(`{"updateUser": "ann", "pwd": "q", "mechanisms": ["SCRAM-SHA-1", "SCRAM-SHA-256"]}`, "mechanisms", `["SCRAM-SHA-1", "SCRAM-SHA-256"]`)
	h.MustOn("test", `{"updateUser": "ann", "authenticationRestrictions": `+from+`}`)
	u := h.MustOn("test", `{"usersInfo": "ann", "showAuthenticationRestrictions": true}`).Lookup("users").Doc().Index(0).Doc()
	if got := harness.JSONOf(u.Lookup("authenticationRestrictions")); got != `[{"clientSource":["10.0.0.0/8"]}]` {
		t.Errorf("restrictions %s", got)
	}
	role := func(command, field, want string) {
		h.Helper()
		h.MustOn("test", command)
		r := h.MustOn("test", `{"rolesInfo": "r", "showPrivileges": true, "showAuthenticationRestrictions": true}`).Lookup("roles").Doc().Index(0).Doc()
		if got := r.Lookup(field); harness.JSONOf(got) != harness.JSONOf(harness.Relaxed(`{v: `+want+`}`).Lookup("v")) {
			t.Errorf("after %s: %s is %s, want %s", command, field, got, want)
		}
	}
	role(`{"grantPrivilegesToRole": "r", "privileges": [`+privilege("x", `"find", "insert"`)+`, `+privilege("y", `"find"`)+`]}`, "privileges", `[`+privilege("x", `"find", "insert"`)+`, `+privilege("y", `"find"`)+`]`)
	role(`{"revokePrivilegesFromRole": "r", "privileges": [`+privilege("x", `"insert", "remove"`)+`]}`, "privileges", `[`+privilege("x", `"find"`)+`, `+privilege("y", `"find"`)+`]`)
	role(`{"revokePrivilegesFromRole": "r", "privileges": [`+privilege("y", `"find"`)+`, `+privilege("", `"find"`)+`]}`, "privileges", `[`+privilege("x", `"find"`)+`]`)
	role(`{"grantRolesToRole": "r", "roles": ["read", "readWrite"]}`, "roles", `[`+read+`, `+write+`]`)
	role(`{"revokeRolesFromRole": "r", "roles": ["readWrite", "dbAdmin"]}`, "roles", `[`+read+`]`)
	role(`{"updateRole": "r", "roles": []}`, "roles", `[]`)
	role(`{"updateRole": "r", "privileges": [`+privilege("z", `"find"`)+`]}`, "privileges", `[`+privilege("z", `"find"`)+`]`)
	role(`{"updateRole": "r", "authenticationRestrictions": `+from+`}`, "authenticationRestrictions", from)
	h.MustOn("test", `{"grantRolesToUser": "ann", "roles": ["r"]}`)
	h.MustOn("test", `{"dropRole": "r"}`)
	user(`{"grantRolesToUser": "ann", "roles": ["readWrite"]}`, "roles", `[`+write+`]`) // the dropped role is gone from its users
	h.MustOn("test", `{"dropUser": "ann"}`)
	if n := h.MustOn("test", `{"usersInfo": "ann"}`).Lookup("users").Doc().Len(); n != 0 {
		t.Errorf("%d users are left", n)
	}
	h.MustOn("admin", `{"invalidateUserCache": 1}`)
}

// Arguments that the commands refuse, with the codes of MongoDB 8.0.
func TestUserAndRoleArguments(t *testing.T) {
	h := harness.NewAuth(t)
	h.MustOn("test", `{"createUser": "ann", "pwd": "p", "roles": []}`)
	h.MustOn("test", `{"createRole": "r", "roles": [], "privileges": []}`)
	var list []harness.Refusal
	for command, code := range map[string]int32{
		`{createUser: "x", pwd: "p", roles: [1]}`:                                        2,
		`{createUser: "x", pwd: "p", roles: [{role: "read"}]}`:                           2,
		`{createUser: "x", pwd: "p", roles: [{role: 1, db: "test"}]}`:                    14,
		`{createUser: "x", pwd: "p", roles: [], mechanisms: [1]}`:                        14,
		`{createUser: "x", pwd: "p", roles: [], authenticationRestrictions: [{fly: 1}]}`: 40415,
		`{updateUser: "ann", roles: [1]}`:                                                2,
		`{updateUser: "ann", mechanisms: [1]}`:                                           14,
		`{updateUser: "ann", pwd: ""}`:                                                   50687,
		`{updateUser: "ann", authenticationRestrictions: [{fly: 1}]}`:                    40415,
		`{updateUser: "ann", fly: 1}`:                                                    40415,
		`{dropUser: 1}`:                                                                  14,
		`{dropAllUsersFromDatabase: 1, fly: 1}`:                                          40415,
		`{grantRolesToUser: "ann", roles: "read"}`:                                       14,
		`{revokeRolesFromUser: "ann", roles: []}`:                                        2,
		`{revokeRolesFromUser: "ann"}`:                                                   40414,
		`{revokeRolesFromUser: "bob", roles: ["read"]}`:                                  11,
		`{usersInfo: 2}`:                                2,
		`{usersInfo: []}`:                               2,
		`{usersInfo: [1]}`:                              2,
		`{usersInfo: {user: "ann"}}`:                    2,
		`{usersInfo: {forAllDBs: false}}`:               2,
		`{usersInfo: 1, filter: {$fly: 1}}`:             2,
		`{usersInfo: 1, fly: 1}`:                        40415,
		`{createRole: "x", roles: [1], privileges: []}`: 2,
		`{createRole: "x", roles: [], privileges: [1]}`: 14,
		`{createRole: "x", roles: [], privileges: [], authenticationRestrictions: [{fly: 1}]}`: 40415,
		`{updateRole: "r", roles: [1]}`:                             2,
		`{updateRole: "r", privileges: [1]}`:                        14,
		`{updateRole: "r", authenticationRestrictions: [{fly: 1}]}`: 40415,
		`{updateRole: 1}`:                                           14,
		`{dropRole: 1}`:                                             14,
		`{dropAllRolesFromDatabase: 1, fly: 1}`:                     40415,
		`{grantPrivilegesToRole: "r"}`:                              40414,
		`{revokePrivilegesFromRole: "r"}`:                           40414,
		`{revokePrivilegesFromRole: "r", privileges: []}`:           2,
		`{revokePrivilegesFromRole: "q", privileges: [{resource: {cluster: true}, actions: ["find"]}]}`: 31,
		`{grantRolesToRole: "r", roles: [{role: "read", db: "shop"}]}`:                                  49,
		`{grantRolesToRole: "r"}`:                     40414,
		`{grantRolesToRole: "r", roles: []}`:          2,
		`{revokeRolesFromRole: "r"}`:                  40414,
		`{revokeRolesFromRole: "r", roles: []}`:       2,
		`{revokeRolesFromRole: "q", roles: ["read"]}`: 31,
		`{rolesInfo: 1, fly: 1}`:                      40415,
		`{rolesInfo: []}`:                             2,
	} {
		list = append(list, harness.Refusal{DB: "test", Command: command, Code: code})
	}
	list = append(list, harness.Refusal{DB: "admin", Command: `{_mergeAuthzCollections: 1, fly: 1}`, Code: 40415},
		harness.Refusal{DB: "admin", Command: `{_mergeAuthzCollections: 1, tempUsersCollection: "a", db: "", drop: false}`, Code: 73})
	h.Refuses(list)
}
