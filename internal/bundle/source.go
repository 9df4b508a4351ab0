package bundle

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/helve-dev/helve/internal/disk"
)

// Placeholders for what differs from file to file; see prepare.
const (
	metaName     = "$helve$meta"
	dirnameName  = "$helve$dirname"
	filenameName = "$helve$filename"
)

// A sourceFile is a file as it was read, once, for all rounds of a build.
type sourceFile struct {
	raw    string // as it is in the file, but for a byte order mark
	text   string // as the compiler gets it, if it is a script
	prefix string // what was put in front of the first line
	lines  int
	size   int64
	time   time.Time
	sum    string // SHA-256 of the file's bytes
	err    error  // why there is no text
	// outside says that imports may not reach it.
	outside bool
}

// readSource reads a regular file of at most limit bytes, if it can be read
// in due time.
func readSource(path string, limit int64) *sourceFile {
	s, ok := disk.InTime(patience, func() *sourceFile {
		s := &sourceFile{}
		data, err := s.read(path, limit)
		if err != nil {
			s.err = err
			return s
		}
		sum := sha256.Sum256(data)
		s.sum = hex.EncodeToString(sum[:])
		s.raw = strings.TrimPrefix(string(data), "\ufeff")
		s.text = s.raw
		s.lines = strings.Count(s.raw, "\n") + 1
		return s
	})
	if !ok {
		return &sourceFile{err: errSlow}
	}
	return s
}

func (s *sourceFile) read(path string, limit int64) ([]byte, error) {
	// A pipe would block the open: ask what it is first.
	if st, err := os.Stat(path); err != nil {
		return nil, withoutPath(err)
	} else if !st.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	} else if disk.OfKernel(path) {
		return nil, errKernel
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, withoutPath(err)
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, withoutPath(err)
	}
	s.size, s.time = st.Size(), st.ModTime()
	if s.size > limit {
		return nil, fmt.Errorf("file is too large (%d bytes; the most is %d)", s.size, limit)
	}
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, withoutPath(err)
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("file is too large (the most is %d bytes)", limit)
	}
	s.size = int64(len(data))
	return data, nil
}

