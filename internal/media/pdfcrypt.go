package media

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/md5"
	"crypto/rc4"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/binary"
)

// Many documents are encrypted only to carry a list of permissions, and open
// with the empty password. These are read; no other password is ever tried.

// cipherPad is what stands for an empty password in the older schemes.
const cipherPad = "\x28\xbf\x4e\x5e\x4e\x75\x8a\x41\x64\x00\x4e\x56\xff\xfa\x01\x08" +
	"\x2e\x2e\x00\xb6\xd0\x68\x3e\x80\x2f\x0c\xa9\xfe\x64\x53\x69\x7a"

// A method is how streams are encrypted. Strings outside of streams are
// encrypted too, but no text of a page is in them.
type method int

const (
	noCipher method = iota
	cipherRC4
	cipherAES
	cipherAES256
)

// A cipherKey opens an encrypted document. A nil key opens a plain one.
type cipherKey struct {
	key    []byte
	method method
}

// unlock makes the key of an encrypted document.
func (d *Document) unlock() error {
	if d.trailer["Encrypt"] == nil || d.key != nil {
		return nil
	}
	enc := d.dict(d.trailer["Encrypt"])
	if d.src.err != nil {
		return d.src.err
	}
	if d.name(enc["Filter"]) != "Standard" {
		return errCipher
	}
	k, length := &cipherKey{}, 0
	switch d.int(enc["V"]) {
	case 1:
		length, k.method = 5, cipherRC4
	case 2, 3:
		length, k.method = max(5, min(d.int(enc["Length"])/8, 16)), cipherRC4
	case 4:
		length, k.method = 16, d.method(enc)
	case 5:
		k.method = d.method(enc)
	default:
		return errCipher
	}
	switch r := d.int(enc["R"]); r {
	case 2, 3, 4:
		k.key = d.oldKey(enc, r, max(length, 5))
	case 5, 6:
		k.key = newKey("", d.text(enc["U"]), d.text(enc["UE"]), r)
	default:
		return errCipher
	}
	if k.key == nil {
		return errEncrypted
	}
	d.key = k
	clear(d.objects) // what was read so far was read without the key
	d.packs, d.parts = nil, 0
	return nil
}

func (d *Document) text(v any) string {
	s, _ := d.get(v).(string)
	return s
}

// method returns what the newer schemes do with streams.
func (d *Document) method(enc dict) method {
	filter := d.dict(d.dict(enc["CF"])[d.name(enc["StmF"])])
	switch d.name(filter["CFM"]) {
	case "V2":
		return cipherRC4
	case "AESV2":
		return cipherAES
	case "AESV3":
		return cipherAES256
	}
	return noCipher
}

// oldKey makes the key of revisions 2 to 4, or nil if the empty password does
// not open the document.
func (d *Document) oldKey(enc dict, r, length int) []byte {
	o, u := d.text(enc["O"]), d.text(enc["U"])
	if len(o) < 32 || len(u) < 32 {
		return nil
	}
	var id string
	if ids := d.arrayOf(d.trailer["ID"]); len(ids) > 0 {
		id = d.text(ids[0])
	}
	h := md5.New()
	h.Write([]byte(cipherPad + o[:32]))
	h.Write(binary.LittleEndian.AppendUint32(nil, uint32(d.int(enc["P"]))))
	h.Write([]byte(id))
	if open, ok := d.get(enc["EncryptMetadata"]).(bool); ok && !open && r >= 4 {
		h.Write([]byte("\xff\xff\xff\xff"))
	}
	key := h.Sum(nil)
	if r == 2 {
		key = key[:5]
		if string(arc4(key, []byte(cipherPad))) != u[:32] {
			return nil
		}
		return key
	}
	for range 50 {
		sum := md5.Sum(key[:length])
		key = sum[:]
	}
	key = key[:length]
	sum := md5.Sum([]byte(cipherPad + id))
	check := sum[:]
	for i := range byte(20) {
		turned := bytes.Clone(key)
		for j := range turned {
			turned[j] ^= i
		}
		check = arc4(turned, check)
	}
	if string(check) != u[:16] {
		return nil
	}
	return key
}

// newKey makes the key of revisions 5 and 6, or nil.
func newKey(password, u, ue string, r int) []byte {
	if len(u) < 48 || len(ue) < 32 {
		return nil
	}
	hash := func(salt string) []byte {
		if r == 6 {
			return slowHash(password, salt)
		}
		sum := sha256.Sum256([]byte(password + salt))
		return sum[:]
	}
	if string(hash(u[32:40])) != u[:32] {
		return nil
	}
	block, err := aes.NewCipher(hash(u[40:48]))
	if err != nil {
		return nil
	}
	key := []byte(ue[:32])
	cipher.NewCBCDecrypter(block, make([]byte, aes.BlockSize)).CryptBlocks(key, key)
	return key
}

// slowHash is the hash of revision 6.
func slowHash(password, salt string) []byte {
	sum := sha256.Sum256([]byte(password + salt))
	k := sum[:]
	for i, last := 0, 0; i < 64 || last > i-32; i++ {
		e := bytes.Repeat(append([]byte(password), k...), 64)
		block, err := aes.NewCipher(k[:16])
		if err != nil {
			return nil
		}
		cipher.NewCBCEncrypter(block, k[16:32]).CryptBlocks(e, e)
		rest := 0
		for _, c := range e[:16] {
			rest += int(c)
		}
		switch rest % 3 {
		case 0:
			s := sha256.Sum256(e)
			k = s[:]
		case 1:
			s := sha512.Sum384(e)
			k = s[:]
		default:
			s := sha512.Sum512(e)
			k = s[:]
		}
		last = int(e[len(e)-1])
	}
	return k[:32]
}

func arc4(key, b []byte) []byte {
	c, err := rc4.NewCipher(key)
	if err != nil {
		return nil
	}
	out := make([]byte, len(b))
	c.XORKeyStream(out, b)
	return out
}

// decryptStream returns the bytes of a stream in the clear.
func (k *cipherKey) decryptStream(b []byte, s *stream) []byte {
	if k == nil || s.dict["Type"] == name("XRef") || s.dict["Filter"] == name("Crypt") {
		return b
	}
	if list, ok := s.dict["Filter"].(array); ok && len(list) > 0 && list[0] == name("Crypt") {
		return b
	}
	m := k.method
	if m == noCipher {
		return b
	}
	key := k.key
	if m != cipherAES256 {
		own := append(bytes.Clone(k.key), byte(s.ref.num), byte(s.ref.num>>8), byte(s.ref.num>>16), byte(s.ref.gen), byte(s.ref.gen>>8))
		if m == cipherAES {
			own = append(own, "sAlT"...)
		}
		sum := md5.Sum(own)
		key = sum[:min(len(k.key)+5, 16)]
	}
	if m == cipherRC4 {
		return arc4(key, b)
	}
	block, err := aes.NewCipher(key)
	n := len(b) / aes.BlockSize * aes.BlockSize
	if err != nil || n < 2*aes.BlockSize {
		return nil
	}
	out := bytes.Clone(b[aes.BlockSize:n])
	cipher.NewCBCDecrypter(block, b[:aes.BlockSize]).CryptBlocks(out, out)
	if pad := int(out[len(out)-1]); pad >= 1 && pad <= aes.BlockSize {
		out = out[:len(out)-pad]
	}
	return out
}
