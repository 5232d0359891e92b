package kernel

import (
	"context"

	"github.com/rs/zerolog"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/commands/observe"
	"github.com/duskdb/duskdb/internal/dialect"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// Limits that hello announces.
const (
	MaxDocumentBytes = 16 * 1024 * 1024
	MaxMessageBytes  = 48_000_000
	MaxWriteBatch    = 100_000
)

// Options says what a Service works with.
type Options struct {
	Engine     storage.Engine    // the data; it belongs to the caller
	Clock      clock.Clock       // decides what has expired
	Log        zerolog.Logger    // the server's log
	TempDir    string            // the directory for sorts and groups that spill
	DBPath     string            // the option --dbpath, for getCmdLineOpts
	Parameters map[string]string // --setParameter
	Argv       []string          // the command line, for getCmdLineOpts
	Parsed     value.Doc         // the parsed configuration, for getCmdLineOpts
	TestClock  bool              // Clock is a *clock.Manual that commands may move
	// CommonClock says that servers over the same data have one time, so that a command
	// moves the clock of all. Otherwise Clock is this server's own.
	CommonClock bool
	Shutdown    func()             // called by the shutdown command
	DuskDB      string             // version of DuskDB itself
	Dialect     dialect.Dialect    // version of MongoDB that the server speaks
	Lines       *observe.LogLines  // the recent log, for getLog
	LogLimit    *observe.LogLimit  // bounds the attributes of the log, see maxLogSizeKB; nil: the caller does not bound them
	RotateLog   func() error       // begins a new log file; nil: the log goes to no file
	Profiling   *observe.Profiling // the initial profiling of every database; nil: only slow operations, in the log
	Warnings    []string           // startup warnings, for getLog
	Security    Security           // the access control
	Memory      int64              // maximum size of the data in bytes; 0: no limit
	MaxConns    int                // maximum number of connections, for serverStatus; 0: no limit
	// Compressors are the names of those that clients may choose; nil: all.
	Compressors []string

	OplogBytes              int64 // bound of the change log; 0: 64 MB once it is read, negative: none is kept
	OplogMinRetentionMillis int64 // how long its entries are kept at least
	NoScripting             bool  // JavaScript is disabled

	// ReplSet is the name of the replica set whose only member this server is; "" for a
	// standalone.
	ReplSet string
	// AdvertiseHost is the member's "host:port"; "": the address that the
	// client connected to.
	AdvertiseHost string
	// Host is the "host:port" that a server of a cluster is listed with; "": it is not
	// listed.
	Host string
	// AskSelf returns the id in the reply of the server at a "host:port" to _isSelf.
	// If it is nil, no address can be checked.
	AskSelf func(ctx context.Context, address string) (value.OID, error)
}

// Security is the part of the options that says who may use a Service.
type Security struct {
	// Auth requires clients to authenticate.
	Auth bool
	// RootUser and RootPassword are the name and password of the first user. It gets
	// the role root, and is created only if there are no users yet.
	RootUser, RootPassword string
	// Exposed reports whether clients on other machines can connect.
	Exposed bool
	// RotateCertificates reads the TLS certificates again; nil without TLS.
	RotateCertificates func() error
	// TLSMode is the mode of TLS, for the parameters of that name; "": disabled.
	TLSMode string
}
