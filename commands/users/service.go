package users

import (
	"context"
	"time"

	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/observe"
	"github.com/duskdb/duskdb/internal/auth"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// warnOpen is the startup warning of a server without access control that listens
// on more than localhost, in mongod's words.
const warnOpen = "Access control is not enabled for the database. Read and write access to data and configuration is unrestricted"

// Options returns the options of the manager of users: the engine, the clock, and
// the server parameters that it reads.
func Options(s *kernel.Service) auth.Options {
	return auth.Options{
		Engine: s.Engine, Clock: s.Real,
		Mechanisms: func() (names []string) {
			for v := range s.Params.Value("authenticationMechanisms").Doc().Values() {
				names = append(names, v.Str())
			}
			return names
		},
		FailedDelay: func() time.Duration { return time.Duration(s.Params.Int("authFailedDelayMs")) * time.Millisecond },
		Iterations: func(mechanism string) int {
			if mechanism == auth.SHA1 {
				return int(s.Params.Int("scramIterationCount"))
			}
			return int(s.Params.Int("scramSHA256IterationCount"))
		},
	}
}

// Open sets up the manager of users in the service, and creates the first user if
// the options name one.
func Open(s *kernel.Service) error {
	secret, err := commonSecret(s)
	if err != nil {
		return err
	}
	options := Options(s)
	options.Secret = secret
	s.Auth = auth.New(options)
	o := s.Options.Security
	if o.RootUser != "" {
		if err := createRoot(s, o.RootUser, o.RootPassword); err != nil {
			return err
		}
	}
	if o.Auth {
		if err := warnNoUsers(s); err != nil {
			return err
		}
	}
	if !o.Auth && o.Exposed {
		s.Options.Warnings = append(s.Options.Warnings, warningLine(s, warnOpen))
		s.Log.Warn().Msg(warnOpen)
	}
	return nil
}

// warnNoUsers logs which clients can connect as long as there are no users.
func warnNoUsers(s *kernel.Service) error {
	any, err := s.Auth.HasUsers(context.Background())
	if any || err != nil {
		return err
	}
	if s.Params.Bool("enableLocalhostAuthBypass") {
		s.Log.Warn().Msg("Access control is enabled, but there are no users yet. Clients on this machine may create the first one, in the database admin (the localhost exception); DUSKDB_ROOT_USERNAME and DUSKDB_ROOT_PASSWORD do so at the start")
		return nil
	}
	s.Log.Warn().Msg("Access control is enabled, but there are no users, and enableLocalhostAuthBypass is off: nobody can log in. Set DUSKDB_ROOT_USERNAME and DUSKDB_ROOT_PASSWORD to create the first user at the start")
	return nil
}

// createRoot makes the first user, unless there is one.
func createRoot(s *kernel.Service, name, password string) error {
	ctx := context.Background()
	if any, err := s.Auth.HasUsers(ctx); any || err != nil {
		return err
	}
	if password == "" {
		return mongoerr.New(mongoerr.BadValue, "the root user needs a password")
	}
	doc, err := s.Auth.PrepareUser(&auth.NewUser{
		Name: auth.Name{Name: name, DB: "admin"}, Password: &auth.Password{Text: password},
		Roles: []auth.Name{{Name: "root", DB: "admin"}},
	})
	if err != nil {
		return err
	}
	now := s.Clock.NowMillis()
	err = storage.Retry(ctx, s.Engine, func(tx storage.Tx) error { return s.Auth.In(tx, now).CreateUser(doc) })
	if err == nil {
		err = s.Engine.Sync(ctx)
	}
	return err
}

// warningLine writes a warning as getLog shows it: a line of mongod's log.
func warningLine(s *kernel.Service, text string) string {
	b := value.NewBuilder()
	b.StartDocument("t").String("$date", observe.ISOTime(s.Clock.NowMillis())).End()
	b.String("s", "W").String("c", "CONTROL").Int32("id", 22120).String("ctx", "initandlisten").String("msg", text)
	b.StartArray("tags").String("", "startupWarnings").End()
	return b.Doc().JSON()
}

// runRotateCertificates reads the TLS certificates again.
func runRotateCertificates(c *kernel.Call) error {
	rotate := c.Svc.Options.Security.RotateCertificates
	if rotate == nil {
		return mongoerr.New(mongoerr.IllegalOperation, "No SSLManager configured")
	}
	if err := rotate(); err != nil {
		return mongoerr.Newf(mongoerr.InvalidSSLConfiguration, "Failed to rotate certificates: %v", err)
	}
	return nil
}
