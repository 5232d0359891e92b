package commands

import (
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/observe"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// The metadata that clients send in the first hello of a connection.

const (
	maxMetadata = 1024 // bytes of the document
	maxAppName  = 128
)

// introduce stores the metadata of a hello; client is nil if it has no metadata. Only the
// first hello of a connection may have metadata.
func introduce(c *kernel.Conn, client value.Doc) error {
	if client != nil {
		if c.Greeted {
			return mongoerr.New(mongoerr.ClientMetadataCannotBeMutated, "The client metadata document may only be sent in the first hello")
		}
		if err := checkMetadata(client); err != nil {
			return err
		}
		c.SetClient(client)
	}
	c.Greeted = true
	return nil
}

// logMetadata logs who connects.
func logMetadata(c *kernel.Call, client value.Doc) {
	if e := c.Svc.Verbose(observe.LogNetwork, 1); e != nil {
		e.Str("ctx", c.Conn.Context()).Str("remote", c.Conn.Remote).Str("client", c.Conn.Context())
		observe.LogDocument(client, c.Svc.Options.LogLimit.Bytes()).AddTo(e, "doc").Msg("client metadata")
	}
}

// metadataFields are the parts that are looked at, with their fields, all
// strings; required: part and fields must be there.
var metadataFields = []struct {
	part     string
	required bool
	fields   []string
}{
	{"application", false, []string{"name"}},
	{"driver", true, []string{"name", "version"}},
	{"os", true, []string{"type"}},
}

func checkMetadata(client value.Doc) error {
	if len(client) > maxMetadata {
		return mongoerr.Newf(mongoerr.ClientMetadataDocumentTooLarge, "The client metadata document must be less then or equal to %d bytes", maxMetadata)
	}
	for _, m := range metadataFields {
		v, given := client.Get(m.part)
		switch {
		case !given && !m.required:
			continue
		case !given:
			return mongoerr.Newf(mongoerr.ClientMetadataMissingField, "Missing required sub-document '%s' in the client metadata document", m.part)
		case v.Kind() != value.KindDocument && v.Kind() != value.KindArray:
			return mongoerr.Newf(mongoerr.TypeMismatch, "The '%s' field is required to be a BSON document in the client metadata document", m.part)
		}
		for _, field := range m.fields {
			e, given := v.Doc().Get(field)
			switch {
			case !given && !m.required:
			case !given:
				return mongoerr.Newf(mongoerr.ClientMetadataMissingField, "Missing required field '%s.%s' in the client metadata document", m.part, field)
			case e.Kind() != value.KindString:
				return mongoerr.Newf(mongoerr.TypeMismatch, "The '%s.%s' field must be a string in the client metadata document", m.part, field)
			case !m.required && len(e.Str()) > maxAppName:
				return mongoerr.Newf(mongoerr.ClientMetadataAppNameTooLarge, "The '%s.%s' field must be less then or equal to %d bytes in the client metadata document", m.part, field, maxAppName)
			}
		}
	}
	return nil
}
