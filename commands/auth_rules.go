package commands

import (
	"iter"

	"github.com/duskdb/duskdb/auth"
	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// authRules are the commands whose privileges depend on their arguments.
// A rule must see at least what the command will do: where an argument is
// given twice it looks at all of them.
// Please keep sorted.
var authRules map[string]func(*Call) error

func init() {
	authRules = map[string]func(*Call) error{
		"_mergeAuthzCollections":   mayMergeAuth,
		"aggregate":                mayAggregate,
		"applyOps":                 mayApplyOps,
		"bulkWrite":                mayBulkWrite,
		"cloneCollectionAsCapped":  mayCloneAsCapped,
		"collMod":                  mayCollMod,
		"create":                   mayCreate,
		"createRole":               mayCreateRole,
		"createUser":               mayCreateUser,
		"currentOp":                mayCurrentOp,
		"customAction":             mayCustomAction,
		"dataSize":                 mayDataSize,
		"delete":                   mayDelete,
		"dropAllRolesFromDatabase": mayDropRole,
		"dropAllUsersFromDatabase": mayDropUser,
		"dropRole":                 mayDropRole,
		"dropUser":                 mayDropUser,
		"expirationStats":          mayForecast,
		"explain":                  mayExplain,
		"filemd5":                  mayHashFile,
		"findAndModify":            mayFindAndModify,
		"grantPrivilegesToRole":    mayGrantPrivileges,
		"grantRolesToRole":         mayGrantRoles,
		"grantRolesToUser":         mayGrantRoles,
		"insert":                   mayInsert,
		"invalidateUserCache":      mayInvalidate,
		"killCursors":              mayKillCursors,
		"killOp":                   mayKillOp,
		"listCollections":          mayListCollections,
		"listDatabases":            mayListDatabases,
		"mapReduce":                mayMapReduce,
		"mqReceive":                mayReceive,
		"profile":                  mayProfile,
		"renameCollection":         mayRename,
		"revokePrivilegesFromRole": mayRevokePrivileges,
		"revokeRolesFromRole":      mayRevokeRoles,
		"revokeRolesFromUser":      mayRevokeRoles,
		"rolesInfo":                mayViewRoles,
		"update":                   mayUpdate,
		"updateRole":               mayUpdateRole,
		"updateUser":               mayUpdateUser,
		"usersInfo":                mayViewUsers,
		"validateDBMetadata":       mayValidateMetadata,
	}
}

// given tells whether any field of that name is true.
func given(d value.Doc, name string) bool {
	for key, v := range d.All() {
		if key == name && v.Truthy() {
			return true
		}
	}
	return false
}

// statements yields the documents of an array argument, wherever in the
// message they stand.
func (c *Call) statements(name string) iter.Seq[value.Doc] {
	return func(yield func(value.Doc) bool) {
		for key, v := range c.Body.All() {
			if key != name {
				continue
			}
			for e := range v.Doc().Values() {
				if e.Kind() == value.KindDocument && !yield(e.Doc()) {
					return
				}
			}
		}
		for _, s := range c.sequences {
			if s.ID != name {
				continue
			}
			list := docList{sequence: s.Docs}
			for _, d := range list.all() {
				if !yield(d) {
					return
				}
			}
		}
	}
}

// needBypass asks for the right to store invalid documents, if that is
// wanted.
func (c *Call) needBypass(ns storage.Namespace) error {
	if given(c.Body, "bypassDocumentValidation") {
		return c.need(pattern(ns), "bypassDocumentValidation")
	}
	return nil
}

func mayInsert(c *Call) error {
	if err := c.need(pattern(c.target()), "insert"); err != nil {
		return err
	}
	return c.needBypass(c.target())
}

func mayDelete(c *Call) error { return c.need(pattern(c.target()), "remove") }

func mayUpdate(c *Call) error {
	ns := c.target()
	if err := c.need(pattern(ns), "update"); err != nil {
		return err
	}
	for d := range c.statements("updates") {
		if given(d, "upsert") {
			if err := c.need(pattern(ns), "insert"); err != nil {
				return err
			}
			break
		}
	}
	return c.needBypass(ns)
}

func mayFindAndModify(c *Call) error {
	ns := c.target()
	actions := []string{"find"}
	if given(c.Body, "remove") {
		actions = append(actions, "remove")
	} else {
		actions = append(actions, "update")
	}
	if given(c.Body, "upsert") {
		actions = append(actions, "insert")
	}
	if err := c.need(pattern(ns), actions...); err != nil {
		return err
	}
	return c.needBypass(ns)
}

// mayBulkWrite asks for what each operation does to the namespace it names
// by its position in nsInfo.
func mayBulkWrite(c *Call) error {
	var namespaces []storage.Namespace
	for d := range c.statements("nsInfo") {
		namespaces = append(namespaces, splitNamespace(d.Lookup("ns").Str()))
	}
	for d := range c.statements("ops") {
		name, at := d.First()
		i := at.SafeInt64()
		action := map[string]string{"insert": "insert", "update": "update", "delete": "remove"}[name]
		if action == "" || i < 0 || i >= int64(len(namespaces)) {
			continue // the command refuses it
		}
		ns := namespaces[i]
		if err := c.need(pattern(ns), action); err != nil {
			return err
		}
		if name == "update" && given(d, "upsert") {
			if err := c.need(pattern(ns), "insert"); err != nil {
				return err
			}
		}
		if err := c.needBypass(ns); err != nil {
			return err
		}
	}
	return nil
}

func mayExplain(c *Call) error {
	_, v := c.Body.First()
	inner := v.Doc()
	if inner == nil || inner.IsEmpty() {
		return nil // the command refuses it
	}
	name, _ := inner.First()
	cmd := c.svc.table[name]
	if cmd == nil || cmd.name == "explain" {
		return nil
	}
	sub := *c
	sub.Body, sub.cmd, sub.sequences = inner, cmd, nil
	return sub.authorizeCommand()
}

func mayDataSize(c *Call) error {
	_, v := c.Body.First()
	return c.need(pattern(splitNamespace(v.Str())), "find")
}

func mayCurrentOp(c *Call) error {
	if given(c.Body, "$ownOps") {
		return nil
	}
	return c.need(auth.Cluster(), "inprog")
}

func mayKillOp(c *Call) error {
	if c.may(auth.Cluster(), "killop") {
		return nil
	}
	id := c.Body.Lookup("op").SafeInt64()
	for _, op := range c.svc.ops.list(false) {
		if int64(op.id) == id && op.user != "" && op.user == c.userName() {
			return nil
		}
	}
	return errNotAuthorized
}

// mayKillCursors lets everyone close his own cursors, and those of others who
// may kill any cursor on what these read, whatever collection the command names.
func mayKillCursors(c *Call) error {
	var a killCursorsArgs
	if err := killCursorsSpec.decode(c.Body, &a); err != nil {
		return err
	}
	ids, err := a.ids()
	if err != nil {
		return err
	}
	if c.may(auth.Cluster(), "killAnyCursor") {
		return nil
	}
	for _, id := range ids {
		ns, owner, ok := c.svc.cursors.owner(id.Int64())
		if !ok || owner == c.userName() {
			continue
		}
		on := pattern(ns)
		if ns.Coll == listCollectionsCursor {
			on = auth.Database(ns.DB)
		}
		if err := c.need(on, "killAnyCursor"); err != nil {
			return err
		}
	}
	return nil
}

// owner is the namespace of a cursor and the user it belongs to.
func (r *cursorRegistry) owner(id int64) (ns storage.Namespace, user string, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.cursors[id]
	if c == nil {
		return storage.Namespace{}, "", false
	}
	return c.ns, c.user, true
}

// mayListCollections lets those without the privilege list the names of
// what they may use, if they ask for no more.
func mayListCollections(c *Call) error {
	if c.may(auth.Database(c.DB), "listCollections") {
		return nil
	}
	if given(c.Body, "nameOnly") && given(c.Body, "authorizedCollections") && c.user.MayIn(c.DB) {
		c.authorizedOnly = true
		return nil
	}
	return mongoerr.Newf(mongoerr.Unauthorized, "Not authorized to list collections on db: %s", c.DB)
}

// mayListDatabases lets those without the privilege list the databases they
// may use.
func mayListDatabases(c *Call) error {
	all := c.may(auth.Cluster(), "listDatabases")
	v, asked := c.Body.Get("authorizedDatabases")
	switch {
	case asked && v.Truthy():
		c.authorizedOnly = true
	case all:
	case asked:
		return mongoerr.New(mongoerr.Unauthorized, "Insufficient permissions to list all databases")
	default:
		c.authorizedOnly = true
	}
	return nil
}

// listsCollection tells whether a listing shows a collection.
func (c *Call) listsCollection(ns storage.Namespace) bool {
	return !c.authorizedOnly || c.user.MayAnything(pattern(ns))
}

// listsDatabase tells whether a listing shows a database.
func (c *Call) listsDatabase(db string) bool { return !c.authorizedOnly || c.user.MayIn(db) }

func mayMapReduce(c *Call) error {
	if err := c.need(pattern(c.target()), "find"); err != nil {
		return err
	}
	out := c.Body.Lookup("out")
	if out.Kind() == value.KindString {
		to := storage.Namespace{DB: c.DB, Coll: out.Clone().Str()}
		if err := c.need(pattern(to), "insert", "remove"); err != nil {
			return err
		}
		return c.needBypass(to)
	}
	if ambiguous(out) {
		return errNotAuthorized
	}
	db := databaseOr(out.Doc().Lookup("db").Clone().Str(), c.DB)
	for mode, v := range out.Doc().All() {
		if outModes[mode] == "" {
			continue // it names no collection
		}
		actions := map[string][]string{"replace": {"insert", "remove"}, "merge": {"insert", "update"}, "reduce": {"insert", "update", "find"}}[outModes[mode]]
		if actions == nil {
			return errNotAuthorized
		}
		to := storage.Namespace{DB: db, Coll: v.Clone().Str()}
		if err := c.need(pattern(to), actions...); err != nil {
			return err
		}
		if err := c.needBypass(to); err != nil {
			return err
		}
	}
	return nil
}

// mayForecast asks for the collection, or the database, that is forecast.
func mayForecast(c *Call) error {
	if ns := c.target(); ns.Coll != "" {
		return c.need(pattern(ns), "collStats")
	}
	return c.need(auth.Database(c.DB), "collStats")
}

// mayHashFile asks for the chunks of the file.
func mayHashFile(c *Call) error {
	return c.need(auth.Namespace(c.DB, c.Body.Lookup("root").Clone().Str()+".chunks"), "find")
}

// mayReceive asks for what a receiver does: it reads messages and takes them.
func mayReceive(c *Call) error { return c.need(pattern(c.target()), "find", "remove") }

// mayProfile lets who may read the profile ask for the level.
func mayProfile(c *Call) error {
	_, level := c.Body.First()
	asks := level.IsNumber() && level.AsDouble() == -1 && !c.Body.Has("slowms") && !c.Body.Has("sampleRate") && !c.Body.Has("filter")
	if asks && c.may(auth.Namespace(c.DB, "system.profile"), "find") {
		return nil
	}
	return c.need(auth.Database(c.DB), "enableProfiler")
}

// mayValidateMetadata asks for the database that the argument db names, or all
// of them, wherever the command is run.
func mayValidateMetadata(c *Call) error {
	if db := c.Body.Lookup("db"); db.Kind() == value.KindString {
		return c.need(auth.Database(db.Clone().Str()), "validate")
	}
	return c.need(auth.AnyNormal(), "validate")
}
