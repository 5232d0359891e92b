package mongoerr

// Category groups codes that the server and the drivers treat alike. A code
// may belong to several, so Category is a set.
type Category uint32

// The categories of MongoDB 8.0.
const (
	// CategoryNetworkError: the connection failed.
	CategoryNetworkError Category = 1 << iota
	// CategoryNetworkTimeoutError: the connection did not answer in time.
	CategoryNetworkTimeoutError
	// CategoryInterruption: the operation was ended from outside.
	CategoryInterruption
	// CategoryNotPrimaryError: the node refused or lost the operation because it
	// was not primary.
	CategoryNotPrimaryError
	// CategoryStaleShardVersionError: routing by an old shard version.
	CategoryStaleShardVersionError
	// CategoryNeedRetargettingError: must be routed again.
	CategoryNeedRetargettingError
	// CategoryWriteConcernError: written, but the write concern failed.
	CategoryWriteConcernError
	// CategoryShutdownError: the server is going down.
	CategoryShutdownError
	// CategoryCancellationError: internal work was cancelled.
	CategoryCancellationError
	// CategoryConnectionFatalMessageParseError: the connection cannot be
	// used after such a message.
	CategoryConnectionFatalMessageParseError
	// CategoryExceededTimeLimitError: a time limit passed.
	CategoryExceededTimeLimitError
	// CategorySnapshotError: the snapshot cannot be read (any more).
	CategorySnapshotError
	// CategoryVoteAbortError: a participant votes to abort.
	CategoryVoteAbortError
	// CategoryTwoPhaseDecisionAckError: the decision was known already.
	CategoryTwoPhaseDecisionAckError
	// CategoryNonResumableChangeStreamError: the stream must be opened again.
	CategoryNonResumableChangeStreamError
	// CategoryRetriableError: the same operation may succeed if repeated.
	CategoryRetriableError
	// CategoryCloseConnectionError: the server closes the connection.
	CategoryCloseConnectionError
	// CategoryVersionedAPIError: against the declared API version.
	CategoryVersionedAPIError
	// CategoryValidationError: stored or received bytes are not valid.
	CategoryValidationError
	// CategoryIDLParseError: unknown, missing or repeated argument.
	CategoryIDLParseError
	// CategoryStreamProcessorUserError: a stream processor was misused.
	CategoryStreamProcessorUserError
	// CategoryStreamProcessorRetryableError: it may be started again.
	CategoryStreamProcessorRetryableError
	// CategoryInternalOnly: never sent to a client.
	CategoryInternalOnly
	// CategoryCursorInvalidatedError: the cursor no longer exists.
	CategoryCursorInvalidatedError
)
