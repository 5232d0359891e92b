package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// pythonDir is the package for Python in the source tree.
const pythonDir = "packages/python"

// wheel makes the wheel of a platform: the package and, as a script, the binary. Its form is
// that of the binary distribution format of the Python packaging user guide.
func (r *release) wheel(p *product) error {
	v, err := r.version.python()
	if err != nil {
		return err
	}
	project, err := r.pyproject()
	if err != nil {
		return err
	}
	files, err := r.pythonSources()
	if err != nil {
		return err
	}
	licence, err := r.source("LICENSE")
	if err != nil {
		return err
	}
	readme, err := r.source(pythonDir, "README.md")
	if err != nil {
		return err
	}
	info, tag := "duskdb-"+v+".dist-info", p.wheelTag()
	files = append(files,
		program("duskdb-"+v+".data/scripts/duskdb"+p.exe(), p.binary),
		plain(info+"/licenses/LICENSE", licence),
		plain(info+"/licenses/THIRD_PARTY_NOTICES.txt", p.notices),
		plain(info+"/METADATA", project.metadata(v, readme)),
		plain(info+"/WHEEL", wheelDescription(tag)),
		plain(info+"/entry_points.txt", project.entryPoints()),
	)
	files = append(files, plain(info+"/RECORD", record(files, info)))
	content, err := zipped(files, r.date)
	if err != nil {
		return err
	}
	return r.write("duskdb-"+v+"-py3-none-"+tag+".whl", content)
}

// pythonSources are the files of the package.
func (r *release) pythonSources() (files []file, err error) {
	root := filepath.Join(r.root, pythonDir)
	err = filepath.WalkDir(filepath.Join(root, "duskdb"), func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if d.Name() == "__pycache__" {
				return fs.SkipDir
			}
			return nil
		}
		content, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		within, err := filepath.Rel(root, name)
		files = append(files, plain(filepath.ToSlash(within), content))
		return err
	})
	return files, err
}

func wheelDescription(tag string) []byte {
	var b bytes.Buffer
	b.WriteString("Wheel-Version: 1.0\nGenerator: duskdb/internal/release\nRoot-Is-Purelib: false\n")
	interpreter, platforms, _ := strings.Cut("py3-none|"+tag, "|")
	for one := range strings.SplitSeq(platforms, ".") {
		fmt.Fprintf(&b, "Tag: %s-%s\n", interpreter, one)
	}
	return b.Bytes()
}

// record lists the files with their checksums, itself without one.
func record(files []file, info string) []byte {
	var b bytes.Buffer
	for _, f := range files {
		sum := sha256.Sum256(f.content)
		fmt.Fprintf(&b, "%s,sha256=%s,%d\n", f.name, base64.RawURLEncoding.EncodeToString(sum[:]), len(f.content))
	}
	b.WriteString(path.Join(info, "RECORD") + ",,\n")
	return b.Bytes()
}

// pyproject is what pyproject.toml says: keys with a text or a list of texts, by table.
type pyproject map[string]map[string][]string

var (
	tomlTable = regexp.MustCompile(`^\[([^\]]+)\]$`)
	tomlKey   = regexp.MustCompile(`^"?([\w-]+)"? = (.+)$`)
	tomlText  = regexp.MustCompile(`"([^"]*)"`)
)

// pyproject reads the part of TOML that the file is written in: one line for a key.
func (r *release) pyproject() (pyproject, error) {
	text, err := r.source(pythonDir, "pyproject.toml")
	if err != nil {
		return nil, err
	}
	p, table := pyproject{}, ""
	for line := range strings.SplitSeq(string(text), "\n") {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		if m := tomlTable.FindStringSubmatch(line); m != nil {
			table = m[1]
			p[table] = map[string][]string{}
			continue
		}
		m := tomlKey.FindStringSubmatch(line)
		if m == nil || table == "" {
			return nil, fmt.Errorf("pyproject.toml: cannot read the line %q", line)
		}
		for _, value := range tomlText.FindAllStringSubmatch(m[2], -1) {
			p[table][m[1]] = append(p[table][m[1]], value[1])
		}
	}
	for _, key := range []string{"name", "description", "requires-python", "dependencies", "license"} {
		if len(p["project"][key]) == 0 {
			return nil, fmt.Errorf("pyproject.toml has no project.%s", key)
		}
	}
	return p, nil
}

// metadata is the file METADATA, in version 2.4.
func (p pyproject) metadata(version string, readme []byte) []byte {
	var b bytes.Buffer
	project := p["project"]
	fmt.Fprintf(&b, "Metadata-Version: 2.4\nName: %s\nVersion: %s\nSummary: %s\n", project["name"][0], version, project["description"][0])
	fmt.Fprintf(&b, "License-Expression: %s\nLicense-File: LICENSE\nLicense-File: THIRD_PARTY_NOTICES.txt\n", project["license"][0])
	fmt.Fprintf(&b, "Requires-Python: %s\n", project["requires-python"][0])
	for _, keyword := range project["classifiers"] {
		fmt.Fprintf(&b, "Classifier: %s\n", keyword)
	}
	for _, needed := range project["dependencies"] {
		fmt.Fprintf(&b, "Requires-Dist: %s\n", needed)
	}
	fmt.Fprintf(&b, "Description-Content-Type: text/markdown\n\n%s", readme)
	return b.Bytes()
}

// entryPoints is the file that tells pytest of the plugin.
func (p pyproject) entryPoints() []byte {
	var b bytes.Buffer
	const group = "pytest11"
	fmt.Fprintf(&b, "[%s]\n", group)
	targets := p["project.entry-points."+group]
	for _, name := range slices.Sorted(maps.Keys(targets)) {
		fmt.Fprintf(&b, "%s = %s\n", name, targets[name][0])
	}
	return b.Bytes()
}
