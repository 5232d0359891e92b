//go:build !unix

package main

// onRotateSignal does nothing: the system does not have the signal.
func onRotateSignal(func()) (stop func()) { return func() {} }
