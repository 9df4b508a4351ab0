package auth

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

const tokenBytes = 32

// Private returns an error unless a folder can only be entered by its owner, and is not a link:
// only then are its contents trusted.
func Private(dir string) error {
	f, err := openFolder(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	return checkPrivate(dir, info)
}

// Token returns the token kept in the file path, and makes it first if the file
// is not there: 256 random bits, in a file that only its owner may read, in a
// folder that only its owner may enter. A file or folder that is a link, is
// someone else's or is open to others is an error, not repaired: what others
// could read or plant is no secret. Several processes may call it at once; they
// get the same token.
func Token(path string) (string, error) {
	path = filepath.Clean(path)
	if err := checkFolder(filepath.Dir(path)); err != nil {
		return "", fmt.Errorf("token file: %w", err)
	}
	token, err := readToken(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err = makeToken(path); err == nil {
			token, err = readToken(path)
		}
	}
	if err != nil {
		return "", fmt.Errorf("token file: %w", err)
	}
	return token, nil
}

// checkFolder makes the folder of the token, or checks the one that is there.
func checkFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return Private(dir)
}

func readToken(path string) (string, error) {
	f, err := openFile(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s is not a regular file; remove it", path)
	}
	if err := checkPrivate(path, info); err != nil {
		return "", err
	}
	text, err := io.ReadAll(io.LimitReader(f, 1024))
	if err != nil {
		return "", err
	}
	token := strings.TrimRight(string(text), "\r\n")
	raw, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil || len(raw) != tokenBytes || base64.RawURLEncoding.EncodeToString(raw) != token {
		return "", fmt.Errorf("%s does not hold a token; remove it and a new one will be made", path)
	}
	return token, nil
}

// makeToken creates a new token file, unless another process was faster. The file is linked when it
// is complete, so that it is never read half written.
func makeToken(path string) (err error) {
	raw := make([]byte, tokenBytes)
	_, _ = rand.Read(raw)                                                     // never fails
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*") // exclusive, 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	err = f.Chmod(0o600) // whatever the umask
	if err == nil {
		_, err = f.WriteString(base64.RawURLEncoding.EncodeToString(raw) + "\n")
	}
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := os.Link(f.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}
