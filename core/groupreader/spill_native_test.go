//go:build !js

package groupreader_test

import (
	"testing"

	"hudiscope/core/spill"
)

func tempStore(t testing.TB) spill.Open { return spill.TempFile(t.TempDir()) }
