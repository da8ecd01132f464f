package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"sync"

	"hudiscope/core/corrupt"
)

// Limits of Parse. A schema text comes from a file and is not trusted: it may be
// large, deep, or small but with named types that unfold to a huge tree.
const (
	// MaxText is the longest schema text in bytes.
	MaxText = 16 << 20
	// MaxDepth is the deepest nesting of types.
	MaxDepth = 64
	// MaxNodes is the largest number of types in the tree, named types counted at
	// every place they are used.
	MaxNodes = 1 << 15
)

// cacheMax bounds the texts that Parse remembers: their number and their bytes.
const (
	cacheMax      = 256
	cacheMaxBytes = 8 << 20
)

var cache struct {
	sync.Mutex
	types map[string]*Type
	bytes int
}

// Parse reads a schema from its JSON text. Texts seen lately are answered from a small
// process-wide cache, so equal texts usually give the same *Type. The error is a
// *corrupt.Error whose Offset is the byte within text and whose Part names the field.
func Parse[T ~string | ~[]byte](text T) (*Type, error) {
	cache.Lock()
	t := cache.types[string(text)]
	cache.Unlock()
	if t != nil {
		return t, nil
	}
	t, err := parse([]byte(text))
	if err != nil {
		return nil, err
	}
	cache.Lock()
	defer cache.Unlock()
	if cache.types == nil || len(cache.types) >= cacheMax || cache.bytes+len(text) > cacheMaxBytes {
		cache.types, cache.bytes = map[string]*Type{}, 0
	}
	if len(text) <= cacheMaxBytes {
		cache.types[string(text)] = t
		cache.bytes += len(text)
	}
	return t, nil
}

func parse(text []byte) (*Type, error) {
	if len(text) > MaxText {
		return nil, corrupt.At(0, "schema", fmt.Sprintf("at most %d bytes", MaxText), fmt.Sprintf("%d bytes", len(text)))
	}
	root, err := parseJSON(text)
	if err != nil {
		return nil, err
	}
	p := parser{text: text, names: map[string]*Type{}, open: map[string]bool{}, size: map[*Type]measure{}}
	return p.parse(root, "", 0)
}

// node is one JSON value with the place it was read from.
type node struct {
	start, end int
	kind       byte   // '{', '[', 's'tring, 'n'umber, 'b'ool, '0' null
	text       string // strings: unquoted; numbers: as written
	keys       []string
	items      []*node // elements, or the values of keys
}

// get returns the value of a key, the last one where a key is repeated.
func (n *node) get(key string) *node {
	for i := len(n.keys) - 1; i >= 0; i-- {
		if n.keys[i] == key {
			return n.items[i]
		}
	}
	return nil
}

// maxJSONDepth allows four levels of JSON for one level of types, and defaults.
const maxJSONDepth = 5 * MaxDepth

func parseJSON(text []byte) (*node, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	fail := func(err error) error {
		at := d.InputOffset()
		var s *json.SyntaxError
		if errors.As(err, &s) {
			at = s.Offset
		} else if errors.Is(err, io.EOF) {
			at, err = int64(len(text)), io.ErrUnexpectedEOF
		}
		return &corrupt.Error{Offset: at, Part: "schema text (JSON)", Err: err}
	}
	var value func(depth int) (*node, error)
	value = func(depth int) (*node, error) {
		if depth > maxJSONDepth {
			return nil, fail(fmt.Errorf("nested more than %d levels deep", maxJSONDepth))
		}
		start := int(d.InputOffset())
		for start < len(text) && strings.IndexByte(" \t\r\n:,", text[start]) >= 0 {
			start++
		}
		tok, err := d.Token()
		if err != nil {
			return nil, fail(err)
		}
		n := &node{start: start}
		switch x := tok.(type) {
		case json.Delim:
			n.kind = byte(x)
			for d.More() {
				if x == '{' {
					k, err := d.Token()
					if err != nil {
						return nil, fail(err)
					}
					n.keys = append(n.keys, k.(string)) // the decoder admits only strings here
				}
				v, err := value(depth + 1)
				if err != nil {
					return nil, err
				}
				n.items = append(n.items, v)
			}
			if _, err := d.Token(); err != nil {
				return nil, fail(err)
			}
		case string:
			n.kind, n.text = 's', x
		case json.Number:
			n.kind, n.text = 'n', x.String()
		case bool:
			n.kind = 'b'
		default:
			n.kind = '0'
		}
		n.end = int(d.InputOffset())
		return n, nil
	}
	root, err := value(0)
	if err != nil {
		return nil, err
	}
	if tok, err := d.Token(); err != io.EOF {
		if err == nil {
			err = fmt.Errorf("%v after the end of the schema", tok)
		}
		return nil, fail(err)
	}
	return root, nil
}

