package media

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/md5"
	"crypto/rc4"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/ledongthuc/pdf"
)

// padded is a password of the older schemes in 32 bytes.
func padded(password string) string { return (password + cipherPad)[:32] }

// lock makes an encrypted file of the older schemes.
func lock(revision int, password string) *maker {
	owner := strings.Repeat("o", 32)
	id := "0123456789abcdef"
	n, version, filter := 16, 2, ""
	switch revision {
	case 2:
		n, version = 5, 1
	case 4:
		version, filter = 4, " /CF << /StdCF << /CFM /AESV2 /Length 16 /AuthEvent /DocOpen >> >> /StmF /StdCF /StrF /StdCF"
	}
	sum := md5.Sum(append(binary.LittleEndian.AppendUint32([]byte(padded(password)+owner), 0xfffffffc), id...))
	key := sum[:]
	if revision > 2 {
		for range 50 {
			sum = md5.Sum(key[:n])
			key = sum[:]
		}
	}
	key = key[:n]
	xor := func(key, b []byte) []byte {
		c, err := rc4.NewCipher(key)
		if err != nil {
			panic(err)
		}
		out := make([]byte, len(b))
		c.XORKeyStream(out, b)
		return out
	}
	var user []byte
	if revision == 2 {
		user = xor(key, []byte(cipherPad))
	} else {
		sum := md5.Sum([]byte(cipherPad + id))
		user = sum[:]
		for i := range byte(20) {
			k := bytes.Clone(key)
			for j := range k {
				k[j] ^= i
			}
			user = xor(k, user)
		}
		user = append(user, make([]byte, 16)...)
	}
	m := &maker{flate: true}
	m.crypt = func(num int, b []byte) []byte {
		own := append(bytes.Clone(key), byte(num), byte(num>>8), byte(num>>16), 0, 0)
		if revision == 4 {
			own = append(own, "sAlT"...)
		}
		sum := md5.Sum(own)
		if revision == 4 {
			return seal(sum[:], b)
		}
		return xor(sum[:min(n+5, 16)], b)
	}
	m.trailer = fmt.Sprintf("/ID [<%x> <%x>] /Encrypt << /Filter /Standard /V %d /R %d /Length %d /P -4 /O <%x> /U <%x>%s >>",
		id, id, version, revision, n*8, owner, user, filter)
	return m
}

// seal encrypts with AES as a stream is: a vector first, padding at the end.
func seal(key, b []byte) []byte {
	pad := aes.BlockSize - len(b)%aes.BlockSize
	b = append(bytes.Clone(b), bytes.Repeat([]byte{byte(pad)}, pad)...)
	iv := []byte("an initial value")
	block, err := aes.NewCipher(key)
	if err != nil {
		panic(err)
	}
	cipher.NewCBCEncrypter(block, iv).CryptBlocks(b, b)
	return append(iv, b...)
}

func TestPDFEncrypted(t *testing.T) {
	for _, revision := range []int{2, 3, 4} {
		t.Run(fmt.Sprint(revision), func(t *testing.T) {
			m := lock(revision, "").pages(0, hello("for everybody"))
			want := "--- page 1 of 1 ---\nfor everybody\n"
			b := m.plain()
			if _, got := readPDF(t, b); got != want {
				t.Errorf("text: %q", got)
			}
			if _, got := readPDF(t, m.packed()); got != want {
				t.Errorf("text, packed: %q", got)
			}
			// The library reads the same, so the file is what it claims to be.
			// (It does not shorten the keys of revision 2 as it should.)
			if revision > 2 {
				r, err := pdf.NewReader(bytes.NewReader(b), int64(len(b)))
				if err != nil {
					t.Fatal(err)
				}
				if s, err := r.Page(1).GetPlainText(nil); err != nil || strings.TrimSpace(s) != "for everybody" {
					t.Errorf("library: %q, %v", s, err)
				}
			}
			broken := bytes.Replace(b, []byte("startxref\n"), []byte("startxref\n9"), 1)
			if _, got := readPDF(t, broken); got != want {
				t.Errorf("text, repaired: %q", got)
			}

			b = lock(revision, "secret").pages(0, hello("for few")).plain()
			_, err := OpenPDF(t.Context(), bytes.NewReader(b), int64(len(b)))
			if err == nil || !strings.Contains(err.Error(), "needs a password") {
				t.Errorf("with a password: %v", err)
			}
		})
	}
}

