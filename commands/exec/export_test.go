package exec

// What tests of the package need besides.
const MaxSummary = maxSummary

var Summarize = summarize
