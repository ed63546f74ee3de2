package cli

import (
	"encoding/json"
	"net/http"

	"github.com/spf13/cobra"

	"troupe/fleetd/api"
)

// openapiCommand prints the description of the API without a server.
func (sh *shell) openapiCommand() *cobra.Command {
	return &cobra.Command{
		Use: "openapi", Short: "print the description of the HTTP API (OpenAPI 3.1, JSON)",
		Long: "Print the description of the HTTP API of this release (OpenAPI 3.1, JSON), from which clients can be generated. A running " +
			"fleetd serves it at /api/openapi.json.",
		Args: cobra.NoArgs,
		RunE: run(func(*cobra.Command, []string) error {
			text, err := json.MarshalIndent(api.Register(http.NewServeMux(), api.Deps{}), "", "  ")
			if err != nil {
				return err
			}
			_, err = sh.Out.Write(append(text, '\n'))
			return err
		}),
	}
}
