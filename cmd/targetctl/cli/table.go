package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"target-ownership-controller/ownership"
)

func (a *app) tables() *cobra.Command {
	c := &cobra.Command{Use: "table", Short: "Check or create the ownership table", Args: subcommand, RunE: func(c *cobra.Command, _ []string) error { return c.Help() }}
	c.AddCommand(a.tableCheck(), a.tableCreate())
	return c
}

// sound is the answer about a table that is as it has to be.
type sound struct {
	Table   string `json:"table"`
	Region  string `json:"region"`
	Created bool   `json:"created"` // now
}

func (a *app) sound(s *site, created bool) error {
	if a.output != formats[0] {
		return a.print(sound{a.site.Table, s.region, created}, nil)
	}
	fmt.Fprintf(a.Err, "table %s is as it has to be\n", a.site.Table)
	return nil
}

func (a *app) tableCheck() *cobra.Command {
	return &cobra.Command{
		Use:   "check",
		Short: "Check that the table is there, active, in one region, and has the keys and the index",
		Args:  arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			s, err := a.connect(c.Context(), a.site, a.roles)
			if err != nil {
				return err
			}
			if err := s.verify(c.Context()); err != nil {
				return err
			}
			return a.sound(s, false)
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
			s, err := a.connect(c.Context(), a.site, a.roles)
			if err != nil {
				return err
			}
			return a.createTable(c.Context(), s, flags)
		},
	}
	flags.bind(c.Flags(), "")
	return c
}

func (a *app) createTable(ctx context.Context, s *site, flags change) error {
	what := intent{Does: fmt.Sprintf("Table %s is created.", a.site.Table), Table: a.site.Table}
	switch err := s.verify(ctx); {
	case err == nil && !flags.dryRun:
		return a.sound(s, false)
	case err == nil:
		what.Does = fmt.Sprintf("table %s is there already, and as it has to be", a.site.Table)
	case errors.Is(err, ownership.ErrTableCreating) && !flags.dryRun: // waited for
	case !errors.Is(err, ownership.ErrTableMissing):
		return err
	}
	going, err := a.agree(flags, what)
	if err != nil || !going {
		return err
	}
	if err := s.create(ctx); err != nil {
		return err
	}
	return a.sound(s, true)
}
