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

// Request is a robot's certificate signing request that passed ReadRequest.
type Request struct {
	Name string
	key  *ecdsa.PublicKey
}

// KeyDigest returns the SHA-256 of the public key, in hexadecimal.
func (r Request) KeyDigest() (string, error) {
	der, err := x509.MarshalPKIXPublicKey(r.key)
	if err != nil {
		return "", fmt.Errorf("encode the key of %s: %w", r.Name, err)
	}
	sum := sha256.Sum256(der)
	return hex.EncodeToString(sum[:]), nil
}

// Codes of refused requests.
const (
	CodeUnreadable   = "csr_unreadable"
	CodeNotProven    = "csr_not_proven"
	CodeWeakKey      = "weak_key"
	CodeWrongSubject = "wrong_subject"
)

// ReadRequest checks a certificate signing request of robot name: it must be signed with
// its own key, the key must be ECDSA P-256, and it must not name anything but the robot.
// Only the key of the request goes into the certificate.
func ReadRequest(text, name string) (Request, *schema.Problem) {
	refuse := func(code, detail, hint string) (Request, *schema.Problem) {
		p := schema.NewProblem("/csr", code, detail, hint)
		return Request{}, &p
	}
	switch {
	case !schema.ValidID(name):
		return refuse(CodeWrongSubject, fmt.Sprintf("%q cannot name a robot", name), "write a to z, 0 to 9 and -, at most 63 characters")
	case schema.ReservedName(name):
		return refuse(CodeWrongSubject, fmt.Sprintf("%q cannot name a robot", name),
			"give the robot another name: this one is reserved for fleetd instances and tools")
	}
	block, rest := pem.Decode([]byte(text))
	if block == nil || block.Type != requestBlock || len(rest) > 0 {
		return refuse(CodeUnreadable, "the request is not one PEM block of type "+requestBlock, "robotd enrol makes one")
	}
	csr, err := x509.ParseCertificateRequest(block.Bytes)
	if err != nil {
		return refuse(CodeUnreadable, "the request cannot be parsed: "+err.Error(), "robotd enrol makes one")
	}
	key, ok := csr.PublicKey.(*ecdsa.PublicKey)
	if !ok || key.Curve != elliptic.P256() {
		return refuse(CodeWeakKey, fmt.Sprintf("unsupported kind of key (%s)", kind(csr)), "use ECDSA with the curve P-256")
	}
	if err := csr.CheckSignature(); err != nil {
		return refuse(CodeNotProven, "the request is not signed with its own key", "make a new one with the robot's key")
	}
	if csr.Subject.CommonName != name {
		return refuse(CodeWrongSubject, fmt.Sprintf("the request names %q instead of %q", csr.Subject.CommonName, name),
			"make it for the robot's own name")
	}
	if len(csr.DNSNames)+len(csr.IPAddresses)+len(csr.EmailAddresses) > 0 || len(csr.URIs) > 1 ||
		len(csr.URIs) == 1 && csr.URIs[0].String() != schema.IdentityURN(schema.RoleRobot, name) {
		return refuse(CodeWrongSubject, "the request names more than the robot", "leave subject alternative names out")
	}
	return Request{Name: name, key: key}, nil
}

func kind(csr *x509.CertificateRequest) string {
	if key, ok := csr.PublicKey.(*ecdsa.PublicKey); ok {
		return "ECDSA " + key.Curve.Params().Name
	}
	return csr.PublicKeyAlgorithm.String()
}
