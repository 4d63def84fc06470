//! Sets: plans over lists of functions, where a request wants several of them and links are data.
//!
//! A request is cut into segments, an item of an enumeration each ([`segments`]). What each tool says of itself is read once
//! ([`tools`]): the words of its name, also where they are run together or cut ([`split`]), of its description and parameters, with
//! what they mean. A segment is taken to speak of one tool or of none, with probabilities by how well they fit, and a tool is taken
//! when the segments together say so ([`choose`]): a noisy-or of soft choices. For a second thing of the same form a tool is called again
//! ([`again`], [`things`]). Who needs what another gives is [`needs`], and what follows on what [`links`].

mod again;
pub(crate) mod choose;
pub(crate) mod draft;
mod links;
mod needs;
pub(crate) mod segments;
pub(crate) mod split;
pub(crate) mod things;
pub(crate) mod tools;

#[cfg(test)]
mod tests;
