package commands

import (
	"context"
	"time"

	"github.com/duskdb/duskdb/auth"
	"github.com/duskdb/duskdb/index"
	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// Security says who may use a Service.
type Security struct {
	// Auth demands that clients log in.
	Auth bool
	// RootUser and RootPassword name the first user, made with the role root
	// if there is no user yet.
	RootUser, RootPassword string
	// Exposed tells that others than this machine can connect.
	Exposed bool
	// RotateCertificates reads the TLS certificates again; nil without TLS.
	RotateCertificates func() error
}

// warnOpen is what getLog says of a server that everyone may use, in
// mongod's words.
const warnOpen = "Access control is not enabled for the database. Read and write access to data and configuration is unrestricted"

// authOptions are what the manager of users works with.
func (s *Service) authOptions() auth.Options {
	return auth.Options{
		Engine: s.engine, IDIndex: index.IDSpec(nil).Stored(), Clock: s.real,
		Mechanisms: func() (names []string) {
			for v := range s.params.value("authenticationMechanisms").Doc().Values() {
				names = append(names, v.Str())
			}
			return names
		},
		FailedDelay: func() time.Duration { return time.Duration(s.params.int("authFailedDelayMs")) * time.Millisecond },
		Iterations: func(mechanism string) int {
			if mechanism == auth.SHA1 {
				return int(s.params.int("scramIterationCount"))
			}
			return int(s.params.int("scramSHA256IterationCount"))
		},
	}
}

// openAuth makes the manager of users, and the first user.
func (s *Service) openAuth() error {
	s.auth = auth.New(s.authOptions())
	o := s.options.Security
	if o.RootUser != "" {
		if err := s.createRoot(o.RootUser, o.RootPassword); err != nil {
			return err
		}
	}
	if o.Auth {
		if err := s.warnNoUsers(); err != nil {
			return err
		}
	}
	if !o.Auth && o.Exposed {
		s.options.Warnings = append(s.options.Warnings, s.warningLine(warnOpen))
		s.log.Warn().Msg(warnOpen)
	}
	return nil
}

// warnNoUsers says who can get in while there is nobody to log in as.
func (s *Service) warnNoUsers() error {
	any, err := s.auth.HasUsers(context.Background())
	if any || err != nil {
		return err
	}
	if s.params.bool("enableLocalhostAuthBypass") {
		s.log.Warn().Msg("Access control is enabled, but there are no users yet. Clients on this machine may create the first one, in the database admin (the localhost exception); DUSKDB_ROOT_USERNAME and DUSKDB_ROOT_PASSWORD do so at the start")
		return nil
	}
	s.log.Warn().Msg("Access control is enabled, but there are no users, and enableLocalhostAuthBypass is off: nobody can log in. Set DUSKDB_ROOT_USERNAME and DUSKDB_ROOT_PASSWORD to create the first user at the start")
	return nil
}

// createRoot makes the first user, unless there is one.
func (s *Service) createRoot(name, password string) error {
	ctx := context.Background()
	if any, err := s.auth.HasUsers(ctx); any || err != nil {
		return err
	}
	if password == "" {
		return mongoerr.New(mongoerr.BadValue, "the root user needs a password")
	}
	doc, err := s.auth.PrepareUser(&auth.NewUser{
		Name: auth.Name{Name: name, DB: "admin"}, Password: &auth.Password{Text: password},
		Roles: []auth.Name{{Name: "root", DB: "admin"}},
	})
	if err != nil {
		return err
	}
	now := s.clock.NowMillis()
	err = s.engine.Update(ctx, func(tx storage.Tx) error { return s.auth.In(tx, now).CreateUser(doc) })
	if err == nil {
		err = s.engine.Sync(ctx)
	}
	s.auth.Invalidate()
	return err
}

// warningLine writes a warning as getLog shows it: a line of mongod's log.
func (s *Service) warningLine(text string) string {
	b := value.NewBuilder()
	b.StartDocument("t").String("$date", isoTime(s.clock.NowMillis())).End()
	b.String("s", "W").String("c", "CONTROL").Int32("id", 22120).String("ctx", "initandlisten").String("msg", text)
	b.StartArray("tags").String("", "startupWarnings").End()
	return b.Doc().JSON()
}

// noteAuthWrite makes changes of users and roles count at once that were made
// by writing to their collections.
func (c *Call) noteAuthWrite() {
	if c.authChanged && c.transaction() != nil {
		c.svc.auth.ChangedInTransaction()
	}
	if c.cmd.name == "commitTransaction" {
		c.svc.auth.TransactionCommitted()
	}
	if c.authChanged || c.DB == "admin" && catalogWrites[c.cmd.name] {
		c.svc.auth.Invalidate()
	}
}

// catalogWrites are the commands that make or remove whole collections.
var catalogWrites = map[string]bool{"drop": true, "dropDatabase": true, "renameCollection": true, "convertToCapped": true, "applyOps": true}

// userName is the authenticated user as "db.name", or "".
func (c *Call) userName() string {
	if c.conn == nil || c.conn.user == nil {
		return ""
	}
	return c.conn.user.Name.ID()
}

// runRotateCertificates reads the TLS certificates again.
func runRotateCertificates(c *Call) error {
	rotate := c.svc.options.Security.RotateCertificates
	if rotate == nil {
		return mongoerr.New(mongoerr.IllegalOperation, "No SSLManager configured")
	}
	if err := rotate(); err != nil {
		return mongoerr.Newf(mongoerr.InvalidSSLConfiguration, "Failed to rotate certificates: %v", err)
	}
	return nil
}
