// Package collation implements MongoDB's collation option: it orders strings
// by the rules of a language.
//
//	c, err := collation.Parse(value.MustJSON(`{"locale": "fr", "strength": 2}`))
//	c.Compare("cote", "CÔTE")
//
// A [Collation] works on sort keys: two strings compare as their keys do, so
// sorting, matching and indexes cannot disagree. The weights come from
// golang.org/x/text/collate; the levels are put together here, because that
// package leaves out caseFirst, caseLevel, alternate, the identical level and
// the reordering of scripts. Differences between its tables and ICU 57 are
// corrected in locale.go and cyrillic.go; a locale without a table is refused.
//
// The package is for the rest of DuskDB: it may change with any version.
package collation
