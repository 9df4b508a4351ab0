// The tables of the tokenizer in colour.js. A rule is a class and the source of
// an expression, tried in this order; "word" becomes a keyword, a type or
// nothing. A span may go on over lines: open is an expression, close a text.

const words = (text) => new Set(text.split(' '));

const doubleQuoted = ['string', String.raw`"(?:[^"\\]|\\.)*"?`];
const singleQuoted = ['string', String.raw`'(?:[^'\\]|\\.)*'?`];
const number = ['number', String.raw`\b(?:0[xX][\da-fA-F_]+|0[bB][01_]+|0[oO][0-7_]+|\d[\d_]*(?:\.\d[\d_]*)?(?:[eE][+-]?\d+)?)\w*`];
const call = ['function', String.raw`[\p{L}_$][\p{L}\p{N}_$]*(?=\()`];
const word = ['word', String.raw`[\p{L}_$][\p{L}\p{N}_$]*`];
const punct = ['punct', String.raw`[{}()\[\];:,.<>=+\-*/%&|^!~?@#]+?`];
const lineComment = ['comment', String.raw`//.*`];
const hashComment = ['comment', String.raw`#.*`];
const blockComment = { open: String.raw`/\*`, close: '*/', cls: 'comment' };

/** A keyword before "(" is no call. */
function cRules(keywords, ...more) {
  const kept = ['word', `(?:${[...keywords].join('|')})\\b(?=\\s*\\()`];
  return [lineComment, ...more, doubleQuoted, singleQuoted, number, kept, call, word, punct];
}

const goWords = words('break case chan const continue default defer else fallthrough for func go goto if import interface map package range return select struct switch type var true false nil iota');
const jsWords = words('abstract as async await break case catch class const continue debugger declare default delete do else enum export extends finally for from function get if implements import in instanceof interface is keyof let namespace new null of private protected public readonly return satisfies set static super switch this throw true false try type typeof undefined var void while with yield');
const pyWords = words('False None True and as assert async await break case class continue def del elif else except finally for from global if import in is lambda match nonlocal not or pass raise return try while with yield');
const rustWords = words('as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod move mut pub ref return self static struct super trait true type union unsafe use where while');
const cWords = words('abstract alignas alignof auto base break case catch checked class const consteval constexpr continue co_await co_return co_yield default delegate delete do else enum event explicit export extends extern false final finally fixed for foreach friend goto if implements import in inline instanceof interface internal is lock mutable namespace new noexcept null nullptr operator out override package params private protected public readonly record ref register requires restrict return sealed sizeof static static_assert struct super switch synchronized template this throw throws transient true try typedef typeid typename union unsafe using var virtual volatile when where while yield');
const shWords = words('if then elif else fi for in do done while until case esac function select time return exit break continue export local readonly declare typeset unset shift source alias set trap eval exec');
const sqlWords = words('add all alter and any as asc begin between by cascade case cast check column commit constraint create cross database default delete desc distinct drop else end except exists explain false fetch first following foreign from full function grant group having if in index inner insert intersect into is join key last left like limit natural not null nulls offset on or order outer over partition preceding primary procedure recursive references replace returning revoke right rollback row rows select set table temporary then to trigger true truncate union unique update using values view when where window with');

/** What is written in a markup: names of tags, attributes, their values. */
const markup = {
  spans: [{ open: '<!--', close: '-->', cls: 'comment' }, { open: String.raw`<!\[CDATA\[`, close: ']]>', cls: 'string' }],
  rules: [
    ['keyword', String.raw`</?[\p{L}!?][\p{L}\p{N}:._-]*|/?>|\?>`],
    ['string', String.raw`(?<==\s*)(?:"[^"]*"?|'[^']*'?)`],
    ['type', String.raw`[\p{L}@:_][\p{L}\p{N}:._-]*(?==)`],
    ['number', '&#?\\w+;'],
    ['word', String.raw`[\p{L}\p{N}_]+`],
  ],
};

