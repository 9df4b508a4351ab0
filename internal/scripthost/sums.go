package scripthost

import (
	"bytes"
	"cmp"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"context"
	"crypto/hmac"
	"crypto/md5"
	"crypto/rand"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha3"
	"crypto/sha512"
	"encoding/binary"
	"encoding/json"
	"errors"
	"github.com/helve-dev/helve/internal/script"
	"hash"
	"io"
)

const (
	// maxUnpacked bounds the size of decompressed data: a few bytes can stand for very many.
	maxUnpacked = 128 << 20
	// maxMade bounds bytes that are made out of nothing.
	maxMade = 64 << 20
)

// CryptoOperations are crypto.* and zlib.*, by their names.
func CryptoOperations() map[string]func(ctx context.Context, arg script.Data) (script.Data, error) {
	return map[string]func(context.Context, script.Data) (script.Data, error){
		"crypto.hash":   hashOp,
		"crypto.hmac":   hashOp,
		"crypto.pbkdf2": deriveOp,
		"crypto.random": randomOp,
		"zlib.run":      packOp,
	}
}

// sized refuses to make more bytes than is sensible.
func sized(n, most int) error {
	if n < 0 || n > most {
		return &script.Failure{Name: "RangeError", Message: "The value of \"size\" is out of range", Code: "ERR_OUT_OF_RANGE"}
	}
	return nil
}

func randomOp(_ context.Context, arg script.Data) (script.Data, error) {
	var a struct{ N int }
	if err := json.Unmarshal(arg.JSON, &a); err != nil {
		return script.Data{}, err
	}
	if err := sized(a.N, maxMade); err != nil {
		return script.Data{}, err
	}
	raw := make([]byte, a.N)
	_, err := rand.Read(raw)
	return script.Data{Raw: raw}, err
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

// hashNamed is newHash for names that scripts use.
func hashNamed(alg string) (func() hash.Hash, error) {
	if made := newHash(alg); made != nil {
		return made, nil
	}
	return nil, &script.Failure{Message: "Digest method not supported"}
}

func hashOp(_ context.Context, arg script.Data) (script.Data, error) {
	var a struct {
		Alg string
		Key *[]byte
	}
	if err := json.Unmarshal(arg.JSON, &a); err != nil {
		return script.Data{}, err
	}
	made, err := hashNamed(a.Alg)
	if err != nil {
		return script.Data{}, err
	}
	h := made()
	if a.Key != nil {
		h = hmac.New(made, *a.Key)
	}
	h.Write(arg.Raw)
	return script.Data{Raw: h.Sum(nil)}, nil
}

type deriveArg struct {
	Alg                string
	Password, Salt     []byte
	Iterations, Length int
}

func deriveOp(ctx context.Context, arg script.Data) (script.Data, error) {
	var a deriveArg
	if err := json.Unmarshal(arg.JSON, &a); err != nil {
		return script.Data{}, err
	}
	made, err := hashNamed(a.Alg)
	if err != nil {
		return script.Data{}, err
	}
	if err := cmp.Or(sized(a.Length, 1<<20), sized(a.Iterations, 1<<31-1)); err != nil {
		return script.Data{}, err
	}
	key, err := a.key(ctx, made)
	return script.Data{Raw: key}, err
}

// key derives a key by PBKDF2. It ends with its context, because the script chooses the number of
// rounds.
func (a deriveArg) key(ctx context.Context, made func() hash.Hash) ([]byte, error) {
	mac := hmac.New(made, a.Password)
	key := make([]byte, 0, a.Length+mac.Size())
	sum := make([]byte, 0, mac.Size())
	for block := uint32(1); len(key) < a.Length; block++ {
		mac.Reset()
		mac.Write(a.Salt)
		mac.Write(binary.BigEndian.AppendUint32(nil, block))
		sum = mac.Sum(sum[:0])
		from := len(key)
		key = append(key, sum...)
		for i := 1; i < a.Iterations; i++ {
			if i%1024 == 0 && ctx.Err() != nil {
				return nil, ctx.Err()
			}
			mac.Reset()
			mac.Write(sum)
			sum = mac.Sum(sum[:0])
			for n, b := range sum {
				key[from+n] ^= b
			}
		}
	}
	return key[:a.Length], ctx.Err()
}

type packArg struct {
	Format string
	Unpack bool
	Level  *int
	Max    int64
}

func packOp(ctx context.Context, arg script.Data) (script.Data, error) {
	a := packArg{}
	if err := json.Unmarshal(arg.JSON, &a); err != nil {
		return script.Data{}, err
	}
	if a.Unpack {
		return decompress(ctx, a, arg.Raw)
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
		return script.Data{}, err
	}
	if _, err := w.Write(arg.Raw); err != nil {
		return script.Data{}, err
	}
	err = w.Close()
	return script.Data{Raw: out.Bytes()}, err
}

func decompress(ctx context.Context, a packArg, raw []byte) (script.Data, error) {
	in := bytes.NewReader(raw)
	if a.Format == "auto" {
		a.Format = "deflate"
		if bytes.HasPrefix(raw, []byte{0x1f, 0x8b}) {
			a.Format = "gzip"
		}
	}
	if a.Format == "gzip" && len(raw) > 0 && !bytes.HasPrefix(raw, []byte{0x1f, 0x8b}) {
		return script.Data{}, damaged(gzip.ErrHeader)
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
		return script.Data{}, damaged(err)
	}
	most := int64(maxUnpacked)
	if a.Max > 0 {
		most = min(most, a.Max)
	}
	out, err := io.ReadAll(io.LimitReader(&sumsMortal{ctx, r}, most+1))
	switch {
	case ctx.Err() != nil:
		return script.Data{}, ctx.Err()
	case err != nil:
		return script.Data{}, damaged(err)
	case int64(len(out)) > most:
		return script.Data{}, &script.Failure{Name: "RangeError", Message: "Cannot create a Buffer larger than the limit", Code: "ERR_BUFFER_TOO_LARGE"}
	}
	return script.Data{Raw: out}, nil
}

// A sumsMortal is a reader that ends with its context.
type sumsMortal struct {
	ctx  context.Context
	from io.Reader
}

func (m *sumsMortal) Read(to []byte) (int, error) {
	if err := m.ctx.Err(); err != nil {
		return 0, err
	}
	return m.from.Read(to)
}

// damaged returns zlib's message for data that cannot be decompressed.
func damaged(err error) error {
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return &script.Failure{Message: "unexpected end of file", Code: "Z_BUF_ERROR"}
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, zlib.ErrHeader):
		return &script.Failure{Message: "incorrect header check", Code: "Z_DATA_ERROR"}
	case errors.Is(err, gzip.ErrChecksum), errors.Is(err, zlib.ErrChecksum):
		return &script.Failure{Message: "incorrect data check", Code: "Z_DATA_ERROR"}
	}
	return &script.Failure{Message: "invalid stored block lengths", Code: "Z_DATA_ERROR"}
}
