package users

import (
	"github.com/duskdb/duskdb/commands/args"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/internal/auth"
	"github.com/duskdb/duskdb/value"
)

type connectionStatusArgs struct {
	Status         value.Value    `arg:"connectionStatus"`
	ShowPrivileges args.LooseBool `arg:"showPrivileges"`
}

var connectionStatusSpec = args.New[connectionStatusArgs]("connectionStatus")

// runConnectionStatus writes the users that the client is logged in as, and their
// privileges.
func runConnectionStatus(c *kernel.Call) error {
	var a connectionStatusArgs
	if err := connectionStatusSpec.Decode(c.Body, &a); err != nil {
		return err
	}
	u, err := c.Svc.Auth.Current(c.Ctx, c.Conn.User)
	if err != nil {
		return err
	}
	b := c.Reply
	b.StartDocument("authInfo")
	b.StartArray("authenticatedUsers")
	if u != nil {
		b.StartDocument("").String("user", u.Name.Name).String("db", u.Name.DB).End()
	}
	b.End()
	var roles []auth.Name
	var privileges []auth.Privilege
	if u != nil {
		roles, privileges = u.Inherited, u.Privileges
	}
	auth.AppendRoles(b, "authenticatedUserRoles", roles)
	if a.ShowPrivileges {
		auth.AppendPrivileges(b, "authenticatedUserPrivileges", privileges)
	}
	b.End()
	b.Append("uuid", c.Conn.UUID())
	return nil
}
