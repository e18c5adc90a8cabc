/**
 * What `volctl completion SHELL` prints. Every script hands the words of the line to `volctl __complete` and offers the answer
 * (complete.ts). None expands anything of the line, and each quotes what it inserts: a name from the cluster is never run.
 */

/** bash hands its words over with their quotes, and inserts an answer as it stands: the script does both itself. */
const bash = `# bash completion for volctl, written by: volctl completion bash

# Splits a line into $words and $cur as the shell would, and expands nothing. $quote: the quote that is still open. $head: how
# many characters of $cur stand before what readline replaces.
__volctl_split() {
  local line=$1 char begun='' i
  words=() cur='' quote='' head=0
  for ((i = 0; i < \${#line}; i++)); do
    char=\${line:i:1}
    case $quote$char in
      "''" | '""') quote='' head=\${#cur} ;;
      "'"?) cur+=$char ;;
      '"\\')
        [[ \${line:i+1:1} == [\\"\\\\\\$\\\`] ]] && char=\${line: ++i:1}
        cur+=$char
        ;;
      '"'?) cur+=$char ;;
      "'" | '"') quote=$char begun=1 head=\${#cur} ;;
      '\\') cur+=\${line: ++i:1} begun=1 ;;
      [[:space:]])
        [[ $begun ]] && words+=("$cur")
        cur='' begun='' head=0
        ;;
      *)
        cur+=$char begun=1
        [[ $COMP_WORDBREAKS == *"$char"* ]] && head=\${#cur}
        ;;
    esac
  done
}

# Offers one value, quoted as the word has been begun.
__volctl_add() {
  local text=$1
  [[ $text == "$cur"* ]] || return 0
  [[ $text == */ ]] && compopt -o nospace 2>/dev/null
  text=\${text:head}
  case $quote in
    "'") text=\${text//\\'/\\'\\\\\\'\\'} ;;
    '"')
      text=\${text//\\\\/\\\\\\\\} text=\${text//\\"/\\\\\\"} text=\${text//\\$/\\\\\\$}
      text=\${text//\\\`/\\\\\\\`}
      ;;
    *) [[ $text == *[!A-Za-z0-9_./:=@%+,^-]* ]] && printf -v text %q "$text" ;;
  esac
  # readline closes the quote, unless the text ends with one.
  [[ $quote && $text == *"$quote" ]] && text+=$quote
  COMPREPLY+=("$text")
}

_volctl() {
  local IFS=$' \\t\\n' words cur quote head line lead=''
  COMPREPLY=()
  __volctl_split "\${COMP_LINE:0:COMP_POINT}"
  [[ $cur == --*=* ]] && lead=\${cur%%=*}=
  while IFS= read -r line; do
    case $line in
      :0) compopt -o default 2>/dev/null ;;
      :16) compopt -o dirnames 2>/dev/null ;;
      :*) ;;
      *) __volctl_add "$lead\${line%%$'\\t'*}" ;;
    esac
  done < <(command volctl __complete "\${words[@]:1}" "$cur" 2>/dev/null </dev/null)
  return 0
}

complete -F _volctl volctl
`

const zsh = `#compdef volctl
# zsh completion for volctl, written by: volctl completion zsh

_volctl() {
  local answer value
  local -a answers open closed shown expl
  # (Q) takes quotes away and expands nothing.
  answers=("\${(@f)$(command volctl __complete "\${(@Q)words[2,CURRENT-1]}" "\${(Q)PREFIX}" 2>/dev/null </dev/null)}")
  [[ $PREFIX == --*=* ]] && compset -P 1 '*='
  case $answers[-1] in
    :0) _files && return ;;
    :16) _files -/ && return ;;
  esac
  for answer in "\${(@)answers[1,-2]}"; do
    value=\${answer%%$'\\t'*}
    if [[ $value == */ ]]; then
      open+=("$value")
    else
      closed+=("$value") shown+=("\${answer/$'\\t'/  -- }")
    fi
  done
  (( $#closed )) && _wanted volctl expl value compadd -l -d shown -a closed
  (( $#open )) && _wanted volctl expl value compadd -S '' -a open
  (( $#closed + $#open ))
}

if [[ $funcstack[1] == _volctl ]]; then
  _volctl "$@"
else
  compdef _volctl volctl
fi
`

const fish = `# fish completion for volctl, written by: volctl completion fish

# Asks for $__volctl_answers; fails where a file is to be offered, as fish does it.
function __volctl_ask
    set -l current (commandline -ct)
    set -l tokens (commandline -opc)
    set -l plain (string unescape -- "$current"; or echo "$current")
    set -l answers (command volctl __complete $tokens[2..-1] "$plain" 2>/dev/null </dev/null)
    set -l lead (string match -r '^--[a-z-]+=' -- "$current")
    set -g __volctl_answers
    switch "$answers[-1]"
        case ':0'
            return 1
        case ':16'
            set answers (__fish_complete_directories (string replace -r '^--[a-z-]+=' '' -- "$current")) ''
    end
    for answer in $answers[1..-2]
        set -a __volctl_answers "$lead$answer"
    end
    return 0
end

complete -c volctl -n __volctl_ask -f -a '$__volctl_answers'
`

/** The program that kubectl starts to complete `kubectl volctl …`, in every shell that completes kubectl itself. */
const kubectl = `#!/bin/sh
# Completion of "kubectl volctl", written by: volctl completion kubectl
# kubectl starts it if it is executable, in the PATH, and called kubectl_complete-volctl.
if command -v kubectl-volctl >/dev/null 2>&1; then
  exec kubectl-volctl __complete "$@"
fi
exec volctl __complete "$@"
`

/** The same whatever the commands are: they are asked for when a person types. */
export const COMPLETION_SCRIPTS = { bash, zsh, fish, kubectl } as const
