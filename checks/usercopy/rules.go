package usercopy

import "uabot/checks"

// Rule is what is known of one rule.
type Rule struct {
	Name    string
	Means   string       // what a finding says
	Example string       // the smallest code that it is found in
	Source  string       // the case or the file that the rule comes from
	Class   checks.Class // never Object or Build: nothing was compiled
	Limits  string       // what it does not see, and when it is wrong
	Rate    Rate
}

// Rate is how a rule did on real patches: how often it fired, and how many of those
// a reader of the patch would call right and wrong.
type Rate struct{ Patches, Fired, Right, Wrong int }

// Rules are the rules, in the order of documentation.
var Rules = []Rule{}

func classOf(rule string) checks.Class {
	for _, r := range Rules {
		if r.Name == rule {
			return r.Class
		}
	}
	return checks.Heuristic
}
