package auth

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"time"

	"github.com/gofrs/flock"

	"github.com/helve-dev/helve/internal/disk"
)

const (
	fileVersion = 1
	maxFile     = 4 << 20
	lockWait    = 10 * time.Second
	lockPoll    = 3 * time.Millisecond
	renewalWait = tokenTimeout + 15*time.Second // for another process's renewal
	maxAside    = 9
)

// A storeFile is the whole content of a store's file.
type storeFile struct {
	Version int       `json:"version"`
	Servers []*record `json:"servers"`
}

// A record is what is stored for one server at one URL.
type record struct {
	Server string `json:"server"`
	URL    string `json:"url"`

	// The authorization server. A sign-in at another one is not accepted.
	Issuer   string `json:"issuer,omitempty"`
	TokenURL string `json:"tokenUrl,omitempty"`
	Resource string `json:"resource,omitempty"`

	// The client. Redirect is empty if it came from the config.
	ClientID      string    `json:"clientId,omitempty"`
	ClientSecret  string    `json:"clientSecret,omitempty"`
	ClientExpires time.Time `json:"clientExpires,omitzero"`
	AuthStyle     style     `json:"authStyle,omitempty"`
	Redirect      string    `json:"redirect,omitempty"`
	Stale         bool      `json:"stale,omitempty"` // not for another sign-in

	// The token.
	AccessToken  string    `json:"accessToken,omitempty"`
	RefreshToken string    `json:"refreshToken,omitempty"`
	Scopes       []string  `json:"scopes,omitempty"`
	Obtained     time.Time `json:"obtained,omitzero"`
	Expiry       time.Time `json:"expiry,omitzero"`
	Wanted       []string  `json:"wanted,omitempty"` // scopes that the server has asked for since
}

// String hides secrets.
func (r *record) String() string { return fmt.Sprintf("{%s %s}", r.Server, withoutSecrets(r.URL)) }

// GoString hides secrets.
func (r *record) GoString() string { return r.String() }

// signedOut is the record without its token.
func (r *record) signedOut() *record {
	c := *r
	c.AccessToken, c.RefreshToken, c.Scopes, c.Wanted = "", "", nil, nil
	c.Obtained, c.Expiry = time.Time{}, time.Time{}
	return &c
}

// bound returns what remains of an invalid record: the authorization server, so that a change is
// noticed.
func (r *record) bound() *record {
	return &record{Server: r.Server, URL: r.URL, Issuer: r.Issuer, TokenURL: r.TokenURL}
}

// lacksScopes reports whether the server has asked for more than was granted.
func (r *record) lacksScopes() bool { return len(difference(r.Wanted, r.Scopes)) > 0 }

// find returns the record of a server at a URL, or nil.
func (f *storeFile) find(server, url string) *record {
	for _, r := range f.Servers {
		if r.Server == server && r.URL == url {
			return r
		}
	}
	return nil
}

// put adds a record or replaces the one of the same server and URL.
func (f *storeFile) put(r *record) {
	f.removeRecords(func(old *record) bool { return old.Server == r.Server && old.URL == r.URL })
	f.Servers = append(f.Servers, r)
	slices.SortFunc(f.Servers, func(a, b *record) int {
		return cmp.Or(cmp.Compare(a.Server, b.Server), cmp.Compare(a.URL, b.URL))
	})
}

func (f *storeFile) removeRecords(which func(*record) bool) {
	f.Servers = slices.DeleteFunc(f.Servers, which)
}

// errNewer says that a newer version has written the file.
var errNewer = errors.New("the sign-in file was written by a newer version of helve")

// decode decodes the content of a store's file. Its errors contain nothing of it.
func decode(data []byte) (*storeFile, error) {
	var f storeFile
	var head struct {
		Version int `json:"version"`
	}
	if json.Unmarshal(data, &head) != nil || head.Version < 1 {
		return nil, ErrDamagedSignIns
	}
	if head.Version > fileVersion {
		return nil, errNewer
	}
	if json.Unmarshal(data, &f) != nil {
		return nil, ErrDamagedSignIns
	}
	seen := make(map[[2]string]bool, len(f.Servers))
	for _, r := range f.Servers {
		if r == nil || r.Server == "" || r.URL == "" || seen[[2]string{r.Server, r.URL}] {
			return nil, ErrDamagedSignIns
		}
		seen[[2]string{r.Server, r.URL}] = true
	}
	return &f, nil
}

