//go:build race

package commands

// raceDetector tells that allocations cannot be counted.
const raceDetector = true
