package builtin_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/agent"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

// readTool makes a runtime that may read everything and returns its folder and
// a function that reads.
func readTool(t *testing.T) (dir string, read func(args map[string]any) (*tool.Result, error)) {
	t.Helper()
	dir = t.TempDir()
	user := permission.Ruleset{{Permission: "*", Pattern: "*", Action: permission.Allow}}
	rt, err := helve.Open(helve.Options{Dir: dir, Worktree: dir, Agents: agent.Specs(agent.SpecOptions{Worktree: dir, User: user})})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := rt.Close(); err != nil {
			t.Error(err)
		}
	})
	return dir, func(args map[string]any) (*tool.Result, error) {
		input, err := json.Marshal(args)
		if err != nil {
			t.Fatal(err)
		}
		return rt.Call(t.Context(), tool.Call{Tool: "read", Input: input})
	}
}

func TestReadEdges(t *testing.T) {
	dir, read := readTool(t)
	numbered := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format+"\n", i+1)
		}
		return b.String()
	}
	const end, more, full = "(End of file - total %d lines)", "(File has more lines. Use 'offset' parameter to read beyond line %d)",
		"(Output truncated at 51200 bytes. Use 'offset' parameter to read beyond line %d)"
	for _, c := range []struct {
		name, text    string
		offset, limit int // limit 0 is none given
		first, last   string
		status        string
	}{
		{"empty", "", 0, 0, "00001| ", "00001| ", fmt.Sprintf(end, 1)},
		{"one line feed", "\n", 0, 0, "00001| ", "00002| ", fmt.Sprintf(end, 2)},
		{"no line feed at the end", "a\nb", 0, 0, "00001| a", "00002| b", fmt.Sprintf(end, 2)},
		{"other line ends stay", "a\r\nb\rc\r\n", 0, 0, "00001| a\r", "00003| ", fmt.Sprintf(end, 3)},
		{"byte order mark", "\ufeffa\n\ufeffb", 0, 0, "00001| a", "00002| \ufeffb", fmt.Sprintf(end, 2)},
		{"only a byte order mark", "\ufeff", 0, 0, "00001| ", "00001| ", fmt.Sprintf(end, 1)},
		{"limit ends with the file", "a\nb", 0, 2, "00001| a", "00002| b", fmt.Sprintf(end, 2)},
		{"limit ends before an empty last line", "a\nb\n", 0, 2, "00001| a", "00002| b", fmt.Sprintf(more, 2)},
		{"2000 lines by default", numbered(2000, "%d"), 0, 0, "00001| 1", "02000| 2000", fmt.Sprintf(more, 2000)},
		{"2000 lines exactly", strings.TrimSuffix(numbered(2000, "%d"), "\n"), 0, 0, "00001| 1", "02000| 2000", fmt.Sprintf(end, 2000)},
		{"line of exactly 2000", strings.Repeat("x", 2000), 0, 0, "00001| " + strings.Repeat("x", 2000), "00001| " + strings.Repeat("x", 2000), fmt.Sprintf(end, 1)},
		{"line of 2001", strings.Repeat("x", 2001), 0, 0, "00001| " + strings.Repeat("x", 2000) + "...", "00001| " + strings.Repeat("x", 2000) + "...", fmt.Sprintf(end, 1)},
		{"long line of pairs", strings.Repeat("😀", 5000), 0, 0, "00001| " + strings.Repeat("😀", 1000) + "...", "00001| " + strings.Repeat("😀", 1000) + "...", fmt.Sprintf(end, 1)},
		{"lines longer than the buffer", strings.Repeat("y", 200_000) + "\n" + strings.Repeat("z", 70_000) + "\nend", 1, 0,
			"00002| " + strings.Repeat("z", 2000) + "...", "00003| end", fmt.Sprintf(end, 3)},
		{"line feed at the end of the buffer", strings.Repeat("a", 64<<10-1) + "\nb", 1, 0, "00002| b", "00002| b", fmt.Sprintf(end, 2)},
		{"line feed just after the buffer", strings.Repeat("a", 64<<10) + "\nb", 1, 0, "00002| b", "00002| b", fmt.Sprintf(end, 2)},
		{"bytes are full", strings.Repeat(strings.Repeat("x", 1023)+"\n", 60), 0, 0, "00001| " + strings.Repeat("x", 1023),
			"00050| " + strings.Repeat("x", 1023), fmt.Sprintf(full, 50)},
		{"bytes of wide letters are full", strings.Repeat(strings.Repeat("é", 512)+"\n", 60), 10, 0, "00011| " + strings.Repeat("é", 512),
			"00059| " + strings.Repeat("é", 512), fmt.Sprintf(full, 59)},
		{"not UTF-8", "a\xffb\n\xc3(", 0, 0, "00001| a\ufffdb", "00002| \ufffd(",
			fmt.Sprintf(end, 2) + "\n(The encoding is not known: bytes that are not UTF-8 are shown as \ufffd. The file can not be edited as text.)"},
		{"offset far", numbered(100_000, "%d"), 99_999, 0, "100000| 100000", "100001| ", fmt.Sprintf(end, 100_001)},
		{"offset at the end", "a\nb", 2, 0, "", "", fmt.Sprintf(end, 2)},
	} {
		write(t, filepath.Join(dir, "f.txt"), []byte(c.text))
		args := map[string]any{"filePath": "f.txt", "offset": c.offset}
		if c.limit > 0 {
			args["limit"] = c.limit
		}
		res, err := read(args)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		body, ok := strings.CutPrefix(res.Output, "<file>\n")
		body, status, ok2 := strings.Cut(strings.TrimSuffix(body, "\n</file>"), "\n\n(")
		if !ok || !ok2 || "("+status != c.status {
			t.Errorf("%s: the status is %q, want %q", c.name, "("+status, c.status)
		}
		lines := strings.Split(body, "\n")
		if lines[0] != c.first || lines[len(lines)-1] != c.last {
			t.Errorf("%s: the lines go from %.60q to %.60q, want %.60q to %.60q", c.name, lines[0], lines[len(lines)-1], c.first, c.last)
		}
		if !utf8.ValidString(res.Output) {
			t.Errorf("%s: the output is not UTF-8", c.name)
		}
		if want := !strings.HasPrefix(c.status, "(End"); res.Metadata["truncated"] != want {
			t.Errorf("%s: truncated is %v", c.name, res.Metadata["truncated"])
		}
	}
}

