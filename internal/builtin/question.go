package builtin

import (
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/helve-dev/helve/tool"
)

//go:embed question.md
var questionDoc string

type questionInput struct {
	Questions []tool.Question `json:"questions" jsonschema:"what to ask"`
}

// question asks the person. It needs no permission of its own: rules and the client decide whether
// it is offered.
func question(people People) tool.Tool {
	spec := tool.Spec{Name: "question", Description: questionDoc, ReadOnly: true, Offer: offerQuestion}
	return tool.New(spec, func(ctx context.Context, c *tool.Call, in questionInput) (*tool.Result, error) {
		answers, err := people.Question(ctx, c, in.Questions)
		if err != nil {
			return nil, err
		}
		if answers == nil {
			answers = [][]string{}
		}
		said := make([]string, len(in.Questions))
		for i, q := range in.Questions {
			answer := "Unanswered"
			if i < len(answers) && len(answers[i]) > 0 {
				answer = strings.Join(answers[i], ", ")
			}
			said[i] = fmt.Sprintf(`"%s"="%s"`, q.Question, answer)
		}
		title := fmt.Sprintf("Asked %d question", len(in.Questions))
		if len(in.Questions) > 1 {
			title += "s"
		}
		return &tool.Result{
			Title: title,
			Output: "User has answered your questions: " + strings.Join(said, ", ") +
				". You can now continue with the user's answers in mind.",
			Metadata: map[string]any{"answers": answers},
		}, nil
	})
}

// offerQuestion offers the tool where a person sits in front of the client.
func offerQuestion(a tool.Audience) (string, bool) {
	return "", slices.Contains([]string{"app", "cli", "desktop"}, a.Client) || a.Flags["question"]
}
