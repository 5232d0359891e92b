package commands

import (
	"strings"

	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/storage"
)

// retryableCommands are the commands that may carry a txnNumber outside a
// transaction.
var retryableCommands = map[string]bool{"insert": true, "update": true, "delete": true, "findAndModify": true, "bulkWrite": true}

// endOfTransaction are the commands that end one.
var endOfTransaction = map[string]bool{"commitTransaction": true, "abortTransaction": true}

// checkTransactionRules applies the rules that hold whatever state the
// session is in: which commands may run in a transaction, where, and with
// which concerns.
func (c *Call) checkTransactionRules() error {
	g := &c.generic
	if g.txnNumber == nil {
		return nil
	}
	name := c.cmd.name
	if g.autocommit == nil {
		if !retryableCommands[name] {
			return mongoerr.Newf(mongoerr.NotARetryableWriteCommand, "txnNumber may only be provided for multi-document transactions and retryable write commands. autocommit:false was not provided, and %s is not a retryable write command.", name)
		}
		return nil
	}
	if err := c.checkAllowedInTransaction(); err != nil {
		return err
	}
	if g.startTxn != nil {
		switch name {
		case "killCursors":
			return notInTransaction("Cannot run killCursors as the first operation in a multi-document transaction.")
		case "commitTransaction":
			return notInTransaction("Cannot start a transaction with a commit")
		case "abortTransaction":
			return notInTransaction("Cannot start a transaction with an abort")
		}
	}
	return c.checkTransactionConcerns()
}

func notInTransaction(text string) error {
	return mongoerr.New(mongoerr.OperationNotSupportedInTransaction, text)
}

func (c *Call) checkAllowedInTransaction() error {
	switch {
	case c.cmd.name == "count":
		return notInTransaction("Cannot run 'count' in a multi-document transaction. Please see http://dochub.mongodb.org/core/transaction-count for a recommended alternative.")
	case c.cmd.flags&inTxn == 0:
		return notInTransaction("Cannot run '" + c.cmd.name + "' in a multi-document transaction.")
	case endOfTransaction[c.cmd.name]:
		return nil
	case c.cmd.name == "bulkWrite":
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
		return notInTransaction("Cannot run command against the 'local' database in a transaction.")
	case ns.Coll == "system.profile" || ns.Coll == "system.views":
		return notInTransaction("Cannot run command against the '" + ns.String() + "' collection in a transaction.")
	case ns.DB == "config":
		return notInTransaction("Cannot run command against the config database in a transaction.")
	}
	return nil
}

// checkTransactionConcerns: the read concern is said once, at the beginning,
// the write concern at the end.
func (c *Call) checkTransactionConcerns() error {
	g := &c.generic
	if g.writeConcern != nil && !g.writeConcern.IsEmpty() && !endOfTransaction[c.cmd.name] {
		return mongoerr.New(mongoerr.InvalidOptions, "writeConcern is not allowed within a multi-statement transaction")
	}
	if g.readConcern == nil || g.readConcern.IsEmpty() {
		return nil
	}
	if g.startTxn == nil {
		return mongoerr.New(mongoerr.InvalidOptions, "Only the first command in a transaction may specify a readConcern")
	}
	switch g.level {
	case "", "local", "majority", "snapshot":
		return nil
	}
	return mongoerr.New(mongoerr.InvalidOptions, "The readConcern level must be either 'local' (default), 'majority' or 'snapshot' in order to run in a transaction")
}

// checkCatalogConcern: what changes the catalog reads it as it is now.
func (c *Call) checkCatalogConcern() error {
	if c.cmd.name != "create" && c.cmd.name != "createIndexes" {
		return nil
	}
	if level := c.session.txn.Load().level; level != "" && level != "local" {
		return mongoerr.Newf(mongoerr.InvalidOptions, "Command %s does not support this transaction's { readConcern: { level: \"%s\", provenance: \"clientSupplied\" } } :: caused by :: read concern not supported", c.cmd.name, level)
	}
	return nil
}

// checkNumber refuses the numbers that the session has left behind.
func (c *Call) checkNumber() error {
	ss, n := c.session, *c.generic.txnNumber
	if n >= ss.number {
		return nil
	}
	newer := "transaction"
	if ss.state == txnRetryable {
		newer = "retryable write"
	}
	if c.generic.autocommit == nil {
		return mongoerr.Newf(mongoerr.TransactionTooOld, "Retryable write with txnNumber %d is prohibited on session %s because a newer %s with txnNumber %d has already started on this session.", n, ss, newer, ss.number)
	}
	return mongoerr.Newf(mongoerr.TransactionTooOld, "Cannot start transaction with { txnNumber: %d } on session %s because a newer %s with txnNumberAndRetryCounter { txnNumber: %d, txnRetryCounter: 0 } has already started on this session.", n, ss, newer, ss.number)
}

// errorLabels are the labels that tell drivers what they may do about an
// error.
func (c *Call) errorLabels(e *mongoerr.Error, concern mongoerr.Code) []string {
	g := &c.generic
	if c.cmd == nil {
		return nil
	}
	op := mongoerr.Operation{
		InTransaction: g.autocommit != nil, CommitOrAbort: endOfTransaction[c.cmd.name],
		RetryableWrite: g.txnNumber != nil && g.autocommit == nil, ChangeStream: c.changeStream, WriteConcern: concern,
	}
	var labels []string
	for _, label := range mongoerr.LabelsFor(e.Code, op) {
		if !e.HasLabel(label) {
			labels = append(labels, label)
		}
	}
	return labels
}

// transient tells the errors of a statement after which the whole
// transaction may be tried again: they fail the command, not the statement.
func transient(err error) bool {
	return len(mongoerr.LabelsFor(mongoerr.CodeOf(err), mongoerr.Operation{InTransaction: true})) > 0
}
