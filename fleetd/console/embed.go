//go:build !noweb

package console

import "embed"

// The build of the console is part of the tree, so that a build of fleetd needs no Node.
//
//go:embed all:web/dist
var files embed.FS

const folder = "web/dist"
