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
    local IFS=$'\n' typed=${COMP_LINE:0:COMP_POINT} word= option= kept= before= quote= char at reply
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
            word= option= kept=
        else
            word+=$char
            [[ $word == -*= && ! $option ]] && option=$word
            [[ $char == : && $COMP_WORDBREAKS == *:* ]] && kept=${word#"$option"}
        fi
    done
    COMPREPLY=()
    while read -r reply; do
        [[ $reply == plain,* ]] || continue
        reply=${reply#plain,} reply=${reply%%$'\t'*}
        reply=${reply#"$kept"}
        [[ $quote ]] || reply=$(printf %q "$reply")
        COMPREPLY+=("$reply")
    done < <(env _GRAVELER_COMPLETE=fish_complete COMP_WORDS="$typed" \
        COMP_CWORD="$(printf %q "$word")" "$1" 2> /dev/null)
    # A folder, a repository or the scheme: more follows.
    [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == */ ]] && compopt -o nospace
    return 0
}

complete -o default -F _graveler_completion graveler
"""


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
    click.echo(kind(program, {}, _PROGRAM, _VARIABLE).source())
