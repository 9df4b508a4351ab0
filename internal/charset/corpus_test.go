package charset

import (
	"strings"
	"testing"
)

// A tongue is a language, what it is written in, and sentences of it.
type tongue struct {
	name      string
	encodings string
	sentences string // one a line
}

func tongues() []tongue {
	const unicodes = "utf-8 utf-16le utf-16be utf-32le utf-32be "
	return []tongue{
		{"english", unicodes + "windows-1252", `
The “quick” answer isn’t always the right one — measure before you cut.
Don’t call this twice; the second call won’t return.
Naïve callers pass a résumé here, and the café menu there.
Every file ends with a newline… unless someone’s editor disagrees.
The price was £40 – or about €45 – for the whole set.
She said: “Close the door, it’s cold outside.”
`},
		{"french", unicodes + "iso-8859-1 windows-1252", `
Le fichier a été créé avant la dernière mise à jour.
Cette fonction renvoie la valeur par défaut si la clé n'existe pas.
Nous avons mangé du pain et bu du café près de la forêt.
Vérifier que le paramètre n'est pas nul avant de l'utiliser.
Les élèves étudient le français à l'école depuis trois années.
Où est passée la bibliothèque dont tu m'as parlé hier soir ?
Supprime les éléments en double et trie le résultat.
`},
		{"german", unicodes + "iso-8859-1 windows-1252", `
Die Größe des Puffers muss vor dem Aufruf geprüft werden.
Übergibt die Schlüssel an den nächsten Schritt.
Wir können morgen früh über die Brücke nach Köln fahren.
Löscht alle Einträge, die älter als dreißig Tage sind.
Der Schüler öffnete das Fenster, weil es im Zimmer heiß war.
Für jede Änderung wird ein Eintrag im Protokoll erzeugt.
`},
		{"spanish", unicodes + "iso-8859-1 windows-1252", `
La función devuelve el número de páginas del documento.
El niño comió una manzana y después salió al jardín.
¿Dónde está la configuración del año pasado?
Elimina los archivos que ya no se usan en la versión actual.
Mañana iremos a la montaña con todos nuestros compañeros.
Esta opción no está disponible en su país todavía.
`},
		{"portuguese", unicodes + "iso-8859-1 windows-1252", `
A função não está disponível nesta versão do programa.
As informações serão enviadas após a confirmação do usuário.
O coração da cidade é a praça onde as crianças brincam.
Verifica se a conexão com o servidor ainda está aberta.
Amanhã vou à padaria comprar pão e maçãs.
`},
		{"swedish", unicodes + "iso-8859-1 windows-1252", `
Filen går inte att öppna eftersom den används av någon annan.
Hämta värdet från listan och lägg det först i kön.
På sommaren åker vi ut till ön och badar varje kväll.
Användaren måste välja ett nytt lösenord.
`},
		{"russian", unicodes + "windows-1251 koi8-r ibm866", `
Функция возвращает количество строк в файле.
Проверить, что указатель не равен нулю.
Мы поехали на дачу, потому что в городе было очень жарко.
Настройки по умолчанию загружаются при запуске программы.
Ошибка: не удалось открыть соединение с базой данных.
Вчера вечером дети читали книгу о далёких странах.
Удаляет временные файлы после завершения работы.
`},
		{"ukrainian", unicodes + "windows-1251 koi8-u", `
Функція повертає кількість рядків у файлі.
Перевірити, чи існує користувач із таким іменем.
Ми поїхали до міста, бо вдома було дуже нудно.
Українська мова має багату історію та чудову літературу.
Налаштування зберігаються після закриття вікна.
`},
		{"polish", unicodes + "windows-1250 iso-8859-2", `
Funkcja zwraca liczbę wierszy w pliku źródłowym.
Użytkownik musi podać hasło, żeby się zalogować.
Wczoraj późnym wieczorem poszliśmy na długi spacer wzdłuż rzeki.
Sprawdź, czy połączenie z bazą danych jest wciąż otwarte.
Książka leży na półce obok zdjęcia mojej córki.
`},
		{"czech", unicodes + "windows-1250 iso-8859-2", `
Funkce vrací počet řádků v souboru.
Uživatel musí zadat heslo, aby se mohl přihlásit.
Včera večer jsme se procházeli podél řeky až k mostu.
Zkontrolujte, zda je připojení k databázi stále otevřené.
`},
		{"turkish", unicodes + "windows-1254", `
Bu işlev dosyadaki satır sayısını döndürür.
Kullanıcının giriş yapıp yapmadığını kontrol eder.
Dün akşam nehir kıyısında uzun bir yürüyüş yaptık.
Geçici dosyaları siler ve belleği boşaltır.
`},
		{"armenian", unicodes, `
Ֆունկցիան վերադարձնում է տողերի քանակը։
Երեկ երեկոյան մենք քայլեցինք գետի ափով։
`},
		{"hindi", unicodes, `
यह फ़ंक्शन फ़ाइल की पंक्तियों की संख्या लौटाता है।
कल शाम हम नदी के किनारे टहलने गए थे।
`},
		{"greek", unicodes + "windows-1253", `
Η συνάρτηση επιστρέφει τον αριθμό των γραμμών.
Το αρχείο δεν βρέθηκε στον φάκελο του χρήστη.
Χθες το βράδυ περπατήσαμε δίπλα στη θάλασσα.
Έλεγχος αν η σύνδεση είναι ακόμα ανοιχτή.
`},
		{"simplified chinese", unicodes + "gbk gb18030", `
这个函数返回文件中的行数。
检查用户是否已经登录，否则跳转到首页。
昨天晚上我们沿着河边散步，看见很多萤火虫。
如果连接超时，请稍后重试三次再报告错误。
初始化配置并加载默认参数
删除临时文件，释放占用的内存。
孩子们在公园里放风筝，笑声传得很远。
计算两个日期之间相差的天数
把字符串按照指定的分隔符拆分成数组。
北京的秋天天气凉爽，适合旅行。
`},
		{"traditional chinese", unicodes + "big5", `
這個函式會回傳檔案中的行數。
檢查使用者是否已經登入，否則跳到首頁。
昨天晚上我們沿著河邊散步，看見許多螢火蟲。
如果連線逾時，請稍後再試三次並回報錯誤。
初始化設定並載入預設參數
刪除暫存檔案，釋放佔用的記憶體。
孩子們在公園裡放風箏，笑聲傳得很遠。
計算兩個日期之間相差的天數
將字串依照指定的分隔符號拆成陣列。
臺北的冬天常常下雨，出門要帶傘。
`},
		{"japanese", unicodes + "shift_jis euc-jp", `
この関数はファイルの行数を返します。
ユーザーがログインしているか確認する。
昨日の夜、川沿いを散歩していたら蛍をたくさん見かけました。
接続がタイムアウトした場合は、三回まで再試行してください。
設定の初期化とデフォルト値の読み込み
一時ファイルを削除し、メモリを解放する。
子供たちは公園で凧を揚げて遊んでいた。
二つの日付の差を日数で計算
文字列を区切り文字で分割して配列にする。
京都の秋は紅葉がとても美しい。
`},
		{"half-width kana", unicodes + "shift_jis", `
ﾌｧｲﾙｦ ﾖﾐｺﾐﾏｽ
ｴﾗｰ: ﾃﾞｰﾀ ｶﾞ ｱﾘﾏｾﾝ
ｶﾌﾞｼｷｶﾞｲｼｬ ﾔﾏﾀﾞｼｮｳﾃﾝ
ﾄｳｷｮｳﾄ ｼﾝｼﾞｭｸｸ ﾆｼｼﾝｼﾞｭｸ
ﾃｽﾄ ｶﾝﾘｮｳ ｼﾏｼﾀ
ﾊﾟｽﾜｰﾄﾞｦ ﾆｭｳﾘｮｸ ｼﾃｸﾀﾞｻｲ
`},
		{"korean", unicodes + "euc-kr", `
이 함수는 파일의 줄 수를 반환합니다.
사용자가 로그인했는지 확인한다.
어제 저녁에 우리는 강변을 따라 산책하다가 반딧불이를 보았다.
연결 시간이 초과되면 세 번까지 다시 시도하십시오.
설정 초기화 및 기본값 불러오기
임시 파일을 삭제하고 메모리를 해제합니다.
아이들은 공원에서 연을 날리며 놀았다.
두 날짜 사이의 일수를 계산
문자열을 구분자로 나누어 배열로 만든다.
서울의 가을 하늘은 높고 푸르다.
`},
	}
}

