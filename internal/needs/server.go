package needs

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Server builds the server's program at a path. Several packages need it, and linking
// takes most of the time: it is linked once for a state of the source tree and kept in
// the user's cache, and the path becomes a hard link to that file. The go command leaves
// a program alone that is up to date, and writes a new one to a new file, so older links
// stay valid.
func Server(path string) error {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/duskdb/duskdb").Output()
	if err != nil {
		return fmt.Errorf("go list: %w", err)
	}
	root := strings.TrimSpace(string(out))
	if kept, err := keptServer(root); err == nil && os.Link(kept, path) == nil {
		return nil
	}
	return build(root, path)
}

// keptServer brings the kept program of a source tree up to date and returns its path.
func keptServer(root string) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(root))
	dir := filepath.Join(cache, "duskdb-server", hex.EncodeToString(sum[:8]))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	kept := filepath.Join(dir, "duskdb.exe")
	return kept, build(root, kept)
}

func build(root, path string, flags ...string) error {
	args := append([]string{"build", "-o", path}, flags...)
	cmd := exec.Command("go", append(args, "./cmd/duskdb")...)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	return nil
}
