package scripthost

import (
	"github.com/helve-dev/helve/internal/script"
	"os"
	"path/filepath"
	"testing"
)

// evaluate gives what an expression comes to in an engine that has this world,
// as JSON. Modules are found by __helve.require.
func (r *room) evaluate(expression string) string {
	r.tb.Helper()
	v, err := script.NewVM(script.VMOptions{Host: r.world})
	must(r.tb, err)
	defer func() { must(r.tb, v.Close()) }()
	must(r.tb, v.Load(r.ctx, "prelude.js", script.Code{Source: script.Prelude()}))
	must(r.tb, v.Load(r.ctx, "test.js", script.Code{Source: "globalThis.evaluated = async () => { const require = __helve.require; " + expression + " };"}))
	answer, err := v.Call(r.ctx, "evaluated", script.Data{})
	if err != nil {
		return err.Error()
	}
	return string(answer.JSON)
}

// What scripts see of all this, by the modules they use.
func TestScripts(t *testing.T) {
	const rules = `{"*": "allow", "read": {"*": "allow", "*.env": "deny"}, "external_directory": "deny"}`
	for name, c := range map[string]struct{ script, want string }{
		"write and read": {`const fs = require("fs"); fs.mkdirSync("a/b", {recursive: true}); fs.writeFileSync("a/b/c", "x"); fs.appendFileSync("a/b/c", "y");
			return [fs.readFileSync("a/b/c", "utf8"), fs.existsSync("a/b/d"), fs.existsSync(".env"), fs.readdirSync("a")]`, `["xy",false,true,["b"]]`},
		"missing": {`try { require("fs").readFileSync("none") } catch (e) { return [e.code, e.errno, e.syscall, e.message.replace(process.cwd(), ".")] }`,
			`["ENOENT",-2,"open","ENOENT: no such file or directory, open 'none'"]`},
		"denied": {`try { require("fs").readFileSync(".env") } catch (e) { return [e.name, e.code, e.errno, e.syscall, /rule/.test(e.message)] }`,
			`["Error","EACCES",-13,"permission",true]`},
		"promises": {`const fs = require("fs/promises"); await fs.writeFile("p", "1"); await fs.rename("p", "q"); await fs.cp("q", "d/r", {recursive: true});
			await fs.rm("d", {recursive: true}); return (await fs.readFile("q")).toString() + (await fs.stat("q")).size`, `"11"`},
		"temporary": {`const fs = require("fs"), os = require("os"), path = require("path"); const dir = fs.mkdtempSync(path.join(os.tmpdir(), "x-"));
			fs.writeFileSync(path.join(dir, "f"), "t"); return fs.readFileSync(path.join(dir, "f"), "latin1")`, `"t"`},
		"streams": {`const fs = require("fs"); await new Promise((ok, no) => { const s = fs.createWriteStream("s"); s.on("error", no); s.on("close", ok); s.write("one "); s.end("two") });
			let text = ""; for await (const c of fs.createReadStream("s")) text += c; return text`, `"one two"`},
		"bun":     {`await Bun.write("b.json", JSON.stringify({n: 1})); return [await Bun.file("b.json").json(), await Bun.file("none").exists()]`, `[{"n":1},false]`},
		"outside": {`try { require("fs").statSync(".." + "/out/x") } catch (e) { return e.code }`, `"EACCES"`},
		"sums":    {`return require("crypto").createHash("sha1").update("abc").digest("hex") + require("zlib").gunzipSync(require("zlib").gzipSync("z"))`, `"a9993e364706816aba3e25717850c26c9cd0d89dz"`},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRoom(t, rules)
			r.write(".env", "secret")
			must(t, os.WriteFile(filepath.Join(r.out, "x"), nil, 0o644))
			if got := r.evaluate(c.script); got != c.want {
				t.Errorf("%s\nwant %s", got, c.want)
			}
		})
	}
}