func (g tongue) lines() []string { return strings.Split(strings.TrimSpace(g.sentences), "\n") }

// dense reports whether the language is written without spaces in between.
func (g tongue) dense() bool {
	return strings.Contains(g.name, "chinese") || g.name == "japanese"
}

// A shape makes texts of a length from a language's sentences.
type shape struct {
	name string
	of   func(g tongue) []string
}

func shapes() []shape {
	code := func(comment string) string {
		return "int total = count(list, 3); // " + comment + "\nreturn total;\n"
	}
	return []shape{
		{"comment of a few characters", func(g tongue) (texts []string) {
			for _, s := range g.lines() {
				texts = append(texts, code(fewest(g, s)))
			}
			return texts
		}},
		{"sentence alone", func(g tongue) (texts []string) {
			return g.lines()
		}},
		{"sentence in code", func(g tongue) (texts []string) {
			for _, s := range g.lines() {
				texts = append(texts, code(s))
			}
			return texts
		}},
		{"three sentences", func(g tongue) (texts []string) {
			l := g.lines()
			for i := range l {
				texts = append(texts, l[i]+"\n"+l[(i+1)%len(l)]+"\n"+l[(i+2)%len(l)]+"\n")
			}
			return texts
		}},
		{"long", func(g tongue) (texts []string) {
			body := strings.Join(g.lines(), "\r\n") + "\r\n"
			return []string{strings.Repeat(body, 40), strings.Repeat("plain ASCII, and much of it\n", 4000) + body}
		}},
	}
}

// fewest is the shortest beginning of a sentence that a comment may be: a few
// characters, or the words up to the second that is not ASCII.
func fewest(g tongue, s string) string {
	r := []rune(s)
	if g.dense() {
		return string(r[:min(len(r), 6)])
	}
	words, high := strings.Fields(s), 0
	for i, w := range words {
		if strings.ContainsFunc(w, func(r rune) bool { return r >= 0x80 }) {
			high++
		}
		if high == 2 {
			return strings.Join(words[:i+1], " ")
		}
	}
	return s
}

func encoded(t testing.TB, s, name string) []byte {
	t.Helper()
	e, ok := Named(name)
	if !ok {
		t.Fatalf("no encoding %s", name)
	}
	b, err := e.encode(s)
	if err != nil {
		t.Fatalf("%q: %v", s, err)
	}
	return b
}
