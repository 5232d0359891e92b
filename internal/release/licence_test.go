package main

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
)

func TestRecognise(t *testing.T) {
	apache, err := os.ReadFile("../../LICENSE")
	if err != nil {
		t.Fatal(err)
	}
	const redistribution = "Redistribution and use in source and binary forms, with or without\nmodification, are permitted …\n" +
		"* Redistributions in binary form must reproduce the above copyright notice …\n"
	for text, want := range map[string]string{
		string(apache): "Apache-2.0",
		redistribution: "BSD-2-Clause",
		redistribution + "* Neither the name … may be used to endorse\n  or promote products":                                         "BSD-3-Clause",
		"Permission is hereby granted, free of charge, …\nThe above copyright notice and this permission notice shall be included in": "MIT",
		"GNU GENERAL PUBLIC LICENSE": "",
		"":                           "",
	} {
		if got := recognise(text); got != want {
			t.Errorf("%.40q is %q, want %q", text, got, want)
		}
	}
}

func TestReadTexts(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{"LICENSE", "LICENSE.md", "license_test.go", "COPYING-2", "NOTICE.txt", "main.go", "sub/PATENTS", "sub/deep/LICENCE", "other/LICENSE", "licenses.go"} {
		put(t, root, name, "text of "+name)
	}
	var l library
	for range 2 { // a text counts once
		if err := l.readTexts(root, filepath.Join(root, "sub", "deep")); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, text := range l.texts {
		got = append(got, text.name)
	}
	slices.Sort(got)
	if want := []string{"COPYING-2", "LICENSE", "LICENSE.md", "NOTICE.txt", "sub/PATENTS", "sub/deep/LICENCE"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestUnknownLicenceStopsTheRelease(t *testing.T) {
	l := library{name: "example.com/x", version: "v1.0.0", texts: []legal{{"LICENSE", "All rights reserved."}}}
	if err := l.finish(); err == nil || !strings.Contains(err.Error(), "example.com/x v1.0.0: no licence that is known") {
		t.Error(err)
	}
}

func TestNotices(t *testing.T) {
	text := string(notices([]library{
		{name: "example.com/a", version: "v1", licences: []string{"MIT"}, texts: []legal{{"LICENSE", "the licence\n"}}},
		{name: "example.com/b", version: "v2", licences: []string{"MIT"}, texts: []legal{{"COPYING", "the licence\n"}, {"NOTICE", "a notice"}}},
		{name: module},
		{name: golang, version: "1.26.0", licences: []string{"BSD-3-Clause"}, texts: []legal{{"LICENSE", "Go's"}}},
	}))
	if strings.Count(text, "\nthe licence\n") != 1 || strings.Count(text, "\na notice\n") != 1 || strings.Count(text, "\nGo's\n") != 1 {
		t.Error("each text should stand there once:\n" + text)
	}
	for _, want := range []string{"  example.com/a v1 (MIT)\n", "example.com/a v1, file LICENSE\nexample.com/b v2, file COPYING\n", "  Go and its standard library 1.26.0 (BSD-3-Clause)\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, module) {
		t.Error("DuskDB is no library of its own")
	}
}

func TestLibrariesAgreeWithTheBinary(t *testing.T) {
	found := map[string]*library{golang: {}, module: {}, "example.com/a": {version: "v1"}}
	dep := func(path, version string) *debug.Module { return &debug.Module{Path: path, Version: version} }
	replaced := dep("example.com/a", "v1")
	replaced.Replace = dep("../a", "")
	for _, tt := range []struct {
		deps []*debug.Module
		ok   bool
	}{
		{[]*debug.Module{dep("example.com/a", "v1")}, true},
		{[]*debug.Module{dep("example.com/a", "v2")}, false},
		{[]*debug.Module{dep("example.com/a", "v1"), dep("example.com/b", "v1")}, false},
		{nil, false},
		{[]*debug.Module{replaced}, false},
	} {
		if err := agree(found, &debug.BuildInfo{Deps: tt.deps}); (err == nil) != tt.ok {
			t.Errorf("%v: %v", tt.deps, err)
		}
	}
}
