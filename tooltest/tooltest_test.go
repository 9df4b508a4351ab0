package tooltest_test

import (
	"testing"

	"go.uber.org/goleak"

	"helve"
	"helve/tooltest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestBuiltinToolsConform(t *testing.T) {
	files := map[string]string{"a.txt": "one\ntwo\n"}
	for _, s := range []tooltest.Subject{
		{Name: "question", Input: `{"questions":[{"question":"Which?","header":"Pick","options":[{"label":"A","description":"first"}]}]}`},
		{Name: "read", Input: `{"filePath":"a.txt","offset":1,"limit":5}`, Files: files},
		{Name: "todowrite", Input: `{"todos":[{"content":"x","status":"pending","priority":"low","id":"1"}]}`},
		{Name: "todoread", Input: `{}`},
		{Name: "batch", Input: `{"tool_calls":[{"tool":"read","parameters":{"filePath":"a.txt"}}]}`, Files: files,
			Options: helve.Options{Flags: map[string]bool{"batch": true}}},
	} {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			tooltest.Conform(t, s)
		})
	}
}
