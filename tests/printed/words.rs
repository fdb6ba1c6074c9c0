//! The words of a page, without its markup, styles and data.

/// The text of a page, tags replaced by spaces.
pub fn of_page(page: &str) -> String {
    let page = without(&without(page, "<script", "</script>"), "<style", "</style>");
    // The gap within a number.
    let page = page.replace("<span class=\"k\"></span>", "\u{202f}");
    let mut text = String::new();
    let mut inside = false;
    for letter in page.chars() {
        match letter {
            '<' => inside = true,
            '>' if inside => {
                inside = false;
                text.push('\n');
            }
            _ if !inside => text.push(letter),
            _ => {}
        }
    }
    let entities = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&nbsp;", "\u{a0}"),
        ("&amp;", "&"),
    ];
    entities.into_iter().fold(text, |text, (entity, letter)| text.replace(entity, letter))
}

/// The number of pictures of a page.
pub fn pictures(page: &str) -> usize {
    page.matches("<svg ").count()
}

fn without(text: &str, from: &str, to: &str) -> String {
    let mut rest = text;
    let mut kept = String::new();
    while let Some((before, after)) = rest.split_once(from) {
        kept += before;
        rest = after.split_once(to).map_or("", |(_, after)| after);
    }
    kept + rest
}
