package session

import (
	"time"

	"github.com/duskdb/duskdb/commands/oplog"
	"github.com/duskdb/duskdb/queue"
	"github.com/duskdb/duskdb/storage"
)

// State is the state of a session's txnNumber.
type State uint8

const (
	TxnNone       State = iota // no number yet
	TxnRetryable               // a retryable write
	TxnInProgress              // a transaction is open
	TxnCommitted               // the transaction was committed
	TxnAborted                 // the transaction was aborted
)

// String names the state as mongod's messages do.
func (s State) String() string {
	return [...]string{"TransactionState::None", "TransactionState::ExecutedRetryableWrite", "TransactionState::InProgress", "TransactionState::Committed", "TransactionState::AbortedWithoutPrepare"}[s]
}

// Transaction is an open multi-document transaction. Only the goroutine that has the
// session's turn may use it. Fields that are set once, when it begins, may be read by
// any goroutine.
type Transaction struct {
	Queues        *queue.Changes  // its changes to queues, which the commit announces; nil: none
	Number        int64           // its txnNumber
	Now           int64           // the time of the first statement
	Started       time.Time       // real time, for the limit on its lifetime
	Level         string          // read concern
	APIParameters string          // the parameters of the stable API that all statements must have
	Tx            storage.Txn     // the engine's transaction
	Log           *oplog.Recorder // its entries for the change log, which the commit appends
	View          storage.Tx      // Tx, with all changes recorded in Log
	Cursors       bool            // whether it has opened cursors
	Failed        bool            // whether a statement failed in a way that ends it
}
