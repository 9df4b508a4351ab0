package cli_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/helve-dev/helve/internal/modeltest"
)

// A plugin signs in to a provider that the config has without a key: what its
// loader gives reaches the server, and what it cannot give is told.
func TestPluginSignsIn(t *testing.T) {
	b := newBench(t, "openai", `{}`)
	config := `{"model": "corp/m", "provider": {"corp": {"npm": "@ai-sdk/openai-compatible", "options": {"baseURL": %q}, "models": {"m": {}}}}}`
	b.write(filepath.Join(b.home, ".config", "helve", "helve.json"), fmt.Sprintf(config, b.server.URL()))
	b.write(filepath.Join(b.home, ".config", "helve", "plugins", "corp.ts"), `
export const Corp = async () => ({ auth: { provider: "corp", methods: [], async loader(getAuth, provider) {
  const { type } = await getAuth()
  return { apiKey: type + "-" + provider.id, headers: { "x-team": "blue" }, fetch: () => {} }
} } })
export const Other = async () => ({ auth: { provider: "other", methods: [], loader: () => { throw new Error("not asked for") } } })
`)
	b.server.Script("hello", saying("hi", modeltest.Reply{}))
	out, said, code := b.run("run", "hello")
	if code != 0 || out != "hi\n" || !strings.Contains(said, "brings a fetch of its own") || strings.Contains(said, "not asked for") {
		t.Fatalf("exit code %d, %q, %s", code, out, said)
	}
	for _, r := range b.server.Requests() {
		if r.Header.Get("Authorization") != "Bearer api-corp" || r.Header.Get("X-Team") != "blue" {
			t.Errorf("the headers are %v", r.Header)
		}
	}
}
