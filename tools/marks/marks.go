// Package marks writes what a tool measured into a document, between the marks of a part of it.
package marks

import (
	"fmt"
	"os"
	"strings"
)

// Replace puts text between the lines "<!-- part -->" and "<!-- /part -->" of a file. A file without them is an error,
// and stays as it is.
func Replace(file, part, text string) error {
	doc, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	open, end := "<!-- "+part+" -->\n", "<!-- /"+part+" -->"
	before, rest, ok := strings.Cut(string(doc), open)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		return fmt.Errorf("%s has no marks for %q", file, part)
	}
	return os.WriteFile(file, []byte(before+open+"\n"+strings.TrimSpace(text)+"\n\n"+end+after), 0o644)
}
