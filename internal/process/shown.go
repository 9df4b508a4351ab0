package process

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// previewBytes is how much of an output who watches is shown.
const previewBytes = 30000

// preview is the newest part of an output.
func preview(out Output) string {
	all := out.Head + out.Tail
	if len(all) <= previewBytes && out.Omitted == 0 {
		return all
	}
	cut := max(len(all)-previewBytes, 0)
	for cut < len(all) && !utf8.RuneStart(all[cut]) {
		cut++
	}
	return "...\n\n" + all[cut:]
}

// shownOutput is an output as a model is shown it: whole if it keeps to the limits,
// else a quarter of that from its beginning and the rest from its end.
func (o ExecutorOptions) shownOutput(out Output) (text string, truncated bool) {
	if out.Omitted == 0 && len(out.Head) <= o.Bytes && strings.Count(out.Head, "\n") < o.Lines {
		return out.Head, false
	}
	begin, end := out.Head, out.Tail
	if out.Omitted == 0 {
		end = begin
	}
	begin = firstLines(begin, o.Lines/4, o.Bytes/4)
	if out.Omitted == 0 {
		end = end[len(begin):]
	}
	end = lastLines(end, o.Lines-o.Lines/4, o.Bytes-o.Bytes/4)
	left := out.Lines - int64(strings.Count(begin, "\n")+strings.Count(end, "\n"))
	if end != "" && !strings.HasSuffix(end, "\n") {
		left-- // its last line
	}
	note := fmt.Sprintf("...%d lines truncated...", left)
	if left <= 1 {
		note = fmt.Sprintf("...%d bytes truncated...", out.Bytes-int64(len(begin)+len(end)))
	}
	return strings.TrimSuffix(begin, "\n") + "\n\n" + note + "\n\n" + end, true
}

// firstLines is the beginning of a text: whole lines, or a part of the first
// one where that is too long.
func firstLines(s string, lines, bytes int) string {
	if len(s) > bytes {
		s = s[:bytes]
		for len(s) > 0 && !utf8.RuneStart(s[len(s)-1]) {
			s = s[:len(s)-1]
		}
		if len(s) > 0 && s[len(s)-1] >= utf8.RuneSelf {
			s = s[:len(s)-1] // it began a character that is cut
		}
		if i := strings.LastIndexByte(s, '\n'); i >= 0 {
			s = s[:i+1]
		}
	}
	at := 0
	for range lines {
		i := strings.IndexByte(s[at:], '\n')
		if i < 0 {
			return s
		}
		at += i + 1
	}
	return s[:at]
}

// lastLines is the end of a text: whole lines, or a part of the last one where
// that is too long.
func lastLines(s string, lines, bytes int) string {
	if len(s) > bytes {
		s = s[len(s)-bytes:]
		for len(s) > 0 && !utf8.RuneStart(s[0]) {
			s = s[1:]
		}
		if i := strings.IndexByte(s, '\n'); i >= 0 && i+1 < len(s) {
			s = s[i+1:]
		}
	}
	at := len(strings.TrimSuffix(s, "\n"))
	for range lines {
		i := strings.LastIndexByte(s[:at], '\n')
		if i < 0 {
			return s
		}
		at = i
	}
	return s[at+1:]
}
