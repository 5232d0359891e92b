package storage

import (
	"context"
	"time"
)

// Clustered is an engine of several servers over one database.
type Clustered interface {
	// Reachable returns why the database cannot be used at the moment; nil if it can. It
	// costs next to nothing.
	Reachable() error
	// ClusterStats describes the servers, and what this one has asked of the database.
	// While the database cannot be used, the lists are empty.
	ClusterStats(ctx context.Context) (ClusterStats, error)
}

// ClusterStats are totals since open, and the state now.
type ClusterStats struct {
	Server    string          // the id of this one
	Servers   []ClusterServer // those that live
	Leases    []ClusterLease
	Away      error         // why the database cannot be used; nil if it can
	AwaySince time.Time     // by this machine's clock; zero if it can be used
	Offset    time.Duration // difference of the database's clock to this machine's
	Heartbeat time.Duration // the time since the last one that succeeded
	Trips     []TripStats
	Commits   DurationCounts // durations from asking for the lock to the answer to the commit
	Updates   int64          // number of updates committed, several in a commit
	Conflicts int64          // Updates, transactions and claims that failed because of others
	Retries   int64          // commits that were tried again
	Reruns    int64          // reads that began again, because the catalog had changed or the connection was lost
	Claims    int64          // number of claims that transactions have got
	Refused   int64          // claims that others had
	Claimants int64          // open transactions that may have claims
	Seen      TripStats      // waits until all servers had seen a commit
	Pool      PoolStats
}

// ClusterServer is a server over the database.
type ClusterServer struct {
	ID, Address string
	Since       time.Time
}

// ClusterLease is a background job that a server has.
type ClusterLease struct {
	Job, Owner string // the owner is the id of a server
	Since      time.Time
}

// TripStats are round trips of one kind.
type TripStats struct {
	Kind  string
	Count int64
	Time  time.Duration
}

// PoolStats are the connections to the database.
type PoolStats struct {
	Size   int64 // most connections for reads and commits
	InUse  int64
	Idle   int64
	Held   int64 // connections of open transactions, beside the pool
	Waits  int64 // for a connection
	Beyond int64 // connections that were opened beyond the size
}
