package auth

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"time"
)

// maxPEM bounds the files of a certificate and a key.
const maxPEM = 1 << 20

// A Pair is a certificate with its key, ready to serve with.
type Pair struct {
	// Config is for Options.TLS.
	Config *tls.Config
	// Names are the hosts the certificate is for, without wildcards. They may go into Bind.Names:
	// only the owner has that certificate.
	Names []string
	// Warning, if not empty, must be shown to the user.
	Warning string
}

// LoadPair reads a certificate, with those of its issuers below it, and its key, both as PEM. An
// unusable pair is an error; one that browsers will refuse, because it has expired or is not yet
// valid, is a warning.
func LoadPair(certFile, keyFile string, now time.Time) (Pair, error) {
	cert, _, err := readPEM("certificate", certFile)
	if err != nil {
		return Pair{}, err
	}
	key, mode, err := readPEM("key", keyFile)
	if err != nil {
		return Pair{}, err
	}
	if !hasBlock(cert, "CERTIFICATE") {
		return Pair{}, fmt.Errorf("tls: %s holds no certificate in PEM (-----BEGIN CERTIFICATE-----)", certFile)
	}
	if hasBlock(key, "ENCRYPTED PRIVATE KEY") || strings.Contains(string(key), "Proc-Type: 4,ENCRYPTED") {
		return Pair{}, fmt.Errorf("tls: the key in %s is locked with a password; unlock it with: openssl pkey -in KEY -out NEWKEY", keyFile)
	}
	if !hasBlock(key, "PRIVATE KEY") {
		return Pair{}, fmt.Errorf("tls: %s holds no private key in PEM (-----BEGIN PRIVATE KEY-----)", keyFile)
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return Pair{}, fmt.Errorf("tls: the certificate in %s and the key in %s do not go together: %w", certFile, keyFile, err)
	}
	var warnings []string
	switch leaf := pair.Leaf; {
	case now.After(leaf.NotAfter):
		warnings = append(warnings, fmt.Sprintf("the certificate in %s has expired on %s: browsers and clients will refuse it; renew it and start again",
			certFile, leaf.NotAfter.UTC().Format(time.DateTime)))
	case now.Before(leaf.NotBefore):
		warnings = append(warnings, fmt.Sprintf("the certificate in %s is good from %s on only: check the clock of this machine",
			certFile, leaf.NotBefore.UTC().Format(time.DateTime)))
	}
	if runtime.GOOS != "windows" && mode&0o007 != 0 {
		warnings = append(warnings, fmt.Sprintf("the key in %s can be read by every user of this machine; run: chmod 600", keyFile))
	}
	return Pair{
		Config:  &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}},
		Names:   namesOf(pair.Leaf),
		Warning: strings.Join(warnings, "\n"),
	}, nil
}

func readPEM(what, file string) ([]byte, fs.FileMode, error) {
	if file == "" {
		return nil, 0, fmt.Errorf("tls: no file with the %s is named; a certificate and a key go together", what)
	}
	info, err := os.Stat(file) // links are usual here
	if err != nil {
		return nil, 0, fmt.Errorf("tls: the %s can not be read: %w", what, err)
	}
	if !info.Mode().IsRegular() {
		return nil, 0, fmt.Errorf("tls: the %s %s is not a regular file", what, file)
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, 0, fmt.Errorf("tls: the %s can not be read: %w", what, err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxPEM+1))
	if err != nil {
		return nil, 0, fmt.Errorf("tls: the %s can not be read: %w", what, err)
	}
	if len(text) > maxPEM {
		return nil, 0, fmt.Errorf("tls: the %s %s is larger than %d bytes: that is another file", what, file, maxPEM)
	}
	return text, info.Mode().Perm(), nil
}

// hasBlock reports whether there is a block whose type ends with kind, which covers "EC PRIVATE
// KEY" and the like.
func hasBlock(text []byte, kind string) bool {
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if strings.HasSuffix(block.Type, kind) {
			return true
		}
	}
	return false
}

// namesOf returns the hosts of a certificate that can be hosts of ours.
func namesOf(leaf *x509.Certificate) (names []string) {
	for _, name := range leaf.DNSNames {
		if isName(lower(name)) { // a wildcard is not a name
			names = append(names, lower(name))
		}
	}
	for _, ip := range leaf.IPAddresses {
		names = append(names, ip.String())
	}
	return names
}

// tlsConfig returns the config a guard serves with; nil stays nil.
func tlsConfig(c *tls.Config) (*tls.Config, error) {
	if c == nil {
		return nil, nil
	}
	if len(c.Certificates) == 0 && c.GetCertificate == nil {
		return nil, errors.New("tls: there is no certificate to serve with")
	}
	if c.GetConfigForClient != nil { // it could go below what holds here
		return nil, errors.New("tls: one config is for all clients; leave GetConfigForClient out")
	}
	c = c.Clone()
	c.MinVersion = max(c.MinVersion, tls.VersionTLS12)
	return c, nil
}
