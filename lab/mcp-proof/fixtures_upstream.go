package main

import (
	"context"
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// serveUpstream serves what the suite expects beside tools, on an address of
// its own. helve's server has none of it: it has to come through from here.
func serveUpstream() (url string, stop func() error, err error) {
	s, err := upstream()
	if err != nil {
		return "", nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, fmt.Errorf("listening: %w", err)
	}
	web := &http.Server{Handler: mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = web.Serve(l) // it ends when it is stopped
	}()
	return "http://" + l.Addr().String(), func() error {
		err := web.Close()
		<-done
		return err
	}, nil
}

// upstream is a server with the suite's resources, prompts and completion.
func upstream() (*mcp.Server, error) {
	image, err := base64.StdEncoding.DecodeString(pixel)
	if err != nil {
		return nil, fmt.Errorf("reading the picture: %w", err)
	}
	s := mcp.NewServer(&mcp.Implementation{Name: "upstream", Version: "1"}, &mcp.ServerOptions{
		SubscribeHandler:   func(context.Context, *mcp.SubscribeRequest) error { return nil },
		UnsubscribeHandler: func(context.Context, *mcp.UnsubscribeRequest) error { return nil },
		CompletionHandler: func(_ context.Context, req *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
			var values []string
			for _, v := range []string{"testing", "tested", "other"} {
				if strings.HasPrefix(v, req.Params.Argument.Value) {
					values = append(values, v)
				}
			}
			return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: values, Total: len(values)}}, nil
		},
	})
	addResources(s, image)
	addPrompts(s, image)
	return s, nil
}

func addResources(s *mcp.Server, image []byte) {
	gives := func(c mcp.ResourceContents) mcp.ResourceHandler {
		return func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{&c}}, nil
		}
	}
	add := func(name string, c mcp.ResourceContents) {
		s.AddResource(&mcp.Resource{URI: c.URI, Name: name, Description: "A " + name + " of the suite.", MIMEType: c.MIMEType}, gives(c))
	}
	add("static text", mcp.ResourceContents{URI: "test://static-text", MIMEType: "text/plain", Text: "This is the content of the static text resource."})
	add("static picture", mcp.ResourceContents{URI: "test://static-binary", MIMEType: "image/png", Blob: image})
	add("watched text", mcp.ResourceContents{URI: "test://watched-resource", MIMEType: "text/plain", Text: "Watched resource content"})
	s.AddResourceTemplate(&mcp.ResourceTemplate{
		URITemplate: "test://template/{id}/data", Name: "template", Description: "Data by its id.", MIMEType: "application/json",
	}, func(_ context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		id := strings.TrimSuffix(strings.TrimPrefix(req.Params.URI, "test://template/"), "/data")
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{
			URI: req.Params.URI, MIMEType: "application/json", Text: fmt.Sprintf(`{"id":%q,"templateTest":true,"data":"Data for ID: %s"}`, id, id),
		}}}, nil
	})
}

func addPrompts(s *mcp.Server, image []byte) {
	add := func(p *mcp.Prompt, say func(args map[string]string) []mcp.Content) {
		s.AddPrompt(p, func(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			out := &mcp.GetPromptResult{Description: p.Description}
			for _, c := range say(req.Params.Arguments) {
				out.Messages = append(out.Messages, &mcp.PromptMessage{Role: "user", Content: c})
			}
			return out, nil
		})
	}
	needs := func(names ...string) (out []*mcp.PromptArgument) {
		for _, n := range names {
			out = append(out, &mcp.PromptArgument{Name: n, Description: "An argument of the test.", Required: true})
		}
		return out
	}
	add(&mcp.Prompt{Name: "test_simple_prompt", Description: "Wants nothing."}, func(map[string]string) []mcp.Content {
		return []mcp.Content{&mcp.TextContent{Text: "This is a simple prompt for testing."}}
	})
	add(&mcp.Prompt{Name: "test_prompt_with_arguments", Description: "Wants two arguments.", Arguments: needs("arg1", "arg2")}, func(args map[string]string) []mcp.Content {
		return []mcp.Content{&mcp.TextContent{Text: fmt.Sprintf("Prompt with arguments: arg1='%s', arg2='%s'", args["arg1"], args["arg2"])}}
	})
	add(&mcp.Prompt{Name: "test_prompt_with_embedded_resource", Description: "Holds a resource.", Arguments: needs("resourceUri")}, func(args map[string]string) []mcp.Content {
		return []mcp.Content{
			&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: args["resourceUri"], MIMEType: "text/plain", Text: "Embedded resource content for testing."}},
			&mcp.TextContent{Text: "Please process the embedded resource above."},
		}
	})
	add(&mcp.Prompt{Name: "test_prompt_with_image", Description: "Holds a picture."}, func(map[string]string) []mcp.Content {
		return []mcp.Content{&mcp.ImageContent{Data: image, MIMEType: "image/png"}, &mcp.TextContent{Text: "Please analyze the image above."}}
	})
}
