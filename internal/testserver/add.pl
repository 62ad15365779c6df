# usage: perl add.pl INBOX NEWEPOCH FILE...   (environment: PI_CONFIG)
# Adds mails to a public-inbox through its own import, all in one process; with
# NEWEPOCH 1 the first of them starts a new git epoch. Prints how many it took.
use strict;
use warnings;
use PublicInbox::Config;
use PublicInbox::Eml;
use PublicInbox::InboxWritable;

my ($name, $newepoch, @files) = @ARGV;
my $inbox = PublicInbox::Config->new->lookup_name($name) or die "no inbox $name";
my $importer = PublicInbox::InboxWritable->new($inbox)->importer(0);
my $taken = 0;
my $rotate_bytes = $importer->{rotate_bytes};
for my $file (@files) {
	open my $in, '<:raw', $file or die "$file: $!";
	# $/ must be itself again before add(), which reads lines from git fast-import
	my $raw = do { local $/; readline $in };
	$importer->{rotate_bytes} = 0 if $newepoch;
	$taken++ if $importer->add(PublicInbox::Eml->new(\$raw));
	if ($newepoch) { # an epoch is chosen when fast-import starts
		$importer->done;
		$importer->{rotate_bytes} = $rotate_bytes;
		$newepoch = 0;
	}
}
$importer->done;
print "$taken mails\n";
