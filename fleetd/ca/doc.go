// Package ca is the fleet's certificate authority: a root, which signs one certificate and
// is then kept offline; an intermediate, which signs the certificates of robots, servers
// and fleetd instances; and the certificate revocation list (CRL).
//
// It decides the contents and lifetime of certificates, and which certificate signing
// requests are refused. Only keys and serial numbers are random; everything else follows
// from the arguments. It reads and writes no files: package vault does.
//
// All keys are ECDSA P-256: every TLS library supports them, and a single kind of key
// keeps the code simple.
package ca
