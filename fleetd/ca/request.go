package ca

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"fmt"

	"troupe/schema"
)

// Request is a robot's request for a certificate that may be granted.
type Request struct {
	Name string
	key  *ecdsa.PublicKey
}

// KeyDigest tells one key from another: the SHA-256 of its public half.
func (r Request) KeyDigest() (string, error) {
	der, err := x509.MarshalPKIXPublicKey(r.key)
	if err != nil {
		return "", fmt.Errorf("read the key of %s: %w", r.Name, err)
	}
	sum := sha256.Sum256(der)
	return hex.EncodeToString(sum[:]), nil
}

// Why a request for a certificate is refused.
const (
	CodeUnreadable   = "csr_unreadable"
	CodeNotProven    = "csr_not_proven"
	CodeWeakKey      = "weak_key"
	CodeWrongSubject = "wrong_subject"
)

// ReadRequest judges the request that robot name makes: who asks must hold the
// key, the key must be of the one kind that we sign, and nobody may ask for
// another's name. Nothing of the request but its key goes into the certificate.
func ReadRequest(text, name string) (Request, *schema.Problem) {
	refuse := func(code, detail, hint string) (Request, *schema.Problem) {
		p := schema.Fault("/csr", code, detail, hint)
		return Request{}, &p
	}
	if !schema.ValidID(name) || schema.ReservedName(name) {
		return refuse(CodeWrongSubject, fmt.Sprintf("%q cannot name a robot", name), "give the robot a name of its own: fleetd instances and people's tools go by this one")
	}
	block, rest := pem.Decode([]byte(text))
	if block == nil || block.Type != requestBlock || len(rest) > 0 {
		return refuse(CodeUnreadable, "the request is not one PEM block of type "+requestBlock, "robotd enrol makes one")
	}
	csr, err := x509.ParseCertificateRequest(block.Bytes)
	if err != nil {
		return refuse(CodeUnreadable, "the request cannot be read: "+err.Error(), "robotd enrol makes one that can")
	}
	key, ok := csr.PublicKey.(*ecdsa.PublicKey)
	if !ok || key.Curve != elliptic.P256() {
		return refuse(CodeWeakKey, fmt.Sprintf("the request is for a key of another kind (%s)", kind(csr)), "use ECDSA with the curve P-256")
	}
	if err := csr.CheckSignature(); err != nil {
		return refuse(CodeNotProven, "the request is not signed with the key that it is for", "make it anew with the robot's own key")
	}
	if csr.Subject.CommonName != name {
		return refuse(CodeWrongSubject, fmt.Sprintf("the request is for %q, and only %q may be asked for here", csr.Subject.CommonName, name), "ask under the robot's own name")
	}
	if len(csr.DNSNames)+len(csr.IPAddresses)+len(csr.EmailAddresses) > 0 || len(csr.URIs) > 1 ||
		len(csr.URIs) == 1 && csr.URIs[0].String() != schema.IdentityURN(schema.RoleRobot, name) {
		return refuse(CodeWrongSubject, "the request asks for more names than the robot's own", "leave alternative names out")
	}
	return Request{Name: name, key: key}, nil
}

func kind(csr *x509.CertificateRequest) string {
	if key, ok := csr.PublicKey.(*ecdsa.PublicKey); ok {
		return "ECDSA " + key.Curve.Params().Name
	}
	return csr.PublicKeyAlgorithm.String()
}
