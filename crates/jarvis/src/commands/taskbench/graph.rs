//! `jarvis taskbench graph …`: build, sample, draw and describe tool graphs.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{ArgGroup, Args, Subcommand};
use jarvis_plan::export::plural;
use jarvis_taskbench::data::{DependencyType, Domain, ToolGraph, ToolList, same_file};
use jarvis_taskbench::graph::{
    BuildError, BuildOptions, Drawing, GraphStats, MERMAID_LINKS, Method, SampledGraph, SampledLink, Sampler,
    SeededRng, build, draw, draw_sample, stats, to_json, write,
};
use serde::Deserialize;
use serde_json::json;

use super::{unusable, wrong_use};
use crate::failure::Failure;
use crate::printer::Printer;

#[derive(Debug, Subcommand)]
pub(crate) enum GraphCommand {
    /// Build a tool graph from a tool list
    #[command(after_help = include_str!("help/graph_build.txt").trim_end())]
    Build(BuildArgs),
    /// Draw tools and links of a graph at random
    #[command(after_help = include_str!("help/graph_sample.txt").trim_end())]
    Sample(SampleArgs),
    /// Draw a graph, or a sampled part of it, as SVG, Graphviz DOT or Mermaid
    #[command(after_help = include_str!("help/graph_draw.txt").trim_end())]
    Draw(DrawArgs),
    /// Describe a graph: kinds, degrees, chains, and what is odd
    #[command(after_help = "Example:\n  jarvis taskbench graph stats examples/taskbench/data_studio --json")]
    Stats(StatsArgs),
}

#[derive(Debug, Args)]
#[command(group(ArgGroup::new("from").args(["tools", "data_dir"]).required(true).multiple(true)))]
pub(crate) struct BuildArgs {
    /// The tool list
    #[arg(long, visible_alias = "tool-desc", alias = "tool_desc", value_name = "FILE")]
    tools: Option<PathBuf>,
    /// A domain folder: its tool_desc.json is read unless --tools is given, its graph_desc.json written
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// `resource` or `temporal` [default: resource when the tools have kinds, else temporal]
    #[arg(long, value_name = "TYPE")]
    dependency_type: Option<DependencyType>,
    /// The file to write; `-` prints the graph [default: graph_desc.json in the domain folder]
    #[arg(short, long, value_name = "FILE", required_unless_present = "data_dir")]
    out: Option<PathBuf>,
    /// Take kinds that differ only in case for the same
    #[arg(long)]
    ignore_case: bool,
    /// Write over another graph that is there
    #[arg(long)]
    overwrite: bool,
}

#[derive(Debug, Args)]
#[group(multiple = false)]
pub(crate) struct GraphSource {
    /// The graph
    #[arg(long, visible_alias = "graph-desc", alias = "graph_desc", value_name = "FILE")]
    graph: Option<PathBuf>,
    /// A domain folder: its graph_desc.json is read
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// A domain folder, as with --data-dir
    #[arg(value_name = "DIR")]
    dir: Option<PathBuf>,
}

impl GraphSource {
    fn path(&self) -> Option<PathBuf> {
        let of_domain = self.data_dir.as_ref().or(self.dir.as_ref()).map(|dir| dir.join("graph_desc.json"));
        self.graph.clone().or(of_domain)
    }

    fn read(&self) -> Result<ToolGraph, Failure> {
        let path = self.path().ok_or_else(|| {
            Failure::usage("no graph is named").hint("name its file with --graph, or a domain folder")
        })?;
        ToolGraph::read(&path).map_err(unusable)
    }
}

