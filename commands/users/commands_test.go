package users_test

import (
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/internal/auth"
	"github.com/duskdb/duskdb/value"
)

// TestUserAndRoleErrors pins codes and messages of MongoDB 8.0.
func TestUserAndRoleErrors(t *testing.T) {
	h := harness.NewAuth(t)
	h.MustOn("test", `{"createUser": "ann", "pwd": "p", "roles": []}`)
	h.MustOn("test", `{"createRole": "r", "roles": [], "privileges": []}`)
	for _, tc := range []struct {
		command string
		code    int32
		text    string
	}{
		{`{"createUser": "ann", "pwd": "p", "roles": []}`, 51003, `User "ann@test" already exists`},
		{`{"createUser": "bob", "pwd": "p"}`, 40414, "BSON field 'createUser.roles' is missing but a required field"},
		{`{"createUser": "bob", "pwd": "", "roles": []}`, 50687, "Error preflighting UTF-8 conversion: U_STRING_NOT_TERMINATED_WARNING"},
		{`{"createUser": "bob", "pwd": "a\u0007b", "roles": []}`, 50692, "Error preflighting normalization: U_STRINGPREP_PROHIBITED_ERROR"},
		{`{"createUser": "bob", "pwd": "\u05d0a\u05d0", "roles": []}`, 50692, "Error preflighting normalization: U_STRINGPREP_CHECK_BIDI_ERROR"},
		{`{"createUser": "bob", "pwd": 1, "roles": []}`, 14, "BSON field 'createUser.pwd' is the wrong type 'int', expected type 'string'"},
		{`{"createUser": "bob", "roles": []}`, 2, "Must provide a 'pwd' field"},
		{`{"createUser": "bob", "pwd": "p", "roles": [], "fly": 1}`, 40415, "BSON field 'createUser.fly' is an unknown field."},
		{`{"createUser": "bob", "pwd": "p", "roles": ["x"]}`, 31, "Could not find role: x@test"},
		{`{"createUser": "bob", "pwd": "p", "roles": [], "mechanisms": []}`, 2, "mechanisms field must not be empty"},
		{`{"createUser": "bob", "pwd": "p", "roles": [], "mechanisms": ["PLAIN"]}`, 2, "Unknown auth mechanism 'PLAIN'"},
		{`{"createUser": "bob", "pwd": "p", "roles": [], "mechanisms": ["SCRAM-SHA-256"], "digestPassword": false}`, 2, "Use of SCRAM-SHA-256 requires undigested passwords"},
		{`{"updateUser": "ann"}`, 2, "Must specify at least one field to update in updateUser"},
		{`{"updateUser": "bob", "pwd": "p"}`, 11, "User bob@test not found"},
		{`{"dropUser": "bob"}`, 11, "User 'bob@test' not found"},
		{`{"grantRolesToUser": "ann", "roles": []}`, 2, `grantRolesToUser command requires a non-empty "roles" array`},
		{`{"grantRolesToUser": "bob", "roles": ["read"]}`, 11, `Could not find user "bob" for db "test"`},
		{`{"usersInfo": "ann", "showPrivileges": true, "filter": {}}`, 20, "exact-match"},
		{`{"usersInfo": 1, "showPrivileges": true}`, 20, "Privilege or restriction details require exact-match usersInfo queries"},
		{`{"createRole": "r", "roles": [], "privileges": []}`, 51002, `Role "r@test" already exists`},
		{`{"createRole": "read", "roles": [], "privileges": []}`, 2, "Cannot create roles with the same name as a built-in role"},
		{`{"createRole": "q", "privileges": []}`, 40414, "createRole.roles"},
		{`{"updateRole": "r"}`, 2, "Must specify at least one field to update in updateRole"},
		{`{"updateRole": "q", "roles": []}`, 31, "Could not find role: q@test"},
		{`{"dropRole": "read"}`, 49, "read@test is a built-in role and cannot be modified."},
		{`{"dropRole": "q"}`, 31, "Could not find role: q@test"},
		{`{"grantPrivilegesToRole": "r", "privileges": []}`, 2, `non-empty "privileges" array`},
		{`{"grantRolesToRole": "r", "roles": ["r"]}`, 49, "Cannot grant role r@test to itself."},
		{`{"rolesInfo": 1, "showPrivileges": "asUserFragment"}`, 20, "Cannot get user fragment for all roles in a database"},
		{`{"rolesInfo": 1, "showPrivileges": "x"}`, 9, "asUserFragment"},
		{`{"rolesInfo": 2}`, 2, "argument"},
		{`{"rolesInfo": true}`, 2, "RoleName must be either a string or an object"},
		{`{"rolesInfo": {"role": "r"}}`, 2, "RoleName must contain a field named: db"},
		{`{"usersInfo": null}`, 2, "UserName must be either a string or an object"},
		{`{"usersInfo": {"user": "ann"}}`, 2, "UserName must contain a field named: db"},
		{`{"usersInfo": [{"db": "test"}]}`, 2, "UserName must contain a field named: user"},
		{`{"usersInfo": {"user": 1, "db": "test"}}`, 2, "UserName must contain a string field named: user. But, has type int"},
		{`{"usersInfo": {"user": "ann", "db": false}}`, 2, "UserName must contain a string field named: db. But, has type bool"},
		{`{"usersInfo": {"user": "ann", "user": "bob", "db": "test"}}`, 2, "UserName has more than one field named: user"},
		{`{"usersInfo": {"user": "ann", "db": "test", "x": 1}}`, 2, "UserName contains an unknown field named: 'x"},
		{`{"invalidateUserCache": 1}`, 13, "invalidateUserCache may only be run against the admin database."},
	} {
		code, reply := h.CodeOf("test", tc.command)
		if code != tc.code || !strings.Contains(reply.Lookup("errmsg").Str(), tc.text) {
			t.Errorf("%s: %s, want (%d) %s", tc.command, reply, tc.code, tc.text)
		}
	}
}

