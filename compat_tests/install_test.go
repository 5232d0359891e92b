package compat

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/duskdb/duskdb/internal/needs"
)

// installed is one set of clients, installed at most once per run.
type installed struct {
	name  string
	files []string // what pins the versions; copied, and hashed for the name
	steps func(dir string) [][]string
	once  sync.Once
	dir   string
	err   error
}

// path installs the clients if the cache lacks them.
func (i *installed) path(t *testing.T) string {
	t.Helper()
	cache := needs.Cache(t)
	i.once.Do(func() { i.dir, i.err = i.install(cache) })
	if i.err != nil {
		t.Fatalf("cannot install the %s clients: %v", i.name, i.err)
	}
	return i.dir
}

// install works in a directory of its own and renames it when it is whole,
// so that the cache never holds half an installation.
func (i *installed) install(cache string) (string, error) {
	sum := sha256.New()
	for _, f := range i.files {
		b, err := os.ReadFile(filepath.Join(i.name, f))
		if err != nil {
			return "", err
		}
		sum.Write(b)
	}
	final := filepath.Join(cache, i.name+"-"+hex.EncodeToString(sum.Sum(nil)[:6]))
	if _, err := os.Stat(final); err == nil {
		return final, nil
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return "", err
	}
	work, err := os.MkdirTemp(cache, i.name+"-part-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(work)
	if err := i.fill(work); err != nil {
		return "", err
	}
	if err := os.Rename(work, final); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	return final, nil
}

func (i *installed) fill(work string) error {
	for _, f := range i.files {
		b, err := os.ReadFile(filepath.Join(i.name, f))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(work, f), b, 0o644); err != nil {
			return err
		}
	}
	for _, step := range i.steps(work) {
		cmd := exec.Command(step[0], step[1:]...)
		cmd.Dir = work
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%v: %w\n%s", step, err, out)
		}
	}
	return nil
}

var nodeClients = installed{
	name: "node", files: []string{"package.json", "package-lock.json"},
	steps: func(string) [][]string {
		return [][]string{{"npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier"}}
	},
}

var pythonClients = installed{
	name: "python", files: []string{"requirements.txt"},
	steps: func(dir string) [][]string {
		python := filepath.Join(dir, "venv", "bin", "python")
		return [][]string{
			{"python3", "-m", "venv", "venv"},
			{python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", "requirements.txt"},
		}
	},
}

var javaClients = installed{
	name: "java", files: []string{"pom.xml"},
	steps: func(string) [][]string {
		return [][]string{{"mvn", "-q", "-B", "dependency:copy-dependencies", "-DoutputDirectory=lib"}}
	},
}

var pageClients = installed{name: "pages", files: nodeClients.files, steps: nodeClients.steps}
