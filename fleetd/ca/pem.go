package ca

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
)

// What stands in the first line of a PEM block.
const (
	certificateBlock = "CERTIFICATE"
	requestBlock     = "CERTIFICATE REQUEST"
	keyBlock         = "PRIVATE KEY"
	listBlock        = "X509 CRL"
)

func encode(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

// EncodeCertificates writes certificates one after the other as PEM.
func EncodeCertificates(all ...*x509.Certificate) []byte {
	var out []byte
	for _, c := range all {
		out = append(out, encode(certificateBlock, c.Raw)...)
	}
	return out
}

// EncodeKey writes a key as PEM (PKCS #8).
func EncodeKey(key *ecdsa.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("write the key: %w", err)
	}
	return encode(keyBlock, der), nil
}

// ReadCertificate reads the first certificate of a PEM text.
func ReadCertificate(text []byte) (*x509.Certificate, error) {
	block, _ := pem.Decode(text)
	if block == nil || block.Type != certificateBlock {
		return nil, errors.New("this is no certificate in PEM")
	}
	return x509.ParseCertificate(block.Bytes)
}

// ReadKey reads a key of ours, of which the text holds nothing else.
func ReadKey(text []byte) (*ecdsa.PrivateKey, error) {
	block, rest := pem.Decode(text)
	if block == nil || block.Type != keyBlock || len(bytes.TrimSpace(rest)) > 0 {
		return nil, errors.New("this is no key in PEM (PKCS #8)")
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, err
	}
	ec, ok := key.(*ecdsa.PrivateKey)
	if !ok {
		return nil, errors.New("the key is not of ECDSA")
	}
	return ec, nil
}
