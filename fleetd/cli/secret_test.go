package cli

import (
	"strings"
	"testing"
)

func TestPromptWithoutALineIsNamed(t *testing.T) {
	sh := &shell{Streams: Streams{In: strings.NewReader("")}}
	if _, err := sh.secret("your old password", ""); err == nil || !strings.HasPrefix(err.Error(), "your old password: nothing was read; ") {
		t.Errorf("got %v", err)
	}
}
