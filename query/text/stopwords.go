package text

import (
	"embed"
	"strings"
	"sync"
)

// stopWordFiles are the stop words by language: the lists of the Snowball project in
// MongoDB's version, with its mistakes, because they affect the results of
// searches: the Hungarian õ stands for ő, the Turkish þ and ý for ş and ı, the
// Russian words have lost their ч, п and щ, and the Romanian ones their
// diacritics.
//
//go:embed stopwords/*.txt
var stopWordFiles embed.FS

// stopWordsOf returns a function that reports whether a word in lower case is
// a stop word. The list is read at its first use.
func stopWordsOf(language string) func(string) bool {
	set := sync.OnceValue(func() map[string]bool {
		list, err := stopWordFiles.ReadFile("stopwords/" + language + ".txt")
		if err != nil {
			return nil // "none"
		}
		m := map[string]bool{}
		for word := range strings.FieldsSeq(string(list)) {
			m[word] = true
		}
		return m
	})
	return func(word string) bool { return set()[word] }
}
