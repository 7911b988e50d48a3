//! --graph: trees, drawn.

mod dot;
mod json;
mod watched;

use crate::args::{GraphStyle, Run};
use crate::exit::{Ended, refuse};
use crate::print::report_read_error;
use crate::tool::Tool;
use crate::walk::length;
use mksum::Spec;
use mksum_cli::name::Shown;
use mksum_cli::picture::{Picture, TooLarge, svg};
use mksum_io::{Error, File, Input};

/// The lowest nodes of a picture whose depth was not chosen: what still fits a page.
const LOWEST: usize = 64;

/// Draws the tree of each file in each format.
pub fn run(tool: &Tool, args: &Run, style: GraphStyle) -> Ended {
    let rules = tool.rules(&args.directories)?;
    if style == GraphStyle::Svg && (args.files.len() > 1 || args.directories.recursive || tool.formats.len() > 1) {
        return refuse(&"--graph=svg draws one file in one format: a picture holds one tree");
    }
    for input in rules.walk(&args.files) {
        match input {
            Ok(Input::Stdin) => {
                return refuse(&"--graph needs a file: a stream does not tell where its tree will split");
            }
            Ok(input) => {
                for choice in &tool.formats {
                    draw(tool, args, style, &input, choice.spec());
                }
            }
            Err((path, reason)) => tool.console.error(&path, &reason),
        }
    }
    Ok(tool.console.exit())
}

fn draw(tool: &Tool, args: &Run, style: GraphStyle, input: &Input, spec: &Spec) {
    let known = length(input);
    let _progress = tool.progress(move || [known].into_iter());
    match picture(tool, args, input, spec) {
        Ok(picture) => {
            let text = match style {
                GraphStyle::Dot => dot::text(&picture, input),
                GraphStyle::Svg => svg::text(&picture, Shown(input)),
                GraphStyle::Json => json::text(&picture, input),
            };
            tool.console.print(text.as_bytes());
            tool.console.flush();
        }
        Err(Failure::Input(error)) => report_read_error(tool, args, &error),
        Err(Failure::TooLarge(error)) => tool.console.error(input, &error),
    }
}

/// Why there is no picture.
enum Failure {
    Input(Error),
    TooLarge(TooLarge),
}

fn picture(tool: &Tool, args: &Run, path: &Input, spec: &Spec) -> Result<Picture, Failure> {
    let file = File::open(path, &tool.options).map_err(Failure::Input)?;
    let mut picture = Picture::plan(spec, file.len(), args.graph_depth, LOWEST).map_err(Failure::TooLarge)?;
    let root = watched::root(&file, spec, &mut picture.tree).map_err(Failure::Input)?;
    file.finish().map_err(Failure::Input)?;
    picture.crown(root);
    Ok(picture)
}
