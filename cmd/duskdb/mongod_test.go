package main

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/internal/commandline"

	"github.com/duskdb/duskdb/server"
)

func TestStorageEngine(t *testing.T) {
	file := filepath.Join(t.TempDir(), "mongod.conf")
	if err := os.WriteFile(file, []byte("storage:\n  engine: inMemory\n  dbPath: data\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args []string
		path string
	}{
		{[]string{"--dbpath", "data"}, "data"},
		{[]string{"--dbpath", "data", "--storageEngine", "wiredTiger"}, "data"},
		{[]string{"--dbpath", "data", "--storageEngine", "ephemeralForTest"}, server.Memory},
		{[]string{"--storageEngine", "inMemory"}, server.Memory},
		{[]string{"--config", file}, server.Memory},
	} {
		s := parse(t, tt.args...)
		if err := s.Mongod.apply(s); err != nil || s.DBPath != tt.path {
			t.Errorf("%v: data in %s, want %s; %v", tt.args, s.DBPath, tt.path, err)
		}
	}
	if _, err := tryParse(t, "--config", writeConfig(t, "storage: {engine: mmapv1}")); err == nil {
		t.Error("mmapv1 is taken")
	}
	for _, name := range server.StorageEngines() {
		if s := parse(t, "--storageEngine", name); s.Mongod.engine() != name || len(s.Mongod.warnings()) > 0 {
			t.Errorf("%s is %s, %v", name, s.Mongod.engine(), s.Mongod.warnings())
		}
	}
}

// The server warns of options that have no effect, or another one than in mongod.
func TestStorageEngineWarnings(t *testing.T) {
	for _, tt := range []struct {
		args []string
		says string
	}{
		{[]string{"--storageEngine", "wiredTiger"}, "stored by bunt"},
		{[]string{"--cacheSize", "256MB"}, "no effect"},
		{[]string{"--config", writeConfig(t, "storage: {engine: wiredTiger}\nduskdb: {cacheSize: 1GB}")}, "no effect"},
		{[]string{"--storageEngine", "inMemory"}, ""},
	} {
		if text := strings.Join(parse(t, tt.args...).Mongod.warnings(), "; "); !strings.Contains(text, tt.says) || tt.says == "" && text != "" {
			t.Errorf("%v: %q", tt.args, text)
		}
	}
}

// getCmdLineOpts shows the engine and the cache.
func TestParsedEngine(t *testing.T) {
	s := parse(t, "--dbpath", "data", "--storageEngine", "wiredTiger", "--cacheSize", "1GB")
	got := s.parsed(nil).String()
	for _, want := range []string{`storage: { dbPath: "data", engine: "wiredTiger" }`, `duskdb: { cacheSize: "1GB" }`} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is not in %s", want, got)
		}
	}
}

// Commands of containers begin with the name of the program.
func TestWordBeforeFlags(t *testing.T) {
	s := parse(t, "--dbpath", "data", "mongod", "--replSet", "rs0", "--wiredTigerCacheSizeGB", "0.5", "--ipv6", "--nounixsocket", "--noscripting")
	without, err := s.extra.apply(map[string]string{})
	if err != nil || s.ReplSet != "rs0" || !slices.Equal(without, []string{"--nounixsocket", "--wiredTigerCacheSizeGB"}) || !s.IPv6 {
		t.Errorf("%+v, %v, %v", s, without, err)
	}
	if err := s.Mongod.apply(s); err != nil {
		t.Error(err)
	}
	s = parse(t, "sevre", "--port", "1")
	if err := s.Mongod.apply(s); err == nil || !strings.HasPrefix(err.Error(), "unexpected argument sevre") {
		t.Errorf("sevre: %v", err)
	}
}

func TestKeyFile(t *testing.T) {
	for _, tt := range []struct{ key, fail string }{
		{"secret", ""},
		{"c2Vj\ncmV0\t+/==\n", ""},
		{strings.Repeat("a", 1024), ""},
		{"short", "has length 5, must be between 6 and 1024 chars"},
		{strings.Repeat("a", 1025), "has length 1025, must be between 6 and 1024 chars"},
		{"with:colon", "invalid char in key file "},
		{"wi:th", "has length 5, must"},
		{"secr.et", "invalid char in key file "},
		{"- firstKey\n- secondKey\n", ""},
		{"[firstKey]", ""},
		{"- firstKey\n- short\n", "has length 5, must"},
		{"- firstKey\n- secondKey\n- thirdKey\n", "Only two keys are supported in the security key file, 3 are specified in "},
		{"[]", "does not contain any valid keys"},
		{"", "does not contain any valid keys"},
		{"key: firstKey", "Only strings and sequences are supported for YAML key files"},
		{"[firstKey", "error reading file: "},
	} {
		file := filepath.Join(t.TempDir(), "key")
		if err := os.WriteFile(file, []byte(tt.key), 0o600); err != nil {
			t.Fatal(err)
		}
		s := parse(t, "--replSet", "rs0", "--keyFile", file)
		err := s.Mongod.apply(s)
		if tt.fail == "" && (err != nil || !s.Security.Auth) {
			t.Errorf("%.20q: access control %v, %v", tt.key, s.Security.Auth, err)
		}
		if tt.fail != "" && (err == nil || !strings.Contains(err.Error(), tt.fail)) {
			t.Errorf("%.20q: %v, want %s", tt.key, err, tt.fail)
		}
	}
}

// TestKeyFileMode refuses keys that others can read, as mongod does.
func TestKeyFileMode(t *testing.T) {
	for mode, ok := range map[os.FileMode]bool{
		0o400: true, 0o600: true, 0o700: true, 0o644: false, 0o604: false, 0o666: false, 0o660: false, 0o620: false,
		0o640: false, 0o440: false, 0o601: false, // also if root owns it
	} {
		file := filepath.Join(t.TempDir(), "key")
		if err := os.WriteFile(file, []byte("secret"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(file, mode); err != nil {
			t.Fatal(err)
		}
		s := parse(t, "--keyFile", file)
		err := s.Mongod.apply(s)
		if (err == nil) != ok || err != nil && !strings.HasPrefix(err.Error(), "permissions on "+file+" are too open: ") {
			t.Errorf("%04o: %v", mode, err)
		}
	}
}

// The form is what mongodb-memory-server looks for.
func TestVersionFlag(t *testing.T) {
	var c cli
	_, out, err := describe(&c).Parse([]string{"--version"})
	if !errors.Is(err, commandline.ErrHelp) || !regexp.MustCompile(`(?m)^db version v8\.2\.\d+$`).MatchString(out) {
		t.Errorf("%v:\n%s", err, out)
	}
	if code := run([]string{"--version"}); code != 0 {
		t.Errorf("exit code %d", code)
	}
}
