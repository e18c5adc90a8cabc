/** The scripts that complete command lines of volctl, made from the metadata of the commands: no shell starts volctl for a TAB. */
import type { Command } from '@oclif/core'
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

type Valued = Pick<Command.Flag.Cached & Command.Arg.Cached, 'name'> & {
  readonly options?: readonly string[]
  readonly helpValue?: unknown
}

function valuesOf({ name, options, helpValue }: Valued): Values {
  if (options !== undefined) return { kind: 'words', words: options.join(' ') }
  return VALUES.get(name) ?? VALUES.get(helpValue) ?? FREE
}

interface Flag {
  /** `-o`, `--output` */
  readonly spellings: readonly string[]
  readonly summary: string
  /** Absent: a switch. */
  readonly values?: Values
  readonly repeatable?: boolean
}

const HELP: readonly Flag[] = [
  { spellings: ['-h', '--help'], summary: 'Show the help of this command' },
  { spellings: ['--help-all'], summary: 'Show all flags of this command' },
]

function completedFlag(flag: Command.Flag.Cached): Flag {
  const { name, char, summary } = flag
  const about = { spellings: char === undefined ? [`--${name}`] : [`-${char}`, `--${name}`], summary: short(summary) }
  return flag.type === 'boolean' ? about : { ...about, values: valuesOf(flag), repeatable: flag.multiple === true }
}

/** What a list of choices has room for: the first sentence. */
function short(text = ''): string {
  return text.split(/[.;:](?:\s|$)/)[0] ?? ''
}

interface Completed {
  readonly name: string
  readonly summary: string
  readonly flags: readonly Flag[]
  /** Of every argument. */
  readonly argument: Values
}

type Described = Pick<Command.Cached, 'id' | 'summary' | 'flags' | 'args'>

function completed(commands: readonly Described[]): readonly Completed[] {
  const topics = valuesOf({ name: 'command', options: commands.map(({ id }) => id) })
  return [
    ...commands.map(({ id, summary, flags, args }) => ({
      name: id,
      summary: short(summary),
      flags: [...Object.values(flags).map(completedFlag), ...HELP],
      argument: valuesOf(Object.values(args)[0] ?? { name: '' }),
    })),
    { name: 'help', summary: 'Show the help of a command', flags: [], argument: topics },
  ]
}

function bash(commands: readonly Completed[]): string {
  const offer = ({ kind, words }: Values): string =>
    ({
      words: `words='${words}'`,
      list: `words='${words}' lead=\${cur%"\${cur##*,}"}`,
      file: 'compopt -o default',
    })[kind]
  const cases = commands.map(({ name, flags, argument }) => {
    const byOffer = Map.groupBy(flags, ({ values }) => values && offer(values))
    const valued = [...byOffer].flatMap(([of, those]) =>
      of === undefined ? [] : [`        ${those.flatMap(({ spellings }) => spellings).join(' | ')}) ${of} ;;\n`],
    )
    return `    ${name})
      case $prev in
${valued.join('')}        *)
          ${offer(argument)}
          [[ $cur == -* ]] && words='${flags.flatMap(({ spellings }) => spellings).join(' ')}'
          ;;
      esac
      ;;`
  })
  return `# bash completion for volctl, written by: volctl completion bash

_volctl() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD - 1]} command=\${COMP_WORDS[1]}
  local words='' lead='' IFS=$' \\t\\n'
  ((COMP_CWORD > 1)) || command='' words='${commands.map(({ name }) => name).join(' ')} --help --version'
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

function zsh(commands: readonly Completed[]): string {
  const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`
  const offer = ({ kind, words }: Values): string =>
    ({
      words: `:value:(${words})`,
      list: `:value:_values -s , value ${words}`,
      file: ':value:_files',
    })[kind]
  const spec = ({ spellings, summary, values, repeatable }: Flag): string[] =>
    spellings.map((each) => {
      const before = repeatable === true ? '*' : `(${spellings.join(' ')})`
      const about = `[${summary.replaceAll(/[\\:[\]]/g, '\\$&')}]`
      const sign = each.startsWith('--') ? '=' : '+'
      return quoted(`${before}${each}${values === undefined ? about : `${sign}${about}${offer(values)}`}`)
    })
  const cases = commands.map(
    ({ name, flags, argument }) =>
      `    ${name}) _arguments ${[...flags.flatMap(spec), quoted(`*${offer(argument)}`)].join(' ')} ;;`,
  )
  return `#compdef volctl
# zsh completion for volctl, written by: volctl completion zsh

_volctl() {
  if (( CURRENT == 2 )); then
    local -a commands=(
${commands.map(({ name, summary }) => `      ${quoted(`${name}:${summary}`)}`).join('\n')}
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

function fish(commands: readonly Completed[]): string {
  const quoted = (text: string): string => `'${text.replaceAll(/[\\']/g, '\\$&')}'`
  const offer = ({ kind, words }: Values): string =>
    ({
      words: `-x -a '${words}'`,
      list: `-x -a ${quoted(`(__fish_complete_list , 'string split " " "${words}"')`)}`,
      file: '-r -F',
    })[kind]
  const lines = commands.flatMap(({ name, summary, flags, argument }) => {
    const here = `complete -c volctl -n '__fish_seen_subcommand_from ${name}'`
    const spec = ({ spellings, summary: about, values }: Flag): string => {
      const spelled = spellings.map((each) => each.replace(/^--/, '-l ').replace(/^-(?=.$)/, '-s '))
      return [here, ...spelled, ...(values === undefined ? [] : [offer(values)]), '-d', quoted(about)].join(' ')
    }
    const command = `complete -c volctl -n __fish_use_subcommand -a ${name} -d ${quoted(summary)}`
    return [command, `${here} ${offer(argument)}`, ...flags.map(spec)]
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
  return SCRIPTS[shell](completed(commands))
}
