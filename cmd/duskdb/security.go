package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/duskdb/duskdb/server"
	"github.com/duskdb/duskdb/value"
)

// security are the flags for access control and TLS.
type security struct {
	Auth               bool   `help:"Require clients to log in."`
	NoAuth             bool   `name:"noauth" help:"Do not require clients to log in; overrides the environment."`
	TLSMode            string `name:"tlsMode" enum:"disabled,allowTLS,preferTLS,requireTLS" default:"disabled" help:"TLS: disabled, allowTLS, preferTLS or requireTLS."`
	TLSCertificate     string `name:"tlsCertificateKeyFile" help:"PEM file with the server's certificate and key."`
	TLSCA              string `name:"tlsCAFile" help:"PEM file with the certificate authorities for client certificates."`
	TLSPassword        string `name:"tlsCertificateKeyFilePassword" help:"Password of the key, if it is encrypted (PKCS #8)."`
	TLSCRL             string `name:"tlsCRLFile" help:"PEM file with revocation lists for client certificates, signed by the authorities in tlsCAFile."`
	TLSAllowWithout    bool   `name:"tlsAllowConnectionsWithoutCertificates" help:"Accept clients without a certificate."`
	TLSAllowInvalid    bool   `name:"tlsAllowInvalidCertificates" help:"Accept clients whose certificate is not valid. They cannot log in with it."`
	TLSDisabledVersion string `name:"tlsDisabledProtocols" help:"TLS versions to disable, comma separated: TLS1_2, TLS1_3."`
}

// apply writes the flags into the server's configuration. A root user in the
// environment turns access control on, as in mongo's official image.
func (s *security) apply(cfg *server.Config) (err error) {
	if s.Auth && s.NoAuth {
		return errors.New("--auth and --noauth cannot be used together")
	}
	if cfg.RootUser, err = fromEnvironment("ROOT_USERNAME"); err != nil {
		return err
	}
	if cfg.RootPassword, err = fromEnvironment("ROOT_PASSWORD"); err != nil {
		return err
	}
	if (cfg.RootUser == "") != (cfg.RootPassword == "") {
		return errors.New("set both DUSKDB_ROOT_USERNAME and DUSKDB_ROOT_PASSWORD, or neither")
	}
	cfg.Auth = (s.Auth || cfg.RootUser != "") && !s.NoAuth
	cfg.TLS = server.TLS{
		Mode: s.TLSMode, CertificateKeyFile: s.TLSCertificate, CAFile: s.TLSCA,
		CertificateKeyFilePassword: s.TLSPassword, CRLFile: s.TLSCRL,
		AllowConnectionsWithoutCertificates: s.TLSAllowWithout, AllowInvalidCertificates: s.TLSAllowInvalid,
		DisabledProtocols: split(s.TLSDisabledVersion),
	}
	return nil
}

func split(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' })
}

// fromEnvironment reads DUSKDB_name or MONGO_INITDB_name; with _FILE behind
// its name a variable says which file holds the value.
func fromEnvironment(name string) (string, error) {
	for _, prefix := range []string{"DUSKDB_", "MONGO_INITDB_"} {
		text, path := os.Getenv(prefix+name), os.Getenv(prefix+name+"_FILE")
		if text != "" && path != "" {
			return "", fmt.Errorf("both %s and %s_FILE are set", prefix+name, prefix+name)
		}
		if path != "" {
			raw, err := os.ReadFile(path)
			if err != nil {
				return "", fmt.Errorf("%s_FILE: %w", prefix+name, err)
			}
			text = strings.TrimRight(string(raw), "\r\n")
		}
		if text != "" {
			return text, nil
		}
	}
	return "", nil
}

// hidden replaces a secret, as in mongod's getCmdLineOpts.
const hidden = "<password>"

// hideSecrets returns the command line without the passwords in it.
func hideSecrets(argv []string) []string {
	out := slices.Clone(argv)
	for i, arg := range out {
		flag, _, joined := strings.Cut(arg, "=")
		switch {
		case !isSecretFlag(flag):
		case joined:
			out[i] = flag + "=" + hidden
		case i+1 < len(out):
			out[i+1] = hidden
		}
	}
	return out
}

// isSecretFlag reports whether a flag takes a password, including flags
// without effect such as tlsClusterPassword.
func isSecretFlag(flag string) bool {
	return strings.HasPrefix(flag, "-") && (strings.HasSuffix(strings.ToLower(flag), "password") || strings.EqualFold(strings.TrimLeft(flag, "-"), "storageURI"))
}

// appendParsed writes what getCmdLineOpts shows. It does not include the root
// user.
func (s *security) appendParsed(b *value.Builder) {
	if s.Auth {
		b.StartDocument("security").String("authorization", "enabled").End()
	}
	if s.TLSMode == server.TLSDisabled {
		return
	}
	b.StartDocument("tls").String("mode", s.TLSMode).String("certificateKeyFile", s.TLSCertificate)
	if s.TLSCA != "" {
		b.String("CAFile", s.TLSCA)
	}
	if s.TLSCRL != "" {
		b.String("CRLFile", s.TLSCRL)
	}
	if s.TLSPassword != "" {
		b.String("certificateKeyFilePassword", hidden)
	}
	b.End()
}
