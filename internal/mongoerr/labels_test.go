package mongoerr

import (
	"slices"
	"testing"
)

func TestLabelsFor(t *testing.T) {
	var (
		none    []string
		trans   = []string{LabelTransientTransaction}
		retry   = []string{LabelRetryableWrite}
		nothing = []string{LabelRetryableWrite, LabelNoWritesPerformed}
		resume  = []string{LabelResumableChangeStream}
		lost    = []string{LabelNonResumableChangeStream}

		plain     = Operation{}
		statement = Operation{InTransaction: true}
		commit    = Operation{InTransaction: true, CommitOrAbort: true}
		write     = Operation{RetryableWrite: true}
		stream    = Operation{ChangeStream: true}
	)
	tests := []struct {
		name string
		code Code
		op   Operation
		want []string
	}{
		{"conflict outside", WriteConflict, plain, none},
		{"conflict inside", WriteConflict, statement, trans},
		{"conflict at commit", WriteConflict, commit, trans},
		{"lock time-out inside", LockTimeout, statement, trans},
		{"snapshot too old", SnapshotTooOld, statement, trans},
		{"snapshot unavailable", SnapshotUnavailable, statement, trans},
		{"no such transaction", NoSuchTransaction, statement, trans},
		{"no such transaction at commit", NoSuchTransaction, commit, trans},
		{"no such transaction, commit not known to hold", NoSuchTransaction,
			Operation{InTransaction: true, CommitOrAbort: true, WriteConcern: WriteConcernTimeout}, none},
		{"time limit of the server inside", ExceededTimeLimit, statement, trans},
		{"time limit of the client inside", MaxTimeMSExpired, statement, none},
		{"internal transaction", InternalTransactionNotSupported, statement, none},
		{"duplicate key inside", DuplicateKey, statement, none},
		{"shutdown inside", InterruptedAtShutdown, statement, trans},
		{"shutdown at commit", InterruptedAtShutdown, commit, retry},
		{"not primary at commit", NotWritablePrimary, commit, retry},
		{"shutdown of a retryable write", ShutdownInProgress, write, retry},
		{"not primary of a retryable write", NotWritablePrimary, write, retry},
		{"time limit of the server", ExceededTimeLimit, write, retry},
		{"time limit of the client", MaxTimeMSExpired, write, none},
		{"bad value of a retryable write", BadValue, write, none},
		{"shutdown of a read", ShutdownInProgress, plain, none},
		{"write concern of a retryable write", OK,
			Operation{RetryableWrite: true, WriteConcern: InterruptedAtShutdown}, retry},
		{"retryable write that wrote nothing", NotWritablePrimary,
			Operation{RetryableWrite: true, NothingWritten: true}, nothing},
		{"read that wrote nothing", NotWritablePrimary, Operation{NothingWritten: true}, none},
		{"stream, shutdown", InterruptedAtShutdown, stream, resume},
		{"stream, network", HostUnreachable, stream, resume},
		{"stream, retry", RetryChangeStream, stream, resume},
		{"stream, history lost", ChangeStreamHistoryLost, stream, lost},
		{"stream, fatal", ChangeStreamFatalError, stream, lost},
		{"stream, write concern", InterruptedAtShutdown,
			Operation{ChangeStream: true, WriteConcern: WriteConcernTimeout}, none},
		{"stream's error elsewhere", ChangeStreamFatalError, plain, lost},
		{"stream, bad value", BadValue, stream, none},
	}
	for _, tt := range tests {
		if got := LabelsFor(tt.code, tt.op); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}
