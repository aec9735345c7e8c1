//! What `watertight adapted` is told by its command line, which the manifest's `[adapter]` is made into.

use std::{fmt, str::FromStr, time::Duration};

/// The inner command.
pub const ADAPTED: &str = "adapted";
/// Asks for the end once more.
pub const DOWN_TWICE: &str = "--down-twice";
/// Ends the adapter's own words: the workload's follow.
pub const WORKLOAD: &str = "--exec";

/// One launch through an adapter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Order {
    pub route: String,
    pub sockets: Option<String>,
    pub program: String,
    pub workspace: String,
    pub run_dir: String,
    /// Names of variables that the workload must have.
    pub environment: Vec<String>,
    pub deadlines: Deadlines,
    /// Only says hello and prints name and version.
    pub only_hello: bool,
    /// Asks for `down` once more, which must be no error.
    pub down_twice: bool,
    pub adapter: Vec<String>,
    pub workload: Vec<String>,
}

/// How long each verb may take, and the adapter to end once its input has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadlines {
    pub hello: Duration,
    pub up: Duration,
    pub inspect: Duration,
    /// The harness ends a launch long before: this is for one that nobody ends.
    pub exec: Duration,
    pub down: Duration,
    pub end: Duration,
}

/// Why a command line is no order.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum OrderError {
    #[error("`{0}` is no option of `watertight {ADAPTED}`, or lacks its value")]
    Option(String),
    #[error("`{0}` is no deadlines: six numbers of milliseconds, for hello, up, inspect, exec, down and the end")]
    Deadlines(String),
    #[error("it names no adapter: the adapter's words stand behind `--`, the workload's behind `{WORKLOAD}`")]
    NoAdapter,
}

impl Order {
    /// Reads what [`Self::words`] wrote.
    pub fn read(words: impl IntoIterator<Item = String>) -> Result<Self, OrderError> {
        let mut order = Self::default();
        let mut words = words.into_iter();
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or_else(|| OrderError::Option(word.clone()));
            match word.as_str() {
                "--route" => order.route = value()?,
                "--sockets" => order.sockets = Some(value()?),
                "--program" => order.program = value()?,
                "--workspace" => order.workspace = value()?,
                "--run-dir" => order.run_dir = value()?,
                "--environment" => order.environment = value()?.split(',').map(str::to_owned).collect(),
                "--deadlines" => order.deadlines = value()?.parse()?,
                "--hello" => order.only_hello = true,
                DOWN_TWICE => order.down_twice = true,
                "--" => break,
                _ => return Err(OrderError::Option(word)),
            }
        }
        order.environment.retain(|name| !name.is_empty());
        order.adapter = words.by_ref().take_while(|word| word != WORKLOAD).collect();
        order.workload = words.collect();
        if order.adapter.is_empty() { Err(OrderError::NoAdapter) } else { Ok(order) }
    }

    /// The words behind `watertight`. What they hold may have placeholders.
    pub fn words(&self) -> Vec<String> {
        let mut words = vec![ADAPTED.to_owned()];
        let mut add = |option: &str, value: &str| {
            if !value.is_empty() {
                words.extend([option.to_owned(), value.to_owned()]);
            }
        };
        add("--route", &self.route);
        add("--sockets", self.sockets.as_deref().unwrap_or_default());
        add("--program", &self.program);
        add("--workspace", &self.workspace);
        add("--run-dir", &self.run_dir);
        add("--environment", &self.environment.join(","));
        add("--deadlines", &self.deadlines.to_string());
        for (option, given) in [("--hello", self.only_hello), (DOWN_TWICE, self.down_twice)] {
            words.extend(given.then(|| option.to_owned()));
        }
        words.push("--".to_owned());
        words.extend(self.adapter.iter().cloned());
        if !self.workload.is_empty() {
            words.push(WORKLOAD.to_owned());
            words.extend(self.workload.iter().cloned());
        }
        words
    }
}

impl Default for Deadlines {
    /// Together, up to the workload's start, what a run waits for any launch.
    fn default() -> Self {
        Self {
            hello: Duration::from_secs(4),
            up: Duration::from_secs(9),
            inspect: Duration::from_secs(2),
            exec: Duration::from_secs(300),
            down: Duration::from_secs(5),
            end: Duration::from_secs(2),
        }
    }
}

impl fmt::Display for Deadlines {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { hello, up, inspect, exec, down, end } = self;
        let millis = [hello, up, inspect, exec, down, end].map(|each| each.as_millis().to_string());
        formatter.write_str(&millis.join(","))
    }
}

impl FromStr for Deadlines {
    type Err = OrderError;

    fn from_str(text: &str) -> Result<Self, OrderError> {
        let wrong = || OrderError::Deadlines(text.to_owned());
        let numbers: Result<Vec<u32>, _> = text.split(',').map(str::parse).collect();
        let numbers = <[u32; 6]>::try_from(numbers.map_err(|_| wrong())?).map_err(|_| wrong())?;
        let [hello, up, inspect, exec, down, end] = numbers.map(|millis| Duration::from_millis(millis.into()));
        Ok(Self { hello, up, inspect, exec, down, end })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Result<Order, OrderError> {
        Order::read(text.split(' ').map(str::to_owned))
    }

    #[test]
    fn an_order_is_read_as_it_was_written() {
        let deadlines = Deadlines { up: Duration::from_millis(7), ..Deadlines::default() };
        let order = Order {
            route: "sockets".into(),
            sockets: Some("/s".into()),
            program: "/w".into(),
            workspace: "/work".into(),
            run_dir: "/run".into(),
            environment: vec!["A".into(), "B".into()],
            deadlines,
            only_hello: false,
            down_twice: true,
            adapter: ["python3", "/a", "--", "--route"].map(String::from).into(),
            workload: ["/w", "--", "--exec", "x"].map(String::from).into(),
        };
        let words = order.words();
        assert_eq!(words[0], ADAPTED);
        assert_eq!(Order::read(words.into_iter().skip(1)), Ok(order));
    }

    #[test]
    fn what_is_no_order_is_refused_by_name() {
        assert_eq!(words("--rout none -- a"), Err(OrderError::Option("--rout".into())));
        assert_eq!(words("--route"), Err(OrderError::Option("--route".into())));
        assert_eq!(words("--route none"), Err(OrderError::NoAdapter));
        assert_eq!(words("-- --exec x"), Err(OrderError::NoAdapter));
        for deadlines in ["1,2,3", "1,2,3,4,5,x", "1,2,3,4,5,-6", ""] {
            assert!(matches!(deadlines.parse::<Deadlines>(), Err(OrderError::Deadlines(_))), "{deadlines}");
        }
    }

    #[test]
    fn a_launch_that_comes_to_its_workload_is_never_longer_than_a_run_waits() {
        let Deadlines { hello, up, inspect, down, end, .. } = Deadlines::default();
        assert!(hello + up + inspect <= Duration::from_secs(15), "the site's START");
        assert!(down + end < Duration::from_secs(10), "ENDING of a launch");
    }
}
