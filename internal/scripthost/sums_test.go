package scripthost

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/helve-dev/helve/internal/script"
	"pgregory.net/rapid"
)

type sumsArg = map[string]any

// do makes a request as scripts do.
func do(op string, a sumsArg, raw ...byte) (script.Data, error) {
	text, err := json.Marshal(a)
	if err != nil {
		return script.Data{}, err
	}
	return CryptoOperations()[op](context.Background(), script.Data{JSON: text, Raw: raw})
}

// sumsCodeOf is that of a failure, or else the error itself; "ok" for none.
func sumsCodeOf(err error) string {
	if fail, ok := errors.AsType[*script.Failure](err); ok {
		return fail.Code
	}
	if err != nil {
		return err.Error()
	}
	return "ok"
}

func sumsMust(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// The sums of "abc", and keys, by published vectors.
func TestSums(t *testing.T) {
	for alg, want := range map[string]string{
		"md5":        "900150983cd24fb0d6963f7d28e17f72",
		"sha1":       "a9993e364706816aba3e25717850c26c9cd0d89d",
		"sha224":     "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7",
		"sha256":     "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
		"sha512-256": "53048e2681941ef99b2e29b76b4c7dabe4c2d0c634fc6d46e0e2f13107e7af23",
		"sha3-256":   "3a985da74fe225b2045c172d6bd390bd855f086e3e9d525b46bfe24511431532",
	} {
		answer, err := do("crypto.hash", sumsArg{"alg": alg}, []byte("abc")...)
		if got := hex.EncodeToString(answer.Raw); err != nil || got != want {
			t.Errorf("%s: %s, %v", alg, got, err)
		}
	}
	for alg, size := range map[string]int{"sha384": 48, "sha512": 64, "sha512-224": 28, "sha3-224": 28, "sha3-384": 48, "sha3-512": 64} {
		if answer, err := do("crypto.hash", sumsArg{"alg": alg}); err != nil || len(answer.Raw) != size {
			t.Errorf("%s: %d bytes, %v", alg, len(answer.Raw), err)
		}
	}
	answer, err := do("crypto.hmac", sumsArg{"alg": "sha256", "key": []byte("Jefe")}, []byte("what do ya want for nothing?")...)
	if got := hex.EncodeToString(answer.Raw); err != nil || got != "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843" {
		t.Errorf("hmac: %s, %v", got, err)
	}
	for _, c := range []struct {
		iterations, length int
		want               string
	}{
		{1, 20, "0c60c80f961f0e71f3a9b524af6012062fe037a6"},
		{4096, 20, "4b007901b765489abead49d926f721d065a429c1"},
		{1, 0, ""},
	} {
		answer, err := do("crypto.pbkdf2", sumsArg{"alg": "sha1", "password": []byte("password"), "salt": []byte("salt"), "iterations": c.iterations, "length": c.length})
		if got := hex.EncodeToString(answer.Raw); err != nil || got != c.want {
			t.Errorf("pbkdf2: %s, %v", got, err)
		}
	}
	answer, err = do("crypto.pbkdf2", sumsArg{
		"alg": "sha1", "password": []byte("passwordPASSWORDpassword"), "salt": []byte("saltSALTsaltSALTsaltSALTsaltSALTsalt"), "iterations": 4096, "length": 25,
	})
	if got := hex.EncodeToString(answer.Raw); err != nil || got != "3d2eec4fe41c849b80c8d83662c0e44a8b291a964cf2f07038" {
		t.Errorf("a key of two blocks: %s, %v", got, err)
	}
	for op, a := range map[string]sumsArg{"crypto.hash": {"alg": "nope"}, "crypto.pbkdf2": {"alg": "sha1", "iterations": 1, "length": 1 << 30}, "crypto.random": {"n": 1 << 40}} {
		if _, err := do(op, a); err == nil {
			t.Errorf("%s %v went well", op, a)
		}
	}
	if a, _ := do("crypto.random", sumsArg{"n": 16}); len(a.Raw) != 16 || bytes.Equal(a.Raw, make([]byte, 16)) {
		t.Errorf("random: %x", a.Raw)
	}
}

// A key that takes for ever ends with its context.
func TestKeysEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := CryptoOperations()["crypto.pbkdf2"](ctx, script.Data{JSON: []byte(`{"alg":"sha512","password":"","salt":"","iterations":2000000000,"length":64}`)})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestPacking(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := rapid.SliceOf(rapid.Byte()).Draw(t, "data")
		format := rapid.SampledFrom([]string{"gzip", "deflate", "deflate-raw"}).Draw(t, "format")
		level := rapid.IntRange(-1, 9).Draw(t, "level")
		packed, err := do("zlib.run", sumsArg{"format": format, "level": level}, data...)
		if err != nil {
			t.Fatal(err)
		}
		if format != "deflate-raw" && rapid.Bool().Draw(t, "auto") {
			format = "auto"
		}
		back, err := do("zlib.run", sumsArg{"format": format, "unpack": true}, packed.Raw...)
		if err != nil || !bytes.Equal(back.Raw, data) {
			t.Fatalf("%q became %q, %v", data, back.Raw, err)
		}
	})
}

func TestUnpackingIsBounded(t *testing.T) {
	var bomb bytes.Buffer // what is not really packed is quick to unpack
	w, err := gzip.NewWriterLevel(&bomb, gzip.NoCompression)
	sumsMust(t, err)
	_, err = w.Write(make([]byte, 1<<20))
	sumsMust(t, err)
	sumsMust(t, w.Close())
	packed := bytes.Repeat(bomb.Bytes(), maxUnpacked>>20+1) // one after the other they are one text
	small, err := do("zlib.run", sumsArg{"format": "gzip"}, []byte(strings.Repeat("a", 1000))...)
	sumsMust(t, err)
	for _, c := range []struct {
		arg  sumsArg
		raw  []byte
		want string
	}{
		{sumsArg{"format": "gzip", "max": 1 << 40}, packed, "ERR_BUFFER_TOO_LARGE"},
		{sumsArg{"format": "gzip", "max": 999}, small.Raw, "ERR_BUFFER_TOO_LARGE"},
		{sumsArg{"format": "gzip", "max": 1000}, small.Raw, "ok"},
		{sumsArg{"format": "gzip"}, small.Raw[:15], "Z_BUF_ERROR"},
		{sumsArg{"format": "gzip"}, []byte("no gzip at all"), "Z_DATA_ERROR"},
		{sumsArg{"format": "deflate"}, []byte("no zlib at all"), "Z_DATA_ERROR"},
		{sumsArg{"format": "deflate-raw"}, []byte("\xff\xff\xff\xff"), "Z_DATA_ERROR"},
		{sumsArg{"format": "gzip"}, nil, "Z_BUF_ERROR"},
		{sumsArg{"format": "gzip"}, append(small.Raw[:len(small.Raw)-8:len(small.Raw)-8], make([]byte, 8)...), "Z_DATA_ERROR"},
	} {
		c.arg["unpack"] = true
		if _, err := do("zlib.run", c.arg, c.raw...); sumsCodeOf(err) != c.want {
			t.Errorf("%v: %v, want %s", c.arg, err, c.want)
		}
	}
}
