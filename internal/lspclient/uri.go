package lspclient

import (
	"errors"
	"fmt"
	"path"
	"runtime"
	"strings"
)

var (
	errNotFile = errors.New("it does not name a file of this machine")
	errURI     = errors.New("it is not well formed")
)

// maxURI is how long a URI may be, in bytes.
const maxURI = 64 << 10

// uriOf is the file: URI of an absolute path, spelled as most servers spell it:
// all is escaped but letters, digits, "-._~" and slashes; drive letters are
// lower case.
func uriOf(path string) string { return uriOn(path, runtime.GOOS == "windows") }

// pathOf is the path that a file: URI means, clean and absolute. It reads every
// usual spelling: escapes or none, one slash or three, drive letters of any
// case, which become upper case. Paths made from what a server says are asked
// about like all others: pathOf forbids none.
func pathOf(uri string) (string, error) { return pathOn(uri, runtime.GOOS == "windows") }

func uriOn(path string, windows bool) string {
	host := ""
	if windows {
		host, path = splitHost(strings.ReplaceAll(path, `\`, "/"))
		if isDrive(path) {
			path = "/" + strings.ToLower(path[:1]) + path[1:]
		}
	}
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	var b strings.Builder
	b.Grow(len("file://") + len(host) + len(path) + 16)
	b.WriteString("file://")
	writeEscaped(&b, strings.ToLower(host))
	writeEscaped(&b, path)
	return b.String()
}

// splitHost takes the machine off a Windows path with slashes: //host/share/x.
// The prefixes for long paths are dropped.
func splitHost(path string) (host, rest string) {
	if after, ok := strings.CutPrefix(path, "//?/"); ok {
		path = after
		if after, ok = strings.CutPrefix(path, "UNC/"); ok {
			path = "//" + after
		}
	}
	after, ok := strings.CutPrefix(path, "//")
	if !ok {
		return "", path
	}
	host, rest, _ = strings.Cut(after, "/")
	return host, "/" + rest
}

func writeEscaped(b *strings.Builder, s string) {
	const hex = "0123456789ABCDEF"
	for i := 0; i < len(s); i++ {
		c := s[i]
		if isAlphanumeric(c) || strings.IndexByte("-._~/", c) >= 0 {
			b.WriteByte(c)
			continue
		}
		b.WriteByte('%')
		b.WriteByte(hex[c>>4])
		b.WriteByte(hex[c&15])
	}
}

func pathOn(uri string, windows bool) (string, error) {
	p, err := readURI(uri, windows)
	if err != nil {
		return "", fmt.Errorf("uri %q: %w", shortened(uri), err)
	}
	return p, nil
}

func readURI(uri string, windows bool) (string, error) {
	if len(uri) > maxURI {
		return "", fmt.Errorf("%w: it is longer than %d bytes", errURI, maxURI)
	}
	scheme, rest, ok := strings.Cut(uri, ":")
	if !ok || !strings.EqualFold(scheme, "file") {
		return "", errNotFile
	}
	if strings.ContainsAny(rest, "?#") {
		return "", fmt.Errorf("%w: a file has no query and no fragment", errURI)
	}
	host := ""
	if after, ok := strings.CutPrefix(rest, "//"); ok {
		slash := strings.IndexByte(after, '/')
		if slash < 0 {
			return "", fmt.Errorf("%w: there is no path", errURI)
		}
		host, rest = unescape(after[:slash]), after[slash:]
	}
	rest = unescape(rest)
	if strings.IndexByte(rest, 0) >= 0 {
		return "", fmt.Errorf("%w: there is a NUL in it", errURI)
	}
	if windows {
		return windowsPath(host, strings.ReplaceAll(rest, `\`, "/"))
	}
	if host != "" && !strings.EqualFold(host, "localhost") {
		return "", errNotFile
	}
	if !strings.HasPrefix(rest, "/") {
		return "", fmt.Errorf("%w: the path is not absolute", errURI)
	}
	return path.Clean(rest), nil
}

// windowsPath converts a URI to a path, still with slashes.
func windowsPath(host, rest string) (string, error) {
	drive, ok := strings.CutPrefix(rest, "/")
	ok = ok && isDrive(drive)
	if ok && strings.EqualFold(host, "localhost") {
		host = ""
	}
	if host == "" && strings.HasPrefix(rest, "//") {
		host, rest, _ = strings.Cut(strings.TrimLeft(rest, "/"), "/")
		rest = "/" + rest
	}
	if host != "" {
		if !isHost(host) || !strings.HasPrefix(rest, "/") {
			return "", errNotFile
		}
		clean := path.Clean(rest)
		if clean == "/" {
			return "", errNotFile
		}
		return strings.ReplaceAll("//"+strings.ToLower(host)+clean, "/", `\`), nil
	}
	if !ok {
		return "", fmt.Errorf("%w: there is no drive", errURI)
	}
	return strings.ToUpper(drive[:1]) + ":" + strings.ReplaceAll(path.Clean("/"+drive[2:]), "/", `\`), nil
}

// isDrive reports whether a path with slashes begins with a drive: "c:" and then nothing or a
// slash.
func isDrive(path string) bool {
	return len(path) >= 2 && path[1] == ':' && isLetter(path[0]) && (len(path) == 2 || path[2] == '/')
}

// isHost reports whether a name can be that of a machine. Windows has devices in the same place:
// "." and "?" are not machines.
func isHost(name string) bool {
	for i := 0; i < len(name); i++ {
		if !isAlphanumeric(name[i]) && (i == 0 || strings.IndexByte("-._$", name[i]) < 0) {
			return false
		}
	}
	return name != ""
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func isAlphanumeric(c byte) bool { return isLetter(c) || '0' <= c && c <= '9' }

// unescape reads %41 as A. What is no escape stays: some servers escape nothing.
func unescape(s string) string {
	if strings.IndexByte(s, '%') < 0 {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			high, ok1 := unhex(s[i+1])
			low, ok2 := unhex(s[i+2])
			if ok1 && ok2 {
				b = append(b, high<<4|low)
				i += 2
				continue
			}
		}
		b = append(b, s[i])
	}
	return string(b)
}

func unhex(c byte) (byte, bool) {
	switch {
	case '0' <= c && c <= '9':
		return c - '0', true
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return c | 0x20 - 'a' + 10, true
	}
	return 0, false
}

// shortened is the beginning of a text that may be long, for an error.
func shortened(s string) string {
	const limit = 200
	if len(s) <= limit {
		return s
	}
	return s[:limit] + "..."
}
