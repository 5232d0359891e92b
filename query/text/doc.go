// Package text implements full-text search: it splits strings into terms,
// computes the scores of a document's terms for a text index, parses $text
// queries and matches documents against them.
//
//	ix, err := text.NewIndex(weights, "english", "language")
//	terms, err := ix.Terms(doc)           // the index keys: term and score
//	q, err := text.ParseQuery(spec, "english", nil)
//	score, ok := ix.MatchText(q, doc)
//
// Terms and scores are those of MongoDB's text index version 3: words without
// case and diacritics, without stop words, reduced to their stem by the
// stemmers of the Snowball project, in each of the languages that MongoDB
// knows. Others are refused.
//
// The package is for the rest of DuskDB: it may change with any version.
package text
