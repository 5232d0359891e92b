// Package commandline parses command lines, whose commands and flags are structs with tags, as
// those of package github.com/alecthomas/kong are:
//
//	var cli struct {
//		Serve serveCmd `cmd:"" default:"withargs" help:"Run the server."`
//		Copy  copyCmd  `cmd:"" help:"Copy the data."`
//	}
//	type copyCmd struct {
//		From string `arg:"" help:"What to copy."`
//		Port int    `name:"port" short:"p" default:"27017" help:"Port of the server."`
//	}
//
// The value of a flag is that of the command line, else of its variable (PREFIX_NAME), else of
// the command's [Resolver], else its default.
//
// Kong itself is not used, because it looks methods up by names that the linker does not know. In a
// program that does so no exported method of any type can be left out, which made the server's
// binary larger by an eighth (5 MB). Therefore nothing here calls a method by reflection. The limit
// of the binary's size in .ci/run notices if another library does; "go build -ldflags=-dumpdep"
// names it: the function that is marked <ReflectMethod>.
//
// # Tags
//
//	name      of the flag or argument; default: the field's in lower case
//	help      what it is
//	short     the letter of the flag
//	aliases   another name
//	default   the value if nothing gives one; of a command, "withargs": run if none is named
//	enum      the allowed values, with commas
//	range     the least and the greatest value of a number, with a comma; either may be missing
//	type      existingfile or existingdir
//	env       the variable, or "-" for none
//	unless    flags and arguments, with commas: the variable has no effect if the command line has one
//	sep       what divides the values of a list; "none": only several flags do
//	group     the heading of the flag in the help text
//	required  the flag must be given
//	optional  the argument need not be given
//	hidden    not in the help text
//	arg       an argument, not a flag
//	embed     a struct, or an interface with a pointer to one, whose fields belong to the command
//	cmd       a command
package commandline
