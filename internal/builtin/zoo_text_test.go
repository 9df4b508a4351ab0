package builtin_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"
)

// zooTexts are texts in many encodings and shapes. The first sentence of each
// has to be read as it was written.
func zooTexts(t *testing.T) (all []creature) {
	t.Helper()
	const (
		simplified  = "这个函数返回文件中的行数。\n检查用户是否已经登录，否则跳转到首页。\n昨天晚上我们沿着河边散步。\n如果连接超时，请稍后重试三次。"
		traditional = "這個函數會傳回檔案中的行數。\n檢查使用者是否已經登入，否則跳轉到首頁。\n昨天晚上我們沿著河邊散步。\n如果連線逾時，請稍後再試三次。"
		nippon      = "この関数はファイルの行数を返します。\nユーザーがログインしているか確認してください。\n昨日の夜、私たちは川のそばを散歩しました。\nもう一度やり直してください。"
		hangul      = "이 함수는 파일의 줄 수를 반환합니다.\n사용자가 로그인했는지 확인하십시오.\n어제 저녁에 우리는 강가를 산책했습니다.\n다시 시도해 주세요."
		russian     = "Функция возвращает количество строк в файле.\nПроверить, что указатель не равен нулю.\nМы поехали на дачу, потому что было жарко."
		french      = "Le fichier a été créé avant la dernière mise à jour.\nNous avons mangé près de la forêt.\nOù est passée la bibliothèque ?"
		greek       = "Η συνάρτηση επιστρέφει τον αριθμό των γραμμών.\nΤο αρχείο δεν βρέθηκε στον φάκελο του χρήστη."
		polish      = "Funkcja zwraca liczbę wierszy w pliku źródłowym.\nUżytkownik musi podać hasło, żeby się zalogować."
	)
	for _, c := range []struct {
		name string
		enc  encoding.Encoding
		text string
	}{
		{"gbk", simplifiedchinese.GBK, simplified}, {"gb18030", simplifiedchinese.GB18030, simplified}, {"big5", traditionalchinese.Big5, traditional},
		{"shift_jis", japanese.ShiftJIS, nippon}, {"euc-jp", japanese.EUCJP, nippon}, {"iso-2022-jp", japanese.ISO2022JP, nippon}, {"euc-kr", korean.EUCKR, hangul},
	} {
		for shape, text := range map[string]string{
			"lines": c.text, "crlf": strings.ReplaceAll(c.text, "\n", "\r\n"), "one": strings.ReplaceAll(c.text, "\n", ""),
			"long": strings.Repeat(c.text+"\n", 300), "code": c.text + "\nfunc main() {\n\treturn 1 // " + c.text[:strings.Index(c.text, "\n")] + "\n}\n",
		} {
			all = append(all, textIn(t, c.name+"-"+shape+".txt", c.enc, text))
		}
	}
	for name, enc := range map[string]encoding.Encoding{
		"utf8": encoding.Nop, "utf8mark": unicode.UTF8BOM, "utf16le": unicode.UTF16(unicode.LittleEndian, unicode.UseBOM),
		"utf16be": unicode.UTF16(unicode.BigEndian, unicode.UseBOM), "utf16le-bare": unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM),
		"utf16be-bare": unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM), "utf32le": utf32.UTF32(utf32.LittleEndian, utf32.UseBOM),
		"utf32be": utf32.UTF32(utf32.BigEndian, utf32.UseBOM),
	} {
		for language, text := range map[string]string{"en": "plain words\nand more\n", "fr": french, "ja": nippon, "ru": russian} {
			all = append(all, textIn(t, name+"-"+language+".txt", enc, text))
		}
	}
	return append(all,
		textIn(t, "1251.txt", charmap.Windows1251, russian), textIn(t, "koi8.txt", charmap.KOI8R, russian), textIn(t, "866.txt", charmap.CodePage866, russian),
		textIn(t, "latin1.txt", charmap.ISO8859_1, french), textIn(t, "1252.txt", charmap.Windows1252, "It’s “new” — and costs €12.\nDon’t ask…"),
		textIn(t, "1253.txt", charmap.Windows1253, greek), textIn(t, "1250.txt", charmap.Windows1250, polish),
	)
}