func TestReadBinary(t *testing.T) {
	dir, read := readTool(t)
	text := func(n int) []byte { return []byte(strings.Repeat("a", n)) }
	for _, c := range []struct {
		name, file string
		data       []byte
		code       string
	}{
		{"a NUL", "a.txt", []byte("hello\x00world"), "binary"},
		{"only a NUL", "a.txt", []byte{0}, "binary"},
		{"a NUL as the last byte that is looked at", "a.txt", append(text(4095), 0), "binary"},
		{"a NUL as the first byte that is not", "a.txt", append(text(4096), 0), ""},
		{"30 % control characters", "a.txt", append([]byte(strings.Repeat("\x01", 3)), text(7)...), ""},
		{"more than 30 %", "a.txt", append([]byte(strings.Repeat("\x1f", 4)), text(7)...), "binary"},
		{"tabs, line ends, form feeds", "a.txt", []byte("\t\n\v\f\r\t\n\v\f\r"), ""},
		{"all of the high bytes", "a.txt", []byte("\x7f\x80\xff\xfe"), ""},
		{"text, whatever it is called", "a.WASM", []byte("text"), ""},
		{"no name but an extension", ".zip", []byte("text"), ""},
		{"a picture by its contents, which is broken", "photo.bin", []byte("\xff\xd8\xff\xe0 rest"), "bad-image"},
		{"a picture only by its name", "a.bmp", []byte("text"), ""},
		{"too short for a picture", "a.webp", []byte("RIFF"), ""},
	} {
		write(t, filepath.Join(dir, c.file), c.data)
		_, err := read(map[string]any{"filePath": c.file})
		if got := codeOf(err); got != c.code {
			t.Errorf("%s: the code is %q, want %q: %v", c.name, got, c.code, err)
		}
	}
}

func codeOf(err error) string {
	if err == nil {
		return ""
	}
	if e, ok := err.(*tool.Error); ok {
		return e.Code
	}
	return "none"
}

// sparse makes a file of a gigabyte that takes no space: text, then one line
// of NULs that is nearly all of it, then text.
func sparse(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	const size = 1 << 30
	if _, err := f.WriteString(strings.Repeat("text\n", 1000)); err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte("\nthe end\n"), size); err != nil {
		t.Fatal(err)
	}
}

