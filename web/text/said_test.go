package text

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var verbs = regexp.MustCompile(`%[-+# 0-9.]*[a-zA-Z]`)

// literal is the text that an expression of the core makes, with a hole for every value in it.
func literal(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind != token.STRING {
			return "", false
		}
		s, err := strconv.Unquote(e.Value)
		return s, err == nil
	case *ast.BinaryExpr:
		a, okA := literal(e.X)
		b, okB := literal(e.Y)
		if !okA && !okB || e.Op != token.ADD {
			return "", false
		}
		if !okA {
			a = "%s"
		}
		if !okB {
			b = "%s"
		}
		return verbs.ReplaceAllString(a+b, "%s"), true
	case *ast.CallExpr:
		if sel, ok := e.Fun.(*ast.SelectorExpr); ok && sel.Sel.Name == "Sprintf" && len(e.Args) > 0 {
			s, ok := literal(e.Args[0])
			return strings.ReplaceAll(verbs.ReplaceAllString(s, "%s"), "%%", "%"), ok
		}
	}
	return "", false
}

// core calls f with every file of the core.
func core(t *testing.T, root string, f func(name string, file *ast.File)) {
	t.Helper()
	fset, n := token.NewFileSet(), 0
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(fset, name, nil, 0)
		if err == nil {
			f(name, file)
			n++
		}
		return err
	})
	if err != nil || n == 0 {
		t.Fatal(root, n, err)
	}
}

// spoken are the sentences of the health checks, each with what it is.
func spoken(t *testing.T) map[string]string {
	out := map[string]string{}
	add := func(what string, e ast.Expr) {
		if s, ok := literal(e); ok && strings.Trim(s, "%s. ,:;()") != "" {
			out[s] = what
		}
	}
	core(t, "../../core/health", func(_ string, file *ast.File) {
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				id, ok := n.Fun.(*ast.Ident)
				switch {
				case !ok || len(n.Args) != 2:
				case id.Name == "newFinding":
					add("title", n.Args[1])
				case id.Name == "plural":
					if s, ok := literal(n.Args[1]); ok {
						out["%s "+s] = "count"
					}
				}
			case *ast.AssignStmt:
				for i, l := range n.Lhs {
					if sel, ok := l.(*ast.SelectorExpr); ok && i < len(n.Rhs) && slices.Contains([]string{"Title", "Detail", "Hudi"}, sel.Sel.Name) && n.Tok == token.ASSIGN {
						add(strings.ToLower(sel.Sel.Name), n.Rhs[i])
					}
				}
			case *ast.KeyValueExpr:
				if k, ok := n.Key.(*ast.Ident); ok && (k.Name == "Title" || k.Name == "Text" || k.Name == "What") {
					add(strings.ToLower(k.Name), n.Value)
				}
			}
			return true
		})
	})
	return out
}

