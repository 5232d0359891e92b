package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"strings"
)

// npmDir is the package for Node in the source tree.
const npmDir = "packages/npm/duskdb-memory-server"

// npmName is the package with the binary of a platform. The main package names all of
// them as optional dependencies, and npm installs the one that fits.
func npmName(p platform) string {
	system, processor := p.node()
	return "@duskdb/" + system + "-" + processor
}

// npmBinary makes the package with the binary of a platform.
func (r *release) npmBinary(p *product) error {
	system, processor := p.node()
	licence, err := r.source("LICENSE")
	if err != nil {
		return err
	}
	description, err := marshal(map[string]any{
		"name": npmName(p.platform), "version": string(r.version), "license": "Apache-2.0",
		"description": "The binary of DuskDB for " + p.String() + ", which duskdb-memory-server starts",
		"os":          []string{system}, "cpu": []string{processor}, "preferUnplugged": true,
	})
	if err != nil {
		return err
	}
	return r.writeNpm(npmName(p.platform), []file{
		plain("package.json", description),
		program("bin/duskdb"+p.exe(), p.binary),
		plain("LICENSE", licence),
		plain("THIRD_PARTY_NOTICES.txt", p.notices),
		plain("README.md", []byte("# "+npmName(p.platform)+"\n\nThe binary of DuskDB for "+p.String()+". Install `duskdb-memory-server`, which brings it.\n")),
	})
}

// npmMain makes the package that users install: that of the source tree, with the version
// and the optional dependencies.
func (r *release) npmMain() error {
	text, err := r.source(npmDir, "package.json")
	if err != nil {
		return err
	}
	var description map[string]any
	if err := json.Unmarshal(text, &description); err != nil {
		return fmt.Errorf("%s/package.json: %w", npmDir, err)
	}
	binaries := map[string]string{}
	for _, p := range platforms {
		binaries[npmName(p)] = string(r.version)
	}
	description["version"], description["optionalDependencies"] = string(r.version), binaries
	delete(description, "scripts")
	delete(description, "private")
	if text, err = marshal(description); err != nil {
		return err
	}
	files := []file{plain("package.json", text)}
	names, _ := description["files"].([]any)
	for _, name := range append(names, "README.md") {
		content, err := r.source(npmDir, fmt.Sprint(name))
		if err != nil {
			return err
		}
		files = append(files, plain(fmt.Sprint(name), content))
	}
	licence, err := r.source("LICENSE")
	if err != nil {
		return err
	}
	return r.writeNpm(path.Base(npmDir), append(files, plain("LICENSE", licence)))
}

// writeNpm writes a package under the name that npm pack would choose.
func (r *release) writeNpm(name string, files []file) error {
	content, err := tarred(below("package", files), r.date)
	if err != nil {
		return err
	}
	name = strings.ReplaceAll(strings.TrimPrefix(name, "@"), "/", "-")
	return r.write(name+"-"+string(r.version)+".tgz", content)
}

// marshal writes JSON as people do.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(v)
	return b.Bytes(), err
}
