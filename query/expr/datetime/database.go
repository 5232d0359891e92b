package datetime

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"io"
	"os"
	"strings"
	"sync"
	"time"
)

// packedZones is the zone database of the Go distribution for systems without one, compressed:
// a fifth of what package time/tzdata adds to a program. Each file is its name, a zero byte,
// its length in three bytes, and its content. TestZones makes it.
//
//go:embed zones.gz
var packedZones []byte

// zoneFiles are the files of the database by name.
var zoneFiles = sync.OnceValue(func() map[string][]byte {
	r, err := gzip.NewReader(bytes.NewReader(packedZones))
	if err != nil {
		return nil
	}
	data, err := io.ReadAll(r)
	if err != nil {
		return nil
	}
	files := map[string][]byte{}
	for {
		name, rest, ok := bytes.Cut(data, []byte{0})
		if !ok {
			return files
		}
		size := int(rest[0]) | int(rest[1])<<8 | int(rest[2])<<16
		files[string(name)], data = rest[3:3+size], rest[3+size:]
	}
})

// loadLocation loads a zone from the system's database or, where that has none, from our own.
func loadLocation(name string) (*time.Location, error) {
	place, err := time.LoadLocation(name)
	if err == nil {
		return place, nil
	}
	file, ok := zoneFiles()[name]
	if !ok {
		return nil, err
	}
	return time.LoadLocationFromTZData(name, file)
}

// init sets the local time, which the log has, where the system has no database: without it
// package time takes UTC, whatever TZ says.
func init() {
	if place := ownLocal(os.Getenv("TZ")); place != nil {
		time.Local = place
	}
}

// ownLocal is the zone that TZ names, nil if the system knows it or nobody does.
func ownLocal(tz string) *time.Location {
	name := strings.TrimPrefix(tz, ":")
	if !plausible(name) {
		return nil
	}
	if _, err := time.LoadLocation(name); err == nil {
		return nil
	}
	place, _ := loadLocation(name)
	return place
}
