package script

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/helve-dev/helve/internal/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// A testHost answers with functions.
type testHost struct {
	now, later func(ctx context.Context, op string, arg Data) (Data, error)
}

func (h testHost) Now(ctx context.Context, op string, arg Data) (Data, error) {
	return h.now(ctx, op, arg)
}

func (h testHost) Later(ctx context.Context, op string, arg Data) (Data, error) {
	return h.later(ctx, op, arg)
}

// echo answers with what it was asked.
func echo(_ context.Context, op string, arg Data) (Data, error) {
	if op == "fail" {
		return Data{}, &Failure{Message: "ENOENT: no such file", Code: "ENOENT", Errno: -2, Syscall: "open", Path: "/x"}
	}
	return arg, nil
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// open makes a VM with a script in it.
func open(t testing.TB, opts VMOptions, source string) *VM {
	t.Helper()
	if opts.Host == nil {
		opts.Host = testHost{now: echo, later: echo}
	}
	v, err := NewVM(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := v.Close(); err != nil {
			t.Error(err)
		}
	})
	if source != "" {
		if err := v.Load(t.Context(), "test.js", Code{Source: source}); err != nil {
			t.Fatal(err)
		}
	}
	return v
}

func ask(t testing.TB, v *VM, function, arg string) (string, error) {
	t.Helper()
	d, err := v.Call(t.Context(), function, Data{JSON: []byte(arg)})
	return string(d.JSON), err
}

func TestCall(t *testing.T) {
	v := open(t, VMOptions{}, `
		globalThis.same = (x) => x;
		globalThis.nothing = () => {};
		globalThis.promised = async (x) => { await null; return x + 1; };
		globalThis.thenable = (x) => ({ then(ok) { ok(x) } });
		globalThis.now = (x) => JSON.parse(__now("any", JSON.stringify(x)));
		globalThis.later = async (x) => JSON.parse(await __later("any", JSON.stringify(x)));
		globalThis.both = async () => { const [json, raw] = await __later("any", "1", new Uint8Array([1, 2, 3, 4]).subarray(1, 3)); return [json, [...new Uint8Array(raw)]] };
		globalThis.bytes = (_, raw) => new Uint8Array(raw).reverse();
		globalThis.emptied = () => new ArrayBuffer(0);
		globalThis.timer = async (ms) => { await __later("timer", JSON.stringify({ ms })); return "rang" };
		globalThis.failing = (how) => { try { __now("fail", "0") } catch (e) { return [e instanceof Error, e.message, e.code, e.errno, e.syscall, e.path, Object.keys(e)] } };
		globalThis.failingLater = () => __later("fail", "0").catch((e) => e.code);
		globalThis.badJSON = () => { try { __now("x", 3) } catch (e) { return e instanceof TypeError } };
		globalThis.badRaw = () => { try { __now("x", "3", {}) } catch (e) { return e instanceof TypeError } };
	`)
	for _, c := range []struct{ function, arg, want string }{
		{"same", `{"a":[1,"ä😀\ud800",null]}`, `{"a":[1,"ä😀\ud800",null]}`},
		{"same", ``, `null`},
		{"nothing", `1`, `null`},
		{"promised", `1`, `2`},
		{"thenable", `"x"`, `"x"`},
		{"now", `{"x":1}`, `{"x":1}`},
		{"later", `"ü"`, `"ü"`},
		{"both", ``, `["1",[2,3]]`},
		{"timer", `1`, `"rang"`},
		{"failing", ``, `[true,"ENOENT: no such file","ENOENT",-2,"open","/x",["code","errno","syscall","path"]]`},
		{"failingLater", ``, `"ENOENT"`},
		{"badJSON", ``, `true`},
		{"badRaw", ``, `true`},
	} {
		got, err := ask(t, v, c.function, c.arg)
		if err != nil || got != c.want {
			t.Errorf("%s(%s) = %s, %v; want %s", c.function, c.arg, got, err, c.want)
		}
	}
	d, err := v.Call(t.Context(), "bytes", Data{Raw: []byte{1, 2, 0}})
	if diff := cmp.Diff(Data{JSON: []byte("null"), Raw: []byte{0, 2, 1}}, d); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if d, err := v.Call(t.Context(), "emptied", Data{}); err != nil || d.Raw == nil || len(d.Raw) != 0 {
		t.Error(d, err)
	}
	if u := v.Usage(); u.Memory < 10_000 || u.Total < 15 || u.Requests != 0 {
		t.Errorf("%+v", u)
	}
}

