package main

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/internal/needs"
	"github.com/duskdb/duskdb/server"
)

// parse reads a command line as main does.
func parse(t *testing.T, args ...string) *serveCmd {
	t.Helper()
	s, err := tryParse(t, args...)
	if err != nil {
		t.Fatalf("%v: %v", args, err)
	}
	return s
}

func tryParse(t *testing.T, args ...string) (*serveCmd, error) {
	t.Helper()
	var c cli
	_, _, err := describe(&c).Parse(normalise(args))
	return &c.Serve, err
}

// built compiles this program.
func built(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "duskdb")
	if err := needs.Server(path); err != nil {
		t.Fatal(err)
	}
	return path
}

// serving starts a server in this process; the end of the test stops it.
func serving(t *testing.T, cfg server.Config) *server.Server {
	t.Helper()
	srv, err := server.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = srv.Close(context.Background()) })
	if err := srv.Start(); err != nil {
		t.Fatal(err)
	}
	return srv
}

func TestDefaults(t *testing.T) {
	s := parse(t)
	if s.Port != 27017 || s.DBPath != "duskdb-data" || !slices.Equal(s.addresses(), []string{"127.0.0.1"}) || s.TestClock {
		t.Errorf("defaults are %+v", s)
	}
}

func TestFlags(t *testing.T) {
	s := parse(t, "--port", "0", "--bind_ip", "localhost,::1", "--dbpath", ":memory:", "--test-clock",
		"--setParameter", "ttlMonitorSleepSecs=1", "--setParameter", "authenticationMechanisms=SCRAM-SHA-1,SCRAM-SHA-256", "-vv", "--quiet")
	if s.Port != 0 || s.DBPath != ":memory:" || !s.TestClock || s.Verbose != 2 || !s.Quiet {
		t.Errorf("flags are %+v", s)
	}
	if got := s.addresses(); !slices.Equal(got, []string{"localhost", "::1"}) {
		t.Errorf("addresses are %v", got)
	}
	params, err := parseParameters(s.SetParameter)
	if err != nil {
		t.Fatal(err)
	}
	s.file.apply(params)
	if params["ttlMonitorSleepSecs"] != "1" || params["authenticationMechanisms"] != "SCRAM-SHA-1,SCRAM-SHA-256" {
		t.Errorf("parameters are %v", params)
	}
}

func TestParametersNeedAValue(t *testing.T) {
	for _, p := range []string{"ttlMonitorSleepSecs", "=1"} {
		if _, err := parseParameters([]string{p}); err == nil {
			t.Errorf("%q is accepted", p)
		}
	}
}

func TestEnvironment(t *testing.T) {
	t.Setenv("DUSKDB_PORT", "4444")
	t.Setenv("DUSKDB_DBPATH", "/somewhere")
	t.Setenv("DUSKDB_BIND_IP", "10.0.0.1")
	s := parse(t)
	if s.Port != 4444 || s.DBPath != "/somewhere" || !slices.Equal(s.addresses(), []string{"10.0.0.1"}) {
		t.Errorf("environment gives %+v", s)
	}
}

func writeConfig(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "duskdb.conf")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestConfigFile(t *testing.T) {
	path := writeConfig(t, `
net: {port: 5555, bindIp: "127.0.0.1,10.0.0.2", maxIncomingConnections: 7}
storage: {dbPath: /data}
systemLog: {path: /var/log/duskdb.log, logAppend: true, quiet: true, verbosity: 1}
setParameter: {ttlMonitorSleepSecs: 5, ttlMonitorEnabled: false}
duskdb: {testClock: true}
`)
	s := parse(t, "--config", path, "--setParameter", "ttlMonitorSleepSecs=9")
	if s.Port != 5555 || s.DBPath != "/data" || s.MaxConns != 7 || s.LogPath != "/var/log/duskdb.log" || !s.LogAppend || !s.Quiet || s.Verbose != 1 || !s.TestClock {
		t.Errorf("configuration gives %+v", s)
	}
	params, err := parseParameters(s.SetParameter)
	if err != nil {
		t.Fatal(err)
	}
	s.file.apply(params)
	if params["ttlMonitorSleepSecs"] != "9" || params["ttlMonitorEnabled"] != "false" { // the command line wins
		t.Errorf("parameters are %v", params)
	}
}

func TestCommandLineErrors(t *testing.T) {
	for _, args := range [][]string{{"--nonsense"}, {"--port", "x"}, {"--logFormat", "xml"}, {"--config", "/does/not/exist"}} {
		if code := run(args); code == 0 {
			t.Errorf("%v is accepted", args)
		}
	}
}

func TestExitCodes(t *testing.T) {
	for _, tt := range []struct {
		args []string
		code int
	}{
		{[]string{"--nonsense"}, 2},
		{[]string{"frobnicate"}, 2},
		{[]string{"ping", "127.0.0.1:1", "--timeout", "1s"}, 1},
	} {
		if code := run(tt.args); code != tt.code {
			t.Errorf("%v exits with %d, want %d", tt.args, code, tt.code)
		}
	}
}

func TestHelpWord(t *testing.T) {
	for in, want := range map[string]string{"help": "--help", "help import": "import --help", "import help": "import help", "-vv": "--verbose=2"} {
		if got := strings.Join(normalise(strings.Fields(in)), " "); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
}

// A variable that sets a flag of one command must not drop, overwrite or
// shorten something in another.
func TestVariablesOfCommands(t *testing.T) {
	allowed := []string{"serve", "ping"}
	for _, command := range describe(&cli{}).Commands {
		for _, flag := range command.Flags {
			if flag.Env != "" && !slices.Contains(allowed, command.Name) && !slices.Contains([]string{"uri", "dbpath", "storageURI"}, flag.Name) {
				t.Errorf("%s --%s is set by %s", command.Name, flag.Name, flag.Env)
			}
		}
	}
	t.Setenv("DUSKDB_DROP", "true")
	var c cli
	if _, _, err := describe(&c).Parse([]string{"import", "x.json"}); err != nil || c.Import.Drop {
		t.Errorf("drop is %v, %v", c.Import.Drop, err)
	}
}

func TestPingWithoutServer(t *testing.T) {
	if code := run([]string{"ping", "127.0.0.1:1", "--timeout", "1s"}); code == 0 {
		t.Error("a server answered on port 1")
	}
}

// The server stops when the program at the other end of its standard input ends, for
// whatever reason.
func TestExitWithStdin(t *testing.T) {
	in, held, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func(stdin *os.File) { os.Stdin = stdin }(os.Stdin)
	os.Stdin = in
	serve := parse(t, "--port", "0", "--dbpath", ":memory:", "--quiet", "--exit-with-stdin")
	ended := make(chan error)
	go func() { ended <- serve.Run() }()
	if _, err := held.WriteString("what is written says nothing\n"); err != nil {
		t.Fatal(err)
	}
	if err := held.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
