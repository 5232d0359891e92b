package users

import (
	"github.com/duskdb/duskdb/commands/access"
	"github.com/duskdb/duskdb/commands/crud"
	"github.com/duskdb/duskdb/commands/ddl"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/internal/auth"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// Given reports whether any field of that name is true.
func Given(d value.Doc, name string) bool {
	for key, v := range d.All() {
		if key == name && v.Truthy() {
			return true
		}
	}
	return false
}

// needBypass checks the privilege to store invalid documents, if the command
// requests that.
func needBypass(c *kernel.Call, ns storage.Namespace) error {
	if Given(c.Body, "bypassDocumentValidation") {
		return access.Need(c, access.Pattern(ns), "bypassDocumentValidation")
	}
	return nil
}

// MayInsert checks the privilege insert.
func MayInsert(c *kernel.Call) error {
	if err := access.Need(c, access.Pattern(access.Target(c)), "insert"); err != nil {
		return err
	}
	return needBypass(c, access.Target(c))
}

// MayDelete checks the privilege remove.
func MayDelete(c *kernel.Call) error {
	return access.Need(c, access.Pattern(access.Target(c)), "remove")
}

// MayUpdate checks the privilege update, and insert if a statement is an upsert.
func MayUpdate(c *kernel.Call) error {
	ns := access.Target(c)
	if err := access.Need(c, access.Pattern(ns), "update"); err != nil {
		return err
	}
	for d := range access.Statements(c, "updates") {
		if Given(d, "upsert") {
			if err := access.Need(c, access.Pattern(ns), "insert"); err != nil {
				return err
			}
			break
		}
	}
	return needBypass(c, ns)
}

// MayFindAndModify checks the privilege find, and the one for the change of the
// document.
func MayFindAndModify(c *kernel.Call) error {
	ns := access.Target(c)
	actions := []string{"find"}
	if Given(c.Body, "remove") {
		actions = append(actions, "remove")
	} else {
		actions = append(actions, "update")
	}
	if Given(c.Body, "upsert") {
		actions = append(actions, "insert")
	}
	if err := access.Need(c, access.Pattern(ns), actions...); err != nil {
		return err
	}
	return needBypass(c, ns)
}

// MayBulkWrite checks the privileges for each operation on its namespace, to which
// the operation refers by the position in nsInfo.
func MayBulkWrite(c *kernel.Call) error {
	var namespaces []storage.Namespace
	for d := range access.Statements(c, "nsInfo") {
		namespaces = append(namespaces, access.SplitNamespace(d.Lookup("ns").Str()))
	}
	for d := range access.Statements(c, "ops") {
		name, at := d.First()
		i := at.SafeInt64()
		action := map[string]string{"insert": "insert", "update": "update", "delete": "remove"}[name]
		if action == "" || i < 0 || i >= int64(len(namespaces)) {
			continue // the command refuses it
		}
		ns := namespaces[i]
		if err := access.Need(c, access.Pattern(ns), action); err != nil {
			return err
		}
		if name == "update" && Given(d, "upsert") {
			if err := access.Need(c, access.Pattern(ns), "insert"); err != nil {
				return err
			}
		}
		if err := needBypass(c, ns); err != nil {
			return err
		}
	}
	return nil
}

// MayExplain checks the privileges of the explained command.
func MayExplain(c *kernel.Call) error {
	_, v := c.Body.First()
	inner := v.Doc()
	if inner == nil || inner.IsEmpty() {
		return nil // the command refuses it
	}
	name, _ := inner.First()
	cmd := c.Svc.Table[name]
	if cmd == nil || cmd.Has(kernel.WrapsCommand) {
		return nil
	}
	sub := *c
	sub.Body, sub.Cmd, sub.Sequences = inner, cmd, nil
	return access.AuthorizeCommand(&sub)
}

// MayDataSize checks the privilege find on the collection, which the command names
// with its database.
func MayDataSize(c *kernel.Call) error {
	_, v := c.Body.First()
	return access.Need(c, access.Pattern(access.SplitNamespace(v.Str())), "find")
}

// MayCurrentOp checks the privilege inprog, except for the client's own operations.
func MayCurrentOp(c *kernel.Call) error {
	if Given(c.Body, "$ownOps") {
		return nil
	}
	return access.Need(c, auth.Cluster(), "inprog")
}

// MayDiagnose checks the privileges of all that getDiagnosticData gathers.
func MayDiagnose(c *kernel.Call) error {
	if err := access.Need(c, auth.Cluster(), "serverStatus", "replSetGetStatus"); err != nil {
		return err
	}
	return access.Need(c, auth.Namespace("local", "oplog.rs"), "collStats")
}

// MayKillOp checks the privilege killop, except for the client's own operations.
func MayKillOp(c *kernel.Call) error {
	if access.May(c, auth.Cluster(), "killop") {
		return nil
	}
	id := c.Body.Lookup("op").SafeInt64()
	for _, op := range c.Svc.Ops.List() {
		if int64(op.ID) == id && op.User != "" && op.User == access.UserName(c) {
			return nil
		}
	}
	return access.ErrNotAuthorized
}

// MayKillCursors lets users close their own cursors. Cursors of others need
// killAnyCursor on the namespace that they read, whatever collection the command
// names.
func MayKillCursors(c *kernel.Call) error {
	var a crud.KillCursorsArgs
	if err := crud.KillCursorsSpec.Decode(c.Body, &a); err != nil {
		return err
	}
	ids, err := a.Ids()
	if err != nil {
		return err
	}
	if access.May(c, auth.Cluster(), "killAnyCursor") {
		return nil
	}
	for _, id := range ids {
		ns, owner, ok := access.Owner(c.Svc.Cursors, id.Int64())
		if !ok || owner == access.UserName(c) {
			continue
		}
		on := access.Pattern(ns)
		if ns.Coll == ddl.ListCollectionsCursor {
			on = auth.Database(ns.DB)
		}
		if err := access.Need(c, on, "killAnyCursor"); err != nil {
			return err
		}
	}
	return nil
}

// MayListCollections lets users without listCollections list the names of the
// collections that they may use, if they request only the names.
func MayListCollections(c *kernel.Call) error {
	if access.May(c, auth.Database(c.DB), "listCollections") {
		return nil
	}
	if Given(c.Body, "nameOnly") && Given(c.Body, "authorizedCollections") && c.User.MayIn(c.DB) {
		c.AuthorizedOnly = true
		return nil
	}
	return mongoerr.Newf(mongoerr.Unauthorized, "Not authorized to list collections on db: %s", c.DB)
}

// MayListDatabases shows users without listDatabases the databases that they may
// use, unless they ask for all.
func MayListDatabases(c *kernel.Call) error {
	all := access.May(c, auth.Cluster(), "listDatabases")
	v, asked := c.Body.Get("authorizedDatabases")
	switch {
	case asked && v.Truthy():
		c.AuthorizedOnly = true
	case all:
	case asked:
		return mongoerr.New(mongoerr.Unauthorized, "Insufficient permissions to list all databases")
	default:
		c.AuthorizedOnly = true
	}
	return nil
}

// MayMapReduce checks the privilege find on the source, and the privileges on the
// target by the mode of out.
func MayMapReduce(c *kernel.Call) error {
	if err := access.Need(c, access.Pattern(access.Target(c)), "find"); err != nil {
		return err
	}
	out := c.Body.Lookup("out")
	if out.Kind() == value.KindString {
		to := storage.Namespace{DB: c.DB, Coll: out.Clone().Str()}
		if err := access.Need(c, access.Pattern(to), "insert", "remove"); err != nil {
			return err
		}
		return needBypass(c, to)
	}
	if ambiguous(out) {
		return access.ErrNotAuthorized
	}
	db := access.DatabaseOr(out.Doc().Lookup("db").Clone().Str(), c.DB)
	for mode, v := range out.Doc().All() {
		if crud.OutModes[mode] == "" {
			continue // it names no collection
		}
		actions := map[string][]string{"replace": {"insert", "remove"}, "merge": {"insert", "update"}, "reduce": {"insert", "update", "find"}}[crud.OutModes[mode]]
		if actions == nil {
			return access.ErrNotAuthorized
		}
		to := storage.Namespace{DB: db, Coll: v.Clone().Str()}
		if err := access.Need(c, access.Pattern(to), actions...); err != nil {
			return err
		}
		if err := needBypass(c, to); err != nil {
			return err
		}
	}
	return nil
}

// MayForecast checks the privilege collStats on the collection or the database of
// the forecast. A forecast of all databases has those for whose databases the user has it.
func MayForecast(c *kernel.Call) error {
	ns := access.Target(c)
	if ns.Coll == "" && c.DB == "admin" {
		c.AuthorizedOnly = true
		return nil
	}
	if ns.Coll != "" {
		return access.Need(c, access.Pattern(ns), "collStats")
	}
	return access.Need(c, auth.Database(c.DB), "collStats")
}

// MayHashFile checks the privilege find on the chunks of the file.
func MayHashFile(c *kernel.Call) error {
	return access.Need(c, auth.Namespace(c.DB, c.Body.Lookup("root").Clone().Str()+".chunks"), "find")
}

// MayReceive checks the privileges of a receiver: find and remove.
func MayReceive(c *kernel.Call) error {
	return access.Need(c, access.Pattern(access.Target(c)), "find", "remove")
}

// MayPurge checks the privilege remove, or find to count what would be removed.
func MayPurge(c *kernel.Call) error {
	action := "remove"
	if dry := c.Body.Lookup("dryRun"); dry.Kind() == value.KindBool && dry.Bool() {
		action = "find"
	}
	return access.Need(c, access.Pattern(access.Target(c)), action)
}

// MayResubmit checks the privileges to take dead letters and to send messages: remove and
// insert.
func MayResubmit(c *kernel.Call) error {
	return access.Need(c, access.Pattern(access.Target(c)), "remove", "insert")
}

// MayRestoreMessages lets users store messages with what else only the server sets: the
// role restore has the privileges.
func MayRestoreMessages(c *kernel.Call) error {
	return access.Need(c, access.Pattern(access.Target(c)), "insert", "bypassDocumentValidation")
}

// MayProfile lets users who may read system.profile query the level.
func MayProfile(c *kernel.Call) error {
	_, level := c.Body.First()
	asks := level.IsNumber() && level.AsDouble() == -1 && !c.Body.Has("slowms") && !c.Body.Has("sampleRate") && !c.Body.Has("filter")
	if asks && access.May(c, auth.Namespace(c.DB, "system.profile"), "find") {
		return nil
	}
	return access.Need(c, auth.Database(c.DB), "enableProfiler")
}

// MayValidateMetadata checks the privilege on the database in the argument db, or on
// all databases, whatever database the command runs on.
func MayValidateMetadata(c *kernel.Call) error {
	if db := c.Body.Lookup("db"); db.Kind() == value.KindString {
		return access.Need(c, auth.Database(db.Clone().Str()), "validate")
	}
	return access.Need(c, auth.AnyNormal(), "validate")
}
