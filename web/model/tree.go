package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// NodeKind is the JSON type of a tree node.
type NodeKind uint8

// The kinds of nodes.
const (
	NullNode NodeKind = iota
	BoolNode
	NumberNode
	StringNode
	ObjectNode
	ArrayNode
)

// Node is one value of a JSON document, keys in the order they are stored.
type Node struct {
	Kind NodeKind
	// Key in the parent object; Index in the parent array when InArray.
	Key     string
	Index   int
	InArray bool
	// Text of a scalar: digits of a number as written, the plain text of a string.
	Text     string
	Children []*Node
	// Embedded is set on a string that itself holds a JSON object or array.
	Embedded bool
}

// maxDepth bounds nesting, so that hostile JSON can't exhaust the stack.
const maxDepth = 200

// ParseTree reads one JSON value. Numbers are kept as written.
func ParseTree(doc []byte) (*Node, error) {
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber()
	n, err := parseNode(d, 0)
	if err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is more after the JSON value")
	}
	return n, nil
}

func parseNode(d *json.Decoder, depth int) (*Node, error) {
	if depth > maxDepth {
		return nil, errors.New("the JSON is nested deeper than 200 levels")
	}
	tok, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch t := tok.(type) {
	case nil:
		return &Node{Kind: NullNode, Text: "null"}, nil
	case bool:
		if t {
			return &Node{Kind: BoolNode, Text: "true"}, nil
		}
		return &Node{Kind: BoolNode, Text: "false"}, nil
	case json.Number:
		return &Node{Kind: NumberNode, Text: t.String()}, nil
	case string:
		return &Node{Kind: StringNode, Text: t, Embedded: looksLikeJSON(t)}, nil
	case json.Delim:
		n := &Node{Kind: ArrayNode}
		if t == '{' {
			n.Kind = ObjectNode
		}
		for d.More() {
			key := ""
			if n.Kind == ObjectNode {
				k, err := d.Token()
				if err != nil {
					return nil, err
				}
				key, _ = k.(string)
			}
			c, err := parseNode(d, depth+1)
			if err != nil {
				return nil, err
			}
			c.Key, c.Index, c.InArray = key, len(n.Children), n.Kind == ArrayNode
			n.Children = append(n.Children, c)
		}
		_, err := d.Token() // the closing delimiter
		return n, err
	}
	return nil, errors.New("unexpected JSON token")
}

func looksLikeJSON(s string) bool {
	t := strings.TrimSpace(s)
	if len(t) < 2 || (t[0] != '{' && t[0] != '[') {
		return false
	}
	return json.Valid([]byte(t))
}

// Summary is a node in a few characters: "{3}", "[12]", or the scalar itself.
func (n *Node) Summary() string {
	switch n.Kind {
	case ObjectNode:
		if len(n.Children) == 0 {
			return "{}"
		}
		return "{ " + Plural(int64(len(n.Children)), "key") + " }"
	case ArrayNode:
		if len(n.Children) == 0 {
			return "[]"
		}
		return "[ " + Plural(int64(len(n.Children)), "item") + " ]"
	}
	return n.Text
}

// Name is the label of a node in its parent.
func (n *Node) Name() string {
	if n.InArray {
		return itoa(int64(n.Index))
	}
	return n.Key
}

// Line is one visible line of a tree with some nodes open.
type Line struct {
	Node  *Node
	Depth int
	// Path identifies the node: keys and indexes joined by "/", "~" and "/" in keys escaped as in a JSON pointer.
	Path string
	Open bool
	// Leaf is true when there is nothing to open.
	Leaf bool
}

// Lines lists the visible lines of a tree: open tells by path whether a node is open.
// Strings that hold JSON open into the value they hold. At most limit lines are given;
// cut tells that there are more.
func Lines(root *Node, open func(path string, depth int) bool, limit int) (lines []Line, cut bool) {
	var walk func(n *Node, depth int, path string) bool
	walk = func(n *Node, depth int, path string) bool {
		if len(lines) >= limit {
			cut = true
			return false
		}
		kids := n.Children
		if n.Embedded {
			if in, err := ParseTree([]byte(n.Text)); err == nil {
				kids = in.Children
			}
		}
		l := Line{Node: n, Depth: depth, Path: path, Leaf: len(kids) == 0}
		l.Open = !l.Leaf && open(path, depth)
		lines = append(lines, l)
		if !l.Open {
			return true
		}
		for _, c := range kids {
			if !walk(c, depth+1, path+"/"+pointerPart(c.Name())) {
				return false
			}
		}
		return true
	}
	if root.Kind == ObjectNode || root.Kind == ArrayNode {
		for _, c := range root.Children {
			if !walk(c, 0, "/"+pointerPart(c.Name())) {
				break
			}
		}
		return lines, cut
	}
	walk(root, 0, "/")
	return lines, cut
}

func pointerPart(s string) string {
	if !strings.ContainsAny(s, "~/") {
		return s
	}
	return strings.ReplaceAll(strings.ReplaceAll(s, "~", "~0"), "/", "~1")
}
