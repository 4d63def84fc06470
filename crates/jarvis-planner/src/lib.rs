//! A request and a list of tools in, a Draft out; the offline planner needs no model.
