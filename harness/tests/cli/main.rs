//! The command line as its users meet it: texts, exit statuses, refusals, and what it leaves behind.

mod check;
mod desk;
mod doctor;
mod evidence;
mod help;
mod init;
mod interrupt;
mod keygen;
mod refusals;
mod render;
mod scoreboard;
mod show;
mod support;
mod tried;