func TestInfoCommands(t *testing.T) {
	h := harness.NewAuth(t)
	h.MustOn("test", `{"createRole": "r", "roles": ["read"], "privileges": [{"resource": {"db": "test", "collection": "x"}, "actions": ["insert"]}]}`)
	h.MustOn("test", `{"createUser": "ann", "pwd": "p", "roles": ["r"], "customData": {"a": 1}}`)
	h.MustOn("other", `{"createUser": "bob", "pwd": "p", "roles": []}`)
	for _, tc := range []struct {
		db, command, field string
		names              string
	}{
		{"test", `{"usersInfo": 1}`, "users", "ann"},
		{"test", `{"usersInfo": "bob"}`, "users", ""},
		{"test", `{"usersInfo": {"user": "bob", "db": "other"}}`, "users", "bob"},
		{"test", `{"usersInfo": ["ann", {"user": "bob", "db": "other"}, "ann"]}`, "users", "ann bob"},
		{"admin", `{"usersInfo": {"forAllDBs": true}}`, "users", "ann bob"},
		{"admin", `{"usersInfo": {"forAllDBs": true}, "filter": {"customData.a": 1}}`, "users", "ann"},
		{"test", `{"rolesInfo": 1}`, "roles", "r"},
		{"test", `{"rolesInfo": "read"}`, "roles", "read"},
		{"test", `{"rolesInfo": 1, "showBuiltinRoles": true}`, "roles", "dbAdmin dbOwner enableSharding r read readWrite userAdmin"},
		{"test", `{"rolesInfo": "missing"}`, "roles", ""},
	} {
		var names []string
		for v := range h.MustOn(tc.db, tc.command).Lookup(tc.field).Doc().Values() {
			name := v.Doc().Lookup("user")
			if tc.field == "roles" {
				name = v.Doc().Lookup("role")
			}
			names = append(names, name.Str())
		}
		if got := strings.Join(names, " "); got != tc.names {
			t.Errorf("%s: %s, want %s", tc.command, got, tc.names)
		}
	}
	u := h.MustOn("test", `{"usersInfo": "ann", "showPrivileges": true, "showCredentials": true, "showAuthenticationRestrictions": true}`).Lookup("users").Doc().Index(0).Doc()
	for _, field := range []string{"_id", "userId", "user", "db", "credentials", "customData", "roles", "mechanisms", "inheritedRoles", "inheritedPrivileges", "authenticationRestrictions", "inheritedAuthenticationRestrictions"} {
		if !u.Has(field) {
			t.Errorf("no %s in %s", field, u)
		}
	}
	if got := u.Lookup("inheritedRoles").String(); got != `[ { role: "r", db: "test" }, { role: "read", db: "test" } ]` {
		t.Error(got)
	}
	f := h.MustOn("test", `{"rolesInfo": ["r"], "showPrivileges": "asUserFragment"}`).Lookup("userFragment").Doc()
	if f.Lookup("roles").Doc().Len() != 1 || f.Lookup("inheritedRoles").Doc().Len() != 2 || f.Lookup("inheritedPrivileges").Doc().Len() != 3 {
		t.Errorf("%s", f)
	}
}

