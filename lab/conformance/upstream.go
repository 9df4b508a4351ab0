package main

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// upstream is a server with what the suite expects beside tools: resources,
// prompts and completion. helve's server has none of it: it has to come through
// from here.
func upstream() *mcp.Server {
	image, _ := base64.StdEncoding.DecodeString(pixel) // newWorld says where it cannot be read
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
	for _, c := range []mcp.ResourceContents{
		{URI: "test://static-text", MIMEType: "text/plain", Text: "This is the content of the static text resource."},
		{URI: "test://static-binary", MIMEType: "image/png", Blob: image},
		{URI: "test://watched-resource", MIMEType: "text/plain", Text: "Watched resource content"},
	} {
		s.AddResource(&mcp.Resource{URI: c.URI, Name: c.URI, Description: "A resource of the suite.", MIMEType: c.MIMEType}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{&c}}, nil
		})
	}
	s.AddResourceTemplate(&mcp.ResourceTemplate{
		URITemplate: "test://template/{id}/data", Name: "template", Description: "Data by its id.", MIMEType: "application/json",
	}, func(_ context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		id := strings.TrimSuffix(strings.TrimPrefix(req.Params.URI, "test://template/"), "/data")
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{
			URI: req.Params.URI, MIMEType: "application/json", Text: fmt.Sprintf(`{"id":%q,"templateTest":true,"data":"Data for ID: %s"}`, id, id),
		}}}, nil
	})
	add := func(name, about string, say func(args map[string]string) []mcp.Content, needs ...string) {
		p := &mcp.Prompt{Name: name, Description: about}
		for _, n := range needs {
			p.Arguments = append(p.Arguments, &mcp.PromptArgument{Name: n, Description: "An argument of the test.", Required: true})
		}
		s.AddPrompt(p, func(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			out := &mcp.GetPromptResult{Description: about}
			for _, c := range say(req.Params.Arguments) {
				out.Messages = append(out.Messages, &mcp.PromptMessage{Role: "user", Content: c})
			}
			return out, nil
		})
	}
	add("test_simple_prompt", "Wants nothing.", func(map[string]string) []mcp.Content {
		return []mcp.Content{&mcp.TextContent{Text: "This is a simple prompt for testing."}}
	})
	add("test_prompt_with_arguments", "Wants two arguments.", func(args map[string]string) []mcp.Content {
		return []mcp.Content{&mcp.TextContent{Text: fmt.Sprintf("Prompt with arguments: arg1='%s', arg2='%s'", args["arg1"], args["arg2"])}}
	}, "arg1", "arg2")
	add("test_prompt_with_embedded_resource", "Holds a resource.", func(args map[string]string) []mcp.Content {
		return []mcp.Content{
			&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: args["resourceUri"], MIMEType: "text/plain", Text: "Embedded resource content for testing."}},
			&mcp.TextContent{Text: "Please process the embedded resource above."},
		}
	}, "resourceUri")
	add("test_prompt_with_image", "Holds a picture.", func(map[string]string) []mcp.Content {
		return []mcp.Content{&mcp.ImageContent{Data: image, MIMEType: "image/png"}, &mcp.TextContent{Text: "Please analyze the image above."}}
	})
	return s
}
