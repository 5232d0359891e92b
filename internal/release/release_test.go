package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/duskdb/duskdb/internal/needs"
)

const binaryText = "the binary"

// packed makes all files of the given platforms, of a binary that was not built.
func packed(t *testing.T, list ...platform) *release {
	t.Helper()
	root, err := sourceTree()
	if err != nil {
		t.Fatal(err)
	}
	r := &release{
		root: root, out: t.TempDir(), version: "1.2.0-rc.1", date: time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC), platforms: list,
		docs: docs{[]byte(".TH DUSKDB 1\n"), []byte("bash"), []byte("zsh"), []byte("fish")},
	}
	built := map[platform]*product{}
	for _, p := range list {
		b := &product{platform: p, binary: []byte(binaryText), notices: []byte("notices"), linked: []library{
			{name: "example.com/a+b", version: "v1.0.0+incompatible", licences: []string{"MIT"}, uses: []string{golang}},
			{name: module, licences: []string{"Apache-2.0"}, uses: []string{"example.com/a+b", golang}},
			{name: golang, version: "1.26.0", licences: []string{"BSD-3-Clause"}},
		}}
		built[p] = b
		if err := r.pack(b); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.image(built); err != nil {
		t.Fatal(err)
	}
	if err := r.npmMain(); err != nil {
		t.Fatal(err)
	}
	if err := r.formula(); err != nil {
		t.Fatal(err)
	}
	if err := r.writeSums(); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *release) read(t *testing.T, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(r.out, name))
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// entries are the files of a tar.gz: their contents by name, with the mode in front.
func entries(t *testing.T, content []byte) map[string]string {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		files[h.Name] = fmt.Sprintf("%o %s", h.Mode, text)
		if h.Uid != 0 || h.Gid != 0 || h.ModTime.Year() != 2026 {
			t.Errorf("%s belongs to %d:%d and is of %v", h.Name, h.Uid, h.Gid, h.ModTime)
		}
	}
}

// zipEntries is the same for a zip.
func zipEntries(t *testing.T, content []byte) map[string]string {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		files[f.Name] = fmt.Sprintf("%o %s", f.Mode().Perm(), text)
	}
	return files
}

