/**
 * The completion script for bash. bash hands its words over with their quotes, and inserts an answer as it stands. So the script
 * takes the line apart and expands nothing of it, and quotes every answer: a name from the cluster is never run.
 */
import { type CommandSpec, spellings, type Values } from './spec.ts'

/** @param commands what can be typed */
export function bashCompletion(commands: readonly CommandSpec[]): string {
  return `${HEAD}
${flagCases(commands)}
${argumentCases(commands)}
${flagLists(commands)}
${main(commands)}`
}

const HEAD = `# bash completion for volctl, written by: volctl completion bash

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
  local text=$lead$1
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

__volctl_live() {
  local line
  while IFS= read -r line; do
    __volctl_add "\${line%%$'\\t'*}"
  done < <(command volctl __complete "$1" "\${cur#"$lead"}" "\${words[@]:1}" 2>/dev/null </dev/null)
}

# Offers what a place may have: KIND [WORD…]
__volctl_offer() {
  local kind=$1 word value=\${cur#"$lead"}
  shift
  case $kind in
    words | list)
      [[ $kind == list ]] && lead+=\${value%"\${value##*,}"}
      for word; do __volctl_add "$word"; done
      ;;
    file) compopt -o default 2>/dev/null ;;
    directory) compopt -o dirnames 2>/dev/null ;;
    free) ;;
    thing) if [[ $value == /* ]]; then compopt -o default 2>/dev/null; else __volctl_live thing; fi ;;
    *) __volctl_live "$kind" ;;
  esac
  return 0
}
`

function flagCases(commands: readonly CommandSpec[]): string {
  const lines = commands.flatMap(({ name, flags }) =>
    flags.flatMap((flag) =>
      flag.values === undefined
        ? []
        : `    ${spellings(flag)
            .map((each) => `'${name} ${each}'`)
            .join(' | ')}) values='${offer(flag.values)}' ;;`,
    ),
  )
  return `# COMMAND FLAG: what its value may be, in $values; fails for a switch
__volctl_flag() {
  case "$1 $2" in
${lines.join('\n')}
    *) return 1 ;;
  esac
}
`
}

function argumentCases(commands: readonly CommandSpec[]): string {
  const lines = commands.flatMap(({ name, args }) =>
    args.map(({ values, repeatable }, index) => {
      const places = repeatable ? `'${name} '*` : `'${name} ${index}'`
      return `    ${places}) values='${offer(values)}' ;;`
    }),
  )
  return `# COMMAND PLACE: what the argument may be, in $values
__volctl_argument() {
  case "$1 $2" in
${lines.join('\n')}
    *) return 1 ;;
  esac
}
`
}

function flagLists(commands: readonly CommandSpec[]): string {
  const lines = commands
    .filter(({ flags }) => flags.length > 0)
    .map(({ name, flags }) => `    ${name}) values='words ${flags.flatMap(spellings).join(' ')}' ;;`)
  return `__volctl_flags() {
  case $1 in
${lines.join('\n')}
    *) return 1 ;;
  esac
}
`
}

function main(commands: readonly CommandSpec[]): string {
  return `_volctl() {
  local IFS=$' \\t\\n' words cur quote head lead='' command='' values='' flag='' place=0 i
  COMPREPLY=()
  __volctl_split "\${COMP_LINE:0:COMP_POINT}"
  for ((i = 1; i < \${#words[@]}; i++)); do
    flag=''
    if [[ ! $command ]]; then
      [[ \${words[i]} == -* ]] || command=\${words[i]}
    elif [[ \${words[i]} == -- ]]; then
      place=$((place + \${#words[@]} - i - 1)) flag=--
      break
    elif [[ \${words[i]} == -* ]]; then
      __volctl_flag "$command" "\${words[i]}" && flag=\${words[i]} && ((i++))
    else
      ((place++))
    fi
  done
  if [[ ! $command ]]; then
    __volctl_offer words ${commands.map(({ name }) => name).join(' ')} --help --version
  elif [[ $flag && $flag != -- ]] && ((i > \${#words[@]})); then
    # The word before is a flag whose value is to come.
    __volctl_flag "$command" "$flag" && __volctl_offer $values
  elif [[ $flag != -- && $cur == --*=* ]]; then
    lead=\${cur%%=*}=
    __volctl_flag "$command" "\${cur%%=*}" && __volctl_offer $values
  elif [[ $flag != -- && $cur == -* ]]; then
    __volctl_flags "$command" && __volctl_offer $values
  else
    __volctl_argument "$command" "$place" && __volctl_offer $values
  fi
  return 0
}

complete -F _volctl volctl
`
}

/** As __volctl_offer takes it. Words of flags have no blanks and no quotes. */
function offer(values: Values): string {
  if (values.kind === 'live') return values.of
  return values.kind === 'words' || values.kind === 'list' ? [values.kind, ...values.words].join(' ') : values.kind
}
