package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// sumsName is the file with the checksums, in the form that sha256sum --check reads.
const sumsName = "SHA256SUMS"

func (r *release) writeSums() error {
	slices.Sort(r.made)
	var b strings.Builder
	for _, name := range r.made {
		content, err := os.ReadFile(filepath.Join(r.out, name))
		if err != nil {
			return err
		}
		sum := sha256.Sum256(content)
		fmt.Fprintf(&b, "%s  %s\n", hex.EncodeToString(sum[:]), name)
	}
	return r.write(sumsName, []byte(b.String()))
}

// makeAgain makes the release once more, from a copy of the source tree in another
// directory, and compares the results.
func (r *release) makeAgain() error {
	work, err := os.MkdirTemp("", "duskdb-again-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(work) }()
	again := *r
	again.root, again.out, again.made = filepath.Join(work, "another", "tree"), filepath.Join(work, "dist"), nil
	if err := r.copySource(again.root); err != nil {
		return err
	}
	fmt.Println("again, in", again.root)
	if err := again.make(); err != nil {
		return err
	}
	first, err := os.ReadFile(filepath.Join(r.out, sumsName))
	if err != nil {
		return err
	}
	second, err := os.ReadFile(filepath.Join(again.out, sumsName))
	if err != nil {
		return err
	}
	if !bytes.Equal(first, second) {
		return fmt.Errorf("the second run made other bytes:\n%s\ninstead of\n%s", second, first)
	}
	fmt.Println("reproducible: a second run in another directory made the same bytes")
	return nil
}

// copySource copies the files of the source tree that git knows or would add.
func (r *release) copySource(to string) error {
	names, err := git(r.root, "ls-files", "--cached", "--others", "--exclude-standard", "-z")
	if err != nil {
		return err
	}
	for name := range strings.SplitSeq(strings.Trim(names, "\x00"), "\x00") {
		content, err := os.ReadFile(filepath.Join(r.root, name))
		if errors.Is(err, fs.ErrNotExist) { // deleted, but not yet in a commit
			continue
		}
		if err != nil {
			return err
		}
		path := filepath.Join(to, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, content, 0o600); err != nil {
			return err
		}
	}
	return nil
}
