package mcpclient

import (
	"bytes"
	"encoding/json"
	"math/big"
	"strconv"
	"strings"
)

// canonical returns the one form that all spellings of a JSON value have in
// common: keys sorted, no blanks, numbers as short as they can be.
func canonical(raw []byte) ([]byte, error) {
	v, err := decode(raw)
	if err != nil {
		return nil, err
	}
	return encode(v)
}

// decode reads one JSON value. Numbers keep their text, shortened where that
// loses nothing.
func decode(raw []byte) (any, error) {
	var v any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(raw, new(json.RawMessage)); err != nil {
		return nil, err // something comes after it
	}
	return shortened(v), nil
}

// encode writes a JSON value without the escapes that only HTML needs.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

func shortened(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			v[k] = shortened(x)
		}
	case []any:
		for i, x := range v {
			v[i] = shortened(x)
		}
	case json.Number:
		if f, exact := float(v); exact {
			b, _ := json.Marshal(f) // neither infinite nor NaN
			return json.Number(b)
		}
	}
	return v
}

// float returns a number as a float, and whether both are the same number to
// everybody who reads it: its shortest spelling is that very number.
func float(n json.Number) (f float64, exact bool) {
	s := n.String()
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return 0, false
	}
	if len(s) > 64 || f == 0 && strings.Trim(s, "-0.eE+") != "" {
		return f, false
	}
	was, ok := new(big.Rat).SetString(s)
	if !ok {
		return f, false
	}
	is, ok := new(big.Rat).SetString(strconv.FormatFloat(f, 'g', -1, 64))
	return f, ok && was.Cmp(is) == 0
}

// plain returns a decoded value as encoding/json makes it without UseNumber,
// and whether every number in it is exact.
func plain(v any) (any, bool) {
	exact := true
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, x := range v {
			y, ok := plain(x)
			out[k], exact = y, exact && ok
		}
		return out, exact
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			y, ok := plain(x)
			out[i], exact = y, exact && ok
		}
		return out, exact
	case json.Number:
		return float(v)
	}
	return v, true
}
