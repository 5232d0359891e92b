package mongoerr

// Labels tell a driver what it may do about an error without knowing its
// code.
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
)

// Operation says what failed, as far as labels depend on it.
type Operation struct {
	InTransaction  bool // runs in a multi-document transaction
	CommitOrAbort  bool // is commitTransaction or abortTransaction
	RetryableWrite bool // carries txnNumber outside a transaction
	ChangeStream   bool // opens a change stream or reads from one
	WriteConcern   Code // code of the writeConcernError, 0 if none
}

// LabelsFor returns the labels that a reply with the code carries.
func LabelsFor(code Code, op Operation) []string {
	var labels []string
	if op.InTransaction && transient(code, op) {
		labels = append(labels, LabelTransientTransaction)
	}
	if (op.RetryableWrite || op.InTransaction && op.CommitOrAbort) && len(labels) == 0 &&
		(code.In(CategoryRetriableError) || op.WriteConcern.In(CategoryRetriableError)) {
		labels = append(labels, LabelRetryableWrite)
	}
	if op.ChangeStream && resumable(code) {
		labels = append(labels, LabelResumableChangeStream)
	}
	return labels
}

// transient: conflicts and lost snapshots always allow a new attempt. A
// statement before the commit also may be repeated after a fail-over; of a
// commit that is not known to have failed it is not.
func transient(code Code, op Operation) bool {
	switch code {
	case WriteConflict, LockTimeout, PreparedTransactionInProgress,
		ShardCannotRefreshDueToLocksHeld, StaleDbVersion:
		return true
	case NoSuchTransaction:
		return !op.CommitOrAbort || op.WriteConcern == OK
	}
	if code.In(CategorySnapshotError | CategoryNeedRetargettingError) {
		return true
	}
	return !op.CommitOrAbort && code.In(CategoryNotPrimaryError|CategoryShutdownError)
}

// resumable: errors of transport and routing, after which a stream goes on
// at its last token.
func resumable(code Code) bool {
	if code.In(CategoryNonResumableChangeStreamError) {
		return false
	}
	switch code {
	case RetryChangeStream, FailedToSatisfyReadPreference, ResumeTenantChangeStream:
		return true
	}
	return code.In(CategoryRetriableError | CategoryNetworkError | CategoryNeedRetargettingError)
}
