package evolve

import "testing"

// FuzzParse: no text of a schema or a history may panic, and one that is taken can be used.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"max_column_id":9,"version_id":20260101000000000,"type":"record","fields":[{"id":0,"name":"id","optional":true,"type":"int"},{"id":1,"name":"m","optional":false,"type":{"type":"map","key_id":2,"value_id":3,"value_optional":true,"key":"string","value":{"type":"array","element_id":4,"element":"decimal(10,2)","element_optional":true}}}]}`))
	f.Add([]byte(`{"schemas":[{"version_id":1,"type":"record","fields":[]}]}`))
	f.Add([]byte(`{"type":"record","fields":[{"id":0,"name":"a","type":{"type":"record","fields":[{"id":0,"name":"a","type":"int"}]}}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if s, err := Parse(text); err == nil {
			s.Type()
			Map(s, s)
		}
		if h, err := ParseHistory(text); err == nil {
			h.At("20240101000000000")
		}
	})
}
