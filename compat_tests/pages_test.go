package compat

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/duskdb/duskdb/internal/needs"
)

// browsers are the names that Chromium goes by.
var browsers = []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"}

// browser finds a Chromium.
func browser(t *testing.T) string {
	t.Helper()
	if program := os.Getenv("DUSKDB_COMPAT_BROWSER"); program != "" {
		return program
	}
	for _, name := range browsers {
		if program, err := exec.LookPath(name); err == nil {
			return program
		}
	}
	needs.Missing(t, "chromium")
	return ""
}

// TestMongoExpress leafs through a database on mongo-express' pages and
// changes it there. Set DUSKDB_COMPAT_PICTURES to a directory to see the
// pages.
func TestMongoExpress(t *testing.T) {
	t.Parallel()
	needs.Client(t, "node", "npm")
	program := browser(t)
	s := start(t)
	client{
		args: []string{"node", folder(t, "pages", "express.js")},
		env: []string{
			"URI=" + s.URI, "BROWSER=" + program, "PROFILE=" + t.TempDir(), "HOME=" + t.TempDir(),
			"PICTURES=" + os.Getenv("DUSKDB_COMPAT_PICTURES"),
			"NODE_PATH=" + filepath.Join(pageClients.path(t), "node_modules"),
		},
	}.reports(t)
}
