package tool

import "github.com/helve-dev/helve/permission"

// A QuestionRequest is a set of questions whose answers a call waits for.
type QuestionRequest struct {
	ID        string              `json:"id"`
	Session   string              `json:"sessionID"`
	Questions []Question          `json:"questions"`
	Call      *permission.CallRef `json:"tool,omitempty"`
}

// A Question is a question for the person, with answers to choose from.
type Question struct {
	Question string   `json:"question" jsonschema:"the complete question"`
	Header   string   `json:"header" jsonschema:"a very short label for it, 30 characters at most"`
	Options  []Choice `json:"options" jsonschema:"the answers to pick from"`
	Multiple bool     `json:"multiple,omitempty" jsonschema:"whether several answers may be picked"`
}

// A Choice is one of the answers to a [Question].
type Choice struct {
	Label       string `json:"label" jsonschema:"what is shown, 1 to 5 words"`
	Description string `json:"description" jsonschema:"what picking it means"`
}

// A Todo is one entry of a session's todo list.
type Todo struct {
	Content  string `json:"content" jsonschema:"what is to be done, in a few words"`
	Status   string `json:"status" jsonschema:"where it stands: pending, in_progress, completed or cancelled"`
	Priority string `json:"priority" jsonschema:"how much it matters: high, medium or low"`
	ID       string `json:"id" jsonschema:"a name for the entry, unique in the list"`
}