func TestPDFEncryptedUnknown(t *testing.T) {
	for _, enc := range []string{
		"<< /Filter /FooBar >>", "<< /Filter /Standard /V 9 >>", "<< /Filter /Standard /V 5 /R 7 >>", "77 0 R", "(x)",
	} {
		m := &maker{trailer: "/Encrypt " + enc}
		b := m.pages(0, hello("x")).plain()
		_, err := OpenPDF(t.Context(), bytes.NewReader(b), int64(len(b)))
		if err == nil || !strings.Contains(err.Error(), "not supported") {
			t.Errorf("%s: %v", enc, err)
		}
	}
}

func unhexed(t *testing.T, s string) string {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestNewKey uses published values for the password "user".
func TestNewKey(t *testing.T) {
	for _, c := range []struct {
		revision   int
		u, ue, key string
	}{
		{
			5,
			"83f28fa057028a864ffdbdade04990f1be51c50ff96991970fc24103017ebbdd" + "75a904209f6516dc" + "a85ed7c06426bc28",
			"2396c3a9f53333ff9e9e21f2e74b7dbe197eac72c3f489f5eaa52a4a3c261111",
			"3f7288d1573d0c1ef901ba90fef8a3999733850a5098ce0f48bbe721e0ef0dd5",
		},
		{
			6,
			"5ee6cd4ba663fa4cdb801155391121a4962e67b0a09cbbe9a6dfa3fd93eb5fb8" + "53f59265c6f722c6" + "bf0b105eedd814af",
			"79d002b5e6599c3cfd8fd41c54b4c4b1ad80dd6b2e145eba87335f1814dffe24",
			"2adad527495b484f4326f88512bd3d226b4f1d383bb5d576712241d257ae16ef",
		},
	} {
		u, ue := unhexed(t, c.u), unhexed(t, c.ue)
		if got := fmt.Sprintf("%x", newKey("user", u, ue, c.revision)); got != c.key {
			t.Errorf("revision %d: key %s, want %s", c.revision, got, c.key)
		}
		if newKey("", u, ue, c.revision) != nil {
			t.Errorf("revision %d: the empty password opens it", c.revision)
		}
	}
}

func TestPDFEncryptedAES256(t *testing.T) {
	key := []byte("thirty-two bytes of a file's key")
	for _, password := range []string{"", "secret"} {
		hash := slowHash(password, "validate")
		block, err := aes.NewCipher(slowHash(password, "key salt"))
		if err != nil {
			t.Fatal(err)
		}
		ue := make([]byte, 32)
		cipher.NewCBCEncrypter(block, make([]byte, 16)).CryptBlocks(ue, key)
		m := &maker{flate: true, crypt: func(_ int, b []byte) []byte { return seal(key, b) }}
		m.trailer = fmt.Sprintf("/Encrypt << /Filter /Standard /V 5 /R 6 /Length 256 /P -4 /O <%x> /U <%x> /UE <%x> /CF << /StdCF << /CFM /AESV3 >> >> /StmF /StdCF /StrF /StdCF >>",
			make([]byte, 48), string(hash)+"validate"+"key salt", ue)
		b := m.pages(0, hello("in two hundred and fifty-six bits")).packed()
		if password != "" {
			if _, err := OpenPDF(t.Context(), bytes.NewReader(b), int64(len(b))); err == nil || !strings.Contains(err.Error(), "needs a password") {
				t.Errorf("with a password: %v", err)
			}
			continue
		}
		if _, got := readPDF(t, b); !strings.Contains(got, "fifty-six bits") {
			t.Errorf("text: %q", got)
		}
	}
}
