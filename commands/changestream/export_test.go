package changestream

// Names for the external tests.
var (
	Describe    = describe
	DocumentKey = documentKey
	TokenText   = tokenText
	WholeText   = wholeText
)

// HistoryLost is the message of a stream that cannot be resumed.
const HistoryLost = historyLost
