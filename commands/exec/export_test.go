package exec

// MaxSummary is for the tests outside of the package.
const MaxSummary = maxSummary

var Summarize = summarize
