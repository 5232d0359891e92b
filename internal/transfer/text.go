package transfer

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
)

// foreignFormats are the first bytes of files that may be mistaken for text.
var foreignFormats = []struct{ magic, name string }{
	{"PK\x03\x04", "a ZIP archive: unpack it first"},
	{"\x28\xb5\x2f\xfd", "compressed with Zstandard: decompress it first"},
	{"\xfd7zXZ\x00", "compressed with XZ: decompress it first"},
	{"BZh", "compressed with bzip2: decompress it first"},
	{"\x6d\xe2\x99\x81", "an archive of mongodump: restore it with --archive"},
	{"\xff\xfe", "UTF-16 text: convert it to UTF-8 first"},
	{"\xfe\xff", "UTF-16 text: convert it to UTF-8 first"},
	{"SQLite format 3\x00", "an SQLite database"},
	{"PAR1", "a Parquet file"},
}

// sniffed is the number of bytes that are examined. Text has no null byte
// among them.
const sniffed = 4096

// Decompress returns the content of a file, which gzip may have compressed.
func Decompress(r io.Reader) (io.Reader, error) {
	in := bufio.NewReaderSize(r, 1<<16)
	if magic, _ := in.Peek(2); !bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		return in, nil
	}
	z, err := gzip.NewReader(in)
	if err != nil {
		return nil, fmt.Errorf("the file is compressed with gzip, but damaged: %w", err)
	}
	return z, nil
}

// Text returns the content of a file of JSON, CSV or TSV, which gzip may have
// compressed. Other files are refused, because bytes in them may look like a
// document.
func Text(r io.Reader) (io.Reader, error) {
	plain, err := Decompress(r)
	if err != nil {
		return nil, err
	}
	in := bufio.NewReaderSize(plain, 1<<16)
	head, _ := in.Peek(sniffed)
	for _, f := range foreignFormats {
		if bytes.HasPrefix(head, []byte(f.magic)) {
			return nil, fmt.Errorf("the file is %s", f.name)
		}
	}
	if at := bytes.IndexByte(head, 0); at >= 0 {
		return nil, fmt.Errorf("the file is not text: byte %d is null", at)
	}
	return in, nil
}
