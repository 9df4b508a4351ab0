package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// openFixtures serves the fixtures for the length of a test.
func openFixtures(t *testing.T) *post {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	r, w := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- serveFixtures(ctx, w, t.TempDir()) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	url, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	p := &post{url: strings.TrimSpace(url), client: &http.Client{}}
	if err := greet(p); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.close() }) // it can not fail
	return p
}

func TestFixtures(t *testing.T) {
	t.Parallel()
	p := openFixtures(t)
	var list struct {
		Tools []struct{ Name string }
	}
	if err := p.call("tools/list", map[string]any{}, &list); err != nil {
		t.Fatal(err)
	}
	offered := map[string]bool{}
	for _, o := range list.Tools {
		offered[o.Name] = true
	}
	kinds := map[string][]string{}
	for _, f := range fixtures() {
		if !offered[f.name] {
			t.Errorf("%s is not offered", f.name)
		}
		var res struct {
			IsError bool
			Content []struct{ Type string }
		}
		args := map[string]any{}
		if f.name == "test_elicitation" {
			args["message"] = "hello"
		}
		if err := p.call("tools/call", map[string]any{"name": f.name, "arguments": args}, &res); err != nil {
			t.Errorf("%s: %v", f.name, err)
		}
		for _, c := range res.Content {
			kinds[f.name] = append(kinds[f.name], c.Type)
		}
		if res.IsError {
			kinds[f.name] = []string{"error"}
		}
	}
	want := map[string][]string{
		"test_simple_text": {"text"}, "test_image_content": {"text", "image"}, "test_audio_content": {"text", "audio"},
		"test_embedded_resource": {"text", "resource"}, "test_multiple_content_types": {"text", "image", "resource"},
		"test_tool_with_logging": {"text"}, "test_tool_with_progress": {"text"}, "test_reconnection": {"text"},
		"json_schema_2020_12_tool": {"text"},
		"test_error_handling":      {"error"},
		"test_elicitation":         {"error"}, // this client has no forms
	}
	if diff := cmp.Diff(want, kinds); diff != "" {
		t.Errorf("kinds of content (-want +got):\n%s", diff)
	}
}

// What is not a tool comes through from another server.
func TestFixturesBehind(t *testing.T) {
	t.Parallel()
	p := openFixtures(t)
	var read struct{ Contents []struct{ Text, Blob string } }
	if err := p.call("resources/read", map[string]any{"uri": "test://template/123/data"}, &read); err != nil {
		t.Fatal(err)
	}
	if len(read.Contents) != 1 || !strings.Contains(read.Contents[0].Text, "123") {
		t.Errorf("got %+v", read)
	}
	var made struct {
		Messages []struct{ Content struct{ Type string } }
	}
	if err := p.call("prompts/get", map[string]any{"name": "test_prompt_with_image"}, &made); err != nil {
		t.Fatal(err)
	}
	if len(made.Messages) != 2 || made.Messages[0].Content.Type != "image" {
		t.Errorf("got %+v", made)
	}
}

func TestFixturesKnowTheirName(t *testing.T) {
	t.Parallel()
	p := openFixtures(t)
	req, err := http.NewRequest(http.MethodPost, p.url, strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	req.Host = "evil.example.com"
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != http.StatusMisdirectedRequest {
		t.Errorf("another host's name gets %s", res.Status)
	}
}
