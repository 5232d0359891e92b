// The load generator is a program for work on DuskDB itself.
module github.com/duskdb/duskdb/cmd/duskbench

go 1.26.0

require github.com/duskdb/duskdb v0.0.0-00010101000000-000000000000

replace github.com/duskdb/duskdb => ../..

require (
	github.com/HdrHistogram/hdrhistogram-go v1.4.0
	github.com/alecthomas/kong v1.17.0
	go.mongodb.org/mongo-driver/v2 v2.9.3
	pgregory.net/rapid v1.3.0
)

require (
	github.com/cockroachdb/apd/v3 v3.2.3 // indirect
	github.com/klauspost/compress v1.20.3 // indirect
	github.com/xdg-go/scram v1.4.0 // indirect
	github.com/xdg-go/stringprep v1.0.4 // indirect
	github.com/youmark/pkcs8 v0.0.0-20240726163527-a2c0da244d78 // indirect
	golang.org/x/crypto v0.58.0 // indirect
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/text v0.43.0 // indirect
)
