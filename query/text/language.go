package text

import (
	"strings"

	"github.com/kljensen/snowball"
	"github.com/kljensen/snowball/english"
	"github.com/kljensen/snowball/french"
	"github.com/kljensen/snowball/hungarian"
	"github.com/kljensen/snowball/norwegian"
	"github.com/kljensen/snowball/russian"
	"github.com/kljensen/snowball/spanish"
	"github.com/kljensen/snowball/swedish"

	"github.com/duskdb/duskdb/mongoerr"
)

// Language knows the stop words and the stems of one language.
type Language struct {
	Name     string
	stopWord func(string) bool
}

// languages are found by name and by ISO 639 code.
var languages = func() map[string]*Language {
	m := map[string]*Language{}
	for names, stop := range map[string]func(string) bool{
		"none":         func(string) bool { return false },
		"english en":   isEnglishStopWord,
		"french fr":    french.IsStopWord,
		"hungarian hu": hungarian.IsStopWord,
		"norwegian nb": norwegian.IsStopWord,
		"russian ru":   russian.IsStopWord,
		"spanish es":   spanish.IsStopWord,
		"swedish sv":   swedish.IsStopWord,
	} {
		name, code, _ := strings.Cut(names, " ")
		l := &Language{name, stop}
		m[name], m[code] = l, l
	}
	delete(m, "")
	return m
}()

// LookupLanguage finds a language by its name or code, in any case.
func LookupLanguage(name string) (*Language, error) {
	if l, ok := languages[strings.ToLower(name)]; ok {
		return l, nil
	}
	return nil, mongoerr.Newf(mongoerr.BadValue, `unsupported language: "%s" for text index version 3`, name)
}

// contractions are stop words that keep their apostrophe.
var contractions = strings.Fields(`cannot could ought would i'm you're he's she's it's we're they're i've you've
	we've they've i'd you'd he'd she'd we'd they'd i'll you'll he'll she'll we'll they'll isn't aren't wasn't weren't
	hasn't haven't hadn't doesn't don't didn't won't wouldn't shan't shouldn't can't couldn't mustn't let's that's
	who's what's here's there's when's where's why's how's`)

var contractionSet = func() map[string]bool {
	m := map[string]bool{}
	for _, w := range contractions {
		m[w] = true
	}
	return m
}()

func isEnglishStopWord(w string) bool { return english.IsStopWord(w) || contractionSet[w] }

// stem reduces a word in lower case to its stem.
func (l *Language) stem(word string) string {
	if l.Name == "none" {
		return word
	}
	stemmed, err := snowball.Stem(word, l.Name, true)
	if err != nil || stemmed == "" {
		return word
	}
	return stemmed
}

// stemCased is stem for a word whose case is to be kept.
func (l *Language) stemCased(word, lower string) string {
	stemmed := l.stem(lower)
	if len(word) != len(lower) {
		return stemmed
	}
	same := 0
	for same < len(stemmed) && same < len(lower) && stemmed[same] == lower[same] {
		same++
	}
	return word[:same] + stemmed[same:]
}
