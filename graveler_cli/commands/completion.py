"""`graveler completion`: scripts that complete commands, flags and URIs in a shell."""

from typing import Annotated, Literal

import typer

_PROGRAM = "graveler"
_VARIABLE = "_GRAVELER_COMPLETE"

# Bash splits words at ":", and Typer's script for bash passes such words, but URIs have a ":".
# Typer's protocol for fish takes the typed line, and works in bash too.
_BASH = r"""
_graveler_completion() {
    local IFS=$'\n' typed=${COMP_LINE:0:COMP_POINT} word= kept= before= quote= char at reply
    # The last word without its quotes, and the part of it that stays: bash replaces only the text
    # after an open quote or the last word break.
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
            quote=$char before=$kept kept=$word
        elif [[ $char == [[:space:]] || $word$char == -*= && $COMP_WORDBREAKS == *=* ]]; then
            word= kept=
        else
            word+=$char
            [[ $char == : && $COMP_WORDBREAKS == *:* ]] && kept=$word
        fi
    done
    COMPREPLY=()
    while read -r reply; do
        reply=${reply%%$'\t'*}
        [[ -n $reply ]] || continue
        reply=${reply#"$kept"}
        [[ $quote ]] || reply=$(printf %q "$reply")
        COMPREPLY+=("$reply")
    done < <(env _GRAVELER_COMPLETE=complete_fish _TYPER_COMPLETE_FISH_ACTION=get-args \
        _TYPER_COMPLETE_ARGS="$typed" "$1" 2> /dev/null)
    # A folder, a repository or the scheme: more follows.
    [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == */ ]] && compopt -o nospace
    return 0
}

complete -o default -F _graveler_completion graveler
"""


def command(
    shell: Annotated[
        Literal["bash", "zsh", "fish", "powershell"],
        typer.Argument(metavar="SHELL", help="bash, zsh, fish or powershell", show_default=False),
    ],
) -> None:
    """Print a script that completes commands, flags and URIs in a shell.

    `source <(graveler completion bash)` in ~/.bashrc loads it; zsh does the same in ~/.zshrc,
    after compinit; `graveler completion fish | source` in fish's configuration.
    """
    if shell == "bash":
        typer.echo(_BASH.strip())
        return
    # Imported late, because bash does not need it.
    from typer._completion_shared import get_completion_script  # noqa: PLC0415

    script = get_completion_script(prog_name=_PROGRAM, complete_var=_VARIABLE, shell=shell)
    typer.echo(script)
