//! Writes XML and HTML. Every text and every value passes through one escape, so nothing that it is given can be markup.

/// A document under construction.
pub(super) struct Markup {
    out: String,
}

/// Name and value of an attribute.
pub(super) type Attribute<'a> = (&'static str, &'a str);

impl Markup {
    /// One that begins with this prolog.
    pub fn new(prolog: &'static str) -> Self {
        Self { out: prolog.to_owned() }
    }

    /// An element, and in it what `fill` writes.
    pub fn inside(&mut self, tag: &'static str, attributes: &[Attribute<'_>], fill: impl FnOnce(&mut Self)) {
        self.start(tag, attributes);
        self.out.push('>');
        fill(self);
        self.out.push_str("</");
        self.out.push_str(tag);
        self.out.push('>');
    }

    /// An element that holds this text.
    pub fn element(&mut self, tag: &'static str, attributes: &[Attribute<'_>], text: &str) {
        self.inside(tag, attributes, |markup| markup.text(text));
    }

    /// An element of XML without content.
    pub fn empty(&mut self, tag: &'static str, attributes: &[Attribute<'_>]) {
        self.start(tag, attributes);
        self.out.push_str("/>");
    }

    /// An element of HTML that never has content.
    pub fn void(&mut self, tag: &'static str, attributes: &[Attribute<'_>]) {
        self.start(tag, attributes);
        self.out.push('>');
    }

    pub fn text(&mut self, text: &str) {
        escape(&mut self.out, text);
    }

    /// A line of its own for what follows, for people who read the source.
    pub fn line(&mut self) {
        self.out.push('\n');
    }

    /// Text of this program, as it stands: a style sheet.
    pub fn trusted(&mut self, text: &'static str) {
        self.out.push_str(text);
    }

    pub fn finish(mut self) -> String {
        self.out.push('\n');
        self.out
    }

    fn start(&mut self, tag: &'static str, attributes: &[Attribute<'_>]) {
        self.out.push('<');
        self.out.push_str(tag);
        for (name, value) in attributes {
            self.out.push(' ');
            self.out.push_str(name);
            self.out.push_str("=\"");
            escape(&mut self.out, value);
            self.out.push('"');
        }
    }
}

fn escape(out: &mut String, text: &str) {
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            plain => out.push(plain),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neither_text_nor_a_value_can_be_markup() {
        let mut markup = Markup::new("");
        markup.inside("a", &[("b", "\"><script>'")], |markup| {
            markup.text("</a>]]>&amp;");
            markup.empty("c", &[]);
        });
        assert_eq!(markup.finish(), "<a b=\"&quot;&gt;&lt;script&gt;&#39;\">&lt;/a&gt;]]&gt;&amp;amp;<c/></a>\n");
    }
}
