// Package ca issues what the machines of a fleet prove themselves with: a root
// that signs one certificate and is then kept away from every network, an
// intermediate that signs robots, servers and fleetd instances, and the list of what it
// signed and no longer stands by.
//
// It decides what a certificate says and for how long, and which request for one
// is refused. It draws keys and serial numbers; everything else follows from its
// arguments. It reads and writes no files: package vault does.
//
// Keys are ECDSA P-256 throughout: every TLS library of a robot can use them, and
// one kind of key is one kind of mistake.
package ca
