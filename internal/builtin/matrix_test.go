package builtin_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/unicode"

	"github.com/helve-dev/helve/internal/charset"
	"github.com/helve-dev/helve/permission"
)

// A script is an encoding, a text in it, and a letter that it does not have.
type script struct {
	name    string // as the read tool tells it; "" for plain UTF-8
	mark    string // in front, as bytes
	enc     encoding.Encoding
	text    string // lines; matrixLine comes in the middle
	foreign string
}

const (
	matrixLine = "timeout = 30  # seconds"
	matrixNew  = "timeout = 45  # seconds"
)

func scripts() []script {
	western := "Le fichier a été créé avant la dernière mise à jour.\nNous avons mangé du pain près de la forêt.\n" +
		"Où est passée la bibliothèque ?\nLa clé n'existe pas à cet endroit.\nVérifier le paramètre.\n" +
		"Les élèves étudient le français à l'école.\nSupprime les éléments en double.\nLa fenêtre était ouverte.\n" +
		"Le café est prêt, le thé aussi.\nIl a plu toute la journée à Orléans.\nÀ bientôt, cher collègue."
	english := "The “quick” answer isn’t always the right one — measure first.\nDon’t call this twice; it won’t return.\n" +
		"The price was £40 – or about €45 – for the set.\nShe said: “Close the door, it’s cold.”\nEvery file ends with a newline… or not.\n" +
		"Naïve callers pass a résumé here.\nThe café’s menu is “new”.\nIt’s late — we’ll see.\nThat’s €12 a month.\n“Yes,” he said.\nAll’s well that ends well…"
	chinese := "这个函数返回文件中的行数。\n检查用户是否已经登录，否则跳转到首页。\n昨天晚上我们沿着河边散步。\n如果连接超时，请稍后重试三次。\n" +
		"初始化配置并加载默认参数。\n删除临时文件，释放占用的内存。\n孩子们在公园里放风筝。\n春天来了，花都开了。\n他每天早上六点起床跑步。\n请把门关上，外面很冷。\n谢谢大家的支持和帮助。"
	japanese_ := "この関数はファイルの行数を返します。\nユーザーがログインしているか確認してください。\n昨日の夜、私たちは川のそばを散歩しました。\n" +
		"接続がタイムアウトした場合は、もう一度やり直してください。\n設定を初期化します。\n一時ファイルを削除する。\n子供たちは公園で凧を揚げていた。\n" +
		"春が来て、花が咲きました。\n毎朝六時に起きて走ります。\nドアを閉めてください。\nご協力ありがとうございます。"
	korean_ := "이 함수는 파일의 줄 수를 반환합니다.\n사용자가 로그인했는지 확인하십시오.\n어제 저녁에 우리는 강가를 산책했습니다.\n" +
		"연결이 끊어지면 다시 시도해 주세요.\n설정을 초기화하고 기본값을 불러옵니다.\n임시 파일을 삭제합니다.\n아이들이 공원에서 연을 날리고 있다.\n" +
		"봄이 와서 꽃이 피었습니다.\n매일 아침 여섯 시에 일어납니다.\n문을 닫아 주세요.\n도와주셔서 감사합니다."
	many := western[:strings.Index(western, "\nVérifier")] + "\n" + chinese[:strings.Index(chinese, "\n如果")] + "\nΗ συνάρτηση επιστρέφει τον αριθμό.\nEmoji: 🌍 👩‍👩‍👧 é e\u0301\nконец строки\nthe end"
	wide := func(e unicode.Endianness) encoding.Encoding { return unicode.UTF16(e, unicode.IgnoreBOM) }
	return []script{
		{"", "", encoding.Nop, many, ""},
		{"", "\xef\xbb\xbf", encoding.Nop, many, ""},
		{"utf-16le", "\xff\xfe", wide(unicode.LittleEndian), many, ""},
		{"utf-16be", "\xfe\xff", wide(unicode.BigEndian), many, ""},
		{"gbk", "", simplifiedchinese.GBK, chinese, "🌍"},
		{"shift_jis", "", japanese.ShiftJIS, japanese_, "한"},
		{"euc-kr", "", korean.EUCKR, korean_, "🌍"},
		{"windows-1252", "", charmap.Windows1252, english, "日"},
		{"iso-8859-1", "", charmap.ISO8859_1, western, "€"},
	}
}

