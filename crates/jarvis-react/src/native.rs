//! Tools as an endpoint with its own tool calling is told of them: it takes fewer letters in names than the registry.

use jarvis_chat::ToolOffer;
use jarvis_tools::Registry;

const MAX_NAME: usize = 64;

#[derive(Debug, Clone, Default)]
pub(crate) struct WireNames(Vec<(String, String)>);

impl WireNames {
    pub(crate) fn of(registry: &Registry) -> WireNames {
        let mut names: Vec<(String, String)> = Vec::new();
        for spec in registry.specs() {
            let plain: String = spec
                .name
                .replace('/', "__")
                .chars()
                .map(|c| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' })
                .take(MAX_NAME - 3)
                .collect();
            let taken = |name: &str| names.iter().any(|(_, wire)| wire == name);
            let wire = (0..1_000)
                .map(|nth| if nth == 0 { plain.clone() } else { format!("{plain}_{nth}") })
                .find(|name| !taken(name))
                .unwrap_or_else(|| plain.clone());
            names.push((spec.name.clone(), wire));
        }
        WireNames(names)
    }

    pub(crate) fn offers(&self, registry: &Registry) -> Vec<ToolOffer> {
        let offer = |spec: &jarvis_tools::ToolSpec| ToolOffer {
            name: self.wire(&spec.name),
            description: format!("{} Use it when {}", spec.description.trim(), spec.when.trim()),
            schema: spec.input_schema.clone(),
        };
        registry.specs().map(offer).collect()
    }

    /// The name on the wire of a tool of the registry; another name stays as it is.
    pub(crate) fn wire(&self, registered: &str) -> String {
        let found = self.0.iter().find(|(name, _)| name == registered);
        found.map_or_else(|| registered.to_owned(), |(_, wire)| wire.clone())
    }

    /// The name in the registry of a name on the wire; another name stays as it is.
    pub(crate) fn registered(&self, wire: &str) -> String {
        let found = self.0.iter().find(|(_, name)| name == wire.trim());
        found.map_or_else(|| wire.to_owned(), |(name, _)| name.clone())
    }
}