export const languages = {
  go: {
    spans: [blockComment, { open: '`', close: '`', cls: 'string' }],
    rules: cRules(goWords),
    keywords: goWords,
    types: words('any bool byte comparable complex64 complex128 error float32 float64 int int8 int16 int32 int64 rune string uint uint8 uint16 uint32 uint64 uintptr'),
  },
  js: {
    spans: [blockComment, { open: '`', close: '`', cls: 'string', escapes: true }],
    rules: cRules(jsWords),
    keywords: jsWords,
    types: words('any bigint boolean never number object string symbol unknown Array Date Error JSON Map Math Number Object Promise Record RegExp Set String'),
  },
  py: {
    spans: [{ open: '[rRbBfFuU]{0,2}"""', close: '"""', cls: 'string', escapes: true }, { open: "[rRbBfFuU]{0,2}'''", close: "'''", cls: 'string', escapes: true }],
    rules: [hashComment, doubleQuoted, singleQuoted, number, ['type', String.raw`@[\w.]+`], ['word', `(?:${[...pyWords].join('|')})\\b(?=\\s*\\()`], call, word, punct],
    keywords: pyWords,
    types: words('bool bytes dict float frozenset int list object set str tuple self cls Exception'),
  },
  rust: {
    spans: [blockComment, { open: 'b?r#"', close: '"#', cls: 'string' }, { open: 'b?"', close: '"', cls: 'string', escapes: true }],
    rules: [lineComment, ['string', String.raw`b?'(?:[^'\\]|\\[^']+|\\')'`], ['type', String.raw`'[a-z_]\w*|#!?\[[^\]]*\]?`], number, ['function', String.raw`[\p{L}_][\p{L}\p{N}_]*!?(?=\()`], word, punct],
    keywords: rustWords,
    types: words('bool char f32 f64 i8 i16 i32 i64 i128 isize str u8 u16 u32 u64 u128 usize Box Option Result Self String Vec Some None Ok Err'),
  },
  c: {
    spans: [blockComment],
    rules: cRules(cWords, ['keyword', String.raw`^\s*#\s*\w+`], ['type', String.raw`@\w+`]),
    keywords: cWords,
    types: words('bool boolean byte char char8_t char16_t char32_t decimal double float int int8_t int16_t int32_t int64_t long object short signed size_t ssize_t string uint uint8_t uint16_t uint32_t uint64_t ulong unsigned ushort void wchar_t String Integer List Map Object'),
  },
  sh: {
    spans: [{ open: '"', close: '"', cls: 'string', escapes: true }, { open: "'", close: "'", cls: 'string' }],
    rules: [['comment', String.raw`(?<=^|\s)#.*`], ['type', String.raw`\$(?:\{[^}]*\}?|[\w@*#?$!-]+)`], ['number', String.raw`(?<=^|\s)-{1,2}[\w-]+`], number, ['word', String.raw`[\w.-]+`], ['punct', '[|&;<>(){}\\[\\]=!]']],
    keywords: shWords,
  },
  json: {
    spans: [blockComment],
    rules: [['type', String.raw`"(?:[^"\\]|\\.)*"(?=\s*:)`], doubleQuoted, lineComment, ['number', String.raw`-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?`], word, ['punct', '[{}\\[\\],:]']],
    keywords: words('true false null'),
  },
  yaml: {
    rules: [['comment', String.raw`(?<=^|\s)#.*`], ['type', String.raw`(?<=^[\s-]*)[\w."'/-]+(?=\s*:(?:\s|$))`], doubleQuoted, ["string", "'(?:[^']|'')*'?"], ['keyword', String.raw`(?<=\s|^)[&*!][\w!-]+|^---|^\.\.\.`], ['number', String.raw`(?<=[\s:\[,])-?\d+(?:\.\d+)?(?=[\s,\]]|$)`], ['word', String.raw`[\w.-]+`], ['punct', '[-:,{}\\[\\]|>]']],
    keywords: words('true false null yes no on off'),
  },
  toml: {
    spans: [{ open: '"""', close: '"""', cls: 'string', escapes: true }, { open: "'''", close: "'''", cls: 'string' }],
    rules: [hashComment, ['keyword', String.raw`^\s*\[{1,2}[^\]]*\]{0,2}`], ['type', String.raw`[\w."-]+(?=\s*=)`], doubleQuoted, ['string', "'[^']*'?"], ['number', String.raw`[+-]?\d[\d_:.TZ+-]*`], word, ['punct', '[=,{}\\[\\]]']],
    keywords: words('true false inf nan'),
  },
  html: markup,
  css: {
    spans: [blockComment],
    rules: [doubleQuoted, singleQuoted, ['keyword', String.raw`@[\w-]+|!important`], ['number', String.raw`#[\da-fA-F]{3,8}\b|-?\d*\.?\d+[\w%]*`], ['type', String.raw`--[\w-]+|[\w-]+(?=\s*:\s)`], ['function', String.raw`[.#][\w-]+|[\w-]+(?=\()`], ['word', String.raw`[\w-]+`], ['punct', '[{}():;,>+~]']],
  },
  sql: {
    spans: [blockComment],
    rules: [['comment', '--.*'], ['string', "'(?:[^']|'')*'?"], ['type', '"[^"]*"?|`[^`]*`?'], number, word, punct],
    keywords: sqlWords,
    types: words('bigint blob boolean bytea char date decimal double float int integer json jsonb numeric real serial smallint text time timestamp uuid varchar'),
    fold: true,
  },
  md: {
    spans: [{ open: '^\\s*```', close: '```', cls: 'string' }],
    rules: [['keyword', String.raw`^#{1,6}\s.*`], ['comment', String.raw`^\s*>.*`], ['string', '`[^`]*`'], ['type', String.raw`\*\*[^*]+\*\*|__[^_]+__`], ['function', String.raw`!?\[[^\]]*\](?:\([^)]*\))?`], ['punct', String.raw`^\s*(?:[-*+]|\d+[.)])\s`], ['word', String.raw`[\p{L}\p{N}]+`]],
  },
  diff: {
    rules: [['keyword', '^@@.*'], ['comment', String.raw`^(?:diff |index |Index: |===|---|\+\+\+|\*\*\*).*`], ['string', String.raw`^\+.*`], ['number', '^-.*'], ['word', '^.*']],
  },
};

const endings = {
  go: 'go golang go.mod go.sum go.work',
  js: 'js jsx mjs cjs ts tsx mts cts javascript typescript vue svelte',
  py: 'py pyi pyw python python3 bzl star build',
  rust: 'rs rust',
  c: 'c h cc cpp cxx c++ hpp hxx hh m mm java cs csharp kt kts scala swift dart proto php groovy gradle',
  sh: 'sh bash zsh ksh fish shell console ps1 dockerfile containerfile makefile mk justfile .bashrc .zshrc .profile .env env',
  json: 'json jsonc json5 jsonl ndjson webmanifest .prettierrc .eslintrc',
  yaml: 'yaml yml clang-format',
  toml: 'toml ini cfg conf properties editorconfig .gitconfig cargo.lock poetry.lock',
  html: 'html htm xhtml xml svg xsl xsd plist rss atom csproj',
  css: 'css scss sass less',
  sql: 'sql psql mysql sqlite',
  md: 'md markdown mdx',
  diff: 'diff patch',
};

/** Languages by the end of a file's name, or by the whole of it. */
export const names = new Map(Object.entries(endings).flatMap(([lang, list]) => list.split(' ').map((name) => [name, lang])));
