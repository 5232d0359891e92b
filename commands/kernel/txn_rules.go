package kernel

import (
	"strings"

	"github.com/duskdb/duskdb/commands/oplog"
	"github.com/duskdb/duskdb/commands/session"
	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/storage"
)

// retryableCommands are the commands that may carry a txnNumber outside a
// transaction.
var retryableCommands = map[string]bool{"insert": true, "update": true, "delete": true, "findAndModify": true, "bulkWrite": true}

// EndOfTransaction are the commands that end one.
var EndOfTransaction = map[string]bool{"commitTransaction": true, "abortTransaction": true}

// CheckTransactionRules applies the rules that hold whatever state the
// session is in: which commands may run in a transaction, where, and with
// which concerns.
func (c *Call) CheckTransactionRules() error {
	g := &c.Generic
	if g.TxnNumber == nil {
		return nil
	}
	name := c.Cmd.Name
	if g.Autocommit == nil {
		if !retryableCommands[name] {
			return mongoerr.Newf(mongoerr.NotARetryableWriteCommand, "txnNumber may only be provided for multi-document transactions and retryable write commands. autocommit:false was not provided, and %s is not a retryable write command.", name)
		}
		return nil
	}
	if err := c.checkAllowedInTransaction(); err != nil {
		return err
	}
	if g.StartTxn != nil {
		switch name {
		case "killCursors":
			return oplog.NotInTransaction("Cannot run killCursors as the first operation in a multi-document transaction.")
		case "commitTransaction":
			return oplog.NotInTransaction("Cannot start a transaction with a commit")
		case "abortTransaction":
			return oplog.NotInTransaction("Cannot start a transaction with an abort")
		}
	}
	return c.checkTransactionConcerns()
}

func (c *Call) checkAllowedInTransaction() error {
	switch {
	case c.Cmd.Name == "count":
		return oplog.NotInTransaction("Cannot run 'count' in a multi-document transaction. Please see http://dochub.mongodb.org/core/transaction-count for a recommended alternative.")
	case c.Cmd.Flags&InTxn == 0:
		return oplog.NotInTransaction("Cannot run '" + c.Cmd.Name + "' in a multi-document transaction.")
	case EndOfTransaction[c.Cmd.Name]:
		return nil
	case c.Cmd.Name == "bulkWrite":
		for v := range c.Body.Lookup("nsInfo").Doc().Values() {
			db, coll, _ := strings.Cut(v.Doc().Lookup("ns").Str(), ".")
			if err := allowedInTransaction(storage.Namespace{DB: db, Coll: coll}); err != nil {
				return err
			}
		}
		return nil
	}
	_, v := c.Body.First()
	return allowedInTransaction(storage.Namespace{DB: c.DB, Coll: v.Str()})
}

// allowedInTransaction refuses the namespaces that no transaction works with.
func allowedInTransaction(ns storage.Namespace) error {
	switch {
	case ns.DB == "local":
		return oplog.NotInTransaction("Cannot run command against the 'local' database in a transaction.")
	case ns.Coll == "system.profile" || ns.Coll == "system.views":
		return oplog.NotInTransaction("Cannot run command against the '" + ns.String() + "' collection in a transaction.")
	case ns.DB == "config":
		return oplog.NotInTransaction("Cannot run command against the config database in a transaction.")
	}
	return nil
}

// checkTransactionConcerns: the read concern is said once, at the beginning,
// the write concern at the end.
func (c *Call) checkTransactionConcerns() error {
	g := &c.Generic
	if g.WriteConcern != nil && !g.WriteConcern.IsEmpty() && !EndOfTransaction[c.Cmd.Name] {
		return mongoerr.New(mongoerr.InvalidOptions, "writeConcern is not allowed within a multi-statement transaction")
	}
	if g.readConcern == nil || g.readConcern.IsEmpty() {
		return nil
	}
	if g.StartTxn == nil {
		return mongoerr.New(mongoerr.InvalidOptions, "Only the first command in a transaction may specify a readConcern")
	}
	switch g.Level {
	case "", "local", "majority", "snapshot":
		return nil
	}
	return mongoerr.New(mongoerr.InvalidOptions, "The readConcern level must be either 'local' (default), 'majority' or 'snapshot' in order to run in a transaction")
}

// checkCatalogConcern: what changes the catalog reads it as it is now.
func (c *Call) checkCatalogConcern() error {
	if c.Cmd.Name != "create" && c.Cmd.Name != "createIndexes" {
		return nil
	}
	if level := c.Session.Txn.Load().Level; level != "" && level != "local" {
		return mongoerr.Newf(mongoerr.InvalidOptions, "Command %s does not support this transaction's { readConcern: { level: \"%s\", provenance: \"clientSupplied\" } } :: caused by :: read concern not supported", c.Cmd.Name, level)
	}
	return nil
}

// checkNumber refuses the numbers that the session has left behind.
func (c *Call) checkNumber() error {
	ss, n := c.Session, *c.Generic.TxnNumber
	if n >= ss.Number {
		return nil
	}
	newer := "transaction"
	if ss.State == session.TxnRetryable {
		newer = "retryable write"
	}
	if c.Generic.Autocommit == nil {
		return mongoerr.Newf(mongoerr.TransactionTooOld, "Retryable write with txnNumber %d is prohibited on session %s because a newer %s with txnNumber %d has already started on this session.", n, ss, newer, ss.Number)
	}
	return mongoerr.Newf(mongoerr.TransactionTooOld, "Cannot start transaction with { txnNumber: %d } on session %s because a newer %s with txnNumberAndRetryCounter { txnNumber: %d, txnRetryCounter: 0 } has already started on this session.", n, ss, newer, ss.Number)
}

// ErrorLabels are the labels that tell drivers what they may do about an
// error.
func (c *Call) ErrorLabels(e *mongoerr.Error, concern mongoerr.Code) []string {
	g := &c.Generic
	if c.Cmd == nil {
		return nil
	}
	op := mongoerr.Operation{
		InTransaction: g.Autocommit != nil, CommitOrAbort: EndOfTransaction[c.Cmd.Name],
		RetryableWrite: g.TxnNumber != nil && g.Autocommit == nil, ChangeStream: c.ChangeStream, WriteConcern: concern,
	}
	var labels []string
	for _, label := range mongoerr.LabelsFor(e.Code, op) {
		if !e.HasLabel(label) {
			labels = append(labels, label)
		}
	}
	return labels
}

// Transient tells the errors of a statement after which the whole
// transaction may be tried again: they fail the command, not the statement.
func Transient(err error) bool {
	return len(mongoerr.LabelsFor(mongoerr.CodeOf(err), mongoerr.Operation{InTransaction: true})) > 0
}
