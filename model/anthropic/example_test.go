package anthropic_test

import (
	"fmt"
	"os"

	"github.com/helve-dev/helve/model/anthropic"
)

// Name a model. Nothing is sent before an agent asks it.
func ExampleNew() {
	m := anthropic.New(os.Getenv("ANTHROPIC_API_KEY"), "claude-sonnet-4-5")
	fmt.Println(m.ProviderID, m.ID)
	// Output: anthropic claude-sonnet-4-5
}
