package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/internal/needs"
)

// readTar returns the files of a tar, and its headers.
func readTar(t *testing.T, content []byte) (files map[string][]byte, headers map[string]*tar.Header) {
	t.Helper()
	files, headers = map[string][]byte{}, map[string]*tar.Header{}
	for r := tar.NewReader(bytes.NewReader(content)); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files, headers
		}
		if err != nil {
			t.Fatal(err)
		}
		if files[h.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
		headers[h.Name] = h
	}
}

// layout is an image whose blobs have been compared with their digests.
type layout map[string][]byte

func (l layout) decode(t *testing.T, d descriptor, into any) {
	t.Helper()
	content := l["blobs/sha256/"+strings.TrimPrefix(d.Digest, "sha256:")]
	sum := sha256.Sum256(content)
	if len(content) != d.Size || d.Digest != "sha256:"+hex.EncodeToString(sum[:]) {
		t.Fatalf("%+v names another blob", d)
	}
	if into == nil {
		return
	}
	if err := json.Unmarshal(content, into); err != nil {
		t.Fatal(err)
	}
}

type index struct{ Manifests []descriptor }

// The image has a manifest for each processor, with what the Dockerfile's image has.
func TestImage(t *testing.T) {
	r := packed(t, platforms...)
	files, _ := readTar(t, r.read(t, r.imageName()))
	l := layout(files)
	var top, all index
	if err := json.Unmarshal(l["index.json"], &top); err != nil || len(top.Manifests) != 1 {
		t.Fatal(err, top)
	}
	if name := top.Manifests[0].Annotations["io.containerd.image.name"]; name != "duskdb:1.2.0-rc.1" {
		t.Error(name)
	}
	l.decode(t, top.Manifests[0], &all)
	var processors []string
	for _, d := range all.Manifests {
		processors = append(processors, d.Platform["architecture"])
		var manifest struct {
			Config descriptor
			Layers []descriptor
		}
		l.decode(t, d, &manifest)
		checkLayer(t, l, manifest.Config, manifest.Layers[0])
	}
	if !slices.Equal(processors, []string{"amd64", "arm64"}) {
		t.Error(processors)
	}
}

// checkLayer looks at the files of a layer and at the settings beside it.
func checkLayer(t *testing.T, l layout, configured, packedLayer descriptor) {
	t.Helper()
	var config struct {
		Config imageConfig
		RootFS struct {
			Digests []string `json:"diff_ids"`
		}
	}
	l.decode(t, configured, &config)
	l.decode(t, packedLayer, nil)
	z, err := gzip.NewReader(bytes.NewReader(l["blobs/sha256/"+strings.TrimPrefix(packedLayer.Digest, "sha256:")]))
	if err != nil {
		t.Fatal(err)
	}
	layer, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(layer)
	if want := "sha256:" + hex.EncodeToString(sum[:]); config.RootFS.Digests[0] != want {
		t.Errorf("the layer has the digest %s, not %v", want, config.RootFS.Digests)
	}
	files, headers := readTar(t, layer)
	names := slices.Sorted(maps.Keys(files))
	if !slices.Equal(names, []string{"LICENSE", "THIRD_PARTY_NOTICES.txt", "data/", "duskdb", "tmp/"}) || string(files["duskdb"]) != binaryText {
		t.Errorf("the image has %v", names)
	}
	if h := headers["data/"]; h.Uid != 65532 || h.Mode != 0o755 || headers["duskdb"].Uid != 0 || headers["duskdb"].Mode != 0o755 {
		t.Errorf("%+v, %+v", h, headers["duskdb"])
	}
	c := config.Config
	if c.User != "65532:65532" || c.StopSignal != "SIGTERM" || len(c.ExposedPorts) != 1 || len(c.Volumes) != 1 || c.Entrypoint[0] != "/duskdb" ||
		!slices.Equal(c.Healthcheck.Test, []string{"CMD", "/duskdb", "ping"}) || c.Healthcheck.StartPeriod != 30e9 ||
		c.Labels["org.opencontainers.image.version"] != "1.2.0-rc.1" {
		t.Errorf("%+v", c)
	}
}

func TestUnknownInstruction(t *testing.T) {
	for dockerfile, want := range map[string]string{
		"\nFROM scratch\nWORKDIR /data\n":                               "WORKDIR",
		"\nFROM scratch\nHEALTHCHECK --interval=5s CMD [\"/duskdb\"]\n": "HEALTHCHECK",
		"\nFROM scratch\nENTRYPOINT /duskdb\n":                          "invalid",
	} {
		if _, err := parseImageConfig(dockerfile, "1.2.0"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", dockerfile, err)
		}
	}
}

// skopeo, which copies the image to a registry, understands it.
func TestImageIsCopied(t *testing.T) {
	needs.Program(t, "skopeo")
	r := packed(t, platforms...)
	cmd := exec.Command("skopeo", "--insecure-policy", "copy", "--all", "oci-archive:"+filepath.Join(r.out, r.imageName()), "dir:"+t.TempDir())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