func textIn(t *testing.T, name string, enc encoding.Encoding, text string) creature {
	t.Helper()
	data, err := enc.NewEncoder().Bytes([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	first, _, _ := strings.Cut(text, "\n")
	return creature{name: name, data: data, want: "text", shows: "00001| " + strings.TrimSuffix(first, "\r")}
}

// zooMislabelled are texts with names of something else, or that begin like
// something else.
func zooMislabelled() (all []creature) {
	for _, ext := range []string{
		"png", "jpg", "gif", "webp", "bmp", "tiff", "pdf", "zip", "tar", "gz", "exe", "dll", "so", "class", "jar", "war", "7z",
		"doc", "docx", "xls", "ppt", "odt", "bin", "dat", "obj", "o", "a", "lib", "wasm", "pyc", "pyo", "ipynb", "svg", "ts", "mp4",
	} {
		all = append(all, creature{name: "text." + ext, data: []byte("these are words\n"), want: "text", shows: "these are words"})
	}
	for name, text := range map[string]string{
		"bm.txt": "BM is what a bitmap begins with.\n", "ii.txt": "II* is what a picture begins with\n", "riff.txt": "RIFF words WEBP words\n",
		"pdf.txt": "%PDF is a mark\n", "mz.txt": "MZ was his name\n", "pk.txt": "PK are letters\n", "elf.txt": "\x7fELF by name only\n",
		"colours.log": "\x1b[31mred\x1b[0m and \x1b[1mbold\x1b[0m words\n", "feed.txt": "one\ftwo\vthree\n", "late.log": strings.Repeat("words of a log\n", 400) + "\x00\x00\x00\n",
	} {
		all = append(all, creature{name: "begins-" + name, data: []byte(text), want: "text"})
	}
	return append(all,
		creature{name: "begins-gif.txt", data: []byte("GIF89a is a format of the year 1989.\n"), want: "text"},
		creature{name: "begins-pdf17.txt", data: []byte("%PDF-1.7 is what a PDF begins with.\n"), want: "text"},
	)
}

// zooBinaries are what is no text, whatever its name says.
func zooBinaries(t *testing.T) (all []creature) {
	t.Helper()
	for i, ext := range []string{"txt", "go", "md", "json", "bin", "log", "csv", "html"} {
		r := rand.New(rand.NewPCG(uint64(i), 7))
		data := make([]byte, 600<<i)
		for j := range data {
			data[j] = byte(r.Uint32())
		}
		data[200] = 0 // as nearly all of that length have somewhere
		all = append(all, creature{name: "random." + ext, data: data, want: "binary"})
	}
	for name, head := range map[string]string{
		"elf": "\x7fELF\x02\x01\x01\x00\x00\x00", "exe": "MZ\x90\x00\x03\x00\x00\x00", "class": "\xca\xfe\xba\xbe\x00\x00\x00\x34", "wasm": "\x00asm\x01\x00\x00\x00",
		"sqlite": "SQLite format 3\x00\x10\x00", "ttf": "\x00\x01\x00\x00\x00\x0f\x00\x80", "mp4": "\x00\x00\x00\x1cftypisom\x00\x00\x02\x00", "avif": "\x00\x00\x00\x1cftypavif\x00\x00\x00\x00",
		"pyc": "\x6f\x0d\x0d\x0a\x00\x00\x00\x00", "mo": "\xde\x12\x04\x95\x00\x00\x00\x00", "ico": "\x00\x00\x01\x00\x01\x00", "ds": "\x00\x00\x00\x01Bud1\x00\x00",
		"ole": "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\x00\x00", "rar": "Rar!\x1a\x07\x00\xcf", "flac": "fLaC\x00\x00\x00\x22", "utf8": "naïve\x00日本語",
	} {
		all = append(all, creature{name: "head-" + name + ".txt", data: append([]byte(head), make([]byte, 500)...), want: "binary"})
	}
	words := []byte(strings.Repeat("words in an archive\n", 50))
	var packed, zipped, tarred bytes.Buffer
	g := gzip.NewWriter(&packed)
	_, err1 := g.Write(words)
	z := zip.NewWriter(&zipped)
	f, err2 := z.Create("words.txt")
	if err2 == nil {
		_, err2 = f.Write(words)
	}
	a := tar.NewWriter(&tarred)
	err3 := a.WriteHeader(&tar.Header{Name: "words.txt", Size: int64(len(words)), Mode: 0o644})
	_, err4 := a.Write(words)
	for _, err := range []error{err1, err2, err3, err4, g.Close(), z.Close(), a.Close()} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, data := range map[string][]byte{"gzip": packed.Bytes(), "zip": zipped.Bytes(), "tar": tarred.Bytes()} {
		all = append(all, creature{name: "archive-" + name + ".txt", data: data, want: "binary"})
	}
	key := make([]byte, 256) // such as a key, or a small encrypted file
	for i, r := 0, rand.New(rand.NewPCG(3, 4)); i < len(key); i++ {
		key[i] = byte(1 + r.IntN(255))
	}
	all = append(all, creature{name: "key.bin", data: key, want: "binary"})
	return slices.Concat(all, zooPrograms())
}

// zooPrograms are this program and one of the system's.
func zooPrograms() (all []creature) {
	for i, name := range []string{"/bin/ls", os.Args[0]} {
		if data, err := os.ReadFile(name); err == nil {
			all = append(all,
				creature{name: fmt.Sprintf("program-%d.txt", i), data: data, want: "binary"},
				creature{name: fmt.Sprintf("cut-%d.txt", i), data: data[:min(len(data), 200)], want: "binary"})
		}
	}
	return all
}
