/** The completion script for zsh, which quotes what it inserts by itself. */
import { inQuotes } from '../lang/shell-word.ts'
import type { ArgumentSpec, CommandSpec, FlagSpec, Values } from './spec.ts'

/** @param commands what can be typed */
export function zshCompletion(commands: readonly CommandSpec[]): string {
  const names = commands.map(({ name, summary }) => `    ${inQuotes(`${name}:${summary}`)}`)
  const cases = commands.map(({ name, flags, args }) => {
    const specs = [...flags.map(flagSpec), ...args.map(argumentSpec)]
    return `    ${name}) _arguments -s -S ${['', ...specs].join(' \\\n      ')} ;;`
  })
  return `#compdef volctl
# zsh completion for volctl, written by: volctl completion zsh

# Values that volctl is asked for now; (Q) takes quotes away and expands nothing.
_volctl_live() {
  local kind=$1 answer value
  local -a open closed shown_open shown_closed
  for answer in "\${(@f)$(command volctl __complete $kind "\${(Q)PREFIX}" "\${(@Q)volctl_words}" 2>/dev/null </dev/null)}"; do
    value=\${answer%%$'\\t'*}
    [[ -n $value ]] || continue
    if [[ $value == */ ]]; then
      open+=("$value") shown_open+=("\${answer/$'\\t'/  -- }")
    else
      closed+=("$value") shown_closed+=("\${answer/$'\\t'/  -- }")
    fi
  done
  local expl
  (( $#closed )) && _wanted volctl-$kind expl $kind compadd -l -d shown_closed -a closed
  (( $#open )) && _wanted volctl-$kind expl $kind compadd -S '' -a open
  (( $#closed + $#open ))
}

# Whatever explain takes: a name, or a path.
_volctl_thing() {
  if [[ $PREFIX == /* ]]; then _files; else _volctl_live thing; fi
}

_volctl_commands() {
  local -a volctl_commands=(
${names.join('\n')}
  )
  _describe -t commands command volctl_commands
}

_volctl() {
  local curcontext=$curcontext state line result=1
  local -a volctl_words=("\${(@)words[2,CURRENT-1]}")
  _arguments -C \\
    '(- *)'{-h,--help}'[Show the help]' \\
    '(- *)--version[Show the version]' \\
    '1: :_volctl_commands' \\
    '*:: :->args' && result=0
  [[ $state == args ]] || return result
  case $line[1] in
${cases.join('\n')}
  esac
}

if [[ $funcstack[1] == _volctl ]]; then
  _volctl "$@"
else
  compdef _volctl volctl
fi
`
}

function flagSpec({ name, char, summary, values, repeatable }: FlagSpec): string {
  const about = `[${escaped(summary)}]`
  const action = values === undefined ? '' : `:${escaped(name)}:${actionOf(values)}`
  const long = `--${name}${values === undefined ? '' : '='}`
  const short = char === undefined ? undefined : `-${char}${values === undefined ? '' : '+'}`
  const others = repeatable ? '*' : char === undefined ? '' : `(-${char} --${name})`
  const both = short === undefined ? inQuotes(`${others}${long}${about}${action}`) : undefined
  return both ?? `${inQuotes(others)}{${short},${long}}${inQuotes(`${about}${action}`)}`
}

function argumentSpec({ name, values, repeatable }: ArgumentSpec, index: number): string {
  return inQuotes(`${repeatable ? '*' : index + 1}:${escaped(name)}:${actionOf(values)}`)
}

/** Words of flags have no blanks and no quotes. */
function actionOf(values: Values): string {
  switch (values.kind) {
    case 'words':
      return `(${values.words.join(' ')})`
    case 'list':
      return `_sequence compadd - ${values.words.join(' ')}`
    case 'file':
      return '_files'
    case 'directory':
      return '_files -/'
    case 'live':
      // With a blank before it, or zsh puts words of its own between.
      return values.of === 'thing' ? ' _volctl_thing' : ` _volctl_live ${values.of}`
    case 'free':
      return ' '
    default:
      throw new Error(`no action for ${JSON.stringify(values satisfies never)}`)
  }
}

/** Within a spec of _arguments. */
function escaped(text: string): string {
  return text.replaceAll(/[\\[\]:]/g, '\\$&')
}
