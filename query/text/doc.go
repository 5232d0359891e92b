// Package text is full-text search: it cuts strings into terms, weighs the
// terms of a document for a text index, parses $text queries and judges
// documents by them.
//
//	ix, err := text.NewIndex(weights, "english", "language")
//	terms, err := ix.Terms(doc)           // the index keys: term and score
//	q, err := text.ParseQuery(spec, "english")
//	score, ok := ix.MatchText(q, doc)
//
// Terms and scores are those of MongoDB's text index version 3: words without
// case and diacritics, without stop words, reduced to their stem by the
// stemmers of the Snowball project, in each of the languages that MongoDB
// knows. Others are refused.
//
// The package is for the rest of DuskDB: it may change with any version.
package text
