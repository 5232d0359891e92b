package main

import (
	"bytes"
	"debug/buildinfo"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// module is DuskDB's path.
const module = "github.com/duskdb/duskdb"

// product is the binary of one platform and what is linked into it.
type product struct {
	platform
	path    string
	binary  []byte
	linked  []library
	notices []byte
}

// goCommand prepares a run of the go command for a platform. What the user has set for Go
// must not change the result.
func (r *release) goCommand(p platform, args ...string) *exec.Cmd {
	cmd := exec.Command("go", args...)
	cmd.Dir = r.root
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=", "GOEXPERIMENT=", "CGO_ENABLED=0",
		"GOOS="+p.system, "GOARCH="+p.processor, "GOAMD64=v1", "GOARM64=v8.0")
	return cmd
}

// build makes the binary of a platform: static, stripped, and without the names of
// directories.
func (r *release) build(p platform, path string) (*product, error) {
	cmd := r.goCommand(p, "build", "-trimpath", "-buildvcs=false",
		"-ldflags=-s -w -X main.released="+string(r.version), "-o", path, "./cmd/duskdb")
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("building for %s: %w\n%s", p, err, out)
	}
	return r.inspect(path)
}

// inspect reads a binary: what platform it is for, and what is linked into it.
func (r *release) inspect(path string) (*product, error) {
	b := &product{path: path}
	var err error
	if b.binary, err = os.ReadFile(path); err != nil {
		return nil, err
	}
	info, err := buildinfo.Read(bytes.NewReader(b.binary))
	if err != nil {
		return nil, err
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "GOOS":
			b.system = s.Value
		case "GOARCH":
			b.processor = s.Value
		}
	}
	if b.linked, err = r.libraries(b.platform, info); err != nil {
		return nil, err
	}
	b.notices = notices(b.linked)
	return b, nil
}

// docs is what the binary writes about itself.
type docs struct{ manual, bash, zsh, fish []byte }

// describe has the binary of this machine write its documentation.
func (r *release) describe(binary string) (d docs, err error) {
	for _, part := range []struct {
		into *[]byte
		args string
	}{
		{&d.manual, "man"}, {&d.bash, "completion bash"}, {&d.zsh, "completion zsh"}, {&d.fish, "completion fish"},
	} {
		cmd := exec.Command(binary, strings.Fields(part.args)...)
		cmd.Env = []string{"LC_ALL=C"}
		if *part.into, err = cmd.Output(); err != nil {
			return d, fmt.Errorf("duskdb %s: %w", part.args, err)
		}
	}
	return d, nil
}

// source reads a file of the source tree.
func (r *release) source(elements ...string) ([]byte, error) {
	return os.ReadFile(filepath.Join(append([]string{r.root}, elements...)...))
}
