package pgtest

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/duskdb/duskdb/internal/needs"
)

// requirements pin Patroni and what it needs, for pip.
//
//go:embed patroni.txt
var requirements []byte

// pythonOf returns a Python that the user of PostgreSQL may run: that of somebody's home
// directory may be out of reach for him.
func pythonOf() (path, version string, err error) {
	for _, name := range []string{"python3", "/usr/bin/python3"} {
		if path, err = exec.LookPath(name); err != nil {
			continue
		}
		cmd := exec.Command(path, "-c", "import sys, venv, ensurepip; print('%d.%d' % sys.version_info[:2], sys.executable)")
		cmd.Dir = "/"
		AsUser(cmd)
		out, rerr := cmd.Output()
		if fields := strings.Fields(string(out)); rerr == nil && len(fields) == 2 {
			return fields[1], fields[0], nil
		}
		err = rerr
	}
	return "", "", fmt.Errorf("no python3 with pip that the user of PostgreSQL may run: %w", err)
}

// installTime is how long pip may take.
const installTime = 5 * time.Minute

// packages returns a directory with the packages of Python that Patroni needs, which are kept
// in the cache of the tests.
func packages(tb testing.TB, python, version string) (string, error) {
	sum := sha256.Sum256(append([]byte(version), requirements...))
	final := filepath.Join(needs.Cache(tb), "patroni-"+hex.EncodeToString(sum[:6]))
	lib := filepath.Join(final, "venv", "lib", "python"+version, "site-packages")
	if _, err := os.Stat(lib); err == nil {
		return lib, nil
	}
	if err := os.MkdirAll(filepath.Dir(final), 0o755); err != nil {
		return "", err
	}
	work, err := os.MkdirTemp(filepath.Dir(final), "patroni-part-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(work) }()
	file := filepath.Join(work, "requirements.txt")
	if err := os.WriteFile(file, requirements, 0o600); err != nil {
		return "", err
	}
	ctx, end := context.WithTimeout(context.Background(), installTime)
	defer end()
	venv := filepath.Join(work, "venv")
	for _, step := range [][]string{
		{python, "-m", "venv", venv},
		{filepath.Join(venv, "bin", "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", file},
	} {
		if out, err := exec.CommandContext(ctx, step[0], step[1:]...).CombinedOutput(); err != nil {
			return "", fmt.Errorf("%v: %w\n%s", step, err, out)
		}
	}
	if err := os.Rename(work, final); err != nil {
		if _, serr := os.Stat(lib); serr != nil { // another process was not faster either
			return "", err
		}
	}
	return lib, nil
}
