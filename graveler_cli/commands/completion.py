"""`graveler completion`: scripts that complete commands, flags and URIs in a shell."""

import click
from click.shell_completion import get_completion_class

from graveler_cli.grammar import Command
from graveler_cli.session import CommandSession

_PROGRAM = "graveler"
_VARIABLE = "_GRAVELER_COMPLETE"

# Bash splits words at ":", and click's script for bash passes such words, but URIs have a ":".
# click's protocol for fish takes the typed line, and works in bash too.
_BASH = r"""
_graveler_completion() {
    local IFS=$'\n' typed=${COMP_LINE:0:COMP_POINT} begin=0 word= option= kept= before= quote= char
    local at reply single="'" escaped="'\\''"
    # The last word without its quotes, and the part of its value that stays: bash replaces only the
    # text after an open quote or the last word break.
    for ((at = 0; at < ${#typed}; at++)); do
        char=${typed:at:1}
        if [[ $char == "$quote" ]]; then
            quote= kept=$before
        elif [[ $quote == "'" ]]; then
            word+=$char
        elif [[ $char == "\\" ]]; then
            ((at += 1))
            word+=${typed:at:1}
        elif [[ $quote ]]; then
            word+=$char
        elif [[ $char == [\'\"] ]]; then
            quote=$char before=$kept kept=${word#"$option"}
        elif [[ $char == [[:space:]] ]]; then
            word= option= kept= begin=$((at + 1))
        else
            word+=$char
            [[ $word == -*= && ! $option ]] && option=$word
            [[ $char == : && $COMP_WORDBREAKS == *:* ]] && kept=${word#"$option"}
        fi
    done
    # The finished words, and the last one in quotes that a POSIX shell knows.
    typed=${typed:0:begin}
    [[ $word ]] && word="$single${word//$single/$escaped}$single"
    COMPREPLY=()
    while read -r reply; do
        [[ $reply == plain,* ]] || continue
        reply=${reply#plain,} reply=${reply%%$'\t'*}
        reply=${reply#"$kept"}
        [[ $kept || $COMP_WORDBREAKS == *=* ]] || reply=$option$reply
        [[ $quote ]] || reply=$(printf %q "$reply")
        COMPREPLY+=("$reply")
    done < <(env _GRAVELER_COMPLETE=fish_complete COMP_WORDS="$typed$word" \
        COMP_CWORD="$word" "$1" 2> /dev/null)
    # A folder, a repository or the scheme: more follows.
    [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == */ ]] && compopt -o nospace
    return 0
}

complete -o default -F _graveler_completion graveler
"""

# click's zsh script replaces --option= together with its value, and its fish script ends an answer
# at the first comma.
_MENDED = {
    "zsh": ("compadd -U -V unsorted -a", "compset -P '-*='; compadd -V unsorted -a"),
    "fish": ('string split "," $completion', 'string split -m 1 "," $completion'),
}


@click.command(cls=Command)
@click.argument(
    "shell",
    metavar="SHELL",
    type=click.Choice(["bash", "zsh", "fish", "powershell"]),
    help="bash, zsh, fish or powershell",
)
def command(_session: CommandSession, shell: str) -> None:
    """Print a script that completes commands, flags and URIs in a shell.

    `source <(graveler completion bash)` in ~/.bashrc loads it; zsh does the same in ~/.zshrc,
    after compinit; `graveler completion fish | source` in fish's configuration.
    """
    if shell == "bash":
        click.echo(_BASH.strip())
        return
    program = click.get_current_context().find_root().command
    kind = get_completion_class(shell)
    assert kind
    script = kind(program, {}, _PROGRAM, _VARIABLE).source()
    click.echo(script.replace(*_MENDED.get(shell, ("", ""))))
