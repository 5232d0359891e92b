package storage

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// NewerFormatError reports data in a format that this version does not know. Nothing was
// changed, and nothing but a newer version helps: the data are not damaged.
type NewerFormatError struct {
	Where   string // a file, a schema or a stream
	Format  int64
	Newest  int64  // the newest format that this version reads
	Version string // version of the DuskDB that wrote the data; "" if they do not say
}

// Error says who wrote the data and what is needed.
func (e *NewerFormatError) Error() string {
	wrote, use := "a newer version of DuskDB", "that version or a later one"
	if e.Version != "" {
		wrote, use = "DuskDB "+e.Version, "DuskDB "+e.Version+" or later"
	}
	return fmt.Sprintf("%s has format %d, and this version of DuskDB reads formats up to %d: %s wrote it. It is not damaged: use %s, or a backup that this version made. Nothing was changed",
		e.Where, e.Format, e.Newest, wrote, use)
}

// VersionName is the file of a data directory or backup with the version of DuskDB that
// wrote to it last.
const VersionName = "duskdb.version"

// longestVersion bounds what is read from the file.
const longestVersion = 64

// NoteVersion writes the file, unless it says the same already. No data depend on it.
func NoteVersion(dir, version string, mode os.FileMode) error {
	if version == "" || WrittenBy(dir) == version {
		return nil
	}
	if mode == 0 {
		mode = 0o600
	}
	path := filepath.Join(dir, VersionName)
	temp := path + ".new"
	if err := os.WriteFile(temp, []byte(version+"\n"), mode); err != nil {
		return err
	}
	return os.Rename(temp, path)
}

// WrittenBy returns the version in the file, "" if it cannot be read.
func WrittenBy(dir string) string {
	b, err := os.ReadFile(filepath.Join(dir, VersionName))
	version := strings.TrimSpace(string(b))
	if err != nil || len(version) > longestVersion || strings.ContainsFunc(version, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return ""
	}
	return version
}
