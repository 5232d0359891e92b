package ddl

import (
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// maxMembers is how many members a replica set may have.
const maxMembers = 50

// checkCommitQuorum refuses a commitQuorum of createIndexes that the set could never
// reach. A valid one has no effect, since the set has one member.
func checkCommitQuorum(c *kernel.Call, v value.Value) error {
	switch {
	case v.IsMissing():
		return nil
	case !c.Svc.Replicated():
		return mongoerr.New(mongoerr.BadValue, "Standalones can't specify commitQuorum")
	case v.IsNumber():
		return checkQuorumCount(v.AsDouble())
	case v.Kind() != value.KindString:
		return mongoerr.New(mongoerr.FailedToParse, "commitQuorum has to be a number or a string")
	}
	switch mode := v.Str(); mode {
	case "":
		return mongoerr.New(mongoerr.FailedToParse, "commitQuorum can't be an empty string")
	case "majority", "votingMembers":
		return nil
	default:
		config, err := c.SetConfig()
		if err != nil {
			return err
		}
		known, met := config.Satisfies(mode)
		if !known {
			return mongoerr.Newf(mongoerr.UnknownReplWriteConcern, "No write concern mode named '%s' found in replica set configuration", mode)
		}
		if !met {
			return errUnsatisfiableQuorum
		}
	}
	return nil
}

var errUnsatisfiableQuorum = mongoerr.New(mongoerr.UnsatisfiableCommitQuorum, "Commit quorum cannot be satisfied with the current replica set configuration")

func checkQuorumCount(n float64) error {
	switch {
	case !(n >= 0 && n <= maxMembers):
		return mongoerr.Newf(mongoerr.FailedToParse, "commitQuorum has to be a non-negative number and not greater than %d", maxMembers)
	case n >= 2:
		return errUnsatisfiableQuorum
	}
	return nil
}
