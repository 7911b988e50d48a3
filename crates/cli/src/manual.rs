//! `mksum man`: the man page, from the grammar of the command line.

use crate::args::{EXAMPLES, grammar};
use clap_mangen::Man;
use mksum::formats::FAMILIES;
use std::io;

/// The page, in roff.
pub fn page() -> Vec<u8> {
    let mut page = Vec::new();
    write(&mut page).expect("memory does not fail");
    page
}

fn write(page: &mut Vec<u8>) -> io::Result<()> {
    // The page has a section for each part of what ends --help.
    let man = Man::new(grammar().after_help("").after_long_help(""));
    man.render_title(page)?;
    man.render_name_section(page)?;
    page.extend_from_slice(
        b".SH SYNOPSIS\n.nf\n\\fBmksum\\fR [\\fIOPTION\\fR]... [\\fIFILE\\fR]...\n\\fBmksum \\-c\\fR [\\fIOPTION\\fR]... \
          [\\fISUMFILE\\fR]...\n\
          \\fBmksum keep\\fR | \\fBverify\\fR [\\fIOPTION\\fR]... \\fIFILE\\fR...\n\\fBmksum diff\\fR \\fIA\\fR \\fIB\\fR\n\
          \\fBmksum repair\\fR \\fIFILE\\fR \\fB\\-\\-from\\fR \\fIGOOD\\fR\n\
          \\fBmksum prove\\fR \\fIFILE\\fR \\fB\\-\\-range\\fR \\fIA..B\\fR\n\
          \\fBmksum check\\-proof\\fR \\fIROOT\\fR \\fIPROOF\\fR [\\fIBYTES\\fR]\n\\fBmksum join\\fR [\\fIFILE\\fR]\n\
          \\fBmksum merklize\\fR [\\fILEAVES\\fR] [\\fB\\-o\\fR \\fINODES\\fR]\n\
          \\fBmksum formats\\fR | \\fBman\\fR | \\fBcompletions\\fR \\fISHELL\\fR | \
          \\fBdevices\\fR\n.fi\n",
    );
    man.render_description_section(page)?;
    man.render_options_section(page)?;
    page.extend_from_slice(b".SH THE FORMATS\n");
    for family in FAMILIES {
        let about = verbatim(&format!("{}. Same output as {}.", family.about, family.same_as));
        page.extend_from_slice(format!(".TP\n\\fB{}\\fR\n{about}", verbatim(family.name).trim_end()).as_bytes());
    }
    for part in EXAMPLES.split("\n\n") {
        match part.split_once(":\n") {
            Some((title, lines)) => {
                page.extend_from_slice(format!(".SH {}\n.nf\n", title.to_uppercase()).as_bytes());
                page.extend_from_slice(verbatim(lines).as_bytes());
                page.extend_from_slice(b".fi\n");
            }
            None => page.extend_from_slice(format!(".SH NOTES\n{}", verbatim(part)).as_bytes()),
        }
    }
    page.extend_from_slice(b".SH SEE ALSO\n\\fBsha256sum\\fR(1), \\fBcksum\\fR(1), \\fBb3sum\\fR(1)\n");
    Ok(())
}

/// Lines that roff prints as they are.
fn verbatim(lines: &str) -> String {
    let quote = |line: &str| {
        let line = line.replace('\\', "\\e").replace('-', "\\-").replace('\'', "\\(aq");
        // At the beginning of a line these would be requests.
        if line.starts_with(['.', '\'']) { format!("\\&{line}\n") } else { line + "\n" }
    };
    lines.lines().map(quote).collect()
}
