package auth

import (
	"context"
	"slices"
	"testing"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

func TestUserDocument(t *testing.T) {
	f := newFixture(t)
	d, err := f.PrepareUser(&NewUser{Name: at("ann", "shop"), Password: &Password{Text: "p"}, CustomData: value.MustJSON(`{"a": 1}`), Roles: []Name{at("read", "shop")}})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for name := range d.All() {
		names = append(names, name)
	}
	if want := []string{"_id", "userId", "user", "db", "credentials", "customData", "roles"}; !slices.Equal(names, want) {
		t.Errorf("fields %v", names)
	}
	if subtype, id := d.Lookup("userId").Binary(); subtype != 4 || len(id) != 16 || id[6]>>4 != 4 || id[8]>>6 != 2 {
		t.Errorf("userId %s is no UUID of version 4", d.Lookup("userId"))
	}
	if d.Lookup("_id").Str() != "shop.ann" {
		t.Errorf("_id %s", d.Lookup("_id"))
	}
	for name, size := range map[string]int{SHA1: 20, SHA256: 32} {
		c, ok := storedCredential(d.Lookup("credentials").Doc(), name)
		if !ok || len(c.Salt) != size-4 || len(c.StoredKey) != size || len(c.ServerKey) != size || c.Iters != 4096 {
			t.Errorf("%s: %+v", name, c)
		}
	}
}

func TestPrepareUserRefuses(t *testing.T) {
	f := newFixture(t)
	pwd := &Password{Text: "p"}
	for _, tc := range []struct {
		user NewUser
		code mongoerr.Code
		text string
	}{
		{NewUser{Name: at("", "shop"), Password: pwd}, 2, "non-empty"},
		{NewUser{Name: at("a\x00b", "shop"), Password: pwd}, 2, "NULL"},
		{NewUser{Name: at("ann", "local"), Password: pwd}, 2, "Cannot create users in the local database"},
		{NewUser{Name: at("ann", "shop")}, 2, "Must provide a 'pwd' field for all user documents, except those with '$external' as the user's source db"},
		{NewUser{Name: at("ann", External), Password: pwd}, 2, "Cannot set the password for users defined on the '$external' database"},
		{NewUser{Name: at("ann", "shop"), Password: &Password{Text: "p", Mechanisms: []string{}}}, 2, "mechanisms field must not be empty"},
		{NewUser{Name: at("ann", "shop"), Password: &Password{Text: "p", Mechanisms: []string{"BAD"}}}, 2, "Unknown auth mechanism 'BAD'"},
		{NewUser{Name: at("ann", "shop"), Password: &Password{Text: "p", Digested: true, Mechanisms: []string{SHA256}}}, 2, "Use of SCRAM-SHA-256 requires undigested passwords"},
		{NewUser{Name: at("ann", "shop"), Password: &Password{Text: "p", Digested: true}}, 2, "Use of SCRAM-SHA-256 requires undigested passwords"},
	} {
		_, err := f.PrepareUser(&tc.user)
		wantErr(t, err, tc.code, tc.text)
	}
	f.mechanisms = []string{SHA256}
	_, err := f.PrepareUser(&NewUser{Name: at("ann", "shop"), Password: &Password{Text: "p", Mechanisms: []string{SHA1}}})
	wantErr(t, err, 2, "SCRAM-SHA-1 is not supported")
}

func TestUsers(t *testing.T) {
	f := newFixture(t)
	ann := at("ann", "shop")
	if any, _ := f.HasUsers(context.Background()); any {
		t.Error("there are users before the first")
	}
	before := f.user(ann, "p", at("read", "shop"))
	if any, _ := f.HasUsers(context.Background()); !any {
		t.Error("no users after the first")
	}
	again, _ := f.PrepareUser(&NewUser{Name: ann, Password: &Password{Text: "p"}})
	wantErr(t, f.change(func(c *Catalog) error { return c.CreateUser(again) }), 51003, `User "ann@shop" already exists`)
	nobody := at("bob", "shop")
	missing, _ := f.PrepareUser(&NewUser{Name: nobody, Password: &Password{Text: "p"}, Roles: []Name{at("x", "shop")}})
	wantErr(t, f.change(func(c *Catalog) error { return c.CreateUser(missing) }), 31, "Could not find role: x@shop")
	wantErr(t, f.change(func(c *Catalog) error { return c.DropUser(nobody) }), 11, "User 'bob@shop' not found")
	wantErr(t, f.change(func(c *Catalog) error { return c.UpdateUser(nobody, &UserChange{Roles: []Name{}}) }), 11, "User bob@shop not found")
	wantErr(t, f.change(func(c *Catalog) error { return c.GrantRoles(nobody, nil) }), 11, `Could not find user "bob" for db "shop"`)
	wantErr(t, f.change(func(c *Catalog) error { return c.RevokeRoles(nobody, nil) }), 11, `Could not find user "bob" for db "shop"`)
	wantErr(t, f.change(func(c *Catalog) error { return c.GrantRoles(ann, []Name{at("x", "shop")}) }), 31, "Could not find role")
	wantErr(t, f.PrepareChange(ann, nil, &UserChange{}), 2, "Must specify at least one field to update in updateUser")
	wantErr(t, f.PrepareChange(at("x", External), &Password{Text: "p"}, &UserChange{}), 2, "Cannot set the password")

	f.must(func(c *Catalog) error { return c.GrantRoles(ann, []Name{at("read", "shop"), at("dbAdmin", "shop")}) })
	if u := f.find(ann); !slices.Equal(u.Roles, []Name{at("read", "shop"), at("dbAdmin", "shop")}) || u.ID != before.ID {
		t.Errorf("%+v", u)
	}
	f.must(func(c *Catalog) error { return c.RevokeRoles(ann, []Name{at("read", "shop")}) })
	if u := f.find(ann); !slices.Equal(u.Roles, []Name{at("dbAdmin", "shop")}) {
		t.Errorf("%+v", u)
	}
	f.must(func(c *Catalog) error {
		return c.UpdateUser(ann, &UserChange{CustomData: value.MustJSON(`{"x": 1}`), Mechanisms: []string{SHA256}})
	})
	wantErr(t, f.change(func(c *Catalog) error { return c.UpdateUser(ann, &UserChange{Mechanisms: []string{SHA1}}) }), 2, "mechanisms field must be a subset of previously set mechanisms")
	f.must(func(c *Catalog) error {
		d, _ := c.User(ann)
		shown, err := c.DescribeUser(d, Shown{CustomData: true, Privileges: true})
		if shown.Has("credentials") || shown.Lookup("mechanisms").String() != `[ "SCRAM-SHA-256" ]` || shown.Lookup("customData").String() != "{ x: 1 }" || shown.Lookup("inheritedPrivileges").Doc().Len() != 2 {
			t.Errorf("%s", shown)
		}
		shown, _ = c.DescribeUser(d, Shown{Credentials: true})
		if !shown.Lookup("credentials").Doc().Has(SHA256) || shown.Has("customData") {
			t.Errorf("%s", shown)
		}
		return err
	})
	f.user(at("eve", "shop"), "p")
	f.user(at("eve", "other"), "p")
	f.must(func(c *Catalog) error {
		all, _ := c.Users("")
		n, err := c.DropUsers("shop")
		if len(all) != 3 || n != 2 {
			t.Errorf("%d users, %d dropped", len(all), n)
		}
		return err
	})
	if u, _ := f.Current(context.Background(), before); u != nil {
		t.Error("a dropped user still exists")
	}
	f.user(ann, "p")
	if u, _ := f.Current(context.Background(), before); u != nil {
		t.Error("a new user of the same name took the place of the old")
	}
}

func TestSchemaVersionIsNoted(t *testing.T) {
	f := newFixture(t)
	f.user(at("ann", "shop"), "p")
	f.must(func(c *Catalog) error {
		d, err := c.find(versionNS, Name{})
		if d != nil {
			t.Errorf("%s", d)
		}
		return c.each(versionNS, func(d value.Doc) error {
			if d.String() != `{ _id: "authSchema", currentVersion: 5 }` {
				t.Errorf("%s", d)
			}
			return err
		})
	})
}

func TestParseNames(t *testing.T) {
	got, err := ParseRoles("roles", value.MustJSON(`{"r": ["read", {"role": "read", "db": "shop"}, {"role": "x", "db": "other"}]}`).Lookup("r").Doc(), "shop")
	if err != nil || !slices.Equal(got, []Name{at("read", "shop"), at("x", "other")}) {
		t.Errorf("%v, %v", got, err)
	}
	for _, bad := range []string{`[1]`, `[{"db": "x"}]`, `[{"role": "x"}]`, `[{"role": 1, "db": "x"}]`} {
		if _, err := ParseRoles("roles", value.MustJSON(`{"r": `+bad+`}`).Lookup("r").Doc(), "shop"); err == nil {
			t.Errorf("%s accepted", bad)
		}
	}
	if n, err := ParseID("shop.ann.b"); err != nil || n != at("ann.b", "shop") {
		t.Errorf("%v, %v", n, err)
	}
	_, err = ParseID("ann")
	wantErr(t, err, 2, "UserName must contain a '.' separated database.user pair")
}
