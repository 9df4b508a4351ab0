package client

import (
	"cmp"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// ErrNoServer says that no server works on a folder. Start one with
// `helve serve` there.
var ErrNoServer = errors.New("client: no helve server works on this folder: start one there with 'helve serve'")

// A LocalServer is a server that runs on this machine, for the same person.
type LocalServer struct {
	URL       string    `json:"url"`
	PID       int       `json:"pid"`
	Directory string    `json:"directory"`
	TokenFile string    `json:"tokenFile"`
	Started   time.Time `json:"started"`
	// Local is where it is found on this machine, which may not know its name;
	// empty: at URL. Certificate is the SHA-256 of what it shows there, in hex,
	// where it speaks TLS: it is known by that, whoever has signed it.
	Local       string `json:"local,omitempty"`
	Certificate string `json:"certificate,omitempty"`
}

// maxNote bounds the files that servers leave about themselves, and of tokens.
const maxNote = 64 << 10

// Local makes a client for the server of this machine that works on a folder,
// or on the nearest one above it; the newest where there are several. An empty
// dir is the working directory. It fails with [ErrNoServer] where there is none.
func Local(dir string, opts ...Option) (*Client, error) {
	dir, err := realDir(dir)
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	servers, err := LocalServers()
	if err != nil {
		return nil, err
	}
	var best *LocalServer
	for _, s := range servers { // the newest come first, so only a nearer one is better
		if isWithin(s.Directory, dir) && (best == nil || len(s.Directory) > len(best.Directory)) {
			best = &s
		}
	}
	if best == nil {
		return nil, fmt.Errorf("%w (%s)", ErrNoServer, dir)
	}
	return best.Client(opts...)
}

// LocalServers lists the servers that run on this machine for this person, the
// newest first.
func LocalServers() ([]LocalServer, error) {
	data, err := dataDir()
	if err != nil {
		return nil, err
	}
	folder := filepath.Join(data, "servers")
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("client: looking for servers: %w", err)
	}
	var list []LocalServer
	for _, e := range entries {
		if filepath.Ext(e.Name()) != ".json" {
			continue
		}
		// One that can not be read is just being written. One that nobody holds
		// the lock of was left behind, and its port may be anybody's by now: the
		// token must not go there.
		path := filepath.Join(folder, e.Name())
		if s, err := readNote(path); err == nil && held(strings.TrimSuffix(path, ".json")+".lock", s.PID) {
			list = append(list, s)
		}
	}
	slices.SortStableFunc(list, func(a, b LocalServer) int {
		return cmp.Or(b.Started.Compare(a.Started), cmp.Compare(b.PID, a.PID))
	})
	return list, nil
}

// Client makes a client for the server, with the token from its file. It talks
// to it at its local address, and to none that shows another certificate.
func (s LocalServer) Client(opts ...Option) (*Client, error) {
	token := ""
	if s.TokenFile != "" {
		text, err := readSmall(s.TokenFile)
		if err != nil {
			return nil, fmt.Errorf("client: the token of %s: %w", s.URL, err)
		}
		token = strings.TrimSpace(string(text))
	}
	if s.Certificate != "" {
		opts = append([]Option{WithHTTP(&http.Client{Transport: s.transport()})}, opts...)
	}
	return New(cmp.Or(s.Local, s.URL), token, opts...)
}

// transport takes the certificate that the server has written down and no other.
func (s LocalServer) transport() http.RoundTripper {
	t, ok := transport().(*http.Transport)
	if !ok { // somebody has put another in place of the standard one
		t = &http.Transport{ForceAttemptHTTP2: true}
	}
	t.Proxy = nil // it is this machine
	t.TLSClientConfig = &tls.Config{
		InsecureSkipVerify: true, // in favour of what follows
		VerifyConnection: func(c tls.ConnectionState) error {
			if len(c.PeerCertificates) > 0 {
				sum := sha256.Sum256(c.PeerCertificates[0].Raw)
				if strings.EqualFold(hex.EncodeToString(sum[:]), s.Certificate) {
					return nil
				}
			}
			return errors.New("another server is there: it shows another certificate")
		},
	}
	return t
}

// readNote reads what a server says of itself.
func readNote(path string) (LocalServer, error) {
	text, err := readSmall(path)
	if err != nil {
		return LocalServer{}, err
	}
	var s LocalServer
	if err := json.Unmarshal(text, &s); err != nil {
		return LocalServer{}, err
	}
	if s.Directory, err = realDir(s.Directory); err != nil || s.URL == "" {
		return LocalServer{}, fmt.Errorf("%s says neither where nor for what", path)
	}
	return s, nil
}

// readSmall reads a file that has to be a small one.
func readSmall(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxNote {
		return nil, fmt.Errorf("%s is not a file of at most %d bytes", path, maxNote)
	}
	return os.ReadFile(path)
}

// dataDir is where helve keeps its data.
func dataDir() (string, error) {
	if dir := os.Getenv("HELVE_DATA_DIR"); dir != "" {
		return dir, nil
	}
	if dir := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "helve"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("client: looking for servers: %w", err)
	}
	return filepath.Join(home, ".local", "share", "helve"), nil
}

// realDir is a folder's absolute name without links, so that two names of one
// folder are the same.
func realDir(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(abs)
}

// isWithin tells whether a folder is another, or lies below it.
func isWithin(above, dir string) bool {
	rel, err := filepath.Rel(above, dir)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}
