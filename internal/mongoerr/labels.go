package mongoerr

// Labels tell a driver how it may handle an error without knowing its code.
const (
	// LabelTransientTransaction: the whole transaction may be repeated.
	LabelTransientTransaction = "TransientTransactionError"
	// LabelUnknownCommitResult: it is not known whether the commit happened;
	// the commit may be repeated.
	LabelUnknownCommitResult = "UnknownTransactionCommitResult"
	// LabelRetryableWrite: the statement may be sent once more.
	LabelRetryableWrite = "RetryableWriteError"
	// LabelNoWritesPerformed: the failed attempt wrote nothing.
	LabelNoWritesPerformed = "NoWritesPerformed"
	// LabelResumableChangeStream: the stream may be resumed by its token.
	LabelResumableChangeStream = "ResumableChangeStreamError"
	// LabelNonResumableChangeStream: the stream must be opened anew.
	LabelNonResumableChangeStream = "NonResumableChangeStreamError"
)

// Operation describes the failed operation, as far as labels depend on it.
type Operation struct {
	InTransaction  bool // runs in a multi-document transaction
	CommitOrAbort  bool // the command is commitTransaction or abortTransaction
	RetryableWrite bool // carries txnNumber outside a transaction
	NothingWritten bool // the command is known to have changed nothing
	ChangeStream   bool // opens a change stream or reads from one
	WriteConcern   Code // code of the writeConcernError, 0 if none
}

// LabelsFor returns the labels that a reply with the code carries. The code
// is OK if only the write concern failed.
func LabelsFor(code Code, op Operation) []string {
	switch {
	case op.InTransaction && transient(code, op):
		return []string{LabelTransientTransaction}
	case op.retryable(code) && op.NothingWritten:
		return []string{LabelRetryableWrite, LabelNoWritesPerformed}
	case op.retryable(code):
		return []string{LabelRetryableWrite}
	case op.ChangeStream && op.WriteConcern == OK && resumable(code):
		return []string{LabelResumableChangeStream}
	case code.In(CategoryNonResumableChangeStreamError):
		return []string{LabelNonResumableChangeStream}
	}
	return nil
}

func (op Operation) retryable(code Code) bool {
	return (op.RetryableWrite || op.InTransaction && op.CommitOrAbort) &&
		(code.In(CategoryRetriableError) || op.WriteConcern.In(CategoryRetriableError))
}

// transient: after conflicts and lost snapshots the whole transaction may be
// repeated. The same holds for other transient failures of a statement before
// the commit. After such a failure of the commit itself it is unknown whether
// the transaction was committed, so only the commit may be repeated.
func transient(code Code, op Operation) bool {
	switch code {
	case InternalTransactionNotSupported:
		return false
	case WriteConflict, LockTimeout, PreparedTransactionInProgress,
		ShardCannotRefreshDueToLocksHeld, StaleDbVersion:
		return true
	case NoSuchTransaction:
		return !op.CommitOrAbort || op.WriteConcern == OK
	}
	return code.In(CategorySnapshotError|CategoryNeedRetargettingError) ||
		!op.CommitOrAbort && code.In(CategoryRetriableError)
}

// resumable: errors of transport and routing, after which a stream can be
// resumed with its last token.
func resumable(code Code) bool {
	return code == RetryChangeStream || code == FailedToSatisfyReadPreference ||
		code.In(CategoryRetriableError|CategoryNetworkError|CategoryNeedRetargettingError)
}
