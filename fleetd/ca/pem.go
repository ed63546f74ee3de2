package ca

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
)

// Types of PEM blocks.
const (
	certificateBlock = "CERTIFICATE"
	requestBlock     = "CERTIFICATE REQUEST"
	keyBlock         = "PRIVATE KEY"
	listBlock        = "X509 CRL"
)

func encode(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

// EncodeCertificates encodes certificates as consecutive PEM blocks.
func EncodeCertificates(all ...*x509.Certificate) []byte {
	var out []byte
	for _, c := range all {
		out = append(out, encode(certificateBlock, c.Raw)...)
	}
	return out
}

// EncodeKey encodes a key as PEM (PKCS #8).
func EncodeKey(key *ecdsa.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("encode key: %w", err)
	}
	return encode(keyBlock, der), nil
}

// ReadCertificate parses the first certificate in a PEM text.
func ReadCertificate(text []byte) (*x509.Certificate, error) {
	block, _ := pem.Decode(text)
	if block == nil || block.Type != certificateBlock {
		return nil, errors.New("not a certificate in PEM")
	}
	return x509.ParseCertificate(block.Bytes)
}

// ReadKey parses a key that EncodeKey encoded. The text must contain nothing else.
func ReadKey(text []byte) (*ecdsa.PrivateKey, error) {
	block, rest := pem.Decode(text)
	if block == nil || block.Type != keyBlock || len(bytes.TrimSpace(rest)) > 0 {
		return nil, errors.New("not a key in PEM (PKCS #8)")
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, err
	}
	ec, ok := key.(*ecdsa.PrivateKey)
	if !ok {
		return nil, errors.New("not an ECDSA key")
	}
	return ec, nil
}
