package storage

// Report is the result of checking data that no server uses.
type Report struct {
	Engine      string
	Commits     uint64 // 0 if the engine does not number them
	Bytes       int64  // size of the files that were read; of a log, up to its last complete commit
	TornBytes   int64  // size of an incomplete commit at the end of a log; harmless
	Unclosed    bool   // the data were not closed properly: they were in use, or a part is missing
	Collections []CollectionReport
	Problems    []string
	Kept        []string // files with what earlier starts have cut off, because it was damaged
}

// CollectionReport is the part of a Report for one collection.
type CollectionReport struct {
	Namespace Namespace
	Records   int64
	Bytes     int64 // size of the documents
	Indexes   int64
	Entries   int64 // in all indexes
}

// Sound reports whether nothing is wrong.
func (r *Report) Sound() bool { return len(r.Problems) == 0 }
