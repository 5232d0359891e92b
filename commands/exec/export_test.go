package exec

// MostSummarized is for the tests outside of the package.
const MostSummarized = mostSummarized

var Summarize = summarize
