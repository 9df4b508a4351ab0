package bundle
import ("testing";"os")
func TestZZ(t *testing.T){ r, err := Build(t.Context(), Options{Root: "/tmp/f1/conf", Files: []string{"tools/a.ts"}, Virtual: map[string]string{"fs": "module.exports = 1;"}}); if err != nil {t.Fatal(err)}; os.WriteFile("/tmp/f1/out.js", []byte(r.Code), 0o644); t.Log(r.Files) }
