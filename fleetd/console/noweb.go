//go:build noweb

package console

import "embed"

// A fleetd without the console says so at its address.
//
//go:embed noweb
var files embed.FS

const folder = "noweb"
