package main

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/duskdb/duskdb/value"
	"github.com/duskdb/duskdb/wire"
)

// expiryCommand measures how fast a server removes documents that are due, while no client does
// anything. "beside --load expiry" measures what clients notice of it.
type expiryCommand struct {
	URI     string        `name:"uri" help:"Server: mongodb://host:port, or \"exec:PATH ARGUMENTS\" to start a binary." default:"mongodb://127.0.0.1:27017"`
	Docs    int           `help:"Documents that are due, with an index on _id and three others." default:"100000"`
	DocSize int           `help:"Approximate size of a document in bytes." default:"180"`
	Limit   time.Duration `help:"Time after which the measurement fails." default:"10m"`
	JSON    string        `name:"json" help:"Write the result to this file as JSON." type:"path" placeholder:"FILE"`
}

// expiryResult is the removal of all documents.
type expiryResult struct {
	Docs    int     `json:"docs"`
	Seconds float64 `json:"seconds"` // time from the first removed document to the last
	Commits int64   `json:"commits"` // commits of a server over a database; 0 for others
	MinMB   int64   `json:"minMB"`   // resident memory of the server meanwhile
	MaxMB   int64   `json:"maxMB"`
}

// Validate is called by the command line parser.
func (c expiryCommand) Validate() error {
	if c.Docs < 1 || c.DocSize < 1 || c.Limit <= 0 {
		return errors.New("numbers and durations must be positive")
	}
	return nil
}

// Run measures and prints the rate.
func (c *expiryCommand) Run(out io.Writer) (err error) {
	t, err := openTarget(c.URI, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.stop()) }()
	s, err := dial(t.addr, wire.Uncompressed, time.Now().Add(grace+c.Limit))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.conn.Close()) }()
	r, err := c.measure(&loader{session: s, opts: loadOptions{Docs: c.Docs, DocSize: c.DocSize, Seed: 1}, collection: besideCollection})
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%d documents were removed in %.1f s, %.0f a second", r.Docs, r.Seconds, float64(r.Docs)/max(r.Seconds, 1e-3))
	if r.Commits > 0 {
		fmt.Fprintf(out, ", with %d commits", r.Commits)
	}
	fmt.Fprintf(out, "; memory of the server %d to %d MB\n", r.MinMB, r.MaxMB)
	if c.JSON == "" {
		return nil
	}
	return writeJSON(c.JSON, r)
}

// expiryPause is how long nobody asks how far the removal is.
const expiryPause = 20 * time.Millisecond

// measure makes the documents, and watches how they are removed.
func (c *expiryCommand) measure(l *loader) (r expiryResult, err error) {
	if err := fillForExpiry(l); err != nil {
		return r, err
	}
	before, err := l.expiryState()
	if err != nil {
		return r, err
	}
	if err := makeDue(l); err != nil {
		return r, err
	}
	r.MinMB, r.MaxMB = before.memory, before.memory
	begun, last := time.Now(), time.Now()
	for {
		now, err := l.expiryState()
		if err != nil {
			return r, err
		}
		r.MinMB, r.MaxMB = min(r.MinMB, now.memory), max(r.MaxMB, now.memory)
		switch removed := now.removed - before.removed; {
		case removed == 0: // the pass has not begun
			last, before.commits = time.Now(), now.commits
		case removed >= int64(c.Docs):
			r.Docs, r.Seconds, r.Commits = int(removed), time.Since(last).Seconds(), now.commits-before.commits
			return r, nil
		}
		if time.Since(begun) > c.Limit {
			return r, fmt.Errorf("%d of %d documents were removed within %v", now.removed-before.removed, c.Docs, c.Limit)
		}
		time.Sleep(expiryPause)
	}
}

// expiryState is what a server says of itself.
type expiryState struct {
	removed int64 // documents
	commits int64
	memory  int64 // MB
}

func (l *loader) expiryState() (s expiryState, err error) {
	reply, err := l.command(value.NewDoc("serverStatus", value.Int32(1), "$db", value.String("admin")))
	if err != nil {
		return s, err
	}
	s.removed = removedDocs(reply)
	s.memory = reply.Lookup("mem").Doc().Lookup("resident").SafeInt64()
	if cluster, ok := reply.Get("cluster"); ok {
		s.commits = cluster.Doc().Lookup("commits").Doc().Lookup("ops").SafeInt64()
	}
	return s, nil
}