func TestDropAll(t *testing.T) {
	h := harness.NewAuth(t)
	h.MustOn("test", `{"createUser": "a", "pwd": "p", "roles": []}`)
	h.MustOn("test", `{"createUser": "b", "pwd": "p", "roles": []}`)
	h.MustOn("other", `{"createUser": "c", "pwd": "p", "roles": []}`)
	h.MustOn("test", `{"createRole": "r", "roles": [], "privileges": []}`)
	if n := h.MustOn("test", `{"dropAllUsersFromDatabase": 1}`).Lookup("n").Int64(); n != 2 {
		t.Errorf("%d users", n)
	}
	if n := h.MustOn("test", `{"dropAllRolesFromDatabase": 1}`).Lookup("n").Int64(); n != 1 {
		t.Errorf("%d roles", n)
	}
	if n := h.MustOn("other", `{"usersInfo": 1}`).Lookup("users").Doc().Len(); n != 1 {
		t.Errorf("%d left elsewhere", n)
	}
}

func TestMergeAuthzCollections(t *testing.T) {
	h := harness.NewAuth(t)
	h.User("ann", "read@test")
	h.User("bob")
	user := func(name, role string) string {
		return `{"_id": "admin.` + name + `", "user": "` + name + `", "db": "admin", "credentials": {"external": true}, "roles": [{"role": "` + role + `", "db": "test"}]}`
	}
	h.MustOn("admin", `{"insert": "tempusers", "documents": [`+user("ann", "dbAdmin")+`, `+user("eve", "r")+`]}`)
	h.MustOn("admin", `{"insert": "temproles", "documents": [{"_id": "test.r", "role": "r", "db": "test", "privileges": [], "roles": [{"role": "read", "db": "test"}]}]}`)
	h.MustOn("admin", `{"_mergeAuthzCollections": 1, "tempUsersCollection": "admin.tempusers", "tempRolesCollection": "admin.temproles", "db": "", "drop": false}`)
	if n := h.MustOn("admin", `{"usersInfo": 1}`).Lookup("users").Doc().Len(); n != 3 {
		t.Errorf("%d users", n)
	}
	if u := h.Find("ann"); len(u.Roles) != 1 || u.Roles[0].Name != "dbAdmin" {
		t.Errorf("%v", u.Roles)
	}
	if u := h.Find("eve"); !u.HasRole(auth.Name{Name: "read", DB: "test"}) {
		t.Errorf("%v", u.Inherited)
	}
	h.MustOn("admin", `{"_mergeAuthzCollections": 1, "tempUsersCollection": "admin.tempusers", "db": "other", "drop": true}`)
	h.Find("bob")
	h.MustOn("admin", `{"_mergeAuthzCollections": 1, "tempUsersCollection": "admin.tempusers", "db": "", "drop": true}`)
	if n := h.MustOn("admin", `{"usersInfo": 1}`).Lookup("users").Doc().Len(); n != 2 {
		t.Errorf("%d users after drop", n)
	}
	h.MustOn("admin", `{"insert": "tempusers", "documents": [{"_id": "x"}]}`)
	if code, reply := h.CodeOf("admin", `{"_mergeAuthzCollections": 1, "tempUsersCollection": "admin.tempusers", "db": "", "drop": true}`); code != 2 {
		t.Errorf("%s", reply)
	}
	if code, reply := h.CodeOf("admin", `{"_mergeAuthzCollections": 1, "db": "", "drop": true}`); code != 2 {
		t.Errorf("%s", reply)
	}
}

// TestWritesToUsersCount changes a user by a write to its collection, as tools for
// restoring do.
func TestWritesToUsersCount(t *testing.T) {
	h := harness.NewAuth(t)
	u := h.User("ann", "read@test")
	h.Conn.User = u
	h.Svc.Options.Security.Auth = true
	h.OK(`{"find": "x"}`)
	h.Conn.User = nil
	h.MustOn("admin", `{"update": "system.users", "updates": [{"q": {"user": "ann"}, "u": {"$set": {"roles": []}}}]}`)
	h.Conn.User = u
	h.Svc.Options.Security.Auth = true
	if reply := h.Run(`{"find": "x"}`); reply.Lookup("code").Int32() != 13 {
		t.Errorf("%s", reply)
	}
}

// TestSpeculativeIdentity starts a login in hello: as the user, or with another identity,
// for which the reply does not have the field.
func TestSpeculativeIdentity(t *testing.T) {
	h := harness.NewAuth(t)
	h.User("ann")
	h.User("root", "root@admin")
	for payload, ok := range map[string]bool{"n,,n=ann,r=abcdefgh": true, "n,a=ann,n=ann,r=abcdefgh": true, "n,a=root,n=ann,r=abcdefgh": false} {
		start := value.NewDoc("saslStart", value.Int32(1), "mechanism", value.String("SCRAM-SHA-1"), "payload", value.Binary(0, []byte(payload)), "db", value.String("admin"))
		reply := h.RunOn("admin", value.NewDoc("hello", value.Int32(1), "speculativeAuthenticate", value.Document(start)))
		if !reply.Lookup("ok").Truthy() || reply.Has("speculativeAuthenticate") != ok {
			t.Errorf("%s: %s", payload, reply)
		}
	}
}
