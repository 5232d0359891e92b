package main

import (
	"fmt"
	"runtime/debug"
	"strings"
)

// next is the version that this source leads to.
const next = "0.1.0"

// released is the version of a release. The linker sets it, see internal/release.
var released string

// version is DuskDB's version: of the release, of the module that go install fetched, or
// the next one with the word dev.
var version = versionOf(released, debug.ReadBuildInfo)

func versionOf(released string, build func() (*debug.BuildInfo, bool)) string {
	if released != "" {
		return released
	}
	// Without a tag, Go calls the version v0.0.0-… or (devel).
	if info, ok := build(); ok && strings.HasPrefix(info.Main.Version, "v") && !strings.HasPrefix(info.Main.Version, "v0.0.0-") {
		return info.Main.Version[1:]
	}
	return next + "-dev"
}

type versionCmd struct{}

// Run prints the versions.
func (versionCmd) Run() error {
	fmt.Println("duskdb v" + version + " (MongoDB " + serverVersion() + " compatible)")
	return nil
}
