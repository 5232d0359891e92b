package compat

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/duskdb/duskdb/internal/needs"
)

// TestConsole uses every page of the web console in Chromium: what expires by the slider,
// queues, expirations as they happen, and axe's rules of accessibility in both colours and
// at three widths. Set DUSKDB_COMPAT_PICTURES to a directory to see the pages.
func TestConsole(t *testing.T) {
	t.Parallel()
	needs.Client(t, "node", "npm")
	program := browser(t)
	s := start(t, "--test-clock")
	client{
		args: []string{"node", folder(t, "pages", "console.js")},
		env: []string{
			"CONSOLE=" + s.Console, "BROWSER=" + program, "PROFILE=" + t.TempDir(), "HOME=" + t.TempDir(),
			"PICTURES=" + os.Getenv("DUSKDB_COMPAT_PICTURES"),
			"NODE_PATH=" + filepath.Join(pageClients.path(t), "node_modules"),
		},
	}.reports(t)
}
