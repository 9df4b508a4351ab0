package lspclient

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

const (
	// frameLimit is how many bytes one message may have.
	frameLimit = 64 << 20
	// lineLimit is how much is kept of a line outside of messages.
	lineLimit = 4 << 10
	// headerLimit is how many header lines one message may have.
	headerLimit = 64
	// bodyStep is what is allocated for a body before any of it was read.
	bodyStep = 64 << 10

	lengthHeader = "content-length"
)

var (
	errFrame = errors.New("broken message frame")
	errLarge = errors.New("message too large")
)

// readFrame reads one message: header lines up to an empty one, then as many bytes as
// Content-Length says. Lines before the headers that are not headers, such as those of a server
// that prints to its standard output, go to stray, which may be nil.
//
// The end of the stream between messages is io.EOF, and inside of one io.ErrUnexpectedEOF. An
// unreadable message is errFrame, and one of more than limit bytes errLarge; both are wrapped, and
// nothing can be read afterwards.
func readFrame(r *bufio.Reader, limit int, stray func(line string)) ([]byte, error) {
	length, err := readHeaders(r, stray)
	if err != nil {
		return nil, err
	}
	if length > int64(limit) {
		return nil, fmt.Errorf("%w: %d bytes, and %d are allowed", errLarge, length, limit)
	}
	return readBody(r, int(length))
}

// appendFrame appends the message with its header to dst.
func appendFrame(dst, body []byte) []byte {
	dst = append(dst, "Content-Length: "...)
	dst = strconv.AppendInt(dst, int64(len(body)), 10)
	dst = append(dst, "\r\n\r\n"...)
	return append(dst, body...)
}

// readHeaders reads up to the body, and returns how long it is.
func readHeaders(r *bufio.Reader, stray func(line string)) (int64, error) {
	length := int64(-1)
	for seen := 0; ; {
		line, err := readLine(r)
		if err != nil {
			return 0, endOfHeaders(line, length >= 0, err, stray)
		}
		text, crlf := strings.CutSuffix(line, "\r")
		switch {
		case length < 0:
			before, value, found := cutLength(text, crlf)
			if before = strings.TrimSpace(before); before != "" && stray != nil && !isContentType(before) {
				stray(before)
			}
			if !found {
				continue
			}
			if length, err = parseLength(value); err != nil {
				return 0, err
			}
		case text == "":
			return length, nil
		default:
			if err := checkHeader(text, length); err != nil {
				return 0, err
			}
		}
		if seen++; seen > headerLimit {
			return 0, fmt.Errorf("%w: more than %d headers", errFrame, headerLimit)
		}
	}
}

// endOfHeaders returns the error for a stream that ends with this incomplete line.
func endOfHeaders(line string, inside bool, err error, stray func(line string)) error {
	if !errors.Is(err, io.EOF) {
		return err
	}
	start := strings.ToLower(line)
	switch {
	case inside, strings.HasPrefix(start, lengthHeader), start != "" && strings.HasPrefix(lengthHeader, start):
		return io.ErrUnexpectedEOF
	}
	if line = strings.TrimSpace(line); line != "" && stray != nil {
		stray(line)
	}
	return io.EOF
}

// cutLength finds a Content-Length header in a line, and the text before it: a server may have
// printed something without a line end. As a log line may also end with these words, the header
// then needs the protocol's line end.
func cutLength(line string, crlf bool) (before, value string, found bool) {
	if name, value, ok := strings.Cut(line, ":"); ok && strings.EqualFold(strings.TrimSpace(name), lengthHeader) {
		return "", strings.TrimSpace(value), true
	}
	at := strings.LastIndex(line, "Content-Length: ")
	if at < 0 || !crlf {
		return line, "", false
	}
	value = line[at+len("Content-Length: "):]
	if _, err := parseLength(value); err != nil {
		return line, "", false
	}
	return line[:at], value, true
}

func isContentType(line string) bool {
	name, _, ok := strings.Cut(line, ":")
	return ok && strings.EqualFold(strings.TrimSpace(name), "content-type")
}

func parseLength(value string) (int64, error) {
	n, err := strconv.ParseUint(value, 10, 63)
	if err != nil {
		return 0, fmt.Errorf("%w: Content-Length is %.40q", errFrame, value)
	}
	return int64(n), nil
}

// checkHeader refuses what cannot follow a Content-Length.
func checkHeader(line string, length int64) error {
	name, value, ok := strings.Cut(line, ":")
	name = strings.TrimSpace(name)
	if !ok || name == "" || strings.ContainsAny(name, " \t\"{}") {
		return fmt.Errorf("%w: %.40q among the headers", errFrame, line)
	}
	if !strings.EqualFold(name, lengthHeader) {
		return nil
	}
	again, err := parseLength(strings.TrimSpace(value))
	if err == nil && again != length {
		err = fmt.Errorf("%w: Content-Length is both %d and %d", errFrame, length, again)
	}
	return err
}

// readLine reads a line without its "\n". Of a long one only the beginning is
// kept, and the rest is read over.
func readLine(r *bufio.Reader) (string, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		end := err == nil
		if end {
			part = part[:len(part)-1]
		}
		line = append(line, part[:min(len(part), lineLimit-len(line))]...)
		if end || !errors.Is(err, bufio.ErrBufferFull) {
			return string(bytes.ToValidUTF8(line, []byte("\uFFFD"))), err
		}
	}
}

// readBody reads n bytes. The allocation grows with the data received, so that a false length does
// not use memory.
func readBody(r io.Reader, n int) ([]byte, error) {
	body := make([]byte, 0, min(n, bodyStep))
	for len(body) < n {
		if len(body) == cap(body) {
			larger := make([]byte, len(body), min(n, 4*cap(body)))
			copy(larger, body)
			body = larger
		}
		got, err := io.ReadFull(r, body[len(body):cap(body)])
		body = body[:len(body)+got]
		if errors.Is(err, io.EOF) {
			return nil, io.ErrUnexpectedEOF
		}
		if err != nil {
			return nil, err
		}
	}
	return body, nil
}
