// Package args decodes the arguments of commands. A command declares them as a
// struct whose tags are read once; unknown fields (40415), wrong types (14) and
// missing ones (40414) are refused here, in MongoDB's words, and nowhere else.
package args
