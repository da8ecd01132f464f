package text

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The files whose texts the catalogue must hold.
var sources = []string{"../app", "../view", "../model", "../../wasm/app"}

// used are the keys of all texts of the user interface, with a place where each is used.
func used(t *testing.T) map[string]string {
	t.Helper()
	keys := map[string]string{}
	fset := token.NewFileSet()
	for _, dir := range sources {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v, %d files", dir, err, len(files))
		}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			f, err := parser.ParseFile(fset, name, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(f, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.FuncDecl:
					// The names of the views are given to T where they are shown.
					if n.Name.Name == "Title" && strings.HasSuffix(name, "model/state.go") {
						ast.Inspect(n.Body, func(n ast.Node) bool {
							if r, ok := n.(*ast.ReturnStmt); ok {
								add(t, keys, r.Results[0], "", fset)
							}
							return true
						})
					}
				case *ast.CallExpr:
					sel, ok := n.Fun.(*ast.SelectorExpr)
					if !ok {
						if id, ok := n.Fun.(*ast.Ident); ok && id.Name == "Plural" && len(n.Args) == 2 {
							add(t, keys, n.Args[1], "%s ", fset)
						}
						return true
					}
					pkg, _ := sel.X.(*ast.Ident)
					switch {
					case pkg == nil:
					case pkg.Name == "text" && (sel.Sel.Name == "T" || sel.Sel.Name == "Key"):
						add(t, keys, n.Args[0], "", fset)
					case pkg.Name == "text" && sel.Sel.Name == "F":
						if add(t, keys, n.Args[0], "", fset) {
							if lit, ok := n.Args[0].(*ast.BasicLit); ok {
								en, _ := strconv.Unquote(lit.Value)
								if got := strings.Count(strings.ReplaceAll(en, "%%", ""), "%s"); got != len(n.Args)-1 || strings.Count(strings.ReplaceAll(en, "%%", ""), "%") != got {
									t.Errorf("%v: %q has %d verbs for %d values", fset.Position(n.Pos()), en, got, len(n.Args)-1)
								}
							}
						}
					case pkg.Name == "model" && sel.Sel.Name == "Plural":
						add(t, keys, n.Args[1], "%s ", fset)
					}
				}
				return true
			})
		}
	}
	// What the loader shows before the program is there.
	for name, what := range map[string]*regexp.Regexp{"../static/boot.js": regexp.MustCompile(`say\("([^"]*)"`), "../../index.html": regexp.MustCompile(`(?s)data-text>(.*?)</`)} {
		doc, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		found := what.FindAllSubmatch(doc, -1)
		if len(found) < 2 {
			t.Errorf("%s: %d texts", name, len(found))
		}
		for _, m := range found {
			keys[strings.Join(strings.Fields(string(m[1])), " ")] = name
		}
	}
	return keys
}

// add adds the text that an expression is, all of them where it is a choice that the test can see.
func add(t *testing.T, keys map[string]string, e ast.Expr, before string, fset *token.FileSet) bool {
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return false // a variable: its texts are marked by Key
	}
	en, err := strconv.Unquote(lit.Value)
	if err != nil {
		t.Fatal(err)
	}
	if en != "" {
		keys[before+en] = fset.Position(e.Pos()).String()
	}
	return true
}

// TestComplete: the Chinese catalogue has every text of the page, and none that is not used.
func TestComplete(t *testing.T) {
	doc, err := os.ReadFile("zh.json")
	if err != nil {
		t.Fatal(err)
	}
	list, err := Parse(doc)
	if err != nil {
		t.Fatal(err)
	}
	keys := used(t)
	if len(keys) < 300 {
		t.Errorf("only %d texts were found", len(keys))
	}
	var missing, stale []string
	for k := range keys {
		if list[k] == "" {
			missing = append(missing, strconv.Quote(k)+"  "+keys[k])
		}
	}
	for k := range list {
		if _, ok := keys[k]; !ok && !strings.HasPrefix(k, corePrefix) {
			stale = append(stale, strconv.Quote(k))
		}
	}
	slices.Sort(missing)
	slices.Sort(stale)
	if len(missing) > 0 {
		t.Errorf("%d texts have no translation:\n%s", len(missing), strings.Join(missing, "\n"))
	}
	if len(stale) > 0 {
		t.Errorf("%d translations are of no text:\n%s", len(stale), strings.Join(stale, "\n"))
	}
}

func TestText(t *testing.T) {
	t.Cleanup(func() { present.Store(nil) })
	if T("Rows") != "Rows" || F("%s of %s", "1", "2") != "1 of 2" || Lang() != English {
		t.Error("English needs no catalogue")
	}
	if _, ok := N("3", "file"); ok {
		t.Error("English nouns have a plural")
	}
	list, err := Parse([]byte(`{"Rows": "行", "%s of %s": "%[2]s 中的 %[1]s", "%s file": "%s 个文件", "100%% of %s": "%s 的 100%%"}`))
	if err != nil {
		t.Fatal(err)
	}
	Use(Chinese, list)
	if Lang() != Chinese || T("Rows") != "行" || T("Columns") != "Columns" {
		t.Error(T("Rows"), T("Columns"))
	}
	if got := F("%s of %s", "1", "2"); got != "2 中的 1" {
		t.Error(got)
	}
	if got := F("100%% of %s", "x"); got != "x 的 100%" {
		t.Error(got)
	}
	if got, ok := N("3", "file"); got != "3 个文件" || !ok {
		t.Error(got)
	}
	if _, ok := N("3", "mouse"); ok {
		t.Error("an unknown noun was counted")
	}
	for _, bad := range []string{`{"%s of %s": "%s"}`, `{"Rows": "行 %s"}`, `[]`, `{"a": 1}`, ``} {
		if _, err := Parse([]byte(bad)); err == nil {
			t.Errorf("%s is no catalogue", bad)
		}
	}
}
