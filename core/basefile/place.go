package basefile

import "errors"

// placed is an error of decoding, with the byte of the file at which what could not be decoded begins: a
// page's header, a column chunk, the footer.
type placed struct {
	offset int64
	err    error
}

func (p *placed) Error() string { return p.err.Error() }

func (p *placed) Unwrap() error { return p.err }

// placeAt gives an error a place, unless it has a closer one.
func placeAt(offset int64, err error) error {
	var p *placed
	if err == nil || errors.As(err, &p) {
		return err
	}
	return &placed{offset, err}
}