func (s script) String() string {
	if s.name == "" && s.mark != "" {
		return "utf-8 with mark"
	}
	if s.name == "" {
		return "utf-8"
	}
	return s.name
}

func (s script) encode(t *testing.T, text string) []byte {
	t.Helper()
	data, err := s.enc.NewEncoder().Bytes([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// lines are the text with the line that is changed in its middle.
func (s script) lines() []string {
	all := strings.Split(s.text, "\n")
	half := len(all) / 2
	return append(append(append([]string{}, all[:half]...), matrixLine), all[half:]...)
}

// contents are the bytes of the text with the given line endings, in turn.
func (s script) contents(t *testing.T, endings []string) []byte {
	t.Helper()
	var b strings.Builder
	for i, line := range s.lines() {
		b.WriteString(line + endings[i%len(endings)])
	}
	return append([]byte(s.mark), s.encode(t, b.String())...)
}

// change is the call of a tool that changes the one line.
func (s script) change(name, file, to string) map[string]any {
	one := map[string]any{"oldString": matrixLine, "newString": to}
	switch name {
	case "edit":
		return merge(map[string]any{"filePath": file}, one)
	case "multiedit":
		// By way of another word, to go over the text twice.
		return map[string]any{"filePath": file, "edits": []any{
			map[string]any{"oldString": matrixLine, "newString": "interim = 0"}, map[string]any{"oldString": "interim = 0", "newString": to},
		}}
	case "apply_patch":
		return map[string]any{"patchText": patchOf("*** Update File: "+file, "@@", "-"+matrixLine, "+"+to)}
	}
	text := strings.Join(s.lines(), "\n") + "\n"
	return map[string]any{"filePath": file, "content": strings.Replace(text, matrixLine, to, 1)}
}

func matrixTools() []string { return []string{"edit", "multiedit", "apply_patch", "write"} }

// TestMatrix changes one line of a text in every encoding, with every kind of
// line ending, by every tool, by its name and by a link. Every other byte
// stays, but for the line endings that a write sends, and so do the mode and the
// link.
func TestMatrix(t *testing.T) {
	endings := map[string][]string{"LF": {"\n"}, "CRLF": {"\r\n"}, "CR": {"\r"}, "mixed": {"\n", "\r\n", "\r\n", "\n", "\r"}}
	for _, s := range scripts() {
		t.Run(s.String(), func(t *testing.T) {
			d := newDesk(t, permission.Allow)
			for kind, ends := range endings {
				before := s.contents(t, ends)
				want := bytes.Replace(before, s.encode(t, "timeout = 30"), s.encode(t, "timeout = 45"), 1)
				if bytes.Equal(before, want) {
					t.Fatal("the line to change is not there")
				}
				for _, name := range matrixTools() {
					want := want
					if name == "write" {
						sent := s.change(name, "", matrixNew)["content"].(string)
						want = append([]byte(s.mark), s.encode(t, sent)...)
					}
					for _, linked := range []bool{false, true} {
						t.Run(kind+"/"+name+map[bool]string{true: "/link"}[linked], func(t *testing.T) {
							d.t = t
							cell{s, name, linked, before, want}.run(d)
						})
					}
				}
			}
		})
	}
}

// A cell is one place of the matrix.
type cell struct {
	script
	tool         string
	linked       bool
	before, want []byte
}

func (c cell) run(d *desk) {
	t := d.t
	t.Helper()
	dir, err := os.MkdirTemp(d.dir, "")
	if err != nil {
		t.Fatal(err)
	}
	path, asked := filepath.Join(dir, "real.txt"), filepath.Join(dir, "real.txt")
	write(t, path, c.before)
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if c.linked {
		asked = filepath.Join(dir, "link.txt")
		if err := os.Symlink("real.txt", asked); err != nil {
			t.Skip(err)
		}
	}
	res := d.mustRead(asked)
	if name, _ := res.Metadata["encoding"].(string); name != c.name {
		t.Errorf("the encoding is told as %q", name)
	}
	if _, err := d.call(c.tool, c.change(c.tool, asked, matrixNew)); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(got, c.want) {
		t.Errorf("the file is\n%q and not\n%q: %v", got, c.want, err)
	}
	info, err := os.Lstat(path)
	if err != nil || runtime.GOOS != "windows" && info.Mode() != 0o640 {
		t.Errorf("the mode is %v: %v", info.Mode(), err)
	}
	if info, err := os.Lstat(asked); err != nil || c.linked != (info.Mode()&fs.ModeSymlink != 0) {
		t.Errorf("the name that was used is %v now: %v", info.Mode(), err)
	}
	if again := d.mustRead(asked); !strings.Contains(again.Output, matrixNew) || strings.Contains(again.Output, matrixLine) {
		t.Errorf("read again it shows %q", again.Output)
	}
}

// A print is what shows that nothing has touched a file.
type print struct {
	size  int64
	hash  [32]byte
	mtime string
	mode  fs.FileMode
}

func printOf(t *testing.T, path string) print {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return print{info.Size(), sha256.Sum256(data), info.ModTime().String(), info.Mode()}
}

// TestMatrixForeignLetters puts a letter into a text whose encoding does not
// have it.
func TestMatrixForeignLetters(t *testing.T) {
	d := newDesk(t, permission.Allow)
	for _, s := range scripts() {
		if s.foreign == "" {
			continue
		}
		for _, name := range matrixTools() {
			t.Run(s.String()+"/"+name, func(t *testing.T) {
				d.t = t
				path := d.put("f.txt", string(s.contents(t, []string{"\r\n"})))
				aged(t, path, 1000)
				before := printOf(t, path)
				d.mustRead("f.txt")
				_, err := d.call(name, s.change(name, "f.txt", "title = "+s.foreign))
				wantFail(t, err, "encoding", s.foreign)
				if printOf(t, path) != before {
					t.Error("the file was touched")
				}
			})
		}
	}
}

// TestMatrixUnknown edits text in no encoding that could be told.
func TestMatrixUnknown(t *testing.T) {
	d := newDesk(t, permission.Allow)
	for what, data := range map[string]string{
		"a few high bytes": matrixLine + "\n\xff\xfe\xfd\xc3(\n",
		"broken UTF-8":     matrixLine + "\nnaïve caf\xc3 日本語のテキスト\xe6\x97 and so on\n",
		"noise":            matrixLine + "\n" + noise(400) + "\n",
	} {
		if _, err := charset.Detect([]byte(data), true); !errors.Is(err, charset.ErrUnknown) {
			t.Errorf("%s is told as known: %v", what, err)
			continue
		}
		for _, name := range []string{"edit", "multiedit", "apply_patch"} {
			t.Run(what+"/"+name, func(t *testing.T) {
				d.t = t
				path := d.put("f.txt", data)
				aged(t, path, 1000)
				before := printOf(t, path)
				if res := d.mustRead("f.txt"); res.Metadata["encoding"] != "unknown" {
					t.Errorf("read tells %v", res.Metadata)
				}
				_, err := d.call(name, script{}.change(name, "f.txt", matrixNew))
				wantFail(t, err, "encoding", "its encoding is not known")
				if printOf(t, path) != before {
					t.Error("the file was touched")
				}
			})
		}
		for _, name := range []string{"write", "apply_patch add"} {
			t.Run(what+"/"+name, func(t *testing.T) {
				d.t = t
				path := d.put("f.txt", data)
				aged(t, path, 1000)
				before := printOf(t, path)
				d.mustRead("f.txt")
				var err error
				if name == "write" {
					_, err = d.write("f.txt", matrixNew+"\n\ufffd\ufffd(\n")
				} else {
					_, err = d.patch(patchOf("*** Add File: f.txt", "+"+matrixNew, "+\ufffd"))
				}
				wantFail(t, err, "encoding", "its encoding is not known")
				if printOf(t, path) != before {
					t.Error("the file was touched")
				}
			})
		}
	}
}

// noise are bytes that are no control characters and no text either.
func noise(n int) string {
	r := rand.New(rand.NewPCG(1, 2))
	out := make([]byte, n)
	for i := range out {
		out[i] = byte(0x80 + r.IntN(0x80))
	}
	return string(out)
}