func TestReadHugeFileInLittleMemory(t *testing.T) {
	dir, read := readTool(t)
	sparse(t, filepath.Join(dir, "huge.txt"))
	if _, err := read(map[string]any{"filePath": "huge.txt", "limit": 1}); err != nil { // opens the store
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	res, err := read(map[string]any{"filePath": "huge.txt", "offset": 1001})
	runtime.ReadMemStats(&after)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(res.Output, "01002| the end\n01003| \n\n(End of file - total 1003 lines)") {
		t.Errorf("got %.200q", res.Output)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 4<<20 {
		t.Errorf("%d bytes were allocated on the way through a gigabyte", used)
	}
}

// picture draws an image of a size.
func picture(t *testing.T, w, h int, encode func(io.Writer, image.Image) error) string {
	t.Helper()
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	for i := range img.Pix {
		img.Pix[i] = byte(i*i + i/7)
	}
	var b strings.Builder
	if err := encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestReadMedia(t *testing.T) {
	dir, read := readTool(t)
	asPNG := picture(t, 3, 2, png.Encode)
	asJPEG := picture(t, 3, 2, func(w io.Writer, i image.Image) error { return jpeg.Encode(w, i, nil) })
	asGIF := picture(t, 3, 2, func(w io.Writer, i image.Image) error { return gif.Encode(w, i, nil) })
	const pdf = "%PDF-1.4\n1 0 obj\n<</Type/Catalog/Pages 2 0 R>>\nendobj\n2 0 obj\n<</Type/Pages/Kids[3 0 R]/Count 1>>\nendobj\n" +
		"3 0 obj\n<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>\nendobj\ntrailer\n<</Root 1 0 R>>\n"
	for name, c := range map[string]struct{ data, mime, said string }{
		"a.txt":  {asPNG, "image/png", "Image read successfully"},
		"a.jpg":  {asJPEG, "image/jpeg", "Image read successfully"},
		"a":      {asGIF, "image/gif", "Image read successfully"},
		"a.pdf":  {pdf, "application/pdf", "PDF read successfully"},
		"b.wasm": {asGIF, "image/gif", "Image read successfully"},
	} {
		write(t, filepath.Join(dir, name), []byte(c.data))
		res, err := read(map[string]any{"filePath": name})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		want := "data:" + c.mime + ";base64," + base64.StdEncoding.EncodeToString([]byte(c.data))
		if res.Output != c.said || len(res.Attachments) != 1 || res.Attachments[0].Mime != c.mime || res.Attachments[0].URL != want {
			t.Errorf("%s: got %+v", name, res)
		}
	}
	for name, data := range map[string]string{
		"cut.png": asPNG[:len(asPNG)-20], "x.jpg": "\xff\xd8\xff\xdbrest", "x.webp": "RIFF\x00\x00\x00\x00WEBPVP8 ",
	} {
		write(t, filepath.Join(dir, name), []byte(data))
		if _, err := read(map[string]any{"filePath": name}); codeOf(err) != "bad-image" {
			t.Errorf("%s, which is broken: %v", name, err)
		}
	}
	write(t, filepath.Join(dir, "x.pdf"), []byte("%PDF-1.7\n\x01\xff\xfe"))
	if _, err := read(map[string]any{"filePath": "x.pdf"}); codeOf(err) != "bad-pdf" {
		t.Errorf("a PDF without pages: %v", err)
	}
}

func TestReadScalesPictures(t *testing.T) {
	dir, read := readTool(t)
	write(t, filepath.Join(dir, "wide.png"), []byte(picture(t, 3000, 40, png.Encode)))
	res, err := read(map[string]any{"filePath": "wide.png"})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(res.Output, "It has 3000 x 40 pixels and is shown with 2000 x 27.") {
		t.Errorf("got %q", res.Output)
	}
	_, data, _ := strings.Cut(res.Attachments[0].URL, ",")
	raw, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		t.Fatal(err)
	}
	if img, _, err := image.DecodeConfig(strings.NewReader(string(raw))); err != nil || img.Width != 2000 {
		t.Errorf("the attachment is %v (%v)", img, err)
	}
	if err := os.Truncate(filepath.Join(dir, "wide.png"), 64<<20+1); err != nil {
		t.Fatal(err)
	}
	if _, err := read(map[string]any{"filePath": "wide.png"}); codeOf(err) != "too-large" {
		t.Errorf("a picture over the limit: %v", err)
	}
}

// A folder that goes away and comes back while it is listed gives entries or
// a clear error.
func TestReadFolderThatGoesAway(t *testing.T) {
	dir, read := readTool(t)
	sub := filepath.Join(dir, "d")
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
				_ = os.Mkdir(sub, 0o755)
				_ = os.WriteFile(filepath.Join(sub, "x"), nil, 0o600)
				_ = os.RemoveAll(sub)
			}
		}
	}()
	listed := 0
	for range 2000 {
		_, err := read(map[string]any{"filePath": "d"})
		if err == nil {
			listed++
		} else if codeOf(err) != "not-found" {
			t.Fatalf("got %v (%s)", err, codeOf(err))
		}
	}
	close(stop)
	<-done
	t.Logf("%d of 2000 were listed", listed)
}
