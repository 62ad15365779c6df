package config

// Target is one architecture, configuration and compiler that series are built for.
type Target struct {
	Name     string   `toml:"name"`
	Arch     string   `toml:"arch"`     // make's ARCH=
	Cross    string   `toml:"cross"`    // make's CROSS_COMPILE=; empty for the native compiler
	LLVM     string   `toml:"llvm"`     // make's LLVM=, e.g. "-19" or "1"; empty for gcc
	Config   []string `toml:"config"`   // lines of the config fragment, without CONFIG_: "PPC_8xx=y", "SMP=n"
	Package  string   `toml:"package"`  // Debian package that brings the compiler
	Why      string   `toml:"why"`      // what this target adds to the others
	Disabled bool     `toml:"disabled"` // a row of the built-in table that the operator does not want
}