// measure is the size of the tree below a type: number of types and height.
type measure struct{ nodes, depth int }

type parser struct {
	text  []byte
	names map[string]*Type // by full name
	open  map[string]bool  // full names whose definition is not finished
	size  map[*Type]measure
	path  []string
}

func (p *parser) fail(n *node, format string, args ...any) error {
	part := "schema"
	if len(p.path) > 0 {
		part += " field " + strings.Join(p.path, ".")
	}
	return &corrupt.Error{Offset: int64(n.start), Part: part, Err: fmt.Errorf(format, args...)}
}

// done records the size of a finished type, whose parts are finished.
func (p *parser) done(n *node, t *Type, parts ...*Type) (*Type, error) {
	m := measure{nodes: 1}
	for _, c := range parts {
		m.nodes += p.size[c].nodes
		m.depth = max(m.depth, p.size[c].depth)
	}
	m.depth++
	if m.nodes > MaxNodes {
		return nil, p.fail(n, "the schema unfolds to more than %d types", MaxNodes)
	}
	if m.depth > MaxDepth {
		return nil, p.fail(n, "types are nested more than %d levels deep", MaxDepth)
	}
	p.size[t] = m
	return t, nil
}

func (p *parser) parse(n *node, space string, depth int) (*Type, error) {
	if depth > 2*MaxDepth {
		return nil, p.fail(n, "types are nested more than %d levels deep", MaxDepth)
	}
	switch n.kind {
	case 's':
		return p.reference(n, n.text, space)
	case '[':
		return p.union(n, space, depth)
	case '{':
		return p.object(n, space, depth)
	}
	return nil, p.fail(n, "a type must be a name, an object or a list of types")
}

var primitives = map[string]Kind{"null": Null, "boolean": Boolean, "int": Int, "long": Long, "float": Float, "double": Double, "bytes": Bytes, "string": String}

func (p *parser) reference(n *node, name, space string) (*Type, error) {
	if k, ok := primitives[name]; ok {
		return p.done(n, &Type{Kind: k})
	}
	full := name
	if !strings.Contains(name, ".") && space != "" {
		full = space + "." + name
	}
	for _, f := range []string{full, name} {
		if p.open[f] {
			return nil, p.fail(n, "type %s contains itself; recursive types can't be shown as columns", f)
		}
		if t := p.names[f]; t != nil {
			return t, nil
		}
	}
	if name == "" {
		return nil, p.fail(n, "the name of a type is empty")
	}
	return nil, p.fail(n, "type %q is not defined before it is used", name)
}

func (p *parser) union(n *node, space string, depth int) (*Type, error) {
	if len(n.items) > math.MaxUint8+1 {
		return nil, p.fail(n, "a union has %d branches, more than %d", len(n.items), math.MaxUint8+1)
	}
	branches := make([]*Type, len(n.items))
	seen := map[string]bool{}
	for i, c := range n.items {
		t, err := p.parse(c, space, depth+1)
		if err != nil {
			return nil, err
		}
		if t.Kind == Union || t.Nullable {
			return nil, p.fail(c, "a union can't contain a union directly")
		}
		key := t.Kind.String()
		if t.Name != "" {
			key = t.FullName()
		}
		if seen[key] {
			return nil, p.fail(c, "a union holds %s twice", key)
		}
		seen[key] = true
		branches[i] = t
	}
	if len(branches) == 2 && (branches[0].Kind == Null) != (branches[1].Kind == Null) {
		t := *branches[0]
		inner := branches[0]
		if t.Kind == Null {
			inner = branches[1]
			t = *inner
			t.NullFirst = true
		}
		t.Nullable = true
		p.size[&t] = p.size[inner]
		return &t, nil
	}
	return p.done(n, &Type{Kind: Union, Branches: branches}, branches...)
}

