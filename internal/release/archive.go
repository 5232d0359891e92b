package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"path"
	"slices"
	"strings"
	"time"
)

// file is an entry of an archive, or a directory if its name ends with a slash.
type file struct {
	name    string
	content []byte
	mode    int64 // 0644 or 0755
	owner   int   // id of a user and of a group; 0: root
}

func plain(name string, content []byte) file   { return file{name, content, 0o644, 0} }
func program(name string, content []byte) file { return file{name, content, 0o755, 0} }

// below puts the files into a directory.
func below(dir string, files []file) []file {
	out := make([]file, 0, len(files))
	for _, f := range files {
		f.name = path.Join(dir, f.name)
		out = append(out, f)
	}
	return out
}

// archive makes the archive of a platform: a zip for Windows, else a tar.gz.
func (r *release) archive(p *product) error {
	licence, err := r.source("LICENSE")
	if err != nil {
		return err
	}
	config, err := r.source("packages", "deb", "duskdb.conf")
	if err != nil {
		return err
	}
	service, err := r.service(p)
	if err != nil {
		return err
	}
	script, err := r.source("docs", "backup.sh")
	if err != nil {
		return err
	}
	files := []file{
		program("duskdb"+p.exe(), p.binary),
		program("backup.sh", script),
		plain("LICENSE", licence),
		plain("THIRD_PARTY_NOTICES.txt", p.notices),
		plain("duskdb.conf", config),
		plain("duskdb.1", r.docs.manual),
		plain("completions/duskdb.bash", r.docs.bash),
		plain("completions/_duskdb", r.docs.zsh),
		plain("completions/duskdb.fish", r.docs.fish),
	}
	files = append(files, service...)
	name := r.archiveName(p)
	if p.system == "windows" {
		content, err := zipped(below(name, files), r.date)
		if err != nil {
			return err
		}
		return r.write(name+".zip", content)
	}
	content, err := tarred(below(name, files), r.date)
	if err != nil {
		return err
	}
	return r.write(name+".tar.gz", content)
}

// service has what systemd needs, on Linux.
func (r *release) service(p *product) (files []file, err error) {
	if p.system != "linux" {
		return nil, nil
	}
	for _, name := range []string{"duskdb.service", "duskdb.sysusers"} {
		content, err := r.source("packages", "deb", name)
		if err != nil {
			return nil, err
		}
		files = append(files, plain(name, content))
	}
	return files, nil
}

// archiveName is the name of a platform's archive without its ending.
func (r *release) archiveName(p *product) string {
	return "duskdb-" + string(r.version) + "-" + p.String()
}

// tarred makes a tar.gz. The files are in the order given.
func tarred(files []file, date time.Time) ([]byte, error) {
	content, err := taped(files, date)
	if err != nil {
		return nil, err
	}
	return gzipped(content)
}

// taped makes a tar. The files are in the order given.
func taped(files []file, date time.Time) ([]byte, error) {
	var b bytes.Buffer
	t := tar.NewWriter(&b)
	for _, f := range files {
		h := &tar.Header{
			Name: f.name, Mode: f.mode, Size: int64(len(f.content)), ModTime: date, Typeflag: tar.TypeReg,
			Uid: f.owner, Gid: f.owner,
		}
		if f.owner == 0 {
			h.Uname, h.Gname = "root", "root"
		}
		if strings.HasSuffix(f.name, "/") {
			h.Typeflag = tar.TypeDir
		}
		if err := t.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := t.Write(f.content); err != nil {
			return nil, err
		}
	}
	err := t.Close()
	return b.Bytes(), err
}

// gzipped returns the content compressed by gzip, without a name or a date.
func gzipped(content []byte) ([]byte, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := z.Write(content); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// zipped makes a zip.
func zipped(files []file, date time.Time) ([]byte, error) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, f := range files {
		h := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: date}
		h.ExternalAttrs = uint32(0o100000|f.mode) << 16 // a regular file of Unix
		h.CreatorVersion = 3 << 8                       // Unix
		w, err := z.CreateHeader(h)
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(f.content); err != nil {
			return nil, err
		}
	}
	err := z.Close()
	return b.Bytes(), err
}

// directories are the entries for the directories above the files, each before what is in
// it, each with a slash at its end.
func directories(files []file) []file {
	var names []string
	for _, f := range files {
		for dir := path.Dir(f.name); dir != "." && dir != "/"; dir = path.Dir(dir) {
			if name := dir + "/"; !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	out := make([]file, 0, len(names))
	for _, name := range names {
		out = append(out, file{name: name, mode: 0o755})
	}
	return out
}