// withoutPath leaves the operation and the path out of a file error: the problem it
// becomes names the file itself.
func withoutPath(err error) error {
	var p *os.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// prepareScript makes a script of the file at path ready for the compiler.
//
// import.meta, __dirname and __filename are the file's own, but the program
// has one of each at most. So they are defined to be other names, and a file
// that may use them declares these on its first line, which moves no line.
//
// A comment that names a source map would make the compiler read whatever
// file it names, so it is made another comment of the same length.
func (s *sourceFile) prepareScript(path string) {
	if strings.HasPrefix(s.text, "#!") {
		s.text = "//" + s.text[2:]
	}
	if strings.Contains(s.text, "sourceMappingURL=") {
		s.text = regexp.MustCompile(`((?://|/\*)\s*[#@]\s*sourceMappingURL)=`).ReplaceAllString(s.text, "$1:")
	}
	s.text = openUMD(s.text)
	var decls []string
	if strings.Contains(s.text, "import") && strings.Contains(s.text, "meta") && regexp.MustCompile(`\bimport\s*(?:(?://[^\n]*|/\*.*?\*/)\s*)*\.\s*(?:(?://[^\n]*|/\*.*?\*/)\s*)*meta\b`).MatchString(s.text) {
		decls = append(decls, metaName+" = "+metaObject(path))
	}
	if strings.Contains(s.text, "__dirname") {
		decls = append(decls, dirnameName+" = "+quote(filepath.Dir(path)))
	}
	if strings.Contains(s.text, "__filename") {
		decls = append(decls, filenameName+" = "+quote(path))
	}
	if len(decls) > 0 {
		s.prefix = "var " + strings.Join(decls, ", ") + "; "
		s.text = s.prefix + s.text
	}
}

// openUMD lets the compiler see what a UMD module requires. The wrapper that TypeScript writes
// hands the module's require to the body as a parameter, and the compiler follows only the require
// of the module itself; so the parameter gets another name of the same length.
func openUMD(text string) string {
	if !regexp.MustCompile(`\bfactory\s*\(\s*require\s*,\s*exports\b`).MatchString(text) {
		return text
	}
	at := regexp.MustCompile(`\}\s*\)\s*\(\s*(?:function\s*)?\(\s*(require)\s*,\s*exports\b`).FindStringSubmatchIndex(text)
	if at == nil {
		return text
	}
	return text[:at[2]] + "$equire" + text[at[3]:]
}

// metaObject is what import.meta is in the file at path.
func metaObject(path string) string {
	fields := []string{
		"url: " + quote((&url.URL{Scheme: "file", Path: filepath.ToSlash(path)}).String()),
		"dir: " + quote(filepath.Dir(path)), "dirname: " + quote(filepath.Dir(path)),
		"path: " + quote(path), "filename: " + quote(path), "file: " + quote(filepath.Base(path)),
		"main: false", "get env() { return process.env; }",
	}
	return "{ " + strings.Join(fields, ", ") + " }"
}

// originalPosition corrects a position from the compiler for the inserted text.
func (s *sourceFile) originalPosition(line, column int) (int, int) {
	if line == 1 {
		column = max(0, column-len(s.prefix))
	}
	return line, column
}

// lineOf finds the line on which a module is imported; 0 if unknown.
func (s *sourceFile) lineOf(spec string) int {
	word := regexp.QuoteMeta(spec)
	at := regexp.MustCompile(`(?:from|import|require)\s*\(?\s*["'` + "`" + `]` + word + `["'` + "`" + `]`).FindStringIndex(s.text)
	if at == nil {
		at = regexp.MustCompile(`["'` + "`" + `]` + word + `["'` + "`" + `]`).FindStringIndex(s.text)
	}
	if at == nil {
		return 0
	}
	return strings.Count(s.text[:at[1]], "\n") + 1
}

// loaderOf says how a file is read, by the type its import asks for or else
// by its name. Any other file is its own path, as in Bun.
func loaderOf(path, asked string) api.Loader {
	switch asked {
	case "text":
		return api.LoaderText
	case "json":
		return api.LoaderJSON
	case "file":
		return api.LoaderFile
	}
	if loader := LoaderOf(path); loader != api.LoaderNone {
		return loader
	}
	if filepath.Ext(path) == "" {
		return api.LoaderJS
	}
	return api.LoaderFile
}

// LoaderOf returns how the compiler reads a file of a name: as code, JSON or text, or not at all.
func LoaderOf(path string) api.Loader {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".js", ".mjs", ".cjs":
		return api.LoaderJS
	case ".jsx":
		return api.LoaderJSX
	case ".ts", ".mts", ".cts":
		return api.LoaderTS
	case ".tsx":
		return api.LoaderTSX
	case ".json":
		return api.LoaderJSON
	case ".md", ".txt":
		return api.LoaderText
	}
	return api.LoaderNone
}

// dataModule is the virtual module that parses the data formats that the compiler cannot. It has a
// function for each format.
const dataModule = "helve:data"

// dataOf is the kind of data of a file, by the type its import asks for or
// else by its name; "" if it is no data, or is read by the compiler.
func dataOf(path, asked string) string {
	if asked == "" {
		asked = strings.TrimPrefix(strings.ToLower(filepath.Ext(path)), ".")
	}
	switch asked {
	case "yaml", "yml":
		return "yaml"
	case "toml", "jsonc", "json5":
		return asked
	}
	return ""
}

// isScript reports whether a loader reads JavaScript or TypeScript.
func isScript(l api.Loader) bool {
	switch l {
	case api.LoaderJS, api.LoaderJSX, api.LoaderTS, api.LoaderTSX:
		return true
	}
	return false
}

// declaration reports whether an import names a file of types only.
func declaration(spec string) bool {
	for _, ext := range []string{".d.ts", ".d.mts", ".d.cts"} {
		if strings.HasSuffix(spec, ext) {
			return true
		}
	}
	return false
}

// binary reports whether a text file is binary.
func binary(text string) bool {
	return bytes.IndexByte([]byte(text[:min(len(text), 8000)]), 0) >= 0
}
