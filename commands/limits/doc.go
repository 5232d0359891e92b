// Package limits keeps the server within its means: memory that the data may take, the
// rate at which connections begin, and the lock of fsyncLock.
package limits
