package text

import (
	"strings"
	"unicode"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/danish"
	"github.com/blevesearch/snowballstem/dutch"
	"github.com/blevesearch/snowballstem/english"
	"github.com/blevesearch/snowballstem/finnish"
	"github.com/blevesearch/snowballstem/french"
	"github.com/blevesearch/snowballstem/german"
	"github.com/blevesearch/snowballstem/hungarian"
	"github.com/blevesearch/snowballstem/italian"
	"github.com/blevesearch/snowballstem/norwegian"
	"github.com/blevesearch/snowballstem/portuguese"
	"github.com/blevesearch/snowballstem/romanian"
	"github.com/blevesearch/snowballstem/russian"
	"github.com/blevesearch/snowballstem/spanish"
	"github.com/blevesearch/snowballstem/swedish"
	"github.com/blevesearch/snowballstem/turkish"

	"github.com/duskdb/duskdb/internal/mongoerr"
)

// Language has the stop words and the stemmer of one language.
type Language struct {
	Name string
	// Code is the language's ISO 639-1 code, "" for none.
	Code     string
	stemmer  func(*snowballstem.Env) bool // nil: words are their own stems
	stopWord func(string) bool
}

// Languages are all languages of text index version 3, please keep sorted.
var Languages = []*Language{
	{Name: "danish", Code: "da", stemmer: danish.Stem},
	{Name: "dutch", Code: "nl", stemmer: dutch.Stem},
	{Name: "english", Code: "en", stemmer: english.Stem},
	{Name: "finnish", Code: "fi", stemmer: finnish.Stem},
	{Name: "french", Code: "fr", stemmer: french.Stem},
	{Name: "german", Code: "de", stemmer: german.Stem},
	{Name: "hungarian", Code: "hu", stemmer: hungarian.Stem},
	{Name: "italian", Code: "it", stemmer: italian.Stem},
	{Name: "none"},
	{Name: "norwegian", Code: "nb", stemmer: norwegian.Stem},
	{Name: "portuguese", Code: "pt", stemmer: portuguese.Stem},
	{Name: "romanian", Code: "ro", stemmer: romanian.Stem},
	{Name: "russian", Code: "ru", stemmer: russian.Stem},
	{Name: "spanish", Code: "es", stemmer: spanish.Stem},
	{Name: "swedish", Code: "sv", stemmer: swedish.Stem},
	{Name: "turkish", Code: "tr", stemmer: turkish.Stem},
}

// languages are found by name and by code.
var languages = func() map[string]*Language {
	m := map[string]*Language{}
	for _, l := range Languages {
		l.stopWord = stopWordsOf(l.Name)
		m[l.Name] = l
		if l.Code != "" {
			m[l.Code] = l
		}
	}
	return m
}()

// LookupLanguage finds a language by its name or code, in any case.
func LookupLanguage(name string) (*Language, error) {
	if l, ok := languages[strings.ToLower(name)]; ok {
		return l, nil
	}
	return nil, mongoerr.Newf(mongoerr.BadValue, `unsupported language: "%s" for text index version 3`, name)
}

// stem reduces a word to its stem. Stemmers expect lower case: of other words
// they change only the lower-case parts.
func (l *Language) stem(env *snowballstem.Env, word string) string {
	if l.stemmer == nil {
		return word
	}
	env.SetCurrent(word)
	l.stemmer(env)
	return env.Current()
}

// lower folds the case of a string. In Turkish the dot of an i is part of the
// letter, with which I and İ are the capitals of ı and i.
func (l *Language) lower(s string) string {
	if l.Name == "turkish" {
		return strings.ToLowerSpecial(unicode.TurkishCase, s)
	}
	return strings.ToLower(s)
}
