package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rs/zerolog"
)

func readLog(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestLogRotateRename(t *testing.T) {
	path := filepath.Join(t.TempDir(), "duskdb.log")
	if err := os.WriteFile(path, []byte("kept\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := parse(t, "--logpath", path, "--logappend")
	log, file, err := s.logger(&strings.Builder{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer file.file.Close()
	log.Info().Msg("before")
	rotateLog(file, log)
	old, err := filepath.Glob(path + ".2*T*-*-*")
	if err != nil || len(old) != 1 {
		t.Fatalf("old files: %v, %v", old, err)
	}
	if text := readLog(t, old[0]); !strings.HasPrefix(text, "kept\n") || !strings.Contains(text, "before") || strings.Contains(text, "rotated") {
		t.Errorf("the old log says %s", text)
	}
	if text := readLog(t, path); !strings.Contains(text, "Log rotated") || strings.Contains(text, "before") {
		t.Errorf("the new log says %s", text)
	}
}

// TestLogRotateReopen: another program moves the file away first.
func TestLogRotateReopen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "duskdb.log")
	s := parse(t, "--logpath", path, "--logRotate", "reopen")
	log, file, err := s.logger(&strings.Builder{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer file.file.Close()
	log.Info().Msg("before")
	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	log.Info().Msg("between")
	rotateLog(file, log)
	if text := readLog(t, path+".1"); !strings.Contains(text, "before") || !strings.Contains(text, "between") {
		t.Errorf("the old log says %s", text)
	}
	if text := readLog(t, path); !strings.Contains(text, "Log rotated") {
		t.Errorf("the new log says %s", text)
	}
}

// TestLogRotateFails: the log goes on in the old file.
func TestLogRotateFails(t *testing.T) {
	path := filepath.Join(t.TempDir(), "duskdb.log")
	s := parse(t, "--logpath", path)
	log, file, err := s.logger(&strings.Builder{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer file.file.Close()
	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	if err := file.rotate(); err == nil {
		t.Error("renamed what is not there")
	}
	log.Info().Msg("after")
	if text := readLog(t, path+".1"); !strings.Contains(text, "after") {
		t.Errorf("the log says %s", text)
	}
}

func TestLogToStandardError(t *testing.T) {
	s := parse(t, "--quiet", "--logFormat", "json")
	log, file, err := s.logger(&strings.Builder{}, nil)
	if err != nil || file != nil || log.GetLevel() != zerolog.WarnLevel {
		t.Errorf("%v, file %v, level %v", err, file, log.GetLevel())
	}
}

func TestProfilingFromFile(t *testing.T) {
	path := writeConfig(t, "operationProfiling: {mode: slowOp, slowOpThresholdMs: 0, slowOpSampleRate: 0.25}\nsystemLog: {logRotate: reopen}")
	s := parse(t, "--config", path)
	if s.Profile != 1 || s.SlowMS != 0 || s.SlowSample != 0.25 || s.LogRotate != "reopen" {
		t.Errorf("%+v", s)
	}
	s = parse(t, "--config", path, "--profile", "2", "--slowms", "7", "--slowOpSampleRate", "0.5")
	if s.Profile != 2 || s.SlowMS != 7 || s.SlowSample != 0.5 {
		t.Errorf("%+v", s)
	}
	if _, err := tryParse(t, "--config", writeConfig(t, "operationProfiling: {mode: some}")); err == nil || !strings.Contains(err.Error(), "some") {
		t.Errorf("an invalid mode: %v", err)
	}
}

func TestHideSecrets(t *testing.T) {
	for given, want := range map[string]string{
		"duskdb --port 1": "duskdb --port 1",
		"duskdb --tlsCertificateKeyFilePassword pw --port 1":    "duskdb --tlsCertificateKeyFilePassword <password> --port 1",
		"duskdb --tlsCertificateKeyFilePassword=pw --port 1":    "duskdb --tlsCertificateKeyFilePassword=<password> --port 1",
		"duskdb --tlsClusterPassword pw --sslPEMKeyPassword=pw": "duskdb --tlsClusterPassword <password> --sslPEMKeyPassword=<password>",
		"duskdb --port 1 --tlsCertificateKeyFilePassword":       "duskdb --port 1 --tlsCertificateKeyFilePassword",
	} {
		if got := strings.Join(hideSecrets(strings.Fields(given)), " "); got != want {
			t.Errorf("%s becomes %s, want %s", given, got, want)
		}
	}
}
