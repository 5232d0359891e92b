package sharding

import (
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/serverdocs"
	"github.com/duskdb/duskdb/value"
)

// settingsNamespace has the settings of the balancer, which clients may also read and
// change there.
var settingsNamespace = storage.Namespace{DB: "config", Coll: "settings"}

const balancerID = "balancer"

// setBalancer turns the balancer on or off. It has nothing to move in either case.
func setBalancer(on bool) func(*kernel.Call) error {
	mode := "off"
	if on {
		mode = "full"
	}
	return func(c *kernel.Call) error {
		return c.Update(func(tx storage.Tx) error {
			d := value.NewDoc("_id", value.String(balancerID), "mode", value.String(mode), "stopped", value.Bool(!on))
			return serverdocs.Put(tx, settingsNamespace, d, c.Now)
		})
	}
}

func runBalancerStatus(c *kernel.Call) error {
	mode := "full"
	err := c.View(func(tx storage.Tx) error {
		d, err := serverdocs.Get(tx, settingsNamespace, value.String(balancerID))
		if d.Lookup("stopped").Truthy() || d.Lookup("mode").Str() == "off" {
			mode = "off"
		}
		return err
	})
	c.Reply.String("mode", mode).Bool("inBalancerRound", false).Int64("numBalancerRounds", 0)
	return err
}

// defaultChunkMB is the size that chunks have in MongoDB.
const defaultChunkMB = 128

func runBalancerCollectionStatus(c *kernel.Call) error {
	if _, _, err := shardedOrError(c); err != nil {
		return err
	}
	c.Reply.Double("chunkSize", defaultChunkMB).Bool("balancerCompliant", true)
	return nil
}
