package client

// Output is what a command has printed so far, as far as it is shown.
func (e CallProgressEvent) Output() string {
	text, _ := e.Metadata["output"].(string)
	return text
}

// Body reads the properties of an event by its type, as a struct of the types
// that end with Event, a [PermissionRequest] or a [QuestionRequest] of what was
// asked, or a [Job]. Of a type that is not known, as those that programs and
// plugins tell, it is the json.RawMessage.
//
//	switch b := body.(type) {
//	case client.CallFinishedEvent:
//	case client.PermissionRequest:
//	}
func (e Event) Body() (any, error) { return e.body() }

func bodyOf[T any](e Event) (any, error) {
	var b T
	if err := e.Decode(&b); err != nil {
		return nil, err
	}
	return b, nil
}
