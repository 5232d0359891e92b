package console

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"net/http"
	"path"
	"strings"
)

//go:embed web
var web embed.FS

// file is a file of the console, compressed once.
type file struct {
	plain, packed []byte
	kind, tag     string
}

// kinds are the media types of the files.
var kinds = map[string]string{
	".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml",
}

// loadFiles reads and compresses the files.
func loadFiles() map[string]*file {
	files := map[string]*file{}
	_ = fs.WalkDir(web, "web", func(name string, d fs.DirEntry, err error) error { // embedded: cannot fail
		if err != nil || d.IsDir() {
			return err
		}
		plain, err := web.ReadFile(name)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(plain)
		f := &file{plain: plain, kind: kinds[path.Ext(name)], tag: `"` + hex.EncodeToString(sum[:12]) + `"`}
		var packed bytes.Buffer
		z, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression)
		_, _ = z.Write(plain)
		_ = z.Close()
		f.packed = packed.Bytes()
		files[strings.TrimPrefix(name, "web")] = f
		return nil
	})
	files["/"] = files["/index.html"]
	return files
}

// static serves a file of the console.
func (c *Console) static(w http.ResponseWriter, r *http.Request) {
	f := c.files[r.URL.Path]
	if f == nil {
		refuse(w, http.StatusNotFound, "there is no such page")
		return
	}
	h := w.Header()
	h.Set("ETag", f.tag)
	h.Set("Cache-Control", "no-cache")
	h.Set("Vary", "Accept-Encoding")
	if r.Header.Get("If-None-Match") == f.tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Type", f.kind)
	body := f.plain
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		body = f.packed
	}
	_, _ = w.Write(body) // the client may have disconnected
}
