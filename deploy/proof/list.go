package main

import (
	"io"
)

func list(out io.Writer, folders []folder) error { return nil }
