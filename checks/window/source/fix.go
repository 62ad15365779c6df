package source

import "uabot/checks"

func (r *report) fix(p *problem, at spot) *checks.Fix { return nil }
