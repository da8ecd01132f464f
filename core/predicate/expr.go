// Package predicate is the condition of a query: the WHERE of SQL over the columns of a table, as
// Spark understands it. [Parse] reads the text, [Bind] finds the columns and the types and makes the
// casts explicit that Spark would make, and [Bound.Eval] decides rows by three-valued logic.
package predicate

// Expr is a node of a parsed condition. Pos is the byte offset in the text where it begins.
type Expr interface{ Pos() int }

// Op is an operator with two operands.
type Op string

// Comparison operators and arithmetic.
const (
	Eq       Op = "="
	NullSafe Op = "<=>"
	Ne       Op = "<>"
	Lt       Op = "<"
	Le       Op = "<="
	Gt       Op = ">"
	Ge       Op = ">="
	Add      Op = "+"
	Sub      Op = "-"
	Mul      Op = "*"
	Div      Op = "/"
	Mod      Op = "%"
)

// The nodes.
type (
	// Column is a column, or a field of a struct: Path has its parts.
	Column struct {
		At   int
		Path []string
	}
	// Literal is a constant. Value is nil (NULL), bool, string, *big.Rat with Text as it was
	// written (a number, with its suffix), []byte (X'…'), or for DATE and TIMESTAMP literals a string with
	// Kind "date" or "timestamp".
	Literal struct {
		At    int
		Kind  string // "null", "boolean", "string", "number", "date", "timestamp", "binary"
		Text  string
		Value any
	}
	// Binary compares or computes.
	Binary struct {
		At          int
		Op          Op
		Left, Right Expr
	}
	// And, Or and Not are of three-valued logic.
	And struct {
		At          int
		Left, Right Expr
	}
	Or struct {
		At          int
		Left, Right Expr
	}
	Not struct {
		At int
		X  Expr
	}
	// IsNull is IS NULL, or with Negated IS NOT NULL.
	IsNull struct {
		At      int
		X       Expr
		Negated bool
	}
	// In is IN (list); NOT IN is a Not of it.
	In struct {
		At   int
		X    Expr
		List []Expr
	}
	// Like is LIKE with an escape character, 0 for Spark's backslash.
	Like struct {
		At      int
		X       Expr
		Pattern Expr
		Escape  rune
	}
	// Element is an element of an array (from 0 on), the value of a key in a map, or a field of one: X[Key].Field.
	Element struct {
		At    int
		X     *Column
		Steps []Step
	}
	// Step is one of an Element: to an element or a value by its Key, or, where that is nil, to a Field.
	Step struct {
		Key   Expr
		Field string
	}
	// Case is CASE: the value of Then at the first condition of When that is true, or Else, which is nil for NULL.
	Case struct {
		At         int
		When, Then []Expr
		Else       Expr
	}
	// Cast is CAST(X AS Type), written or, by Bind, Implied. Type is Spark's name of the type, in small letters
	// in bound conditions ("int", "decimal(10,2)").
	Cast struct {
		At      int
		X       Expr
		Type    string
		Implied bool
	}
	// Call is a function of a small list (lower, upper, year, date_format, …; "negative" is the unary minus).
	Call struct {
		At   int
		Name string // lower case
		Args []Expr
	}
)

// Pos implements Expr.
func (e *Column) Pos() int  { return e.At }
func (e *Literal) Pos() int { return e.At }
func (e *Binary) Pos() int  { return e.At }
func (e *And) Pos() int     { return e.At }
func (e *Or) Pos() int      { return e.At }
func (e *Not) Pos() int     { return e.At }
func (e *IsNull) Pos() int  { return e.At }
func (e *In) Pos() int      { return e.At }
func (e *Like) Pos() int    { return e.At }
func (e *Cast) Pos() int    { return e.At }
func (e *Call) Pos() int    { return e.At }
func (e *Element) Pos() int { return e.At }
func (e *Case) Pos() int    { return e.At }
