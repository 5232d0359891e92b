// Package limits bounds the resources of the server: the memory of the data and the rate
// of new connections. It also has the lock of fsyncLock.
package limits
