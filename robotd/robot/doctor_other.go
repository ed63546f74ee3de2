//go:build !linux

package robot

import (
	"errors"
	"math"
)

func synchronised() (bool, error) { return false, errors.ErrUnsupported }

func loadAverage() (float64, error) { return 0, errors.ErrUnsupported }

func free(string) uint64 { return math.MaxUint64 }
