// The tests with real clients need both Go drivers and their own suites. Who
// uses the server does not.
module github.com/duskdb/duskdb/compat_tests

go 1.26.0

require github.com/duskdb/duskdb v0.0.0-00010101000000-000000000000

replace github.com/duskdb/duskdb => ..

require (
	github.com/google/go-cmp v0.7.0
	go.mongodb.org/mongo-driver v1.17.10
	go.mongodb.org/mongo-driver/v2 v2.9.3
)

require (
	github.com/golang/snappy v0.0.5-0.20231225225746-43d5d4cd4e0e // indirect
	github.com/klauspost/compress v1.20.3 // indirect
	github.com/montanaflynn/stats v0.7.1 // indirect
	github.com/xdg-go/scram v1.4.0 // indirect
	github.com/xdg-go/stringprep v1.0.4 // indirect
	github.com/youmark/pkcs8 v0.0.0-20240726163527-a2c0da244d78 // indirect
	golang.org/x/crypto v0.58.0 // indirect
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/text v0.43.0 // indirect
)
