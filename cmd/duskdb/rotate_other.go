//go:build !unix

package main

// onRotateSignal does nothing: there is no such signal here.
func onRotateSignal(func()) (stop func()) { return func() {} }