func TestNamesOfTheFiles(t *testing.T) {
	r := packed(t, platforms...)
	want := []string{"duskdb-memory-server-1.2.0-rc.1.tgz", "duskdb_1.2.0~rc.1_amd64.deb", "duskdb_1.2.0~rc.1_arm64.deb", "duskdb-1.2.0-rc.1-image.tar", formulaName, sumsName}
	for _, name := range []string{"darwin-amd64", "darwin-arm64", "linux-amd64", "linux-arm64"} {
		want = append(want, "duskdb-1.2.0-rc.1-"+name+".tar.gz", "duskdb-1.2.0-rc.1-"+name+".cdx.json")
	}
	for _, name := range []string{"windows-amd64", "windows-arm64"} {
		want = append(want, "duskdb-1.2.0-rc.1-"+name+".zip", "duskdb-1.2.0-rc.1-"+name+".cdx.json")
	}
	for _, name := range []string{"darwin-x64", "darwin-arm64", "linux-x64", "linux-arm64", "win32-x64", "win32-arm64"} {
		want = append(want, "duskdb-"+name+"-1.2.0-rc.1.tgz")
	}
	for _, tag := range []string{"macosx_12_0_x86_64", "macosx_12_0_arm64", "win_amd64", "win_arm64",
		"manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64", "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64"} {
		want = append(want, "duskdb-1.2.0rc1-py3-none-"+tag+".whl")
	}
	slices.Sort(want)
	var got []string
	list, err := os.ReadDir(r.out)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		got = append(got, e.Name())
	}
	if !slices.Equal(got, want) {
		t.Errorf("made\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	sums := string(r.read(t, sumsName))
	for _, name := range want {
		sum := sha256.Sum256(r.read(t, name))
		if name != sumsName && !strings.Contains(sums, hex.EncodeToString(sum[:])+"  "+name+"\n") {
			t.Errorf("%s has a wrong checksum, or none", name)
		}
	}
}

func TestSameBytes(t *testing.T) {
	first, second := packed(t, platforms...), packed(t, platforms...)
	if !bytes.Equal(first.read(t, sumsName), second.read(t, sumsName)) {
		t.Error("two runs made different files")
	}
}

func TestArchives(t *testing.T) {
	r := packed(t, platform{"linux", "amd64"}, platform{"windows", "amd64"})
	for name, program := range map[string]string{"linux-amd64.tar.gz": "duskdb", "windows-amd64.zip": "duskdb.exe"} {
		name = "duskdb-1.2.0-rc.1-" + name
		content := r.read(t, name)
		dir, read := strings.TrimSuffix(strings.TrimSuffix(name, ".zip"), ".tar.gz"), entries
		if strings.HasSuffix(name, ".zip") {
			read = zipEntries
		}
		files := read(t, content)
		if files[dir+"/"+program] != "755 "+binaryText || files[dir+"/THIRD_PARTY_NOTICES.txt"] != "644 notices" ||
			!strings.Contains(files[dir+"/LICENSE"], "Apache License") || files[dir+"/duskdb.1"] == "" || files[dir+"/completions/_duskdb"] != "644 zsh" || !strings.HasPrefix(files[dir+"/backup.sh"], "755 #!/bin/sh") {
			t.Errorf("%s: %.300q", name, files)
		}
		for _, file := range []string{"duskdb.service", "duskdb.sysusers"} {
			if linux := program == "duskdb"; (files[dir+"/"+file] != "") != linux {
				t.Errorf("%s has %s: %v, want %v", name, file, !linux, linux)
			}
		}
	}
}

func TestNpmPackages(t *testing.T) {
	r := packed(t, platform{"windows", "amd64"})
	type description struct {
		Name, Version        string
		OS, CPU              []string
		OptionalDependencies map[string]string
		Private              bool
		Scripts              map[string]string
	}
	read := func(name string) (d description, files map[string]string) {
		files = entries(t, r.read(t, name))
		text, _ := strings.CutPrefix(files["package/package.json"], "644 ")
		if err := json.Unmarshal([]byte(text), &d); err != nil {
			t.Fatal(err)
		}
		return d, files
	}
	binary, files := read("duskdb-win32-x64-1.2.0-rc.1.tgz")
	if binary.Name != "@duskdb/win32-x64" || binary.Version != "1.2.0-rc.1" || !slices.Equal(binary.OS, []string{"win32"}) || !slices.Equal(binary.CPU, []string{"x64"}) ||
		files["package/bin/duskdb.exe"] != "755 "+binaryText || files["package/THIRD_PARTY_NOTICES.txt"] == "" {
		t.Errorf("%+v", binary)
	}
	main, files := read("duskdb-memory-server-1.2.0-rc.1.tgz")
	if main.Private || main.Scripts != nil || len(main.OptionalDependencies) != len(platforms) || main.OptionalDependencies["@duskdb/win32-x64"] != "1.2.0-rc.1" {
		t.Errorf("%+v", main)
	}
	// Every file of the package that another one requires is in it.
	for name, text := range files {
		for _, m := range regexp.MustCompile(`require\('\./([^']+)'\)`).FindAllStringSubmatch(text, -1) {
			if files["package/"+m[1]] == "" {
				t.Errorf("%s requires %s, which is not in the package", name, m[1])
			}
		}
	}
}

func TestWheel(t *testing.T) {
	r := packed(t, platform{"linux", "arm64"})
	files := zipEntries(t, r.read(t, "duskdb-1.2.0rc1-py3-none-manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64.whl"))
	const info = "duskdb-1.2.0rc1.dist-info/"
	if files["duskdb-1.2.0rc1.data/scripts/duskdb"] != "755 "+binaryText || files["duskdb/__init__.py"] == "" || files["duskdb/py.typed"] != "644 " {
		t.Errorf("%.300q", files)
	}
	for name, want := range map[string]string{
		"METADATA":         "Name: duskdb\nVersion: 1.2.0rc1\n",
		"WHEEL":            "Tag: py3-none-manylinux2014_aarch64\nTag: py3-none-musllinux_1_1_aarch64\n",
		"entry_points.txt": "[pytest11]\nduskdb = duskdb.pytest_plugin\n",
		"RECORD":           info + "RECORD,,\n",
	} {
		if !strings.Contains(files[info+name], want) {
			t.Errorf("%s has no %q:\n%s", name, want, files[info+name])
		}
	}
	for name, text := range files {
		sum := sha256.Sum256([]byte(text[4:]))
		line := fmt.Sprintf("%s,sha256=%s,%d\n", name, base64.RawURLEncoding.EncodeToString(sum[:]), len(text)-4)
		if name != info+"RECORD" && !strings.Contains(files[info+"RECORD"], line) {
			t.Errorf("RECORD has no line %q", line)
		}
	}
}

func TestDeb(t *testing.T) {
	needs.Program(t, "dpkg-deb")
	r := packed(t, platform{"linux", "amd64"})
	deb := func(args ...string) string {
		t.Helper()
		out, err := exec.Command("dpkg-deb", args...).CombinedOutput()
		if err != nil {
			t.Fatalf("dpkg-deb %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	path := filepath.Join(r.out, "duskdb_1.2.0~rc.1_amd64.deb")
	if got := deb("--show", "--showformat=${Package} ${Version} ${Architecture} ${Depends}", path); got != "duskdb 1.2.0~rc.1 amd64 passwd" {
		t.Error(got)
	}
	list := deb("--contents", path)
	for _, want := range []string{
		`-rwxr-xr-x root/root +10 2026-01-01 12:00 \./usr/bin/duskdb\n`, `drwxr-xr-x root/root .* \./etc/\n`, `\./etc/duskdb\.conf\n`,
		`\./usr/lib/systemd/system/duskdb\.service\n`, `\./usr/share/man/man1/duskdb\.1\.gz\n`, `\./usr/share/doc/duskdb/copyright\n`,
	} {
		if !regexp.MustCompile(want).MatchString(list) {
			t.Errorf("no %s in\n%s", want, list)
		}
	}
	to := t.TempDir()
	deb("--raw-extract", path, to)
	for _, script := range []string{"postinst", "prerm", "postrm"} {
		if out, err := exec.Command("sh", "-n", filepath.Join(to, "DEBIAN", script)).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", script, err, out)
		}
	}
	check := exec.Command("md5sum", "--check", "--quiet", "DEBIAN/md5sums")
	check.Dir = to
	if out, err := check.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// What the schema of CycloneDX 1.6 requires, and the formats and references that it
// describes.
func TestBillOfMaterials(t *testing.T) {
	r := packed(t, platform{"linux", "amd64"})
	var b bom
	d := json.NewDecoder(bytes.NewReader(r.read(t, "duskdb-1.2.0-rc.1-linux-amd64.cdx.json")))
	d.DisallowUnknownFields()
	if err := d.Decode(&b); err != nil {
		t.Fatal(err)
	}
	if b.Format != "CycloneDX" || b.SpecVersion != "1.6" || b.Version < 1 {
		t.Errorf("%+v", b)
	}
	if !regexp.MustCompile(`^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`).MatchString(b.SerialNumber) {
		t.Error(b.SerialNumber)
	}
	if _, err := time.Parse(time.RFC3339, b.Metadata.Timestamp); err != nil {
		t.Error(err)
	}
	refs := map[string]bool{}
	for _, c := range append(b.Components, b.Metadata.Component) {
		if (c.Type != "library" && c.Type != "application") || c.Name == "" || c.Version == "" || c.Ref == "" || refs[c.Ref] || len(c.Licences) == 0 {
			t.Errorf("%+v", c)
		}
		refs[c.Ref] = true
		for _, h := range c.Hashes {
			if h.Algorithm != "SHA-256" || !regexp.MustCompile(`^[0-9a-f]{64}$`).MatchString(h.Content) {
				t.Errorf("%+v", h)
			}
		}
	}
	for _, d := range b.Dependencies {
		for _, ref := range append(d.DependsOn, d.Ref) {
			if !refs[ref] {
				t.Errorf("%s is no component", ref)
			}
		}
	}
	if b.Metadata.Component.Purl != "pkg:golang/github.com/duskdb/duskdb@v1.2.0-rc.1" || b.Components[0].Purl != "pkg:golang/example.com/a%2Bb@v1.0.0%2Bincompatible" {
		t.Errorf("%s, %s", b.Metadata.Component.Purl, b.Components[0].Purl)
	}
}

func TestParsePlatforms(t *testing.T) {
	for text, want := range map[string]int{"all": 6, "own": 1, "linux/amd64, windows/arm64": 2, "linux/amd64,linux/amd64": 1, "linux": 0, "plan9/386": 0} {
		if list, err := parsePlatforms(text); len(list) != want || (err == nil) != (want > 0) {
			t.Errorf("%s: %v, %v", text, list, err)
		}
	}
}

func TestClearRefusesOtherFiles(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "duskdb-1.0.0.tgz", "")
	put(t, dir, sumsName, "")
	if err := clear(dir); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(dir); len(left) > 0 || err != nil {
		t.Error(left, err)
	}
	put(t, dir, "thesis.txt", "")
	if err := clear(dir); err == nil || !strings.Contains(err.Error(), "thesis.txt") {
		t.Error(err)
	}
}