#[derive(Debug, Args)]
pub(crate) struct SampleArgs {
    #[command(flatten)]
    source: GraphSource,
    /// `single`, `chain`, `dag`, `random_walk` or `random_walk_with_restart`
    #[arg(long, value_name = "METHOD", default_value = "chain")]
    method: Method,
    /// Tools of a sample; `single` always has 1, `dag` at least 3
    #[arg(long, visible_aliases = ["tool-number", "number-of-tools"], aliases = ["tool_number", "number_of_tools"], value_name = "N", default_value_t = 3)]
    n: usize,
    /// Seed of the random draws
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// How many samples
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    count: u64,
    /// Print a JSON list of samples
    #[arg(long)]
    json: bool,
    /// Also draw the sample into this file; its ending decides the format: .svg, .dot, .mmd or .md
    #[arg(long, value_name = "FILE")]
    draw: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct DrawArgs {
    #[command(flatten)]
    source: GraphSource,
    /// `svg`, `dot` or `mermaid` [default: what the ending of --out says, else svg]
    #[arg(long, value_name = "FORMAT")]
    format: Option<Drawing>,
    /// Write the drawing to this file instead of standard output: .svg, .dot, .gv, .mmd or .md
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Draw only this sample, as `graph sample --json` prints it; `-` reads it from standard input
    #[arg(long, value_name = "FILE")]
    subset: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct StatsArgs {
    #[command(flatten)]
    source: GraphSource,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(command: GraphCommand, printer: Printer) -> Result<ExitCode, Failure> {
    // Laying out a large graph takes a while.
    let ended = tokio::task::spawn_blocking(move || match command {
        GraphCommand::Build(args) => build_graph(&args, printer),
        GraphCommand::Sample(args) => sample(&args, printer),
        GraphCommand::Draw(args) => draw_graph(&args, printer),
        GraphCommand::Stats(args) => describe(&args, printer),
    });
    ended.await.map_err(Failure::work)?.map(|()| ExitCode::SUCCESS)
}

fn build_graph(args: &BuildArgs, printer: Printer) -> Result<(), Failure> {
    let domain = args.data_dir.as_ref().map(Domain::open).transpose().map_err(unusable)?;
    let own = domain.as_ref().map(|domain| domain.path("tool_desc.json"));
    let folder = domain.as_ref().map(|domain| domain.path("graph_desc.json"));
    let Some(tools) = args.tools.clone().or(own) else {
        return Err(Failure::usage("the graph needs a tool list").hint("name one with --tools"));
    };
    let list = ToolList::read(&tools).map_err(unusable)?;
    let dependency = args.dependency_type.unwrap_or_else(|| list.dependency());
    let failed = wrong_use(BuildError::hint);
    let graph = build(&list, dependency, BuildOptions { ignore_case: args.ignore_case }).map_err(&failed)?;
    let Some(out) = args.out.clone().or(folder) else {
        return Err(Failure::usage("the graph needs a file").hint("name one with --out"));
    };
    if out == Path::new("-") {
        printer.out(&to_json(&graph));
        return Ok(());
    }
    write(&graph, &tools, &out, args.overwrite).map_err(failed)?;
    printer.progress(&format!(
        "{}: {}, {} ({dependency})",
        out.display(),
        plural(graph.nodes.tools.len(), "tool"),
        plural(graph.links.len(), "link"),
    ));
    Ok(())
}

fn sample(args: &SampleArgs, printer: Printer) -> Result<(), Failure> {
    if args.draw.is_some() && args.count != 1 {
        return Err(Failure::usage("one drawing holds one sample").hint("leave --count out, or --draw"));
    }
    let drawing = drawing_of(args.draw.as_deref(), None)?;
    let sampler = Sampler::new(&args.source.read()?);
    let mut samples = Vec::new();
    for number in 0..args.count {
        let drawn = sampler.sample(args.method, args.n, &mut SeededRng::new(args.seed, number)).map_err(|error| {
            let hint = error.hint();
            Failure::work(error).hint(hint)
        })?;
        samples.push(drawn);
    }
    if let (Some(path), Some(drawn)) = (&args.draw, samples.first()) {
        save(path, &draw_sample(drawn, drawing))?;
        printer.progress(&format!("drawn into {}", path.display()));
    }
    if args.json {
        let list: Vec<serde_json::Value> = (0_u64..)
            .zip(&samples)
            .map(|(number, drawn)| {
                json!({
                    "method": args.method.as_str(), "n_tools": drawn.nodes.len(), "seed": args.seed, "number": number,
                    "nodes": drawn.nodes, "links": drawn.links,
                })
            })
            .collect();
        printer.out(&serde_json::to_string_pretty(&list).map_err(Failure::work)?);
        return Ok(());
    }
    for (number, drawn) in (1..).zip(&samples) {
        let link = |link: &SampledLink| format!("{} -> {}", link.source, link.target);
        let links: Vec<String> = drawn.links.iter().map(link).collect();
        if samples.len() > 1 {
            printer.out(&format!("sample {number}"));
        }
        printer.out(&format!("nodes: {}", drawn.nodes.join(", ")));
        printer.out(&format!("links: {}", if links.is_empty() { "none".into() } else { links.join(", ") }));
    }
    Ok(())
}

fn draw_graph(args: &DrawArgs, printer: Printer) -> Result<(), Failure> {
    let out = args.out.as_deref().filter(|out| *out != Path::new("-"));
    let drawing = drawing_of(out, args.format)?;
    let source = args.source.path();
    let mut read = source.iter().chain(&args.subset);
    if let Some(out) = out.filter(|out| read.any(|read| same_file(read, out))) {
        return Err(Failure::usage(format!("{} is what is drawn, and would be overwritten", out.display()))
            .hint("name another file with --out"));
    }
    let drawn = match &args.subset {
        Some(subset) => {
            let whole = source.is_some().then(|| args.source.read()).transpose()?;
            let part = read_part(subset)?;
            let unknown = |name: &&String| {
                whole.as_ref().is_some_and(|graph| graph.nodes.tools.iter().all(|tool| tool.id != **name))
            };
            if let Some(name) = part.nodes.iter().find(unknown) {
                return Err(Failure::usage(format!("`{name}` of the sample is no tool of the graph"))
                    .hint("name the graph that the sample was drawn from"));
            }
            draw_sample(&part, drawing)
        }
        None => {
            let graph = args.source.read()?;
            if drawing == Drawing::Mermaid && graph.links.len() > MERMAID_LINKS {
                printer.warning(&format!(
                    "{} links: Mermaid draws at most {MERMAID_LINKS} unless its page sets `maxEdges`",
                    graph.links.len()
                ));
            }
            draw(&graph, drawing)
        }
    };
    match out {
        Some(path) => {
            save(path, &drawn)?;
            printer.progress(&format!("drawn into {}", path.display()));
        }
        None => printer.out(drawn.trim_end()),
    }
    Ok(())
}

/// How a file is drawn: as its name's ending says, which `--format` must not contradict. A name without an ending says
/// nothing.
fn drawing_of(out: Option<&Path>, format: Option<Drawing>) -> Result<Drawing, Failure> {
    let Some(ending) = out.and_then(Path::extension).map(|ending| ending.to_string_lossy().to_lowercase()) else {
        return Ok(format.unwrap_or(Drawing::Svg));
    };
    let drawing = match ending.as_str() {
        "svg" => Drawing::Svg,
        "dot" | "gv" => Drawing::Dot,
        "mmd" | "mermaid" | "md" => Drawing::Mermaid,
        _ => {
            return Err(Failure::usage(format!("a drawing is .svg, .dot, .gv, .mmd or .md, not .{ending}"))
                .hint("a browser prints an SVG file, and Graphviz turns a DOT file into pictures: `dot -Tpng`"));
        }
    };
    match format {
        Some(format) if format != drawing => {
            Err(Failure::usage(format!("a .{ending} file holds {drawing}, not {format}"))
                .hint("leave --format out: it follows from the file's name"))
        }
        Some(_) | None => Ok(drawing),
    }
}

fn save(path: &Path, text: &str) -> Result<(), Failure> {
    // Markdown takes a diagram between fences.
    let fenced = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("md"));
    let text = if fenced { format!("```mermaid\n{}\n```\n", text.trim_end()) } else { text.to_owned() };
    std::fs::write(path, text).map_err(|error| {
        Failure::usage(format!("cannot write to `{}`: {error}", path.display())).hint("name another file")
    })
}

/// A sample as `graph sample --json` prints it, or a line of data_raw.json.
#[derive(Debug, Deserialize)]
struct Part {
    #[serde(alias = "sampled_nodes")]
    nodes: Vec<PartNode>,
    #[serde(alias = "sampled_links", default)]
    links: Vec<SampledLink>,
}

/// A tool of a sample: its name alone, or with what else is known of it.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum PartNode {
    Name(String),
    Described {
        #[serde(alias = "task")]
        id: String,
    },
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Parts {
    One(Part),
    Many(Vec<Part>),
}

fn read_part(path: &Path) -> Result<SampledGraph, Failure> {
    let mut text = String::new();
    let read = if path == Path::new("-") {
        std::io::stdin().read_to_string(&mut text).map(|_| ())
    } else {
        std::fs::read_to_string(path).map(|read| text = read)
    };
    let wrong = |why: String| {
        Failure::usage(format!("{}: {why}", path.display()))
            .hint("make one with `jarvis taskbench graph sample --json`")
    };
    read.map_err(|error| wrong(format!("the sample cannot be read: {error}")))?;
    let parts: Parts = serde_json::from_str(&text)
        .map_err(|_| wrong("it is not a sample: an object with `nodes` and `links`, or a list of such".into()))?;
    let part = match parts {
        Parts::One(part) => part,
        Parts::Many(parts) if parts.len() > 1 => {
            let why = format!("it holds {} samples, and one drawing holds one", parts.len());
            return Err(Failure::usage(format!("{}: {why}", path.display()))
                .hint("take one, for example with `jq '.[0]'`, or leave --count out of `graph sample`"));
        }
        Parts::Many(parts) => parts.into_iter().next().ok_or_else(|| wrong("the list holds no sample".into()))?,
    };
    let name = |node: PartNode| match node {
        PartNode::Name(name) | PartNode::Described { id: name } => name,
    };
    Ok(SampledGraph { nodes: part.nodes.into_iter().map(name).collect(), links: part.links })
}

fn describe(args: &StatsArgs, printer: Printer) -> Result<(), Failure> {
    let stats = stats(&args.source.read()?);
    if args.json {
        printer.out(&serde_json::to_string_pretty(&stats).map_err(Failure::work)?);
    } else {
        printer.out(described(&stats).trim_end());
    }
    Ok(())
}

/// Which chains there are, where all up to some length are in few words.
fn chains(found: &[Option<bool>], tools: usize) -> String {
    let all = found.iter().take_while(|found| **found == Some(true)).count();
    let mut parts = match all {
        0 => Vec::new(),
        1 => vec!["1".to_owned()],
        all => vec![format!("1 to {all}")],
    };
    parts.extend((all + 1..).zip(found.iter().skip(all)).map(|(n, found)| match found {
        Some(true) => n.to_string(),
        Some(false) => format!("not {n}"),
        None => format!("{n}?"),
    }));
    let further = if all == found.len() && tools > all { " tools, and longer ones were not tried" } else { " tools" };
    format!("{}{further}", parts.join(", "))
}

fn described(stats: &GraphStats) -> String {
    const SHOWN: usize = 12;
    let names = |names: &[String]| -> String {
        match names.len() {
            0 => "none".into(),
            n if n > SHOWN => {
                let shown: Vec<&str> = names.iter().take(SHOWN).map(String::as_str).collect();
                format!("{n}: {} and {} more", shown.join(", "), n - SHOWN)
            }
            n => format!("{n}: {}", names.join(", ")),
        }
    };
    let mut lines = vec![
        format!("tools          {}", stats.tools),
        format!("links          {} ({} distinct)", stats.links, stats.distinct_links),
        format!("links in       {} to {}, mean {:.2}", stats.in_degree.min, stats.in_degree.max, stats.in_degree.mean),
        format!(
            "links out      {} to {}, mean {:.2}",
            stats.out_degree.min, stats.out_degree.max, stats.out_degree.mean
        ),
        format!("only sources   {}", names(&stats.sources)),
        format!("only targets   {}", names(&stats.sinks)),
        format!("isolated       {}", names(&stats.isolated)),
        format!("parts          {}", stats.components),
        format!("largest circle {}, each reachable from each", plural(stats.largest_circle, "tool")),
        format!("farthest apart {}", plural(stats.longest_shortest_path, "link")),
        format!("chains of      {}", chains(&stats.chains, stats.tools)),
    ];
    if !stats.types.is_empty() {
        lines.push(String::new());
        lines.push(format!("{:<12} {:>7} {:>7} {:>7}", "kind", "takers", "givers", "links"));
        for (kind, used) in &stats.types {
            lines.push(format!("{kind:<12} {:>7} {:>7} {:>7}", used.inputs, used.outputs, used.links));
        }
    }
    if !stats.odd.is_empty() {
        lines.push(String::new());
        lines.push("odd".into());
        lines.extend(stats.odd.iter().map(|odd| format!("  {odd}")));
    }
    lines.join("\n")
}
