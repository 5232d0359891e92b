package main

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
)

// platform is an operating system and a processor, in Go's words.
type platform struct{ system, processor string }

// platforms are all that binaries are made for.
var platforms = []platform{
	{"darwin", "amd64"}, {"darwin", "arm64"},
	{"linux", "amd64"}, {"linux", "arm64"},
	{"windows", "amd64"}, {"windows", "arm64"},
}

func (p platform) String() string { return p.system + "-" + p.processor }

// exe is the ending of programs.
func (p platform) exe() string {
	if p.system == "windows" {
		return ".exe"
	}
	return ""
}

// node is the platform in the words of Node: process.platform and process.arch.
func (p platform) node() (system, processor string) {
	system, processor = p.system, p.processor
	if system == "windows" {
		system = "win32"
	}
	if processor == "amd64" {
		processor = "x64"
	}
	return system, processor
}

// wheelTag is the platform tag of a wheel. The binary for Linux is static: it needs no
// particular C library. The one for macOS needs what Go needs, which is macOS 12.
func (p platform) wheelTag() string {
	machine := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[p.processor]
	switch p.system {
	case "linux":
		return "manylinux_2_17_" + machine + ".manylinux2014_" + machine + ".musllinux_1_1_" + machine
	case "darwin":
		if p.processor == "arm64" {
			machine = "arm64"
		}
		return "macosx_12_0_" + machine
	}
	return "win_" + p.processor
}

// parsePlatforms reads a list of platforms.
func parsePlatforms(text string) ([]platform, error) {
	switch text {
	case "all":
		return platforms, nil
	case "own":
		text = runtime.GOOS + "/" + runtime.GOARCH
	}
	var list []platform
	for part := range strings.SplitSeq(text, ",") {
		system, processor, _ := strings.Cut(strings.TrimSpace(part), "/")
		p := platform{system, processor}
		if !slices.Contains(platforms, p) {
			var known []string
			for _, k := range platforms {
				known = append(known, k.system+"/"+k.processor)
			}
			return nil, fmt.Errorf("there is no platform %q; there are %s", part, strings.Join(known, ", "))
		}
		if !slices.Contains(list, p) {
			list = append(list, p)
		}
	}
	return list, nil
}
