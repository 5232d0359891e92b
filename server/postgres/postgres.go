// Package postgres links the storage engine postgres into a program, for several
// servers over one PostgreSQL database. A program that embeds the server imports it
// for that alone:
//
//	import _ "github.com/duskdb/duskdb/server/postgres"
//
// Then server.Config.StorageEngine may be "postgres", and StorageURI names the
// database. Programs without the import do not build the engine.
package postgres

import (
	"context"
	"errors"
	"strings"

	"github.com/duskdb/duskdb/internal/engines"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/postgres"
)

func init() {
	engines.Link("postgres", engines.Implementation{Open: open, Check: check, Restore: restore, Target: target})
}

func open(ctx context.Context, o engines.Options) (engines.Opened, error) {
	e, err := postgres.Open(ctx, options(o))
	if err != nil {
		return engines.Opened{}, err
	}
	return engines.Opened{Engine: e}, nil
}

func options(o engines.Options) postgres.Options {
	return postgres.Options{URI: o.URI, Indexer: o.Indexer, Watched: watched, MustExist: o.MustExist, Version: o.Version, Logger: o.Logger}
}

// target makes the tables of a database the target of a copy.
func target(ctx context.Context, o engines.Options) (engines.Target, error) {
	t, err := postgres.NewTarget(ctx, options(o))
	if err != nil {
		return nil, err
	}
	return copyTarget{t}, nil
}

type copyTarget struct{ *postgres.Target }

func (t copyTarget) Open(ctx context.Context) (storage.Engine, error) {
	e, err := t.Target.Open(ctx)
	if err != nil {
		return nil, err
	}
	return e, nil
}

// watched reports whether servers keep what is in a collection: users and roles,
// settings, the test clock, requests to kill sessions, and the configuration of the replica set.
func watched(ns storage.Namespace) bool {
	switch ns.DB {
	case "admin":
		return strings.HasPrefix(ns.Coll, "system.")
	case "config":
		return ns.Coll == "settings" || ns.Coll == "clusterParameters"
	case "local":
		return ns.Coll == "testClock" || ns.Coll == "$kills" || ns.Coll == "system.replset" || ns.Coll == "replset.election"
	}
	return false
}

var errNoDirectory = errors.New("the data of the storage engine postgres are in a database: use its own tools, such as pg_amcheck and pg_dump")

func check(string, storage.Indexer) (*storage.Report, error) { return nil, errNoDirectory }

func restore(string, string, storage.Indexer) (*storage.Report, error) { return nil, errNoDirectory }