func (s *SignIns) exists() bool {
	_, err := os.Lstat(s.path)
	return err == nil
}

// read returns the file's content; without a file, an empty one. It takes no
// lock: a file is only ever replaced as a whole. A damaged file is set aside.
func (s *SignIns) read() (*storeFile, error) {
	f, err := s.load()
	if !errors.Is(err, ErrDamagedSignIns) {
		return f, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), lockWait)
	defer cancel()
	unlock, err := s.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	return s.loadLocked()
}

// loadLocked reads the file and sets a damaged one aside. Only the holder of
// the lock may do that: another process may have written a good one meanwhile.
func (s *SignIns) loadLocked() (*storeFile, error) {
	f, err := s.load()
	if !errors.Is(err, ErrDamagedSignIns) {
		return f, err
	}
	aside := s.path + ".damaged"
	for i := 2; i <= maxAside; i++ {
		if _, err := os.Lstat(aside); errors.Is(err, fs.ErrNotExist) {
			break
		}
		aside = s.path + ".damaged-" + strconv.Itoa(i)
	}
	if rerr := os.Rename(s.path, aside); rerr != nil {
		return nil, fmt.Errorf("%w and could not be set aside: %w", ErrDamagedSignIns, rerr)
	}
	return nil, fmt.Errorf("%w: it was set aside as %s; sign in again with `helve mcp auth`", ErrDamagedSignIns, aside)
}

func (s *SignIns) load() (*storeFile, error) {
	h, err := os.Open(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return &storeFile{Version: fileVersion}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the sign-in file: %w", err)
	}
	defer h.Close()
	if info, err := h.Stat(); err == nil && runtime.GOOS != "windows" && info.Mode().IsRegular() && info.Mode().Perm()&0o077 != 0 {
		h.Chmod(0o600) // what others could read until now, they should not from here on
	}
	data, err := io.ReadAll(io.LimitReader(h, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("reading the sign-in file: %w", err)
	}
	if len(data) > maxFile {
		return nil, ErrDamagedSignIns
	}
	return decode(data)
}

// update changes the file under the lock and replaces it in one step.
func (s *SignIns) update(ctx context.Context, change func(*storeFile)) error {
	unlock, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	f, err := s.loadLocked()
	if err != nil {
		return err
	}
	change(f)
	f.Version = fileVersion
	data, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		return fmt.Errorf("encoding the sign-in file: %w", err)
	}
	return writing(disk.ReplaceSmall(s.path, append(data, '\n'), true))
}

// lock takes the lock of the file, which is only held for a write.
func (s *SignIns) lock(ctx context.Context) (func(), error) { return s.take(ctx, s.path+".lock") }

// lockRecord takes the lock of one server's token, which is held while the token is renewed: a slow
// authorization server does not block the other servers.
func (s *SignIns) lockRecord(ctx context.Context, server, url string) (func(), error) {
	ctx, cancel := context.WithTimeout(ctx, renewalWait)
	defer cancel()
	sum := sha256.Sum256([]byte(server + "\x00" + url))
	return s.take(ctx, s.path+"."+hex.EncodeToString(sum[:6])+".lock")
}

func (s *SignIns) take(ctx context.Context, path string) (func(), error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("making the folder of the sign-in file: %w", err)
	}
	lock := flock.New(path, flock.SetPermissions(0o600))
	if _, err := lock.TryLockContext(ctx, lockPoll); err != nil {
		lock.Close()
		return nil, fmt.Errorf("locking the sign-in file: %w", err)
	}
	return func() { lock.Close() }, nil
}

// writable tries what a write needs. It is asked before a refresh token is
// spent: its successor would be lost on a full or read-only disk.
func (s *SignIns) writable() error {
	size := int64(maxToken)
	if info, err := os.Stat(s.path); err == nil {
		size += info.Size()
	}
	return writing(disk.TrySmall(s.path, size))
}

// writing words the error of a write.
func writing(err error) error {
	if err != nil {
		return fmt.Errorf("writing the sign-in file: %w", err)
	}
	return nil
}
