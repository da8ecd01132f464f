package predicate

// Error says that a condition can't be understood, or compares what can't be compared.
type Error struct {
	// Pos is the byte offset in the condition's text.
	Pos int
	// Message is a sentence; Try says what to write instead, "" where there is nothing to say.
	Message, Try string
}

// Error renders the finding.
func (e *Error) Error() string {
	if e.Try != "" {
		return e.Message + " " + e.Try
	}
	return e.Message
}
