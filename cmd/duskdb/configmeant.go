package main

import (
	"maps"
	"slices"
	"strings"

	"github.com/duskdb/duskdb/internal/editdistance"
)

// meantKey says which key of the configuration file was probably meant by one that is unknown:
// one that is spelt almost so, or has the same name in another section or on the command line.
// It is "" if none is like it.
func meantKey(key string) string {
	if isSection(key) {
		return ", which is a section and has keys of its own"
	}
	names := map[string]bool{}
	for known, o := range fileOptions {
		if known != o.key {
			continue // a former name
		}
		for at := range known {
			if known[at] == '.' {
				names[known[:at]] = true
			}
		}
		names[known] = true
	}
	return meant(key, slices.Sorted(maps.Keys(names)), func(known string) bool {
		o, word := fileOptions[known], lastWord(key)
		return strings.EqualFold(known, key) || o != nil && (strings.EqualFold(lastWord(known), word) || strings.EqualFold(o.flag, word))
	})
}

// lastWord is the part of a key behind its sections.
func lastWord(key string) string { return key[strings.LastIndexByte(key, '.')+1:] }

// meantFlag is the same for the names of a file in the old form.
func meantFlag(name string) string {
	return meant(name, slices.Sorted(maps.Keys(flagOptions)), func(known string) bool { return strings.EqualFold(known, name) })
}

// meant finds the known name that another is most like. Names that are the same in a sense come
// first.
func meant(name string, known []string, same func(string) bool) string {
	best := editdistance.Nearest(name, known, same)
	if best == "" {
		return ""
	}
	return ", did you mean " + best + "?"
}