func catalogue(t *testing.T) Catalogue {
	doc, err := os.ReadFile("zh.json")
	if err != nil {
		t.Fatal(err)
	}
	list, err := Parse(doc)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestHealthSpeaks: whatever a health check says has a Chinese text, and no such text is of a sentence that the core does
// not say any more.
func TestHealthSpeaks(t *testing.T) {
	list, want := catalogue(t), spoken(t)
	if len(want) < 120 {
		t.Errorf("only %d sentences were found", len(want))
	}
	missing := map[string]string{}
	for s, what := range want {
		if list[corePrefix+s] == "" {
			missing[s] = what
		}
	}
	if len(missing) > 0 {
		doc, _ := json.MarshalIndent(missing, "", " ")
		t.Errorf("%d sentences have no translation: %s", len(missing), doc)
	}
	says, all := map[string]bool{}, strings.Builder{}
	for _, root := range []string{"../../core", "../../fsadapter"} {
		core(t, root, func(_ string, file *ast.File) {
			ast.Inspect(file, func(n ast.Node) bool {
				if e, ok := n.(ast.Expr); ok {
					if s, ok := literal(e); ok {
						says[verbs.ReplaceAllString(s, "%s")] = true
						all.WriteString(verbs.ReplaceAllString(s, "%s") + "\x00")
						for _, part := range sentences(verbs.ReplaceAllString(s, "%s")) {
							says[part] = true
						}
					}
				}
				return true
			})
		})
	}
	for k := range list {
		s, ok := strings.CutPrefix(k, corePrefix)
		if ok && !says[s] && want[s] == "" && !slices.Contains(units, s) && !joined(s, all.String()) {
			t.Errorf("the core does not say %q", s)
		}
	}
}

// joined reports whether the core says a sentence in pieces, which it puts together: what stands around its values must
// be in what the core says, or each part of it that a stop, a comma or a bracket ends, in
// two pieces at most.
func joined(s, all string) bool {
	for _, around := range strings.Split(s, "%s") {
		if around = strings.Trim(around, " "); strings.Contains(all, around) {
			continue
		}
		for _, part := range strings.FieldsFunc(around, func(r rune) bool { return strings.ContainsRune(".,:;()[]", r) }) {
			part = strings.TrimSpace(part)
			found := strings.Contains(all, part)
			for i, r := range part {
				found = found || r == ' ' && strings.Contains(all, part[:i]) && strings.Contains(all, part[i+1:])
			}
			if !found {
				return false
			}
		}
	}
	return true
}

func TestJoined(t *testing.T) {
	const all = "%s %s in %s\x00Removed\x00; keeps what is needed from \x00 on\x00"
	for s, want := range map[string]bool{"Removed %s in %s; keeps what is needed from %s on.": true, "Removed %s of %s": false, "Deleted %s in %s": false, "on: %s": true, "Removed by %s": false, "on Removed": true} {
		if joined(s, all) != want {
			t.Errorf("%q: %v", s, !want)
		}
	}
}

// units are what the core joins from single words.
var units = []string{"%s second", "%s minute", "%s hour", "%s day", "%s byte", "%s record", "header count", "footer count",
	"Restores the table by undoing %s", "Restored the table by undoing %s", "Restores the table to %s by undoing %s", "Restored the table to %s by undoing %s",
	"Builds the index partitions %s of the metadata table", "Built the index partitions %s of the metadata table"}

func TestSaid(t *testing.T) {
	t.Cleanup(func() { present.Store(nil) })
	if Said("Small base files") != "Small base files" {
		t.Error("English stays")
	}
	Use(Chinese, Catalogue{
		"core|Small base files": "小的基础文件",
		"core|%s file":          "%s 个文件",
		"core|%s that completed commits wrote are not in %s.": "%[2]s 中没有已完成提交所写的 %[1]s。",
		"core|%s are on the timeline, from %s on.%s":          "时间线上有 %s，从 %s 起。%s",
		"core|The oldest that holds it is %s.":                "最老的是 %s。",
		"core|Readers pass them over.":                        "读取时跳过。",
		"core|%s: the clocks differ.":                         "%s：时钟不一致。",
		"core|%s of %s":                                       "%[2]s 中的 %[1]s",
		"core|ordering %s is above %s":                        "排序值 %s 大于 %s",
		"core|against the base: %s":                           "与基础相比：%s",
		"core|type":                                           "类型",
		"core|Because of this: %s":                            "原因是：%s",
		"core|%s base file":                                   "%s 个基础文件",
		"Rows":                                                "行",
	})
	for en, want := range map[string]string{
		"Small base files": "小的基础文件",
		"3 files that completed commits wrote are not in the listing.":               "the listing 中没有已完成提交所写的 3 个文件。",
		"1 file that completed commits wrote are not in p=1.":                        "p=1 中没有已完成提交所写的 1 个文件。",
		"12 files are on the timeline, from 2026 on. The oldest that holds it is x.": "时间线上有 12 个文件，从 2026 起。最老的是 x。",
		"12 files are on the timeline, from 2026 on.":                                "时间线上有 12 个文件，从 2026 起。",
		"Readers pass them over. Nobody knows why.":                                  "读取时跳过。 Nobody knows why.",
		"Nobody knows why. Readers pass them over.":                                  "Nobody knows why. 读取时跳过。",
		"Nobody knows why. Or when.":                                                 "Nobody knows why. Or when.",
		"4 mice":                                                                     "4 mice",
		"Rows":                                                                       "Rows",
		"3 files of 8 files":                                                         "8 个文件 中的 3 个文件",
		"":                                                                           "",
		"the base file was read":                                                     "the base file was read",
		"Row 1: the clocks differ":                                                   "Row 1: the clocks differ",
		"Ordering 3 is above 2.":                                                     "排序值 3 大于 2。",
		"Ordering 3 is above 2; against the base: ordering 3 is above 1.": "排序值 3 大于 2；与基础相比：排序值 3 大于 1。",
		"against the base: ordering 3 is above 1":                         "与基础相比：排序值 3 大于 1",
		"type":                     "类型",
		"ordering type is above 2": "排序值 type 大于 2",
		"Because of this: Readers pass them over.": "原因是：读取时跳过。",
	} {
		if got := Said(en); got != want {
			t.Errorf("%q: %q, not %q", en, got, want)
		}
	}
}
