"""Manual pages from what --help says: one for `piracema` and one for each command of it."""


def escaped(text):
    """The text as roff takes it, whatever begins its lines."""
    lines = text.replace("\\", "\\e").replace("-", "\\-").split("\n")
    return "\n".join("\\&" + line if line.startswith((".", "'")) else line for line in lines)


def as_is(lines):
    """Lines that keep their breaks and columns."""
    return [".nf", *(escaped(line) for line in lines), ".fi"]


def options_of(command, with_help=True):
    for left, text in command.positionals:
        yield from (".TP", f"\\fI{escaped(left.split()[0])}\\fR", escaped(text))
    for option in command.options:
        if "--help" in option.names and not with_help:
            continue
        space = " " if option.takes_next_word else ""
        value = f"{space}\\fI{escaped(option.value)}\\fR" if option.value else ""
        names = ", ".join(f"\\fB{escaped(name)}\\fR" for name in option.names)
        yield from (".TP", names + value, escaped(option.text))


def sections_of(command, known):
    """What is said below the options, but for what `known` has already."""
    for title, lines in command.sections:
        if (title, tuple(lines)) in known:
            continue
        known.add((title, tuple(lines)))
        heading = {"": "NOTES", "Exit codes": "EXIT STATUS", "Example": "EXAMPLES"}
        yield (heading.get(title, title.upper()), as_is(lines))


def page(commands, words, version):
    """The page of the command with these words, with the commands below it."""
    command = commands[words]
    name = "-".join(("piracema", *words))
    below = [one for one in commands if words and one[: len(words)] == words and one != words]
    lines = [
        f'.TH {name.upper()} 1 "" "piracema {version}" "User Commands"',
        ".SH NAME",
        f"{escaped(name)} \\- {escaped(command.about.rstrip('.'))}",
        ".SH SYNOPSIS",
        *as_is(command.usage),
    ]
    known = set()
    sections = list(sections_of(command, known))
    lines += [".SH OPTIONS", *options_of(command)]
    if command.subcommands:
        lines.append(".SH COMMANDS")
    if below:
        for one in below:
            lines += [f".SS {escaped(' '.join(commands[one].usage))}", escaped(commands[one].about)]
            lines += options_of(commands[one], with_help=False)
            for title, text in sections_of(commands[one], known):
                lines += [".PP", title.capitalize() + ":", *text]
    else:
        for left, text in command.subcommands:
            lines += [".TP", f"\\fBpiracema {escaped(left)}\\fR", escaped(text)]
    last = None
    for title, text in sections:
        lines += [".PP" if title == last else f".SH {title}", *text]
        last = title
    pages = [one for one in commands if len(one) < 2 and one != words]
    others = sorted("-".join(("piracema", *one)) for one in pages)
    lines += [".SH SEE ALSO", ",\n".join(f"\\fB{escaped(other)}\\fR(1)" for other in others)]
    return name + ".1", "\n".join(lines) + "\n"
