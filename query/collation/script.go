package collation

import (
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/collate"
	"golang.org/x/text/language"
)

// ownScript is the script that a language puts before all others, or several
// in their order; languages without an entry keep the root order, which begins
// with Latin.
var ownScript = map[string]string{
	"am": "Ethiopic", "ar": "Arabic", "as": "Bengali", "be": "Cyrillic", "bg": "Cyrillic", "bn": "Bengali",
	"bs_Cyrl": "Cyrillic", "chr": "Cherokee", "el": "Greek", "fa": "Arabic", "fa_AF": "Arabic", "gu": "Gujarati",
	"he": "Hebrew", "hi": "Devanagari", "hy": "Armenian", "ja": "Latin Hiragana Han", "ka": "Georgian", "kk": "Cyrillic", "km": "Khmer",
	"kn": "Kannada", "ko": "Hangul", "kok": "Devanagari", "ky": "Cyrillic", "lo": "Lao", "mk": "Cyrillic",
	"ml": "Malayalam", "mn": "Cyrillic", "mr": "Devanagari", "my": "Myanmar", "ne": "Devanagari", "or": "Oriya",
	"pa": "Gurmukhi", "ps": "Arabic", "ru": "Cyrillic", "si": "Sinhala", "sr": "Cyrillic", "ta": "Tamil",
	"te": "Telugu", "th": "Thai", "uk": "Cyrillic", "ur": "Arabic", "zh": "Han", "zh_Hant": "Han",
}

// script has the ranges of the preferred scripts among the primary weights.
type script struct {
	letters int // the first weight of any letter
	own     []weights
}

// weights are those of one script, from low to high.
type weights struct{ low, high int }

var scripts sync.Map // language tag to *script: finding one takes milliseconds

// scriptOf measures the scripts that a locale prefers; nil if it has none.
func scriptOf(base string, tag language.Tag) *script {
	names, ok := ownScript[base]
	if !ok {
		return nil
	}
	if s, ok := scripts.Load(tag.String()); ok {
		return s.(*script)
	}
	s := measure(strings.Fields(names), collate.New(tag))
	scripts.Store(tag.String(), s)
	return s
}

// measure finds the lowest and the highest primary weight of each script.
func measure(names []string, keys *collate.Collator) *script {
	var buf collate.Buffer
	weight := func(r rune) int {
		buf.Reset()
		primary := splitLevels(keys.KeyFromString(&buf, string(r))).primary
		if p, rest := firstWeight(primary); len(rest) == 0 {
			return p
		}
		return 0
	}
	// Characters without a weight of their own come last, by number: among
	// them most of the Chinese ones, but only strays of other scripts.
	const unassigned = 0x378
	s := &script{letters: weight('a')}
	for _, name := range names {
		end := weight(unassigned) - unassigned
		if name == "Han" {
			end = 1 << 24
		}
		var own weights
		each(unicode.Scripts[name], func(r rune) {
			p := weight(r)
			if !unicode.IsLetter(r) || p < s.letters || p >= end {
				return
			}
			if own.low == 0 || p < own.low {
				own.low = p
			}
			own.high = max(own.high, p)
		})
		s.own = append(s.own, own)
	}
	return s
}

func each(table *unicode.RangeTable, visit func(rune)) {
	for _, r := range table.R16 {
		for c := rune(r.Lo); c <= rune(r.Hi); c += rune(r.Stride) {
			visit(c)
		}
	}
	for _, r := range table.R32 {
		for c := rune(r.Lo); c <= rune(r.Hi); c += rune(r.Stride) {
			visit(c)
		}
	}
}

// firstWeight splits the first weight off a primary level.
func firstWeight(b []byte) (weight int, rest []byte) {
	switch {
	case len(b) < 2:
		return 0, nil
	case b[0]&0x80 == 0:
		return int(b[0])<<8 | int(b[1]), b[2:]
	}
	return int(b[0]&0x7f)<<16 | int(b[1])<<8 | int(b[2]), b[3:]
}

// appendReordered writes primary weights, each behind the number of its
// group: what comes before letters, the scripts of the language, the others.
func (s *script) appendReordered(dst, primary []byte) []byte {
	for len(primary) > 0 {
		w, rest := firstWeight(primary)
		dst = append(dst, s.group(w))
		dst = append(dst, primary[:len(primary)-len(rest)]...)
		primary = rest
	}
	return dst
}

func (s *script) group(weight int) byte {
	if weight < s.letters {
		return 1
	}
	for i, own := range s.own {
		if weight >= own.low && weight <= own.high {
			return byte(2 + i)
		}
	}
	return byte(2 + len(s.own))
}
