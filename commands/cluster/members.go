package cluster

import (
	"context"
	"strings"
	"time"

	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/serverdocs"
	"github.com/duskdb/duskdb/value"
)

// MembersNamespace lists the servers, as each mongos of a cluster reports itself there.
var MembersNamespace = storage.Namespace{DB: "config", Coll: "mongos"}

// Every is how often a server reports that it lives, gone how long one may be silent.
const (
	Every = 10 * time.Second
	gone  = time.Minute
)

// Report reports that the server lives, and removes servers that have been silent for long.
// Servers without an address are not listed.
func Report(s *kernel.Service, ctx context.Context) error {
	if !s.InCluster() || s.Options.Host == "" {
		return nil
	}
	wall := s.WallNow() // the servers live by real time
	now, up := wall.UnixMilli(), s.Real.Now().Sub(s.Began)
	own := value.NewBuilder().String("_id", s.Options.Host)
	own.StartArray("advisoryHostFQDNs").End()
	own.Date("created", wall.Add(-up).UnixMilli()).String("mongoVersion", s.Options.Dialect.Version()).Date("ping", now).
		Int64("up", int64(up/time.Second)).Bool("waiting", true)
	doc := own.Doc()
	return storage.Retry(ctx, s.Engine, func(tx storage.Tx) error {
		stored, err := serverdocs.All(tx, MembersNamespace)
		if err != nil {
			return err
		}
		for _, d := range stored {
			id := d.Lookup("_id")
			if id.Str() != s.Options.Host && now-d.Lookup("ping").DateTime() > gone.Milliseconds() {
				if err := remove(tx, id); err != nil {
					return err
				}
			}
		}
		return serverdocs.Put(tx, MembersNamespace, doc, now)
	})
}

// Leave removes the server from the list.
func Leave(s *kernel.Service) error {
	if !s.InCluster() || s.Options.Host == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), Every)
	defer cancel()
	return storage.Retry(ctx, s.Engine, func(tx storage.Tx) error { return remove(tx, value.String(s.Options.Host)) })
}

func remove(tx storage.Tx, id value.Value) error {
	e, err := serverdocs.Find(tx, MembersNamespace, id)
	if err != nil || !e.Exists() {
		return err
	}
	return e.Delete()
}

// Hosts returns the addresses of the servers.
func Hosts(tx storage.Tx) (hosts []string, err error) {
	stored, err := serverdocs.All(tx, MembersNamespace)
	for _, d := range stored {
		hosts = append(hosts, d.Lookup("_id").Clone().Str())
	}
	return hosts, err
}

// ConnectionString returns where the shard is, in the form of a replica set's: it is reached
// through each of the servers.
func ConnectionString(hosts []string) string {
	return kernel.ShardName + "/" + strings.Join(hosts, ",")
}