func (p *parser) object(n *node, space string, depth int) (*Type, error) {
	tn := n.get("type")
	if tn == nil {
		return nil, p.fail(n, `an object without "type" is not a type`)
	}
	if tn.kind != 's' {
		// {"type": {…}} wraps a type; Avro's Java parser accepts it.
		return p.parse(tn, space, depth+1)
	}
	var t *Type
	var err error
	switch tn.text {
	case "record", "error":
		return p.record(n, space, depth)
	case "enum":
		t, err = p.enum(n, space)
	case "fixed":
		t, err = p.fixed(n, space)
	case "array", "map":
		kind, key := Array, "items"
		if tn.text == "map" {
			kind, key = Map, "values"
		}
		en := n.get(key)
		if en == nil {
			return nil, p.fail(n, "%s without %q", tn.text, key)
		}
		p.path = append(p.path, map[Kind]string{Array: "element", Map: "value"}[kind])
		elem, err := p.parse(en, space, depth+1)
		if err != nil {
			return nil, err
		}
		p.path = p.path[:len(p.path)-1]
		t = &Type{Kind: kind, Elem: elem}
		p.logical(n, t)
		return p.done(n, t, elem)
	default:
		k, ok := primitives[tn.text]
		if !ok {
			return p.reference(tn, tn.text, space)
		}
		t = &Type{Kind: k}
	}
	if err != nil {
		return nil, err
	}
	p.logical(n, t)
	return p.done(n, t)
}

// logical reads logicalType. One that does not fit the type under it is ignored but
// for its name, as Avro's readers do.
func (p *parser) logical(n *node, t *Type) {
	ln := n.get("logicalType")
	if ln == nil || ln.kind != 's' {
		return
	}
	t.LogicalName = ln.text
	fits := func(l Logical, ok bool) {
		if ok {
			t.Logical = l
		}
	}
	switch ln.text {
	case "decimal":
		prec, ok := integer(n.get("precision"))
		scale, sok := integer(n.get("scale"))
		if n.get("scale") == nil {
			scale, sok = 0, true
		}
		if ok && sok && prec > 0 && scale >= 0 && scale <= prec && (t.Kind == Bytes || t.Kind == Fixed && prec <= maxPrecision(t.Size)) {
			t.Logical, t.Precision, t.Scale = Decimal, prec, scale
		}
	case "date":
		fits(Date, t.Kind == Int)
	case "time-millis":
		fits(TimeMillis, t.Kind == Int)
	case "time-micros":
		fits(TimeMicros, t.Kind == Long)
	case "timestamp-millis":
		fits(TimestampMillis, t.Kind == Long)
	case "timestamp-micros":
		fits(TimestampMicros, t.Kind == Long)
	case "timestamp-nanos":
		fits(TimestampNanos, t.Kind == Long)
	case "local-timestamp-millis":
		fits(LocalTimestampMillis, t.Kind == Long)
	case "local-timestamp-micros":
		fits(LocalTimestampMicros, t.Kind == Long)
	case "local-timestamp-nanos":
		fits(LocalTimestampNanos, t.Kind == Long)
	case "uuid":
		fits(UUID, t.Kind == String || t.Kind == Fixed && t.Size == 16)
	}
}

// maxPrecision is the number of decimal digits that always fit in size bytes of two's complement.
func maxPrecision(size int) int {
	if size <= 0 {
		return 0
	}
	return int(math.Floor(float64(8*size-1) * math.Log10(2)))
}

func integer(n *node) (int, bool) {
	if n == nil || n.kind != 'n' {
		return 0, false
	}
	x, err := strconv.ParseInt(n.text, 10, 32)
	return int(x), err == nil
}

