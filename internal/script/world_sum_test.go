//go:build unix

package script_test

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"context"
	"crypto/hmac"
	"crypto/md5"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha3"
	"crypto/sha512"
	"encoding/json"
	"errors"
	"hash"
	"io"

	"helve/internal/vm"
)

// sumOps are crypto.* and zlib.*.
func sumOps() map[string]operation {
	return map[string]operation{
		"crypto.hash":   hashOp,
		"crypto.hmac":   hashOp,
		"crypto.pbkdf2": deriveOp,
		"crypto.random": func(_ context.Context, arg vm.Data) (vm.Data, error) {
			var a struct{ N int }
			if err := json.Unmarshal(arg.JSON, &a); err != nil {
				return vm.Data{}, err
			}
			raw := make([]byte, a.N)
			_, err := rand.Read(raw)
			return vm.Data{Raw: raw}, err
		},
		"zlib.run": packOp,
	}
}

func newHash(alg string) func() hash.Hash {
	switch alg {
	case "md5":
		return md5.New
	case "sha1":
		return sha1.New
	case "sha224":
		return sha256.New224
	case "sha256":
		return sha256.New
	case "sha384":
		return sha512.New384
	case "sha512":
		return sha512.New
	case "sha512-224":
		return sha512.New512_224
	case "sha512-256":
		return sha512.New512_256
	case "sha3-224":
		return func() hash.Hash { return sha3.New224() }
	case "sha3-256":
		return func() hash.Hash { return sha3.New256() }
	case "sha3-384":
		return func() hash.Hash { return sha3.New384() }
	case "sha3-512":
		return func() hash.Hash { return sha3.New512() }
	}
	return nil
}

func hashOp(_ context.Context, arg vm.Data) (vm.Data, error) {
	var a struct {
		Alg string
		Key *[]byte
	}
	if err := json.Unmarshal(arg.JSON, &a); err != nil {
		return vm.Data{}, err
	}
	make := newHash(a.Alg)
	if make == nil {
		return vm.Data{}, &vm.Failure{Message: "Digest method not supported"}
	}
	h := make()
	if a.Key != nil {
		h = hmac.New(make, *a.Key)
	}
	h.Write(arg.Raw)
	return vm.Data{Raw: h.Sum(nil)}, nil
}

func deriveOp(_ context.Context, arg vm.Data) (vm.Data, error) {
	var a struct {
		Alg                string
		Password, Salt     []byte
		Iterations, Length int
	}
	if err := json.Unmarshal(arg.JSON, &a); err != nil {
		return vm.Data{}, err
	}
	key, err := pbkdf2.Key(newHash(a.Alg), string(a.Password), a.Salt, a.Iterations, a.Length)
	return vm.Data{Raw: key}, err
}

type packArg struct {
	Format string
	Unpack bool
	Level  *int
	Max    int64
}

func packOp(_ context.Context, arg vm.Data) (vm.Data, error) {
	a := packArg{}
	if err := json.Unmarshal(arg.JSON, &a); err != nil {
		return vm.Data{}, err
	}
	if a.Unpack {
		return unpack(a, arg.Raw)
	}
	level := -1
	if a.Level != nil {
		level = *a.Level
	}
	var out bytes.Buffer
	var w io.WriteCloser
	var err error
	switch a.Format {
	case "gzip":
		w, err = gzip.NewWriterLevel(&out, level)
	case "deflate":
		w, err = zlib.NewWriterLevel(&out, level)
	default:
		w, err = flate.NewWriter(&out, level)
	}
	if err != nil {
		return vm.Data{}, err
	}
	if _, err := w.Write(arg.Raw); err != nil {
		return vm.Data{}, err
	}
	err = w.Close()
	return vm.Data{Raw: out.Bytes()}, err
}

func unpack(a packArg, raw []byte) (vm.Data, error) {
	in := bytes.NewReader(raw)
	if a.Format == "auto" {
		a.Format = "deflate"
		if len(raw) > 1 && raw[0] == 0x1f && raw[1] == 0x8b {
			a.Format = "gzip"
		}
	}
	if a.Format == "gzip" && !bytes.HasPrefix(raw, []byte{0x1f, 0x8b}) {
		return vm.Data{}, damaged(gzip.ErrHeader)
	}
	var r io.Reader
	var err error
	switch a.Format {
	case "gzip":
		r, err = gzip.NewReader(in)
	case "deflate":
		r, err = zlib.NewReader(in)
	default:
		r = flate.NewReader(in)
	}
	if err != nil {
		return vm.Data{}, damaged(err)
	}
	if a.Max > 0 {
		r = io.LimitReader(r, a.Max+1)
	}
	out, err := io.ReadAll(r)
	if err != nil {
		return vm.Data{}, damaged(err)
	}
	if a.Max > 0 && int64(len(out)) > a.Max {
		return vm.Data{}, &vm.Failure{Name: "RangeError", Message: "Cannot create a Buffer larger than the limit", Code: "ERR_BUFFER_TOO_LARGE"}
	}
	return vm.Data{Raw: out}, nil
}

// damaged gives zlib's words for what can not be unpacked.
func damaged(err error) error {
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return &vm.Failure{Message: "unexpected end of file", Code: "Z_BUF_ERROR"}
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, zlib.ErrHeader):
		return &vm.Failure{Message: "incorrect header check", Code: "Z_DATA_ERROR"}
	case errors.Is(err, gzip.ErrChecksum), errors.Is(err, zlib.ErrChecksum):
		return &vm.Failure{Message: "incorrect data check", Code: "Z_DATA_ERROR"}
	}
	return &vm.Failure{Message: "invalid stored block lengths", Code: "Z_DATA_ERROR"}
}
