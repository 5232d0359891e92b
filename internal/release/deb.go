package main

import (
	"bytes"
	"crypto/md5" //nolint:gosec // what dpkg checks files with
	"fmt"
	"strings"
)

// deb makes the Debian package of a platform with Linux.
func (r *release) deb(p *product) error {
	if p.system != "linux" {
		return nil
	}
	data, conffiles, err := r.debFiles(p)
	if err != nil {
		return err
	}
	control, err := r.debControl(p, data, conffiles)
	if err != nil {
		return err
	}
	content, err := r.debArchive(control, data)
	if err != nil {
		return err
	}
	return r.write("duskdb_"+r.version.debian()+"_"+p.processor+".deb", content)
}

// debFiles are the files that the package installs, with those that users may change.
func (r *release) debFiles(p *product) (files []file, conffiles []string, err error) {
	const doc = "usr/share/doc/duskdb/"
	files = []file{program("usr/bin/duskdb", p.binary),
		plain("usr/share/bash-completion/completions/duskdb", r.docs.bash),
		plain("usr/share/zsh/vendor-completions/_duskdb", r.docs.zsh),
		plain("usr/share/fish/vendor_completions.d/duskdb.fish", r.docs.fish),
	}
	for _, from := range []struct{ source, to string }{
		{"packages/deb/duskdb.conf", "etc/duskdb.conf"},
		{"packages/deb/duskdb.service", "usr/lib/systemd/system/duskdb.service"},
		{"packages/deb/duskdb.sysusers", "usr/lib/sysusers.d/duskdb.conf"},
		{"packages/deb/copyright", doc + "copyright"},
		{"docs/backup.sh", doc + "examples/backup.sh"},
	} {
		content, err := r.source(from.source)
		if err != nil {
			return nil, nil, err
		}
		files = append(files, plain(from.to, content))
	}
	changelog, err := r.source("CHANGELOG.md")
	if err != nil {
		return nil, nil, err
	}
	for _, long := range []file{
		plain(doc+"THIRD_PARTY_NOTICES.txt.gz", p.notices),
		plain(doc+"changelog.gz", changelog),
		plain("usr/share/man/man1/duskdb.1.gz", r.docs.manual),
	} {
		if long.content, err = gzipped(long.content); err != nil {
			return nil, nil, err
		}
		files = append(files, long)
	}
	return files, []string{"/etc/duskdb.conf"}, nil
}

// debControl are the files that describe the package.
func (r *release) debControl(p *product, data []file, conffiles []string) ([]file, error) {
	var size int
	var sums strings.Builder
	for _, f := range data {
		size += (len(f.content) + 1023) / 1024
		fmt.Fprintf(&sums, "%x  %s\n", md5.Sum(f.content), f.name) //nolint:gosec // what dpkg checks
	}
	control := fmt.Sprintf(`Package: duskdb
Version: %s
Architecture: %s
Maintainer: The DuskDB authors <https://github.com/duskdb/duskdb/issues>
Installed-Size: %d
Depends: passwd
Recommends: systemd
Section: database
Priority: optional
Homepage: https://github.com/duskdb/duskdb
Description: MongoDB-compatible server for data that expires
 DuskDB speaks the wire protocol of MongoDB 8.0, with its query, update and
 aggregation languages, and adds every common kind of expiry: TTL indexes,
 a time to live for each document, message queues with dead letters.
`, r.version.debian(), p.processor, size)
	files := []file{
		plain("control", []byte(control)),
		plain("md5sums", []byte(sums.String())),
		plain("conffiles", []byte(strings.Join(conffiles, "\n")+"\n")),
	}
	for _, name := range []string{"postinst", "prerm", "postrm"} {
		content, err := r.source("packages", "deb", name)
		if err != nil {
			return nil, err
		}
		files = append(files, program(name, content))
	}
	return files, nil
}

// debArchive is the package: an ar archive of a version, the control files and the data.
func (r *release) debArchive(control, data []file) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString("!<arch>\n")
	add := func(name string, content []byte) {
		fmt.Fprintf(&b, "%-16s%-12d%-6d%-6d%-8s%-10d`\n", name, r.date.Unix(), 0, 0, "100644", len(content))
		b.Write(content)
		if len(content)%2 == 1 {
			b.WriteByte('\n')
		}
	}
	add("debian-binary", []byte("2.0\n"))
	for _, part := range []struct {
		name  string
		files []file
	}{{"control.tar.gz", control}, {"data.tar.gz", data}} {
		entries := []file{{name: "./", mode: 0o755}}
		for _, f := range append(directories(part.files), part.files...) {
			f.name = "./" + f.name
			entries = append(entries, f)
		}
		content, err := tarred(entries, r.date)
		if err != nil {
			return nil, err
		}
		add(part.name, content)
	}
	return b.Bytes(), nil
}
