// Package collation orders strings by the rules of a language, as MongoDB's
// collation option asks for.
//
//	c, err := collation.Parse(value.MustJSON(`{"locale": "fr", "strength": 2}`))
//	c.Compare("cote", "CÔTE")
//
// A [Collation] works on sort keys: two strings compare as their keys do, so
// sorting, matching and indexes cannot disagree. The weights come from
// golang.org/x/text/collate; the levels are put together here, because that
// package leaves out caseFirst, caseLevel, alternate, the identical level and
// the reordering of scripts. What its tables have not, or have otherwise than
// ICU 57, stands in locale.go and cyrillic.go; a locale for which there is no
// table at all is refused.
//
// The package is for the rest of DuskDB: it may change with any version.
package collation
