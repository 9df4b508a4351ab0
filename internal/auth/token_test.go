package auth

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

func TestTokenMadeOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data", "helve", "token")
	first, err := Token(path)
	if err != nil {
		t.Fatal(err)
	}
	if raw, err := base64.RawURLEncoding.DecodeString(first); err != nil || len(raw) != 32 {
		t.Errorf("token %q: %v", first, err)
	}
	if err := checkToken(first); err != nil {
		t.Error(err)
	}
	again, err := Token(path)
	if err != nil || again != first {
		t.Errorf("second time: %v, same %v", err, again == first)
	}
	other, err := Token(path + "2")
	if err != nil || other == first {
		t.Errorf("another file: %v, same %v", err, other == first)
	}
	left, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(left) != 2 {
		t.Errorf("%d files are left: %v", len(left), err)
	}
}

// Whoever asks first, all get one token.
func TestTokenRace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "d", "token")
	got := make([]string, 16)
	var group sync.WaitGroup
	for i := range got {
		group.Go(func() {
			token, err := Token(path)
			if err != nil {
				t.Error(err)
			}
			got[i] = token
		})
	}
	group.Wait()
	for _, token := range got {
		if token != got[0] {
			t.Fatalf("tokens differ: %q", got)
		}
	}
}

func TestTokenNotWellFormed(t *testing.T) {
	for name, text := range map[string]string{
		"empty":          "",
		"a line":         "\n",
		"short":          goodToken[1:],
		"long":           goodToken + "A",
		"padded":         goodToken + "=",
		"other alphabet": "+" + goodToken[1:],
		"spare bits":     goodToken[:42] + "F",
		"two lines":      goodToken + "\n" + goodToken,
		"line inside":    goodToken[:20] + "\n" + goodToken[20:],
		"huge":           string(make([]byte, 1<<20)),
	} {
		path := filepath.Join(private(t), "token")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if token, err := Token(path); err == nil {
			t.Errorf("%s: got %q", name, token)
		}
		if now, err := os.ReadFile(path); err != nil || string(now) != text {
			t.Errorf("%s: the file was changed", name)
		}
	}
	path := filepath.Join(private(t), "token")
	if err := os.WriteFile(path, []byte(goodToken+"\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if token, err := Token(path); err != nil || token != goodToken {
		t.Errorf("one that is: %q, %v", token, err)
	}
}

func private(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "private")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}
