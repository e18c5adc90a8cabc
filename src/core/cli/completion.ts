/** The scripts that complete command lines of volctl, made from the metadata of the commands: no shell starts volctl for a TAB. */
import type { Command } from '@oclif/core'
import { alike, present } from '../base/text.ts'
import { OPERATION_GROUPS, OPERATION_KINDS } from '../plan/plan.ts'

/** What may stand in a place: one of the words, or several with commas (`list`); without words a name, a number, a duration. */
interface Values {
  readonly kind: 'words' | 'list' | 'file'
  readonly words: string
}

const KINDS: Values = { kind: 'list', words: [...OPERATION_GROUPS.keys(), ...OPERATION_KINDS].join(' ') }
const FILE: Values = { kind: 'file', words: '' }
const FREE: Values = { kind: 'words', words: '' }

/** By the name of a flag or an argument, or by what stands for its value in the help. */
const VALUES: ReadonlyMap<unknown, Values> = new Map([
  ['only', KINDS],
  ['skip', KINDS],
  ['DIR', FILE],
  ['FILE', FILE],
  ['PATH', FILE],
  ['what', FILE],
  ['name-or-planfile', FILE],
])

interface Valued {
  readonly name: string
  readonly options?: readonly string[]
  readonly helpValue?: unknown
}

function valuesOf({ name, options, helpValue }: Valued): Values {
  if (options !== undefined) return { kind: 'words', words: options.join(' ') }
  return VALUES.get(name) ?? VALUES.get(helpValue) ?? FREE
}

type Described = Pick<Command.Cached, 'id' | 'summary' | 'flags' | 'args'>
type Flag = Pick<Command.Flag.Cached, 'name' | 'char' | 'type' | 'summary'> & Partial<Valued> & { multiple?: boolean }

const HELP: readonly Flag[] = [
  { name: 'help', char: 'h', type: 'boolean', summary: 'Show the help of this command' },
  { name: 'help-all', type: 'boolean', summary: 'Show all flags of this command' },
]

function flagsOf({ id, flags }: Described): readonly Flag[] {
  return id === 'help' ? [] : [...Object.values(flags), ...HELP]
}

function takesValue({ type }: Flag): boolean {
  return type === 'option'
}

/** `-o`, `--output` */
function spellings({ name, char }: Flag): string[] {
  return present(char && `-${char}`, `--${name}`)
}

/** What a list of choices has room for: the first sentence. */
function short(text = ''): string {
  return text.split(/[.;:](?:\s|$)/)[0] ?? ''
}

/** Of every argument. */
function argumentOf({ args }: Described): Values {
  return valuesOf(Object.values(args)[0] ?? { name: '' })
}

function bash(commands: readonly Described[]): string {
  const offer = ({ kind, words }: Values): string =>
    ({
      words: `words='${words}'`,
      list: `words='${words}' lead=\${cur%"\${cur##*,}"}`,
      file: 'compopt -o default',
    })[kind]
  const cases = commands.map((command) => {
    const flags = flagsOf(command)
    const valued = alike(flags.filter(takesValue), (flag) => offer(valuesOf(flag))).map(
      (those) => `        ${those.flatMap(spellings).join(' | ')}) ${offer(valuesOf(those[0]))} ;;\n`,
    )
    return `    ${command.id})
      case $prev in
${valued.join('')}        *)
          ${offer(argumentOf(command))}
          [[ $cur == -* ]] && words='${flags.flatMap(spellings).join(' ')}'
          ;;
      esac
      ;;`
  })
  return `# bash completion for volctl, written by: volctl completion bash

_volctl() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD - 1]} command=\${COMP_WORDS[1]}
  local words='' lead='' IFS=$' \\t\\n'
  ((COMP_CWORD > 1)) || command='' words='${commands.map(({ id }) => id).join(' ')} --help --version'
  # Of --flag=value bash makes three words.
  [[ $cur == = ]] && cur=''
  [[ $prev == = ]] && prev=\${COMP_WORDS[COMP_CWORD - 2]}
  case $command in
${cases.join('\n')}
  esac
  mapfile -t COMPREPLY < <(compgen -P "$lead" -W "$words" -- "\${cur#"$lead"}")
}

complete -F _volctl volctl
`
}

function zsh(commands: readonly Described[]): string {
  const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`
  const offer = ({ kind, words }: Values): string =>
    ({
      words: `:value:(${words})`,
      list: `:value:_values -s , value ${words}`,
      file: ':value:_files',
    })[kind]
  const spec = (flag: Flag): string[] =>
    spellings(flag).map((each) => {
      const before = flag.multiple === true ? '*' : `(${spellings(flag).join(' ')})`
      const about = `[${short(flag.summary).replaceAll(/[\\:[\]]/g, '\\$&')}]`
      const sign = each.startsWith('--') ? '=' : '+'
      return quoted(`${before}${each}${takesValue(flag) ? `${sign}${about}${offer(valuesOf(flag))}` : about}`)
    })
  const cases = commands.map(
    (command) =>
      `    ${command.id}) _arguments ${[...flagsOf(command).flatMap(spec), quoted(`*${offer(argumentOf(command))}`)].join(' ')} ;;`,
  )
  return `#compdef volctl
# zsh completion for volctl, written by: volctl completion zsh

_volctl() {
  if (( CURRENT == 2 )); then
    local -a commands=(
${commands.map(({ id, summary }) => `      ${quoted(`${id}:${short(summary)}`)}`).join('\n')}
      '--help:Show the help'
      '--version:Show the version'
    )
    _describe command commands
    return
  fi
  shift words
  (( CURRENT-- ))
  case $words[1] in
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

function fish(commands: readonly Described[]): string {
  const quoted = (text: string): string => `'${text.replaceAll(/[\\']/g, '\\$&')}'`
  const offer = ({ kind, words }: Values): string =>
    ({
      words: `-x -a '${words}'`,
      list: `-x -a ${quoted(`(__fish_complete_list , 'string split " " "${words}"')`)}`,
      file: '-r -F',
    })[kind]
  const lines = commands.flatMap((command) => {
    const { id, summary } = command
    const here = `complete -c volctl -n '__fish_seen_subcommand_from ${id}'`
    const spec = (flag: Flag): string => {
      const spelled = spellings(flag).map((each) => each.replace(/^--/, '-l ').replace(/^-(?=.$)/, '-s '))
      const offered = takesValue(flag) ? [offer(valuesOf(flag))] : []
      return [here, ...spelled, ...offered, '-d', quoted(short(flag.summary))].join(' ')
    }
    const use = `complete -c volctl -n __fish_use_subcommand -a ${id} -d ${quoted(short(summary))}`
    return [use, `${here} ${offer(argumentOf(command))}`, ...flagsOf(command).map(spec)]
  })
  return `# fish completion for volctl, written by: volctl completion fish

complete -c volctl -f
complete -c volctl -n __fish_use_subcommand -l help -d 'Show the help'
complete -c volctl -n __fish_use_subcommand -l version -d 'Show the version'
${lines.join('\n')}
`
}

const SCRIPTS = { bash, zsh, fish } as const

/** Those that there is a script for. */
export const SHELLS = ['bash', 'zsh', 'fish'] as const

/** @param commands as the manifest has them */
export function completionScript(shell: (typeof SHELLS)[number], commands: readonly Described[]): string {
  const command = { name: 'command', options: commands.map(({ id }) => id) }
  const help = { id: 'help', summary: 'Show the help of a command', flags: {}, args: { command } }
  return SCRIPTS[shell]([...commands, help])
}
