package users

import (
	"errors"
	"strings"

	"github.com/duskdb/duskdb/commands/access"
	"github.com/duskdb/duskdb/commands/args"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/internal/auth"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// mergeAuthArgs are the arguments of _mergeAuthzCollections, by which mongorestore
// restores users and roles from temporary collections.
type mergeAuthArgs struct {
	Merge value.Value `arg:"_mergeAuthzCollections,required"`
	Users string      `arg:"tempUsersCollection"`
	Roles string      `arg:"tempRolesCollection"`
	DB    string      `arg:"db,required"`
	Drop  bool        `arg:"drop,required"`
}

var mergeAuthSpec = args.New[mergeAuthArgs]("_mergeAuthzCollections")

func runMergeAuth(c *kernel.Call) error {
	var a mergeAuthArgs
	if err := mergeAuthSpec.Decode(c.Body, &a); err != nil {
		return err
	}
	if a.Users == "" && a.Roles == "" {
		return mongoerr.New(mongoerr.BadValue, "Must provide at least one of \"tempUsersCollection\" and \"tempRolesCollection\"")
	}
	return changeAuthIn(c, func(tx storage.Tx, cat *auth.Catalog) error {
		for _, part := range []struct {
			from  string
			merge func([]value.Doc, string, bool) error
		}{{a.Roles, cat.MergeRoles}, {a.Users, cat.MergeUsers}} {
			if part.from == "" {
				continue
			}
			docs, err := allDocuments(c, tx, part.from)
			if err != nil {
				return err
			}
			if err := part.merge(docs, a.DB, a.Drop); err != nil {
				return err
			}
		}
		return nil
	})
}

// allDocuments returns all documents of a collection; nil if it does not exist.
func allDocuments(c *kernel.Call, tx storage.Tx, full string) (docs []value.Doc, err error) {
	ns, err := catalog.ParseNamespace(full)
	if err != nil {
		return nil, err
	}
	coll, err := tx.Collection(ns)
	if errors.Is(err, storage.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	err = c.Visible(coll).Scan(storage.Range{}, func(r storage.Record) bool { docs = append(docs, r.Doc); return true })
	return docs, err
}

// MayMergeAuth checks the privileges for the changes that the merge makes.
func MayMergeAuth(c *kernel.Call) error {
	actions := []string{"createUser", "createRole", "grantRole", "revokeRole"}
	if Given(c.Body, "drop") {
		actions = append(actions, "dropUser", "dropRole")
	}
	for key, v := range c.Body.All() {
		kind, ok := map[string]string{"tempUsersCollection": "user", "tempRolesCollection": "role"}[key]
		if !ok || v.Str() == "" {
			continue
		}
		if access.Need(c, auth.AnyNormal(), actions...) != nil {
			return unauthorized("Not authorized to update %s data using _mergeAuthzCollections a command", kind)
		}
		if full := strings.Clone(v.Str()); !access.May(c, access.Pattern(access.SplitNamespace(full)), "find") {
			return unauthorized("Not authorized to read %s", full)
		}
	}
	return nil
}
