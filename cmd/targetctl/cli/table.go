package cli

import (
	"fmt"

	"github.com/spf13/cobra"
)

func (a *app) tables() *cobra.Command {
	c := &cobra.Command{Use: "table", Short: "Check or create the ownership table", Args: subcommand, RunE: func(c *cobra.Command, _ []string) error { return c.Help() }}
	c.AddCommand(a.tableCheck(), a.tableCreate())
	return c
}

func (a *app) tableCheck() *cobra.Command {
	return &cobra.Command{
		Use:   "check",
		Short: "Check that the table is there, active, in one region, and has the keys and the index",
		Args:  arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			s, err := a.connect(c.Context(), a.site)
			if err != nil {
				return err
			}
			if err := s.verify(c.Context()); err != nil {
				return err
			}
			fmt.Fprintf(a.Err, "table %s is as it has to be\n", a.site.Table)
			return nil
		},
	}
}

func (a *app) tableCreate() *cobra.Command {
	var flags change
	c := &cobra.Command{
		Use:   "create",
		Short: "Create the table, for first steps without Terraform",
		Long: "Create the table, on demand and with time to live, and wait until it is active.\nOne that exists is checked and left as it is.\n\n" +
			"In production the Terraform module creates it, with backups and protection\nagainst deletion.",
		Args: arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			s, err := a.connect(c.Context(), a.site)
			if err != nil {
				return err
			}
			going, err := a.confirm(flags, fmt.Sprintf("Table %s is created.", a.site.Table))
			if err != nil || !going {
				return err
			}
			if err := s.create(c.Context()); err != nil {
				return err
			}
			fmt.Fprintf(a.Err, "table %s is as it has to be\n", a.site.Table)
			return nil
		},
	}
	flags.bind(c.Flags(), "")
	return c
}
