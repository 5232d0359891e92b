// Package pcre compiles and runs MongoDB's regular expressions, which are
// those of PCRE2, with two engines: Go's, whose time is linear in the text,
// and a backtracking one (regexp2).
//
//	p, err := pcre.Compile(`^\Qa.b\E\h+$`, "i")
//	ok, err := p.Match("A.B \n")
//
// [Translate] rewrites the syntax that the engines interpret differently from
// PCRE2, and says whether the linear engine gives the same result as PCRE2.
// The backtracking engine is used for patterns with lookaround, back
// references, option x, atomic groups or conditions; if a $ matches before a
// final newline and the position of the match matters; and to find consecutive
// empty matches.
//
// # Known differences from PCRE2
//
// Refused, although PCRE2 accepts them:
//
//   - recursion and subroutines: (?R), (?1), (?&name), (?P>name), (?(DEFINE)…);
//   - branch reset (?|…), callouts (?C), (?J) and duplicate names, (?^…);
//   - verbs that limit backtracking behind the start of a pattern ((*COMMIT),
//     (*PRUNE), (*SKIP), (*THEN)), and (*ACCEPT) within a group; in front of
//     a pattern they change nothing and are accepted;
//   - \X and \C, \p{L&}, and [[:<:]] and [[:>:]];
//   - as PCRE2 before 10.43 did, lookbehinds with branches that are not each
//     of one length.
//
// Answered differently:
//
//   - Limits. PCRE2 counts steps and gives up with "match limit exceeded" (or
//     a depth or heap limit). The linear engine needs no limit; the backtracking
//     one has a limit of time, [BacktrackLimit] for each match, and a search for all
//     matches has [SearchLimit]. So some patterns are answered here that PCRE2 gives
//     up, and what fails may depend on the machine.
//   - Size. PCRE2 limits the size of a compiled pattern; here the backtracking engine,
//     which does not write repeated groups out, takes a pattern that would be too large
//     for the linear one.
//   - Without regard to case, the backtracking engine compares the lower-case
//     forms: s does not match ſ there, as it does in PCRE2 and in the linear
//     engine.
//   - Unknown escapes of letters, as \y, stand for the letter in the
//     backtracking engine; PCRE2 refuses them.
//   - Text that is not UTF-8 is an error in PCRE2; here each wrong byte counts as
//     U+FFFD.
//   - Categories and scripts are those of the Unicode version of Go.
//   - Error texts have PCRE2's words for the errors that are common, and the
//     engine's own for the rest. None has the offset.
package pcre
