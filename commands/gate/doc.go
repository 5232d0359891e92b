// Package gate checks what holds for commands whatever they do: the stable API, fields
// that contradict each other, arguments given twice, writes that are blocked.
package gate
