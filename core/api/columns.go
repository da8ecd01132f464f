package api

import "encoding/json"

// The request about the values of columns.
const (
	OpColumnStats Op = "columnstats" // ColumnStatsRequest → ColumnStats
)

// SortKey is a column that rows are ordered by. Values compare as in Spark: NaN is above all numbers, text compares
// byte by byte. One that can't be understood is answered with a fault of Part "order".
type SortKey struct {
	Column string `json:"column"`
	Desc   bool   `json:"desc,omitempty"`
	// Nulls is "first" or "last"; "" is first in ascending and last in descending order.
	Nulls string `json:"nulls,omitempty"`
}

// ColumnStatsRequest asks for statistics of the columns of a query's rows. All rows are read, once.
type ColumnStatsRequest struct {
	Table
	// Options, Partitions, FileID and Condition as in RowsRequest; the statistics are of the columns chosen.
	Options    map[string]string `json:"options,omitempty"`
	Partitions []string          `json:"partitions,omitempty"`
	FileID     string            `json:"file_id,omitempty"`
	Condition
	// Top is how many of the most frequent values are told of each column, 0 to 100; 0 means 10.
	Top int `json:"top,omitempty"`
}

// ColumnStats are statistics of the rows of a query.
type ColumnStats struct {
	// Rows is the number of rows, exact.
	Rows    int64         `json:"rows"`
	Columns []ColumnFacts `json:"columns"`
	// AsOf and Rules as in Rows.
	AsOf     string    `json:"as_of"`
	Rules    string    `json:"rules"`
	Findings []Finding `json:"findings,omitempty"`
}

// ColumnFacts are the statistics of one column. Values are JSON, as in Rows.
type ColumnFacts struct {
	Column
	Nulls int64 `json:"nulls"`
	// Distinct is the number of different values, null not among them. Beyond a bound of memory it is an estimate,
	// which Approximate tells: the standard error is 0.8 %.
	Distinct    int64 `json:"distinct"`
	Approximate bool  `json:"approximate,omitempty"`
	// Min and Max are absent where no value is, or where values have no order (maps). Values longer than 1 KiB are
	// text cut there, which Cut tells.
	Min json.RawMessage `json:"min,omitempty"`
	Max json.RawMessage `json:"max,omitempty"`
	Cut bool            `json:"cut,omitempty"`
	// Mean is of numbers, absent for other types; NaN and infinities as text. Decimals have four more digits.
	Mean json.RawMessage `json:"mean,omitempty"`
	// NaN counts the values of a float or double that are no number.
	NaN int64 `json:"nan,omitempty"`
	// Top are the most frequent values, the first one first. Where Approximate is set they are those whose number
	// is certain to be more than Least; none may be.
	Top []ValueCount `json:"top,omitempty"`
	// Histogram counts the values of numbers, dates and times in intervals of one width, which follow each other
	// without a gap; NaN and infinities are left out.
	Histogram []Interval `json:"histogram,omitempty"`
}

// ValueCount is a value and how often it occurs: Count times, or between Least and Count times where Least is set.
type ValueCount struct {
	Value json.RawMessage `json:"value"`
	Count int64           `json:"count"`
	Least int64           `json:"least,omitempty"`
	// Cut tells that Value is only the beginning of a text.
	Cut bool `json:"cut,omitempty"`
}

// Interval counts the values from From on and below To. Numbers are JSON numbers, dates and times text.
type Interval struct {
	From  json.RawMessage `json:"from"`
	To    json.RawMessage `json:"to"`
	Count int64           `json:"count"`
}
