package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/server"
	"github.com/duskdb/duskdb/value"
)

// clearEnvironment unsets the variables of the machine, so that tests do not depend on
// them.
func clearEnvironment(t *testing.T) {
	for _, name := range []string{"ROOT_USERNAME", "ROOT_PASSWORD"} {
		for _, prefix := range []string{"DUSKDB_", "MONGO_INITDB_"} {
			t.Setenv(prefix+name, "")
			t.Setenv(prefix+name+"_FILE", "")
		}
	}
}

func TestRootFromEnvironment(t *testing.T) {
	file := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(file, []byte("from file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name       string
		env        string
		flags      security
		user, pwd  string
		auth, fail bool
	}{
		{name: "nothing"},
		{name: "flag alone", flags: security{Auth: true}, auth: true},
		{name: "own names", env: "DUSKDB_ROOT_USERNAME=root DUSKDB_ROOT_PASSWORD=p", user: "root", pwd: "p", auth: true},
		{name: "names of the mongo image", env: "MONGO_INITDB_ROOT_USERNAME=root MONGO_INITDB_ROOT_PASSWORD=p", user: "root", pwd: "p", auth: true},
		{name: "own names first", env: "DUSKDB_ROOT_USERNAME=a MONGO_INITDB_ROOT_USERNAME=b DUSKDB_ROOT_PASSWORD=p", user: "a", pwd: "p", auth: true},
		{name: "file", env: "MONGO_INITDB_ROOT_USERNAME=root MONGO_INITDB_ROOT_PASSWORD_FILE=" + file, user: "root", pwd: "from file", auth: true},
		{name: "noauth", env: "DUSKDB_ROOT_USERNAME=root DUSKDB_ROOT_PASSWORD=p", flags: security{NoAuth: true}, user: "root", pwd: "p"},
		{name: "no password", env: "DUSKDB_ROOT_USERNAME=root", fail: true},
		{name: "no name", env: "DUSKDB_ROOT_PASSWORD=p", fail: true},
		{name: "both value and file", env: "DUSKDB_ROOT_USERNAME=root DUSKDB_ROOT_PASSWORD=p DUSKDB_ROOT_PASSWORD_FILE=" + file, fail: true},
		{name: "no such file", env: "DUSKDB_ROOT_USERNAME=root DUSKDB_ROOT_PASSWORD_FILE=" + file + "x", fail: true},
		{name: "auth and noauth", flags: security{Auth: true, NoAuth: true}, fail: true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			clearEnvironment(t)
			for _, line := range strings.Fields(tc.env) {
				name, v, _ := strings.Cut(line, "=")
				t.Setenv(name, v)
			}
			var cfg server.Config
			err := tc.flags.apply(&cfg)
			if (err != nil) != tc.fail {
				t.Fatal(err)
			}
			if err == nil && (cfg.RootUser != tc.user || cfg.RootPassword != tc.pwd || cfg.Auth != tc.auth) {
				t.Errorf("%q %q auth %t", cfg.RootUser, cfg.RootPassword, cfg.Auth)
			}
		})
	}
}

func TestSecurityFromFile(t *testing.T) {
	clearEnvironment(t)
	file := filepath.Join(t.TempDir(), "duskdb.conf")
	text := "security:\n  authorization: enabled\nnet:\n  tls:\n    mode: requireTLS\n    certificateKeyFile: s.pem\n    CAFile: ca.pem\n    allowConnectionsWithoutCertificates: true\n    disabledProtocols: TLS1_0,TLS1_2\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s := parse(t, "--config", file, "--tlsCAFile", "mine.pem")
	var cfg server.Config
	if err := s.Security.apply(&cfg); err != nil {
		t.Fatal(err)
	}
	tls := cfg.TLS
	if !cfg.Auth || tls.Mode != server.TLSRequire || tls.CertificateKeyFile != "s.pem" || tls.CAFile != "mine.pem" ||
		!tls.AllowConnectionsWithoutCertificates || !slices.Equal(tls.DisabledProtocols, []string{"TLS1_0", "TLS1_2"}) {
		t.Errorf("%+v", cfg.TLS)
	}
	b := value.NewBuilder()
	s.Security.appendParsed(b)
	if got := b.Doc().String(); !strings.Contains(got, `authorization: "enabled"`) || !strings.Contains(got, `mode: "requireTLS"`) {
		t.Error(got)
	}
}
