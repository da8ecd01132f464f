package lesson

import "testing"

// FuzzProgress: what a browser has stored, whoever wrote it, is a bounded progress that is written and read alike.
func FuzzProgress(f *testing.F) {
	for _, s := range []string{"rollback:0,1,2;cdc:0", ":1;a", "a:-1,99999999999999999999,199,200;a:0", ";;a:;b:,"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p := ParseProgress(s)
		if len(p) > mostRemembered {
			t.Fatalf("%d lessons", len(p))
		}
		for id, steps := range p {
			for i, n := range steps {
				if n < 0 || n >= mostRemembered || i > 0 && n <= steps[i-1] {
					t.Fatalf("%q: %v", id, steps)
				}
			}
		}
		if again := ParseProgress(p.String()); again.String() != p.String() {
			t.Fatalf("%q is %q, and that %q", s, p.String(), again.String())
		}
	})
}
