package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"time"
)

// A bill of materials in CycloneDX's JSON, version 1.6: what is in the binary, for programs
// that look for known vulnerabilities and for licences. These are the fields that are used.
type (
	bom struct {
		Format       string       `json:"bomFormat"`
		SpecVersion  string       `json:"specVersion"`
		SerialNumber string       `json:"serialNumber"`
		Version      int          `json:"version"`
		Metadata     metadata     `json:"metadata"`
		Components   []component  `json:"components"`
		Dependencies []dependency `json:"dependencies"`
	}
	metadata struct {
		Timestamp  string     `json:"timestamp"`
		Component  component  `json:"component"`
		Properties []property `json:"properties"`
	}
	component struct {
		Type     string          `json:"type"`
		Ref      string          `json:"bom-ref"`
		Name     string          `json:"name"`
		Version  string          `json:"version"`
		Hashes   []hash          `json:"hashes,omitempty"`
		Licences []licenceChoice `json:"licenses"`
		Purl     string          `json:"purl"`
	}
	hash struct {
		Algorithm string `json:"alg"`
		Content   string `json:"content"`
	}
	licenceChoice struct {
		Licence struct {
			ID string `json:"id"`
		} `json:"license"`
	}
	property struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	}
	dependency struct {
		Ref       string   `json:"ref"`
		DependsOn []string `json:"dependsOn"`
	}
)

// bill writes the bill of materials of a platform's binary.
func (r *release) bill(p *product) error {
	sum := sha256.Sum256(p.binary)
	b := bom{
		Format: "CycloneDX", SpecVersion: "1.6", SerialNumber: "urn:uuid:" + uuid(sum), Version: 1,
		Components: []component{}, Dependencies: []dependency{},
		Metadata: metadata{
			Timestamp: r.date.Format(time.RFC3339),
			Properties: []property{
				{"duskdb:goos", p.system}, {"duskdb:goarch", p.processor},
			},
		},
	}
	refs := map[string]string{}
	for _, l := range p.linked {
		refs[l.name] = r.purl(l)
	}
	for _, l := range p.linked {
		c := component{Type: "library", Ref: refs[l.name], Name: l.name, Version: l.version, Purl: refs[l.name], Licences: []licenceChoice{}}
		for _, id := range l.licences {
			var choice licenceChoice
			choice.Licence.ID = id
			c.Licences = append(c.Licences, choice)
		}
		if l.name == module {
			c.Type, c.Version = "application", string(r.version)
			c.Hashes = []hash{{"SHA-256", hex.EncodeToString(sum[:])}}
			b.Metadata.Component = c
		} else {
			b.Components = append(b.Components, c)
		}
		d := dependency{Ref: refs[l.name], DependsOn: []string{}}
		for _, used := range l.uses {
			d.DependsOn = append(d.DependsOn, refs[used])
		}
		b.Dependencies = append(b.Dependencies, d)
	}
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false) // "&" is common in these addresses
	e.SetIndent("", "  ")
	if err := e.Encode(b); err != nil {
		return err
	}
	return r.write(r.archiveName(p)+".cdx.json", text.Bytes())
}

// purl is a library's address, see https://github.com/package-url/purl-spec.
func (r *release) purl(l library) string {
	v := l.version
	if l.name == module {
		v = "v" + string(r.version)
	}
	parts := strings.Split(l.name, "/")
	for i, part := range parts {
		parts[i] = url.PathEscape(part)
	}
	return strings.ReplaceAll("pkg:golang/"+strings.Join(parts, "/")+"@"+url.PathEscape(v), "+", "%2B")
}

// uuid makes an identifier of a checksum: of version 8, whose bits have no meaning that
// others define.
func uuid(sum [sha256.Size]byte) string {
	b := sum[:16]
	b[6], b[8] = b[6]&0x0f|0x80, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
