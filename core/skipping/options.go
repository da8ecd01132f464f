package skipping

import (
	"fmt"
	"strconv"
	"strings"

	"hudiscope/core/release"
	"hudiscope/core/table"
)

// The options of a read that data skipping takes.
const (
	optSkipping = "hoodie.enable.data.skipping"
	optMetadata = "hoodie.metadata.enable"
	optMode     = "hoodie.fileIndex.dataSkippingFailureMode"
	optBuckets  = "hoodie.bucket.index.num.buckets"
	optHashKeys = "hoodie.bucket.index.hash.field"
	// UniqueKeysOption says that no record key stands in more than one file group, so that its place in the
	// record index is the only one.
	UniqueKeysOption = "hudiscope.unique.keys"
)

// Options say whether and how a read skips.
type Options struct {
	// Metadata and Skipping are hoodie.metadata.enable and hoodie.enable.data.skipping; Set tells that the
	// second was given and is not the release's default.
	Metadata, Skipping, Set bool
	// Strict fails a read when an index can't be read, instead of reading without skipping.
	Strict bool
	// UniqueKeys is UniqueKeysOption.
	UniqueKeys bool
	// Buckets is the number of buckets of a simple bucket index, 0 when it is not given; HashFields are the
	// columns that are hashed, nil for the record key.
	Buckets    int
	HashFields []string
}

// ParseOptions reads the options of a read; others are left alone.
func ParseOptions(options map[string]string, rules release.Rules) (Options, error) {
	o := Options{Metadata: rules.Skipping.Metadata, Skipping: rules.Skipping.Default}
	for _, x := range []struct {
		key string
		to  *bool
	}{{optSkipping, &o.Skipping}, {optMetadata, &o.Metadata}, {UniqueKeysOption, &o.UniqueKeys}} {
		v, ok := options[x.key]
		if !ok {
			continue
		}
		b, err := strconv.ParseBool(strings.ToLower(strings.TrimSpace(v)))
		if err != nil {
			return o, &table.OptionError{Key: x.key, Value: v, Why: "want true or false"}
		}
		*x.to = b
		o.Set = o.Set || x.key == optSkipping
	}
	switch v := options[optMode]; strings.ToLower(v) {
	case "", "fallback":
	case "strict":
		o.Strict = true
	default:
		return o, &table.OptionError{Key: optMode, Value: v, Why: "the modes are fallback and strict"}
	}
	if v, ok := options[optBuckets]; ok {
		n, err := strconv.Atoi(v)
		if err != nil || n < 1 {
			return o, &table.OptionError{Key: optBuckets, Value: v, Why: "want a number above zero"}
		}
		o.Buckets = n
	}
	for _, f := range strings.Split(options[optHashKeys], ",") {
		if f = strings.TrimSpace(f); f != "" {
			o.HashFields = append(o.HashFields, f)
		}
	}
	return o, nil
}

// Failure says that an index could not be read in strict mode.
type Failure struct {
	Index string
	Err   error
}

// Error renders the finding.
func (f *Failure) Error() string {
	return fmt.Sprintf("the index %s can't be read: %v", f.Index, f.Err)
}

// Unwrap returns what failed.
func (f *Failure) Unwrap() error { return f.Err }

// Try says what to do.
func (f *Failure) Try() string {
	return "Read with " + optMode + "=fallback, or with " + optSkipping + "=false: then nothing is left out by the indexes."
}
