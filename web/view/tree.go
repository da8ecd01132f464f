package view

import (
	"strings"

	"github.com/maxence-charriere/go-app/v9/pkg/app"

	"hudiscope/web/model"
	"hudiscope/web/text"
)

// JSONTree shows a JSON document as a tree that opens and closes, by mouse and by
// keyboard (the WAI-ARIA tree pattern).
type JSONTree struct {
	app.Compo

	// Doc is the document. Label names the tree.
	Doc   string
	Label string
	// Depth is how many levels are open at first.
	Depth int

	root   *model.Node
	err    error
	parsed string
	open   map[string]bool // paths whose state differs from the first one
	at     string          // path that has the focus
	more   int
}

const treePage = 400

func (c *JSONTree) parse() {
	if c.root != nil && c.parsed == c.Doc {
		return
	}
	c.parsed = c.Doc
	c.root, c.err = model.ParseTree([]byte(c.Doc))
	c.open, c.at, c.more = map[string]bool{}, "", treePage
}

func (c *JSONTree) isOpen(path string, depth int) bool {
	if v, ok := c.open[path]; ok {
		return v
	}
	return depth < c.Depth
}

// Render implements app.Composer.
func (c *JSONTree) Render() app.UI {
	c.parse()
	if c.err != nil {
		return Div("tree-error", app.P().Text(text.F("This is no valid JSON: %s", c.err.Error())), app.Pre().Class("raw").Text(c.Doc))
	}
	lines, cut := model.Lines(c.root, c.isOpen, c.more)
	if len(lines) == 0 {
		return Div("tree", Span("dim", c.root.Summary()))
	}
	at := c.at
	if at == "" {
		at = lines[0].Path
	}
	items := make([]app.UI, 0, len(lines)+1)
	for _, l := range lines {
		items = append(items, c.line(l, l.Path == at))
	}
	if cut {
		items = append(items, Button("small", text.T("Show more lines"), func(app.Context, app.Event) { c.more += 4 * treePage }))
	}
	return app.Div().Class("tree").Role("tree").Aria("label", c.Label).Body(items...).
		OnClick(c.click).
		On("keydown", c.key)
}

func (c *JSONTree) line(l model.Line, focus bool) app.UI {
	n := l.Node
	tab := -1
	if focus {
		tab = 0
	}
	mark := "leaf"
	if !l.Leaf {
		mark = "closed"
		if l.Open {
			mark = "open"
		}
	}
	value := n.Text
	class := "jv " + valueClass(n.Kind)
	switch {
	case n.Kind == model.ObjectNode || n.Kind == model.ArrayNode:
		value, class = n.Summary(), "jv dim"
		if l.Open {
			value = ""
		}
	case n.Embedded && l.Open:
		value, class = "JSON text", "jv dim"
	}
	const most = 600
	if len(value) > most {
		value = strings.ToValidUTF8(value[:most], "") + "…"
	}
	row := app.Div().Class("tree-line").Role("treeitem").TabIndex(tab).
		DataSet("path", l.Path).
		Aria("level", l.Depth+1).
		Style("--depth", itoa(l.Depth)).
		Body(
			Span("tree-mark "+mark, ""),
			Span("jk", n.Name()),
			Span(class, value),
		)
	if !l.Leaf {
		row = row.Aria("expanded", l.Open)
	}
	return row
}

func valueClass(k model.NodeKind) string {
	switch k {
	case model.NullNode:
		return "j-null"
	case model.BoolNode:
		return "j-bool"
	case model.NumberNode:
		return "j-num"
	case model.StringNode:
		return "j-str"
	}
	return ""
}

func (c *JSONTree) find(path string) (model.Line, []model.Line, int) {
	lines, _ := model.Lines(c.root, c.isOpen, c.more)
	for i, l := range lines {
		if l.Path == path {
			return l, lines, i
		}
	}
	return model.Line{}, lines, -1
}

func (c *JSONTree) click(_ app.Context, e app.Event) {
	path, ok := Closest(e, "[data-path]", "path")
	if !ok {
		return
	}
	// A click that ends a selection of text opens nothing.
	if s := app.Window().Call("getSelection"); s.Truthy() && s.Call("toString").String() != "" {
		return
	}
	l, _, i := c.find(path)
	if i < 0 {
		return
	}
	c.at = path
	if !l.Leaf {
		c.open[path] = !l.Open
	}
}

func (c *JSONTree) key(ctx app.Context, e app.Event) {
	path, ok := Closest(e, "[data-path]", "path")
	if !ok {
		return
	}
	l, lines, i := c.find(path)
	if i < 0 {
		return
	}
	to := -1
	switch e.Get("key").String() {
	case "ArrowDown":
		to = i + 1
	case "ArrowUp":
		to = i - 1
	case "Home":
		to = 0
	case "End":
		to = len(lines) - 1
	case "ArrowRight":
		if l.Leaf {
			return
		}
		if !l.Open {
			c.open[path] = true
		} else {
			to = i + 1
		}
	case "ArrowLeft":
		if l.Open {
			c.open[path] = false
		} else {
			for j := i - 1; j >= 0; j-- {
				if lines[j].Depth < l.Depth {
					to = j
					break
				}
			}
		}
	case "Enter", " ":
		if !l.Leaf {
			c.open[path] = !l.Open
		}
	default:
		return
	}
	e.PreventDefault()
	e.Call("stopPropagation")
	if to >= 0 && to < len(lines) {
		c.at = lines[to].Path
		FocusData(ctx.JSSrc(), "path", c.at)
	}
}
