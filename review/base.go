package review

import (
	"context"
	"errors"
	"fmt"

	"uabot/review/tree"
)

// chooseBase picks the commit that a series is applied to: the base-commit that the
// author names where the tree has it, else asked (--base), else the tree's HEAD.
func chooseBase(ctx context.Context, repo *tree.Repo, named, asked string) (Base, error) {
	missing := ""
	if named != "" {
		commit, err := repo.Resolve(ctx, named)
		if err == nil {
			return Base{Commit: commit, Name: repo.Name(ctx, commit), Reason: "base-commit of the series"}, nil
		}
		if !errors.Is(err, tree.ErrNoCommit) {
			return Base{}, err
		}
		missing = fmt.Sprintf("; the series names base-commit %.12s, which is not in the tree", named)
	}
	rev, reason := "HEAD", "the tree's HEAD"
	if asked != "" {
		rev, reason = asked, "asked for by --base"
	}
	commit, err := repo.Resolve(ctx, rev)
	if err != nil {
		return Base{}, err
	}
	return Base{Commit: commit, Name: repo.Name(ctx, commit), Reason: reason + missing}, nil
}