func TestText(t *testing.T) {
	v := open(t, VMOptions{}, `
		const list = (b) => [...new Uint8Array(b)];
		globalThis.text = ([bytes, encoding]) => __text(new Uint8Array(bytes), encoding);
		globalThis.bytes = ([text, encoding]) => list(__bytes(text, encoding));
		globalThis.half = () => list(__bytes("a\ud83d!"));
		globalThis.wrong = () => { try { __text(new Uint8Array(1), "utf16") } catch (e) { return String(e) } };`)
	for _, c := range []struct{ function, arg, want string }{
		{"text", `[[97,195,164,0,240,159,152,128]]`, `"aä\u0000😀"`},
		{"text", `[[226,130,65,255,237,160,128,240,159]]`, `"�A�����"`},
		{"text", `[[97,228,0,128], "latin1"]`, `"aä\u0000\u0080"`},
		{"text", `[[]]`, `""`},
		{"bytes", `["aä\u0000😀"]`, `[97,195,164,0,240,159,152,128]`},
		{"bytes", `["aäā😀", "latin1"]`, `[97,228,1,61,0]`},
		{"half", ``, `[97,239,191,189,33]`},
		{"wrong", ``, `"TypeError: the encodings are utf8 and latin1"`},
	} {
		got, err := ask(t, v, c.function, c.arg)
		if err == nil {
			var g, w any
			_, _ = json.Unmarshal([]byte(got), &g), json.Unmarshal([]byte(c.want), &w)
			if diff := cmp.Diff(w, g); diff != "" {
				t.Errorf("%s(%s): %s", c.function, c.arg, diff)
			}
			continue
		}
		t.Errorf("%s(%s): %v", c.function, c.arg, err)
	}
}

// TestAuthority: scripts find the language and our five functions, and no way out beside them.
func TestAuthority(t *testing.T) {
	v := open(t, VMOptions{}, `
		globalThis.names = () => Object.getOwnPropertyNames(globalThis).filter((n) => !/^[A-Z]/.test(n)).sort().join(" ");
		globalThis.imports = async () => { try { return Object.keys(await import("std")) } catch (e) { return e.name } };
		globalThis.waits = () => { try { return Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0) } catch (e) { return e.name } };`)
	for f, want := range map[string]string{
		"names":   `"__bytes __drop __later __now __text decodeURI decodeURIComponent encodeURI encodeURIComponent escape eval globalThis imports isFinite isNaN names parseFloat parseInt undefined unescape waits"`,
		"imports": `"ReferenceError"`,
		"waits":   `"TypeError"`,
	} {
		if got, err := ask(t, v, f, ""); got != want {
			t.Errorf("%s: %s, %v", f, got, err)
		}
	}
}

