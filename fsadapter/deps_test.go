//go:build !js

package fsadapter

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// The browser build reads over fetch alone: net/http and its TLS would add megabytes to
// the download, and none of what they do better can be used there.
func TestBrowserBuildHasNoNetHTTP(t *testing.T) {
	list := func(goos, goarch string) string {
		cmd := exec.Command("go", "list", "-deps", "./...")
		cmd.Env = append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Skipf("go list: %v\n%s", err, out)
		}
		return "\n" + string(out)
	}
	deps := list("js", "wasm")
	for _, bad := range []string{"net/http", "crypto/tls", "net"} {
		if strings.Contains(deps, "\n"+bad+"\n") {
			t.Errorf("the browser build imports %s", bad)
		}
	}
	if !strings.Contains(deps, "\nsyscall/js\n") || !strings.Contains(list("linux", "amd64"), "\nnet/http\n") {
		t.Error("the lists are not what they should be")
	}
}
