package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
)

// library is a module that is linked into the binary, or Go's own library.
type library struct {
	name, version string
	licences      []string // SPDX's names
	texts         []legal
	uses          []string // names of libraries
}

// legal is a file with a licence, a notice or a grant.
type legal struct{ name, text string }

// golang names Go's own library, as vulnerability databases do.
const golang = "std"

// listed is a package as go list shows it.
type listed struct {
	ImportPath, Dir string
	Standard        bool
	Imports         []string
	Module          *struct{ Path, Version, Dir string }
}

// libraries returns what is linked into the binary, sorted by name. DuskDB itself comes
// with what it uses, but without licences.
func (r *release) libraries(p platform, info *debug.BuildInfo) ([]library, error) {
	packages, err := r.packages(p)
	if err != nil {
		return nil, err
	}
	owner := map[string]string{} // of each package
	for _, pkg := range packages {
		owner[pkg.ImportPath] = ownerOf(pkg)
	}
	found := map[string]*library{}
	for _, pkg := range packages {
		name := ownerOf(pkg)
		lib := found[name]
		if lib == nil {
			lib = &library{name: name}
			found[name] = lib
		}
		for _, imported := range pkg.Imports {
			if used := owner[imported]; used != "" && used != name && !slices.Contains(lib.uses, used) {
				lib.uses = append(lib.uses, used)
			}
		}
		if name == golang || name == module {
			continue
		}
		lib.version = pkg.Module.Version
		if err := lib.readTexts(pkg.Module.Dir, pkg.Dir); err != nil {
			return nil, err
		}
	}
	if err := r.addGo(found[golang], info.GoVersion); err != nil {
		return nil, err
	}
	if err := agree(found, info); err != nil {
		return nil, err
	}
	var list []library
	for _, name := range slices.Sorted(maps.Keys(found)) {
		lib := found[name]
		if err := lib.finish(); err != nil {
			return nil, err
		}
		list = append(list, *lib)
	}
	return list, nil
}

func ownerOf(p listed) string {
	if p.Standard {
		return golang
	}
	return p.Module.Path
}

// packages lists the packages of the binary.
func (r *release) packages(p platform) ([]listed, error) {
	out, err := r.goCommand(p, "list", "-deps", "-json=ImportPath,Dir,Standard,Imports,Module", "./cmd/duskdb").Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	var list []listed
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var pkg listed
		if err := d.Decode(&pkg); errors.Is(err, io.EOF) {
			return list, nil
		} else if err != nil {
			return nil, err
		}
		list = append(list, pkg)
	}
}

// legalName fits the names of files with licences.
var legalName = regexp.MustCompile(`(?i)^(un)?(licen[cs]e|copying|copyright|notice|patents)\b[^/]*$`)

// readTexts adds the texts in the directory of a package and above it, up to that of its
// module.
func (l *library) readTexts(root, dir string) error {
	for ; ; dir = filepath.Dir(dir) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if e.IsDir() || !legalName.MatchString(e.Name()) || strings.HasSuffix(e.Name(), ".go") {
				continue
			}
			path := filepath.Join(dir, e.Name())
			name, err := filepath.Rel(root, path)
			if err != nil {
				return err
			}
			if err := l.readText(filepath.ToSlash(name), path); err != nil {
				return err
			}
		}
		if dir == root || len(dir) <= len(root) {
			return nil
		}
	}
}

func (l *library) readText(name, path string) error {
	if slices.ContainsFunc(l.texts, func(t legal) bool { return t.name == name }) {
		return nil
	}
	text, err := os.ReadFile(path)
	l.texts = append(l.texts, legal{name, strings.ReplaceAll(string(text), "\r\n", "\n")})
	return err
}

// addGo fills in what there is to say of Go's own library.
func (r *release) addGo(lib *library, goVersion string) error {
	out, err := r.goCommand(platforms[0], "env", "GOROOT").Output()
	if err != nil {
		return err
	}
	// A version may be followed by the names of experiments.
	lib.version, _, _ = strings.Cut(strings.TrimPrefix(goVersion, "go"), " ")
	for _, name := range []string{"LICENSE", "PATENTS"} {
		if err := lib.readText(name, filepath.Join(strings.TrimSpace(string(out)), name)); err != nil {
			return err
		}
	}
	return nil
}

// agree reports an error if the libraries are not those that the binary itself names.
func agree(found map[string]*library, info *debug.BuildInfo) error {
	named := []string{golang, module}
	for _, dep := range info.Deps {
		if dep.Replace != nil {
			return fmt.Errorf("%s is replaced", dep.Path)
		}
		named = append(named, dep.Path)
		if lib := found[dep.Path]; lib == nil || lib.version != dep.Version {
			return fmt.Errorf("the binary has %s %s, and go list does not", dep.Path, dep.Version)
		}
	}
	for name := range found {
		if !slices.Contains(named, name) {
			return fmt.Errorf("go list has %s, and the binary does not", name)
		}
	}
	return nil
}

// finish sorts, and finds the licences.
func (l *library) finish() error {
	slices.Sort(l.uses)
	slices.SortFunc(l.texts, func(a, b legal) int { return cmp.Compare(a.name, b.name) })
	if l.name == module {
		l.licences = []string{"Apache-2.0"}
		return nil
	}
	for _, t := range l.texts {
		if id := recognise(t.text); id != "" && !slices.Contains(l.licences, id) {
			l.licences = append(l.licences, id)
		}
	}
	slices.Sort(l.licences)
	if len(l.licences) == 0 {
		return fmt.Errorf("%s %s: no licence that is known to internal/release/licence.go among %d files", l.name, l.version, len(l.texts))
	}
	return nil
}
