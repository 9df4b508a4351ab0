package openai_test

import (
	"fmt"
	"log"

	"github.com/helve-dev/helve/model/openai"
)

// Reach a server of your own that speaks OpenAI's protocol.
func ExampleConnect() {
	m, err := openai.Connect(openai.Options{BaseURL: "http://localhost:11434/v1"}, "qwen3-coder")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(m.ProviderID, m.ID)
	// Output: openai qwen3-coder
}
