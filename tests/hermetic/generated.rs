//! What the packages bring besides the program is made from the same command line.

use clap_complete::Shell;
use std::collections::BTreeSet;

/// Every command that is not hidden.
fn commands() -> BTreeSet<String> {
    let definition = fathom::command_line_definition();
    let shown = definition.get_subcommands().filter(|command| !command.is_hide_set());
    shown.map(|command| command.get_name().to_owned()).collect()
}

#[test]
fn the_manual_page_and_the_completions_name_every_command() {
    let mut page = vec![];
    clap_mangen::Man::new(fathom::command_line_definition()).render(&mut page).unwrap();
    let page = String::from_utf8(page).unwrap();
    assert!(page.contains(".TH fathom") && commands().len() > 10, "{page}");
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
        let mut completions = vec![];
        clap_complete::generate(shell, &mut fathom::command_line_definition(), "fathom", &mut completions);
        let completions = String::from_utf8(completions).unwrap();
        for command in commands() {
            assert!(completions.contains(&command), "{shell} does not complete {command}");
            assert!(page.contains(&format!("fathom\\-{command}")), "the manual page has no {command}");
        }
    }
}

/// They would cost every program two libraries: whoever packages it makes them.
#[test]
fn the_program_does_not_make_them_itself() {
    for command in ["completions", "man"] {
        assert!(!commands().contains(command));
        crate::committed::fathom().arg(command).assert().code(2);
    }
    let help = crate::committed::fathom().arg("--help").assert().success().get_output().clone();
    assert!(crate::committed::text(&help.stdout).contains("completions"), "the help says where they are");
}
