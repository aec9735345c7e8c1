//! The command line as its users meet it: texts, exit statuses, refusals, and what it leaves behind.

mod check;
mod doctor;
mod evidence;
mod help;
mod interrupt;
mod keygen;
mod refusals;
mod render;
mod show;
mod support;
mod tried;
