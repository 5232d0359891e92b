package datetime

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "make zones.gz from the zone database of the Go distribution")

// TestZones tests the database that is part of the program.
func TestZones(t *testing.T) {
	if *update {
		packZones(t)
		return
	}
	files := zoneFiles()
	if len(files) < 590 {
		t.Errorf("%d zones", len(files))
	}
	for name, file := range files {
		if !plausible(name) {
			t.Errorf("%q cannot be asked for", name)
		}
		if _, err := time.LoadLocationFromTZData(name, file); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	berlin, err := time.LoadLocationFromTZData("Europe/Berlin", files["Europe/Berlin"])
	if err != nil {
		t.Fatal(err)
	}
	for at, want := range map[int64]int64{1580000000: 3600, 1590000000: 7200} {
		if offset := (Zone{place: berlin}).Offset(at * 1000); offset != want {
			t.Errorf("Berlin is %d seconds from UTC at %d, want %d", offset, at, want)
		}
	}
}

// TestOwnZones: a name that the system does not know is found in the program.
func TestOwnZones(t *testing.T) {
	zoneFiles()["Nowhere/Land"] = zoneFiles()["Asia/Tokyo"]
	defer delete(zoneFiles(), "Nowhere/Land")
	place, err := loadLocation("Nowhere/Land")
	if err != nil {
		t.Fatal(err)
	}
	if offset := (Zone{place: place}).Offset(0); offset != 9*3600 {
		t.Errorf("%d seconds from UTC", offset)
	}
	if _, err := loadLocation("Nowhere/Else"); err == nil {
		t.Error("an unknown zone was found")
	}
	for tz, want := range map[string]string{":Nowhere/Land": "Nowhere/Land", "Nowhere/Else": "", "": "", "/etc/passwd": ""} {
		if place := ownLocal(tz); (place == nil) != (want == "") || place != nil && place.String() != want {
			t.Errorf("the local time with TZ=%s is %v", tz, place)
		}
	}
}

// packZones makes zones.gz.
func packZones(t *testing.T) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	archive, err := zip.OpenReader(filepath.Join(strings.TrimSpace(string(root)), "lib", "time", "zoneinfo.zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	var packed bytes.Buffer
	w, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	for _, f := range archive.File {
		if strings.HasSuffix(f.Name, "/") {
			continue
		}
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		n := len(data)
		for _, part := range [][]byte{[]byte(f.Name), {0, byte(n), byte(n >> 8), byte(n >> 16)}, data} {
			if _, err := w.Write(part); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("zones.gz", packed.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}