// define gives t its name and enters it as being defined.
func (p *parser) define(n *node, t *Type, space string) error {
	nn := n.get("name")
	if nn == nil || nn.kind != 's' || nn.text == "" {
		return p.fail(n, "%s without a name", t.Kind)
	}
	if i := strings.LastIndexByte(nn.text, '.'); i >= 0 {
		t.Namespace, t.Name = nn.text[:i], nn.text[i+1:]
	} else {
		t.Name, t.Namespace = nn.text, space
		if sn := n.get("namespace"); sn != nil && sn.kind == 's' {
			t.Namespace = sn.text
		}
	}
	if t.Name == "" {
		return p.fail(nn, "the name %q ends with a dot", nn.text)
	}
	if dn := n.get("doc"); dn != nil && dn.kind == 's' {
		t.Doc = dn.text
	}
	full := t.FullName()
	if _, ok := primitives[full]; ok {
		return p.fail(nn, "%q is a primitive type and can't be defined", full)
	}
	if p.names[full] != nil || p.open[full] {
		return p.fail(nn, "type %s is defined twice", full)
	}
	return nil
}

func (p *parser) record(n *node, space string, depth int) (*Type, error) {
	t := &Type{Kind: Record}
	if err := p.define(n, t, space); err != nil {
		return nil, err
	}
	p.logical(n, t)
	fields := n.get("fields")
	if fields == nil || fields.kind != '[' {
		return nil, p.fail(n, `record %s without a list "fields"`, t.FullName())
	}
	full := t.FullName()
	p.open[full] = true
	seen := make(map[string]bool, len(fields.items))
	parts := make([]*Type, 0, len(fields.items))
	t.Fields = make([]Field, 0, len(fields.items))
	for _, fn := range fields.items {
		if fn.kind != '{' {
			return nil, p.fail(fn, "a field must be an object")
		}
		name, tn := fn.get("name"), fn.get("type")
		if name == nil || name.kind != 's' || name.text == "" {
			return nil, p.fail(fn, "a field without a name")
		}
		p.path = append(p.path, name.text)
		if tn == nil {
			return nil, p.fail(fn, "a field without a type")
		}
		if seen[name.text] {
			return nil, p.fail(name, "record %s has two fields of this name", full)
		}
		seen[name.text] = true
		ft, err := p.parse(tn, t.Namespace, depth+1)
		if err != nil {
			return nil, err
		}
		p.path = p.path[:len(p.path)-1]
		f := Field{Name: name.text, Type: ft}
		if dn := fn.get("doc"); dn != nil && dn.kind == 's' {
			f.HasDoc, f.Doc = true, dn.text
		}
		if dn := fn.get("default"); dn != nil {
			var b bytes.Buffer
			if err := json.Compact(&b, p.text[dn.start:dn.end]); err != nil {
				return nil, p.fail(dn, "default: %w", err)
			}
			f.HasDefault, f.Default = true, b.String()
		}
		t.Fields = append(t.Fields, f)
		parts = append(parts, ft)
	}
	delete(p.open, full)
	p.names[full] = t
	return p.done(n, t, parts...)
}

func (p *parser) enum(n *node, space string) (*Type, error) {
	t := &Type{Kind: Enum}
	if err := p.define(n, t, space); err != nil {
		return nil, err
	}
	symbols := n.get("symbols")
	if symbols == nil || symbols.kind != '[' {
		return nil, p.fail(n, `enum %s without a list "symbols"`, t.FullName())
	}
	seen := make(map[string]bool, len(symbols.items))
	for _, s := range symbols.items {
		if s.kind != 's' || seen[s.text] {
			return nil, p.fail(s, "enum %s: a symbol must be text and occur once", t.FullName())
		}
		seen[s.text] = true
		t.Symbols = append(t.Symbols, s.text)
	}
	p.names[t.FullName()] = t
	return t, nil
}

func (p *parser) fixed(n *node, space string) (*Type, error) {
	t := &Type{Kind: Fixed}
	if err := p.define(n, t, space); err != nil {
		return nil, err
	}
	size, ok := integer(n.get("size"))
	if !ok || size < 0 {
		return nil, p.fail(n, `fixed %s needs "size", a number of bytes`, t.FullName())
	}
	t.Size = size
	p.names[t.FullName()] = t
	return t, nil
}
