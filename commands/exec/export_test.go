package exec

// What tests of the package need besides.
const MostSummarized = mostSummarized

var Summarize = summarize