func TestThrown(t *testing.T) {
	v := open(t, VMOptions{}, `
		class Odd extends Error { constructor() { super("odd", { cause: new TypeError("deep") }); this.name = "Odd"; this.code = 7; this.extra = { a: 1 }; this.self = this; this.f = () => 1 } }
		globalThis.odd = () => { throw new Odd() };
		globalThis.throwing = (what) => { throw what };
		globalThis.getters = () => { throw { get name() { throw 1 }, get message() { throw 2 }, toString() { throw 3 }, toJSON() { throw 4 }, get code() { return { toString() { throw 5 } } } } };
		globalThis.proxied = async () => { throw new Proxy({}, { get() { throw 1 }, ownKeys() { throw 2 } }) };
		globalThis.symbol = () => { throw Symbol("s") };
		globalThis.badResult = () => ({ get a() { throw new RangeError("getter") } });
		globalThis.badJSON = () => ({ toJSON() { throw new RangeError("toJSON") } });
		globalThis.proxyResult = () => new Proxy({ a: 1 }, { ownKeys() { throw new RangeError("trap") } });
		globalThis.cycle = () => { const o = {}; o.o = o; return o };
		globalThis.big = () => 1n;
	`)
	for _, c := range []struct{ function, arg, want string }{
		{"odd", ``, "Odd: odd"},
		{"throwing", `"text"`, "text"},
		{"throwing", `null`, "null"},
		{"throwing", `{"a":1}`, `{"a":1}`},
		{"throwing", `{"message":"m"}`, `m`},
		{"getters", ``, ""},
		{"proxied", ``, ""},
		{"symbol", ``, "Symbol(s)"},
		{"badResult", ``, "RangeError: getter"},
		{"badJSON", ``, "RangeError: toJSON"},
		{"proxyResult", ``, "RangeError: trap"},
		{"cycle", ``, "TypeError: circular reference"},
		{"big", ``, "TypeError: Do not know how to serialize a BigInt"},
		{"missing", ``, "TypeError: missing is not a function"},
		{"throwing", `{`, "SyntaxError: expecting property name"},
	} {
		_, err := ask(t, v, c.function, c.arg)
		thrown, ok := errors.AsType[*Thrown](err)
		if !ok || thrown.Error() != c.want {
			t.Errorf("%s(%s): %v; want %s", c.function, c.arg, err, c.want)
		}
	}
	_, err := ask(t, v, "odd", "")
	thrown, _ := errors.AsType[*Thrown](err)
	if thrown.Code != "7" || !strings.Contains(thrown.Stack, "test.js:3") {
		t.Errorf("%+v", thrown)
	}
	var data struct {
		Extra json.RawMessage
		Cause struct{ Name, Message string }
	}
	if err := json.Unmarshal(thrown.Data, &data); err != nil || string(data.Extra) != `{"a":1}` || data.Cause.Message != "deep" {
		t.Errorf("%s: %v", thrown.Data, err)
	}
}

func TestLoadFails(t *testing.T) {
	v := open(t, VMOptions{}, "")
	err := v.Load(t.Context(), "bad.js", Code{Source: "let x = ;\n"})
	thrown, ok := errors.AsType[*Thrown](err)
	if !ok || thrown.Name != "SyntaxError" || !strings.Contains(thrown.Stack, "bad.js:1") {
		t.Errorf("%#v", err)
	}
	if _, err := Compile("bad.js", "let x = ;\n"); err == nil || !strings.HasPrefix(err.Error(), "SyntaxError") {
		t.Error(err)
	}
	code, err := Compile("good.js", "globalThis.f = () => { throw new Error('here') }")
	if err != nil {
		t.Fatal(err)
	}
	if err := v.Load(t.Context(), "", Code{Bytecode: code}); err != nil {
		t.Fatal(err)
	}
	_, err = ask(t, v, "f", "")
	if thrown, ok := errors.AsType[*Thrown](err); !ok || !strings.Contains(thrown.Stack, "good.js:1") {
		t.Errorf("%#v", err)
	}
	code[len(code)-1] ^= 1
	if err := v.Load(t.Context(), "", Code{Bytecode: code}); !errors.Is(err, errBytecode) {
		t.Error(err)
	}
}

func TestUnhandledRejection(t *testing.T) {
	var log lockedBuffer
	v := open(t, VMOptions{Logger: slog.New(slog.NewTextHandler(&log, nil))}, `
		globalThis.quiet = () => { const p = Promise.reject(new Error("caught")); p.catch(() => {}); return 1 };
		globalThis.loud = () => { Promise.reject(new Error("nobody")); return 1 };`)
	for _, f := range []string{"quiet", "loud"} {
		if _, err := ask(t, v, f, ""); err != nil {
			t.Error(err)
		}
	}
	if _, err := ask(t, v, "quiet", ""); err != nil { // the log is written after the call has been answered
		t.Error(err)
	}
	if text := log.String(); !strings.Contains(text, "Error: nobody") || strings.Contains(text, "caught") {
		t.Error(text)
	}
}

