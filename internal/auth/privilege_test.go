package auth

import (
	"slices"
	"sort"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

func TestActionsAreSorted(t *testing.T) {
	if !sort.StringsAreSorted(actionNames) {
		t.Error("actionNames are not sorted")
	}
	if len(slices.Compact(slices.Clone(actionNames))) != len(actionNames) {
		t.Error("an action is listed twice")
	}
	if len(actionNames) > 64*len(Actions{}) {
		t.Error("too many actions for the set")
	}
}

func parseOne(t *testing.T, resource string) Pattern {
	t.Helper()
	p, err := ParsePattern(value.MustJSON(resource))
	if err != nil {
		t.Fatalf("%s: %v", resource, err)
	}
	return p
}

// TestResources follows the manual's page on resource documents.
func TestResources(t *testing.T) {
	targets := map[string]Pattern{
		"cluster": Cluster(), "a": Database("a"), "b": Database("b"), "local": Database("local"), "a.x": Namespace("a", "x"), "a.y": Namespace("a", "y"),
		"b.x": Namespace("b", "x"), "a.system.js": Namespace("a", "system.js"), "config.x": Namespace("config", "x"),
		"local.x": Namespace("local", "x"), "local.replset.minvalid": Namespace("local", "replset.minvalid"),
		"a.system.buckets.x": Namespace("a", "system.buckets.x"), "b.system.buckets.x": Namespace("b", "system.buckets.x"),
	}
	for _, tc := range []struct{ resource, covers string }{
		{`{"cluster": true}`, "cluster"},
		{`{"anyResource": true}`, "cluster a b local a.x a.y b.x a.system.js config.x local.x local.replset.minvalid a.system.buckets.x b.system.buckets.x"},
		{`{"db": "", "collection": ""}`, "a b a.x a.y b.x"},
		{`{"db": "a", "collection": ""}`, "a a.x a.y"},
		{`{"db": "local", "collection": ""}`, "local local.x"},
		{`{"db": "", "collection": "x"}`, "a.x b.x config.x local.x"},
		{`{"db": "a", "collection": "x"}`, "a.x"},
		{`{"db": "a", "collection": "system.js"}`, "a.system.js"},
		{`{"db": "", "system_buckets": ""}`, "a.system.buckets.x b.system.buckets.x"},
		{`{"db": "a", "system_buckets": ""}`, "a.system.buckets.x"},
		{`{"system_buckets": "x"}`, "a.system.buckets.x b.system.buckets.x"},
		{`{"db": "b", "system_buckets": "x"}`, "b.system.buckets.x"},
	} {
		u := Visitor(Grant(parseOne(t, tc.resource), "find"))
		for name, target := range targets {
			want := slices.Contains(strings.Fields(tc.covers), name)
			if got := u.May(target, MustAction("find")); got != want {
				t.Errorf("%s on %s: %t, want %t", tc.resource, name, got, want)
			}
			if u.MayAnything(target) != want {
				t.Errorf("%s anything on %s: want %t", tc.resource, name, want)
			}
			if u.May(target, MustAction("insert")) {
				t.Errorf("%s lets insert on %s", tc.resource, name)
			}
		}
	}
	var nobody *User
	if nobody.May(Cluster(), MustAction("find")) || nobody.MayIn("a") || nobody.HasRole(at("root", "admin")) {
		t.Error("a client without a user may do something")
	}
}

func TestMayIn(t *testing.T) {
	for _, tc := range []struct {
		resource string
		a, local bool
	}{
		{`{"cluster": true}`, false, false}, {`{"anyResource": true}`, true, true}, {`{"db": "", "collection": ""}`, true, false},
		{`{"db": "a", "collection": ""}`, true, false}, {`{"db": "a", "collection": "x"}`, true, false}, {`{"db": "", "collection": "x"}`, true, true},
	} {
		u := Visitor(Grant(parseOne(t, tc.resource), "find"))
		if u.MayIn("a") != tc.a || u.MayIn("local") != tc.local {
			t.Errorf("%s: a %t, local %t", tc.resource, u.MayIn("a"), u.MayIn("local"))
		}
	}
}

func TestParsePrivilegesRefuses(t *testing.T) {
	for _, tc := range []struct {
		privileges string
		code       mongoerr.Code
		text       string
	}{
		{`[1]`, 14, "expected type 'object'"},
		{`[{"actions": ["find"]}]`, 40414, "privilege.resource"},
		{`[{"resource": {"cluster": true}}]`, 40414, "privilege.actions"},
		{`[{"resource": 1, "actions": []}]`, 14, "privilege.resource"},
		{`[{"resource": {"cluster": true}, "actions": 1}]`, 14, "privilege.actions"},
		{`[{"resource": {"cluster": true}, "actions": []}]`, 2, "cannot be empty"},
		{`[{"resource": {"cluster": true}, "actions": ["fly", "find", "dig"]}]`, 2, "Unrecognized action privilege strings: dig,fly"},
		{`[{"resource": {"cluster": true}, "actions": ["find"], "x": 1}]`, 40415, "privilege.x"},
		{`[{"resource": {"cluster": true, "db": "a"}, "actions": ["find"]}]`, 2, "only specify one"},
		{`[{"resource": {"db": "a"}, "actions": ["find"]}]`, 2, "resource must have"},
		{`[{"resource": {"db": 1, "collection": ""}, "actions": ["find"]}]`, 14, "resource.db"},
		{`[{"resource": {"where": 1}, "actions": ["find"]}]`, 40415, "resource.where"},
		{`[{"resource": {"db": "a", "collection": "x", "system_buckets": "y"}, "actions": ["find"]}]`, 2, "both"},
	} {
		_, err := ParsePrivileges(value.MustJSON(`{"p": ` + tc.privileges + `}`).Lookup("p").Doc())
		if e := mongoerr.From(err); err == nil || e.Code != tc.code || !strings.Contains(e.Message, tc.text) {
			t.Errorf("%s: %v, want (%d) %s", tc.privileges, err, tc.code, tc.text)
		}
	}
}

// TestPrivilegesSurviveWriting draws privileges, writes and reads them.
func TestPrivilegesSurviveWriting(t *testing.T) {
	names := []string{"", "a", "b", "system.js"}
	rapid.Check(t, func(t *rapid.T) {
		var list []Privilege
		for range rapid.IntRange(0, 5).Draw(t, "n") {
			p := Privilege{On: Pattern{kind: onCluster}}
			switch rapid.IntRange(0, 3).Draw(t, "kind") {
			case 0:
				p.On.kind = onAnything
			case 1:
				p.On.db, p.On.coll = rapid.SampledFrom(names).Draw(t, "db"), rapid.SampledFrom(names).Draw(t, "coll")
				p.On.kind = pick(p.On, onAnyNormal, onDatabase, onCollection, onNamespace)
			case 2:
				p.On.db, p.On.coll = rapid.SampledFrom(names).Draw(t, "db"), rapid.SampledFrom(names).Draw(t, "coll")
				p.On.kind = pick(p.On, onAnyBuckets, onDatabaseBuckets, onNamedBuckets, onBuckets)
			}
			for _, a := range rapid.SliceOfN(rapid.SampledFrom(actionNames), 1, 4).Draw(t, "actions") {
				if a == "anyAction" {
					p.Actions = allActions()
				}
				p.Actions.add(MustAction(a))
			}
			list = addPrivileges(list, p)
		}
		b := value.NewBuilder()
		AppendPrivileges(b, "p", list)
		back, err := ParsePrivileges(b.Doc().Lookup("p").Doc())
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(back, append([]Privilege{}, list...)) {
			t.Fatalf("%v became %v", list, back)
		}
		for _, p := range list {
			back = removePrivileges(back, []Privilege{p})
		}
		if len(back) != 0 {
			t.Fatalf("left: %v", back)
		}
	})
}

func FuzzParsePrivileges(f *testing.F) {
	f.Add([]byte(value.MustJSON(`{"0": {"resource": {"db": "a", "collection": ""}, "actions": ["find"]}}`)))
	f.Fuzz(func(t *testing.T, b []byte) {
		if value.Validate(b) != nil {
			return
		}
		list, err := ParsePrivileges(b)
		if err == nil {
			newPrivilegeSet(list).may(Namespace("a", "x"), MustAction("find"))
		}
		_, _ = ParseRoles("roles", b, "a")
		_ = CheckRestrictions(b)
	})
}

func BenchmarkMay(b *testing.B) {
	u := Visitor(builtin(at("root", "admin")).Privileges...)
	find := MustAction("find")
	b.ReportAllocs()
	for b.Loop() {
		u.May(Namespace("shop", "orders"), find)
	}
}
