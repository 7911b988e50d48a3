//! A flag for each option of formats.

use clap::{Arg, ArgMatches, Command, FromArgMatches};
use mksum::formats::FAMILIES;
use mksum::{FormatOption, OptionValue};

/// The options of formats that were given.
#[derive(Clone, Debug, Default)]
pub struct Options(pub Vec<(FormatOption, OptionValue)>);

impl Options {
    /// Each with its value.
    pub fn iter(&self) -> impl Iterator<Item = (FormatOption, &OptionValue)> {
        self.0.iter().map(|(option, value)| (*option, value))
    }
}

impl FromArgMatches for Options {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let given = |&option: &FormatOption| Some((option, matches.get_one::<OptionValue>(option.name())?.clone()));
        Ok(Options(FormatOption::ALL.iter().filter_map(given).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Options::from_arg_matches(matches)?;
        Ok(())
    }
}

impl clap::Args for Options {
    fn augment_args(command: Command) -> Command {
        FormatOption::ALL.iter().fold(command, |command, &option| command.arg(flag(option)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

/// The flag of an option: `--salt <HEX>`, with the formats that have it.
fn flag(option: FormatOption) -> Arg {
    let formats = FAMILIES.iter().filter(|family| family.rule(option).is_some()).map(|family| family.name);
    let formats: Vec<_> = formats.collect();
    let name = option.name();
    let title = name[..1].to_uppercase() + &name[1..];
    Arg::new(name)
        .long(name)
        .value_name(option.placeholder())
        .help(format!("{title} of the formats, in hex ({})", formats.join(", ")))
        .help_heading("Formats")
        .value_parser(move |text: &str| {
            option.parse(text).ok_or("not hex: expected an even number of digits 0-9 and a-f")
        })
}
