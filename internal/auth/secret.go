package auth

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Wrong tokens are answered with 401 as long as they are few. Codes use the same limits.
const (
	wrongBurst = 32
	wrongRate  = 4 // a second
)

// checkToken refuses tokens that are too short or malformed. How random one is cannot be seen.
func checkToken(token string) error {
	if len(token) < 32 || len(token) > 512 {
		return errors.New("a token has 32 to 512 characters")
	}
	for _, c := range []byte(token) {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && !strings.ContainsRune("-._~+/=", rune(c)) {
			return errors.New("a token is made of letters, digits and - . _ ~ + / =")
		}
	}
	return nil
}

// A secret holds the hash of the token only, so that comparing takes constant time, whatever is
// sent.
type secret struct {
	sum   [sha256.Size]byte
	wrong *bucket
}

func newSecret(token string) secret {
	return secret{sha256.Sum256([]byte(token)), &bucket{left: wrongBurst}}
}

// check checks the credential of a request. The right token passes however many wrong ones were
// tried, so that no one can lock its owner out.
func (s secret) check(r *http.Request) *tokenError {
	given, ok := credential(r)
	if !ok {
		return noToken()
	}
	sum := sha256.Sum256([]byte(given))
	if subtle.ConstantTimeCompare(sum[:], s.sum[:]) == 1 {
		return nil
	}
	if s.wrong.take(time.Now()) {
		return wrongToken()
	}
	return manyWrong()
}

// credential returns the token of a request, which is accepted only in the Authorization header. A
// query ends up in logs and histories, and a cookie is sent for requests of other origins too.
func credential(r *http.Request) (string, bool) {
	values := r.Header["Authorization"]
	if len(values) != 1 {
		return "", false
	}
	scheme, token, _ := strings.Cut(values[0], " ")
	token = strings.TrimLeft(token, " ")
	if lower(scheme) != "bearer" || token == "" {
		return "", false
	}
	return token, true
}

// bucket counts wrong tokens or codes: a burst is borne, then a few a second.
type bucket struct {
	mu   sync.Mutex
	left float64
	at   time.Time
}

// take counts one attempt, and reports whether it is within the limit.
func (b *bucket) take(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.refill(now)
	if b.left < 1 {
		return false
	}
	b.left--
	return true
}

// allows reports whether one more attempt would be within the limit.
func (b *bucket) allows(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.refill(now)
	return b.left >= 1
}

func (b *bucket) refill(now time.Time) {
	if !b.at.IsZero() {
		b.left = min(wrongBurst, b.left+wrongRate*max(0, now.Sub(b.at)).Seconds())
	}
	b.at = now
}
