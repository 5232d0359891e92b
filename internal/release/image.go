package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// The media types of the image specification of the Open Container Initiative.
const (
	ociIndex    = "application/vnd.oci.image.index.v1+json"
	ociManifest = "application/vnd.oci.image.manifest.v1+json"
	ociConfig   = "application/vnd.oci.image.config.v1+json"
	ociLayer    = "application/vnd.oci.image.layer.v1.tar+gzip"
)

// descriptor names a blob of an image, as the specification has it.
type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int               `json:"size"`
	Platform    map[string]string `json:"platform,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// imageConfig is what a container engine runs, as the specification has it. Healthcheck is an
// addition of Docker's.
type imageConfig struct {
	User, StopSignal      string
	Entrypoint            []string
	ExposedPorts, Volumes map[string]struct{}
	Healthcheck           healthcheck
	Labels                map[string]string
}

// healthcheck has its times in nanoseconds.
type healthcheck struct {
	Test                           []string
	Interval, Timeout, StartPeriod int64
	Retries                        int
}

// blobs are the files of an image, by their digests.
type blobs struct{ files []file }

func (b *blobs) add(mediaType string, content []byte) descriptor {
	sum := sha256.Sum256(content)
	digest := hex.EncodeToString(sum[:])
	b.files = append(b.files, plain("blobs/sha256/"+digest, content))
	return descriptor{MediaType: mediaType, Digest: "sha256:" + digest, Size: len(content)}
}

func (b *blobs) addJSON(mediaType string, v any) (descriptor, error) {
	content, err := marshal(v)
	return b.add(mediaType, content), err
}

// image makes the image for containers: an archive in the layout of the Open Container
// Initiative, with a manifest for each processor that there is a binary for Linux for. It has
// the files and the settings of the Dockerfile's last stage.
func (r *release) image(built map[platform]*product) error {
	dockerfile, err := r.source("Dockerfile")
	if err != nil {
		return err
	}
	settings, err := parseImageConfig(string(dockerfile), r.version)
	if err != nil {
		return fmt.Errorf("the Dockerfile: %w", err)
	}
	var b blobs
	var manifests []descriptor
	for _, p := range r.platforms {
		if p.system != "linux" {
			continue
		}
		d, err := r.imageManifest(&b, built[p], settings)
		if err != nil {
			return fmt.Errorf("image for %s: %w", p, err)
		}
		manifests = append(manifests, d)
	}
	if manifests == nil {
		return nil
	}
	index := func(list ...descriptor) map[string]any {
		return map[string]any{"schemaVersion": 2, "mediaType": ociIndex, "manifests": list}
	}
	all, err := b.addJSON(ociIndex, index(manifests...))
	if err != nil {
		return err
	}
	all.Annotations = map[string]string{
		"org.opencontainers.image.ref.name": string(r.version),
		"io.containerd.image.name":          "duskdb:" + string(r.version), // what docker load calls it
	}
	top, err := marshal(index(all))
	if err != nil {
		return err
	}
	files := append([]file{plain("oci-layout", []byte(`{"imageLayoutVersion":"1.0.0"}`)), plain("index.json", top)}, b.files...)
	content, err := taped(files, r.date)
	if err != nil {
		return err
	}
	return r.write(r.imageName(), content)
}

func (r *release) imageName() string { return "duskdb-" + string(r.version) + "-image.tar" }

// imageManifest adds the layer, the configuration and the manifest of a platform.
func (r *release) imageManifest(b *blobs, p *product, settings imageConfig) (descriptor, error) {
	files, err := r.imageFiles(p, settings)
	if err != nil {
		return descriptor{}, err
	}
	layer, err := taped(files, r.date)
	if err != nil {
		return descriptor{}, err
	}
	sum := sha256.Sum256(layer)
	config, err := b.addJSON(ociConfig, map[string]any{
		"created": r.date, "os": p.system, "architecture": p.processor, "config": settings,
		"rootfs":  map[string]any{"type": "layers", "diff_ids": []string{"sha256:" + hex.EncodeToString(sum[:])}},
		"history": []any{map[string]any{"created": r.date, "comment": "duskdb " + string(r.version)}},
	})
	if err != nil {
		return descriptor{}, err
	}
	packed, err := gzipped(layer)
	if err != nil {
		return descriptor{}, err
	}
	d, err := b.addJSON(ociManifest, map[string]any{
		"schemaVersion": 2, "mediaType": ociManifest, "config": config, "layers": []descriptor{b.add(ociLayer, packed)},
	})
	d.Platform = map[string]string{"os": p.system, "architecture": p.processor}
	return d, err
}

// imageFiles are the files of the image. The image's user owns the directories that the server
// writes to.
func (r *release) imageFiles(p *product, settings imageConfig) ([]file, error) {
	licence, err := r.source("LICENSE")
	if err != nil {
		return nil, err
	}
	owner, err := strconv.Atoi(strings.Split(settings.User, ":")[0])
	if err != nil {
		return nil, fmt.Errorf("USER: %w", err)
	}
	files := []file{program("duskdb", p.binary), plain("THIRD_PARTY_NOTICES.txt", p.notices), plain("LICENSE", licence)}
	for _, dir := range []string{"data/", "tmp/"} {
		files = append(files, file{name: dir, mode: 0o755, owner: owner})
	}
	return files, nil
}

// instruction finds an instruction of a Dockerfile and what it says.
var instruction = regexp.MustCompile(`(?m)^([A-Z]+)\s+(.*)$`)

// parseImageConfig reads the settings from the last stage of a Dockerfile. What it does not know
// is an error, so that the two images cannot differ.
func parseImageConfig(dockerfile string, v version) (imageConfig, error) {
	c := imageConfig{ExposedPorts: map[string]struct{}{}, Volumes: map[string]struct{}{}, Labels: map[string]string{}}
	last := dockerfile[strings.LastIndex(dockerfile, "\nFROM "):]
	for _, m := range instruction.FindAllStringSubmatch(strings.ReplaceAll(last, "\\\n", " "), -1) {
		var err error
		switch name, text := m[1], strings.TrimSpace(m[2]); name {
		case "FROM", "ARG", "COPY": // imageFiles has the files
		case "USER":
			c.User = text
		case "VOLUME":
			c.Volumes[text] = struct{}{}
		case "EXPOSE":
			c.ExposedPorts[text+"/tcp"] = struct{}{}
		case "STOPSIGNAL":
			c.StopSignal = text
		case "ENTRYPOINT":
			err = json.Unmarshal([]byte(text), &c.Entrypoint)
		case "HEALTHCHECK":
			c.Healthcheck, err = parseHealthcheck(text)
		case "LABEL":
			for _, l := range regexp.MustCompile(`(\S+)="([^"]*)"`).FindAllStringSubmatch(text, -1) {
				c.Labels[l[1]] = strings.ReplaceAll(l[2], "$VERSION", string(v))
			}
		default:
			err = fmt.Errorf("the instruction %s is not known here", name)
		}
		if err != nil {
			return c, err
		}
	}
	return c, nil
}

// parseHealthcheck reads the arguments of HEALTHCHECK, all of which must be given.
func parseHealthcheck(text string) (h healthcheck, err error) {
	var interval, timeout, start int64
	options, command, _ := strings.Cut(text, "CMD ")
	options = strings.Join(strings.Fields(options), " ")
	if _, err = fmt.Sscanf(options, "--interval=%ds --timeout=%ds --start-period=%ds --retries=%d", &interval, &timeout, &start, &h.Retries); err != nil {
		return h, fmt.Errorf("HEALTHCHECK %s: %w", options, err)
	}
	const second = 1e9
	h.Interval, h.Timeout, h.StartPeriod = interval*second, timeout*second, start*second
	var args []string
	err = json.Unmarshal([]byte(command), &args)
	h.Test = append([]string{"CMD"}, args...)
	return h, err
}
