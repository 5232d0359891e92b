package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// licences are those that DuskDB may be linked with, by a sentence of theirs. The first
// that fits counts, so those with a further condition come first. A library with another
// licence cannot be released until it stands here: a person has to read it first.
var licences = []struct {
	id        string
	sentences []string
}{
	{"Apache-2.0", []string{"Apache License", "Version 2.0, January 2004"}},
	{"MPL-2.0", []string{"Mozilla Public License Version 2.0"}},
	{"BSD-3-Clause", []string{"Redistribution and use in source and binary forms", "may be used to endorse or promote products"}},
	{"BSD-2-Clause", []string{"Redistribution and use in source and binary forms", "must reproduce the above copyright notice"}},
	{"MIT", []string{"Permission is hereby granted, free of charge", "The above copyright notice and this permission notice shall be included"}},
	{"ISC", []string{"Permission to use, copy, modify, and/or distribute this software for any purpose with or without fee"}},
	{"ISC", []string{"Permission to use, copy, modify, and distribute this software for any purpose with or without fee"}},
	{"CC0-1.0", []string{"CC0 1.0 Universal"}},
	{"Unlicense", []string{"This is free and unencumbered software released into the public domain"}},
}

// recognise returns SPDX's name of the licence in a text, or "".
func recognise(text string) string {
	words := strings.Join(strings.Fields(text), " ")
	for _, l := range licences {
		if !slices.ContainsFunc(l.sentences, func(s string) bool { return !strings.Contains(words, s) }) {
			return l.id
		}
	}
	return ""
}

// notices writes the licences of all libraries in full. A text that several have stands
// there once.
func notices(libraries []library) []byte {
	var b bytes.Buffer
	b.WriteString("DuskDB is licensed under the Apache License 2.0, see the file LICENSE.\n" +
		"Its binary contains these libraries, whose licences follow:\n\n")
	users := map[string][]string{}
	var order []string
	for _, l := range libraries {
		if l.name == module {
			continue
		}
		fmt.Fprintf(&b, "  %s (%s)\n", l.title(), strings.Join(l.licences, ", "))
		for _, t := range l.texts {
			if users[t.text] == nil {
				order = append(order, t.text)
			}
			users[t.text] = append(users[t.text], l.title()+", file "+t.name)
		}
	}
	for _, text := range order {
		b.WriteString("\n" + strings.Repeat("=", 80) + "\n")
		b.WriteString(strings.Join(users[text], "\n"))
		b.WriteString("\n" + strings.Repeat("-", 80) + "\n\n")
		b.WriteString(strings.Trim(text, "\n") + "\n")
	}
	return b.Bytes()
}

// title is the library's name for readers.
func (l library) title() string {
	if l.name == golang {
		return "Go and its standard library " + l.version
	}
	return l.name + " " + l.version
}
