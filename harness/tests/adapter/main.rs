//! Adapters as they are: what is really said to one, and what a launch makes of those that go wrong.

mod conversation;
mod hostile;
mod support;
mod verdicts;
