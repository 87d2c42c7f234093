"""Completion for bash and zsh from what --help says."""

# Values that their options' texts explain instead of listing them.
VALUES = {"--transport": ["auto", "tcp", "shm", "mpi"]}
# Behind the options of these comes the command line of another program.
BEFORE_PROGRAMS = {"run", "graph", "coll"}

BASH = r"""# Completion of piracema for bash, made from its --help.
_piracema() {
  local -A commands=(
%(commands)s
  )
  local -A options=(
%(options)s
  )
  # The options that take a value; those with a list of values.
  local -A valued=(
%(valued)s
  )
  local -A values=(
%(values)s
  )
  local word path="" i here=${COMP_WORDS[COMP_CWORD]} wants=""
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    if [[ -n $wants ]]; then
      wants=""
    elif [[ $word == -- ]]; then
      path=program
      break
    elif [[ $word == -* ]]; then
      [[ " ${valued[_$path]} " != *" $word "* ]] || wants=$word
    elif [[ " ${commands[_$path]} " == *" $word "* ]]; then
      path=${path:+$path }$word
    elif [[ %(before)s == *" $path "* ]]; then
      path=program
      break
    fi
  done
  if [[ $path == program ]]; then
    compopt -o default 2>/dev/null
  elif [[ -n $wants && -n ${values[$wants]} ]]; then
    COMPREPLY=($(compgen -W "${values[$wants]}" -- "$here"))
  elif [[ -n $wants ]]; then
    compopt -o default 2>/dev/null
  elif [[ $here == -* ]]; then
    COMPREPLY=($(compgen -W "${options[_$path]}" -- "$here"))
  elif [[ -n ${commands[_$path]} ]]; then
    COMPREPLY=($(compgen -W "${commands[_$path]}" -- "$here"))
  else
    compopt -o default 2>/dev/null
  fi
}
complete -F _piracema piracema
"""

ZSH_COMMAND = r"""_%(function)s() {
  local context state state_descr line
  typeset -A opt_args
  _arguments -C \
%(options)s%(rest)s
%(below)s}
"""

ZSH_BELOW = r"""  case $state in
    command)
      local -a commands=(
%(described)s
      )
      _describe command commands ;;
    words)
      case $line[1] in
%(cases)s
      esac ;;
  esac
"""


def bash(commands):
    def table(pairs):
        return "\n".join(f'    ["{key}"]="{" ".join(words)}"' for key, words in pairs if words)

    rows = [("_" + " ".join(words), command) for words, command in commands.items()]
    values = dict(VALUES)
    for _, command in rows:
        for option in command.options:
            if option.choices():
                values[option.names[-1]] = option.choices()
    return BASH % {
        "commands": table((key, [name for name, _ in c.subcommands]) for key, c in rows),
        "options": table((key, [n for o in c.options for n in o.names]) for key, c in rows),
        "valued": table((k, [n for o in c.options if o.takes_next_word for n in o.names]) for k, c in rows),
        "values": table(sorted(values.items())),
        "before": '" ' + " ".join(sorted(BEFORE_PROGRAMS)) + ' "',
    }


def zsh_text(text):
    """Text within single quotes and brackets or behind a colon of _arguments."""
    text = text.replace("'", "'\\''").replace(":", "\\:")
    return text.replace("[", "\\[").replace("]", "\\]")


def zsh_option(option):
    values = option.choices() or VALUES.get(option.names[-1])
    action = f"({' '.join(values)})" if values else "_files"
    value = f":{zsh_text(option.value)}:{action}" if option.takes_next_word else ""
    text = f"[{zsh_text(option.text)}]{value}"
    if len(option.names) == 1:
        return f"'*{option.names[0]}{text}'"
    return f"'({' '.join(option.names)})'{{{','.join(option.names)}}}'{text}'"


def zsh(commands):
    parts = ["#compdef piracema\n# Completion of piracema for zsh, made from its --help.\n"]
    for words, command in sorted(commands.items(), key=lambda one: -len(one[0])):
        function = "_".join(("piracema", *words)).replace("-", "_")
        below = ""
        if command.subcommands:
            rest = "    '1: :->command' '*:: :->words'"
            described = "\n".join(
                f"        '{name}:{zsh_text(text)}'" for name, text in command.subcommands
            )
            cases = "\n".join(
                f"        {name}) _{function}_{name.replace('-', '_')} ;;"
                for name, _ in command.subcommands
            )
            below = ZSH_BELOW % {"described": described, "cases": cases}
        elif words and words[0] in BEFORE_PROGRAMS:
            rest = "    '*::program:_normal'"
        else:
            rest = "    '*:file:_files'"
        options = "".join(f"    {zsh_option(option)} \\\n" for option in command.options)
        parts.append(
            ZSH_COMMAND % {"function": function, "options": options, "rest": rest, "below": below}
        )
    parts.append('_piracema "$@"\n')
    return "\n".join(parts)
