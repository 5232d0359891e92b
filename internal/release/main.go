// Command release makes what people install: an archive with a static binary for each
// platform, packages for npm, Python, Debian and Homebrew, an image for containers, the notices of
// the libraries that are linked in, a list of them in CycloneDX's form, and checksums.
//
//	go run ./internal/release                        everything, into dist/
//	go run ./internal/release -platforms own         for this machine only
//	go run ./internal/release -check                 make it twice, from different directories, and compare
//	go run ./internal/release -notices ./duskdb      only print the notices of this binary
//
// It needs Go and, for the version, git. The same source and the same version of Go make
// the same bytes, on any machine: nothing depends on the time, on directories or on the
// user. It publishes nothing.
//
// # Contents
//
// Archives, wheels, npm and Debian packages and the formula for Homebrew are written entry
// by entry with the date of the commit; the binaries are built without names of directories,
// revision or user settings. Which modules are linked comes from "go list" and must agree
// with what the binary says of itself; their licence texts come from the module cache, and a
// licence that is not in the list of licence.go stops the release. packages/install_test.go
// installs the files by the lines of docs/install.md and runs a test with each.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/duskdb/duskdb/clock"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(os.Stderr, "release:", err)
		}
		os.Exit(1)
	}
}

// release is what is made, and of what.
type release struct {
	root      string // directory of the source tree
	out       string
	version   version
	date      time.Time // date of every file in every archive
	platforms []platform
	docs      docs
	url       string   // where the files are downloaded from; "": the release on GitHub
	made      []string // names of the files in out
}

func run(args []string) error {
	var out, versionText, platformText, url string
	var noticesOf string
	var check bool
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	flags.StringVar(&out, "out", "dist", "directory to write to; what earlier runs left there is removed")
	flags.StringVar(&versionText, "version", "", "version, such as 1.2.0; default: of the tag, or of the commit")
	flags.StringVar(&platformText, "platforms", "all", "platforms, comma separated, such as linux/amd64; all; or own: of this machine")
	flags.StringVar(&url, "url", "", "where the formula for Homebrew downloads the archives from; default: the release on GitHub")
	flags.BoolVar(&check, "check", false, "make everything a second time from a copy of the source tree, and compare")
	flags.StringVar(&noticesOf, "notices", "", "make nothing, but print the notices of the libraries in this binary")
	if err := flags.Parse(args); err != nil {
		return err
	}
	root, err := sourceTree()
	if err != nil {
		return err
	}
	r := &release{root: root, url: strings.TrimSuffix(url, "/")}
	if noticesOf != "" {
		p, err := r.inspect(noticesOf)
		if err != nil {
			return err
		}
		_, err = os.Stdout.Write(p.notices)
		return err
	}
	if r.out, err = filepath.Abs(out); err != nil {
		return err
	}
	if r.platforms, err = parsePlatforms(platformText); err != nil {
		return err
	}
	if r.version, r.date, err = findVersion(root, versionText); err != nil {
		return err
	}
	fmt.Printf("DuskDB %s, files dated %s; a platform that was never compiled before takes a minute or two\n", r.version, r.date.Format(time.RFC3339))
	if err := r.make(); err != nil {
		return err
	}
	if v, _, err := findVersion(root, versionText); err != nil || v != r.version {
		_ = os.Remove(filepath.Join(r.out, sumsName)) // what is there is no release
		return errors.Join(fmt.Errorf("the source tree was changed meanwhile, from %s to %s: run it once more", r.version, v), err)
	}
	if err := r.report(); err != nil || !check {
		return err
	}
	return r.makeAgain()
}

// sourceTree is the directory of the module, which is the working directory or above it.
func sourceTree() (string, error) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		return "", fmt.Errorf("run this in a clone of DuskDB: go list: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}

// make makes all files.
func (r *release) make() error {
	if err := clear(r.out); err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "duskdb-release-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(work) }()
	// The binary of this machine writes the manual page and the completions.
	own := platform{runtime.GOOS, runtime.GOARCH}
	built := map[platform]*product{}
	all := r.platforms
	if !slices.Contains(all, own) {
		all = append([]platform{own}, all...)
	}
	for i, p := range all {
		fmt.Printf("building %d of %d, for %s", i+1, len(all), p)
		began := clock.System().Now()
		if built[p], err = r.build(p, filepath.Join(work, p.String()+p.exe())); err != nil {
			return err
		}
		fmt.Printf(": %v\n", clock.System().Now().Sub(began).Round(time.Second))
		if p == own {
			if r.docs, err = r.describe(built[p].path); err != nil {
				return err
			}
		}
	}
	fmt.Println("packing")
	for _, p := range r.platforms {
		if err := r.pack(built[p]); err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
	}
	if err := r.image(built); err != nil {
		return err
	}
	if err := r.npmMain(); err != nil {
		return err
	}
	if err := r.formula(); err != nil {
		return err
	}
	return r.writeSums()
}

// pack makes the files of one platform.
func (r *release) pack(p *product) error {
	for _, step := range []func(*product) error{r.archive, r.bill, r.npmBinary, r.wheel, r.deb} {
		if err := step(p); err != nil {
			return err
		}
	}
	return nil
}

// clear removes what earlier runs left in the directory. It refuses a directory that has
// other files.
func clear(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.IsDir() || e.Name() != sumsName && !strings.HasPrefix(e.Name(), "duskdb") {
			return fmt.Errorf("%s has %s, which is no file of a release: name another directory with -out", dir, e.Name())
		}
	}
	for _, e := range entries {
		if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// write writes a file of the release.
func (r *release) write(name string, content []byte) error {
	r.made = append(r.made, name)
	return os.WriteFile(filepath.Join(r.out, name), content, 0o644) //nolint:gosec // for everybody
}

// report prints what was made.
func (r *release) report() error {
	fmt.Println("made in", r.out)
	for _, name := range r.made {
		info, err := os.Stat(filepath.Join(r.out, name))
		if err != nil {
			return err
		}
		fmt.Printf("  %6.1f MB  %s\n", float64(info.Size())/1e6, name)
	}
	return nil
}