// TestContainment: every way of running wild ends the call, in time, and the VM works on or says
// that it is lost.
func TestContainment(t *testing.T) {
	const source = `
		globalThis.ok = () => "ok";
		globalThis.loop = () => { for (;;); };
		globalThis.caught = () => { for (;;) { try { for (;;); } catch {} finally { for (;;); } } };
		globalThis.microtasks = () => { const f = () => Promise.resolve().then(f); f(); };
		globalThis.awaits = async () => { for (;;) { try { await null } catch {} } };
		globalThis.stubborn = async () => { for (;;) { try { await (async () => { for (;;); })() } catch {} } };
		globalThis.heavy = () => { const s = "x".repeat(1 << 20); for (;;) s.indexOf("y"); };
		globalThis.regex = () => /^(a+)+$/.test("a".repeat(40) + "b");
		globalThis.recursion = () => { const f = () => f() + 1; return f(); };
		globalThis.parse = () => JSON.parse("[".repeat(1e6));
		globalThis.nested = () => { let x = []; for (let i = 0; i < 2e4; i++) x = [x]; return x };
		globalThis.getter = () => ({ get a() { for (;;); } });
		globalThis.message = () => { throw { get message() { for (;;); } } };
		globalThis.huge = () => "x".repeat(2 ** 29).length;
		globalThis.hugeCaught = () => { try { return "x".repeat(2 ** 29).length } catch (e) { return "caught" } };
		globalThis.grow = () => { const a = []; for (;;) a.push(new Array(1000).fill({})) };
		globalThis.growCaught = () => { globalThis.a = []; try { for (;;) a.push(new Array(1000).fill({})) } catch { return 1 } };
		globalThis.bytes = () => { const a = []; for (;;) a.push(new Uint8Array(1 << 20)) };
		globalThis.join = () => { let s = "ab"; for (;;) s += s; };
		globalThis.never = () => new Promise(() => {});
	`
	for _, c := range []struct {
		function string
		want     error // nil: a result, or what is thrown
		lost     bool
	}{
		{"loop", ErrTurn, false},
		{"caught", ErrTurn, false},
		{"microtasks", nil, false}, // answered, then stopped
		{"awaits", ErrTurn, false},
		{"stubborn", ErrTurn, false},
		{"heavy", ErrTurn, false}, // few steps, each a long one
		{"regex", ErrTurn, false},
		{"recursion", nil, false},
		{"parse", nil, false},
		{"nested", nil, false},
		{"getter", ErrTurn, false},
		{"message", ErrTurn, false},
		{"huge", nil, false}, // refused, and nothing is used up
		{"hugeCaught", nil, false},
		{"grow", ErrMemory, true},
		{"growCaught", nil, true},
		{"bytes", ErrMemory, true},
		{"join", nil, false}, // a rope takes no memory
	} {
		t.Run(c.function, func(t *testing.T) {
			t.Parallel()
			turn, stack := time.Minute, 0
			if raceEnabled {
				stack = 1000 // what is on the stack is looked through again and again, which takes long
			}
			if errors.Is(c.want, ErrTurn) || c.function == "microtasks" {
				turn = 200 * time.Millisecond
				if raceEnabled {
					turn = 2 * time.Second // for loading the script, too
				}
			}
			v := open(t, VMOptions{Turn: turn, Stack: stack, Memory: 16 << 20}, source)
			got, err := ask(t, v, c.function, "")
			t.Logf("%.60s, %v", got, err)
			if c.want != nil && !errors.Is(err, c.want) {
				t.Errorf("%.60s, %v; want %v", got, err, c.want)
			}
			got, err = ask(t, v, "ok", "")
			if lost := errors.Is(err, ErrLost); lost != c.lost || !lost && got != `"ok"` {
				t.Errorf("afterwards: %s, %v", got, err)
			}
		})
	}
}
