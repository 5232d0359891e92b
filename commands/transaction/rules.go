package transaction

import (
	"strings"

	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/concern"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/oplog"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// CheckTransactionRules checks the rules that do not depend on the state of the session:
// which commands may run in a transaction, on which namespaces, and with which concerns.
func CheckTransactionRules(c *kernel.Call) error {
	g := &c.Generic
	if g.TxnNumber == nil {
		return nil
	}
	name := c.Cmd.Name
	if g.Autocommit == nil {
		if !c.Cmd.Has(kernel.Retryable) {
			return mongoerr.Newf(mongoerr.NotARetryableWriteCommand, "txnNumber may only be provided for multi-document transactions and retryable write commands. autocommit:false was not provided, and %s is not a retryable write command.", name)
		}
		return nil
	}
	if err := checkAllowedInTransaction(c); err != nil {
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
	return checkTransactionConcerns(c)
}

func checkAllowedInTransaction(c *kernel.Call) error {
	switch {
	case !c.Cmd.Has(kernel.InTxn):
		return oplog.NotInTransaction("Cannot run '" + c.Cmd.Name + "' in a multi-document transaction." + c.Cmd.TxnHint)
	case c.Cmd.Has(kernel.EndsTransaction):
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

// allowedInTransaction refuses the namespaces that cannot be used in a transaction.
func allowedInTransaction(ns storage.Namespace) error {
	switch {
	case ns.DB == "local":
		return oplog.NotInTransaction("Cannot run command against the 'local' database in a transaction.")
	case ns.Coll == "system.profile" || ns.Coll == catalog.SystemViews:
		return oplog.NotInTransaction("Cannot run command against the '" + ns.String() + "' collection in a transaction.")
	case ns.DB == "config":
		return oplog.NotInTransaction("Cannot run command against the config database in a transaction.")
	}
	return nil
}

// checkTransactionConcerns refuses a read concern after the first statement, and a write
// concern before the commit or abort.
func checkTransactionConcerns(c *kernel.Call) error {
	g := &c.Generic
	if g.WriteConcern != nil && !g.WriteConcern.IsEmpty() && !c.Cmd.Has(kernel.EndsTransaction) {
		return mongoerr.New(mongoerr.InvalidOptions, "writeConcern is not allowed within a multi-statement transaction")
	}
	if g.ReadConcern == nil || g.ReadConcern.IsEmpty() {
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

// checkCatalogConcern refuses to create collections and indexes in a transaction whose read concern is
// not local: they read the latest state of the catalog.
func checkCatalogConcern(c *kernel.Call) error {
	if !c.Cmd.Has(kernel.LatestCatalog) {
		return nil
	}
	if level := c.Session.Txn.Load().Level; level != "" && level != "local" {
		return mongoerr.Newf(mongoerr.InvalidOptions, "Command %s does not support this transaction's { readConcern: { level: \"%s\", provenance: \"clientSupplied\" } } :: caused by :: read concern not supported", c.Cmd.Name, level)
	}
	return nil
}

// ErrorLabels returns the labels of an error, by which drivers decide whether to retry.
func ErrorLabels(c *kernel.Call, e *mongoerr.Error, concern mongoerr.Code) []string {
	g := &c.Generic
	if c.Cmd == nil {
		return nil
	}
	op := mongoerr.Operation{
		InTransaction: g.Autocommit != nil, CommitOrAbort: c.Cmd.Has(kernel.EndsTransaction),
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

// Transient reports whether err is an error of a statement after which the whole
// transaction may be tried again: they fail the command, not the statement.
func Transient(err error) bool {
	return len(mongoerr.LabelsFor(mongoerr.CodeOf(err), mongoerr.Operation{InTransaction: true})) > 0
}

// UnmetBehindError returns the write concern error for the reply of a command that failed.
// There is one if the command attempted to write, or for a commit of an unknown transaction:
// both may repeat an earlier write that was not acknowledged.
func UnmetBehindError(c *kernel.Call, e *mongoerr.Error) (value.Doc, mongoerr.Code) {
	if c.Injected != nil {
		return c.Injected, mongoerr.Code(c.Injected.Lookup("code").SafeInt64())
	}
	lost := e.Code == mongoerr.NoSuchTransaction && c.Cmd != nil && c.Cmd.Has(kernel.EndsTransaction)
	if c.Cmd == nil || !c.Attempted && !lost || c.Svc.Leader.SteppedDown.Load() {
		return nil, mongoerr.OK
	}
	code, text := concern.UnmetReason(c)
	if code == mongoerr.OK {
		return nil, mongoerr.OK
	}
	return concern.ConcernError(c, code, text), code
}
