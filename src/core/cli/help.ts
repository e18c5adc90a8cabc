/** The help of volctl itself, and of a command: the one that fits a screen, and all of it. */
import type { Command, CommandHelp, Interfaces } from '@oclif/core'
import pjson from '../../../package.json' with { type: 'json' }
import { programName } from '../trust/own-program.ts'
import { type Palette, wrapped } from '../views/screen.ts'

const ALL = '--help-all'

/** The command line with the only flag of help that oclif knows, and which help that is. After `--` nothing is a flag. */
export function helpAsked(args: readonly string[]): { readonly args: string[]; readonly help?: 'short' | 'all' } {
  const end = args.indexOf('--')
  const flags = end === -1 ? args : args.slice(0, end)
  const plain = [...flags.map((arg) => (arg === ALL ? '--help' : arg)), ...args.slice(flags.length)]
  if (flags.includes(ALL)) return { args: plain, help: 'all' }
  return flags.includes('--help') || flags.includes('-h') ? { args: plain, help: 'short' } : { args: plain }
}

// Of volctl: what to type first, and the commands by what a person wants.

/** By their titles. */
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  'LOOK (changes nothing)': ['plan', 'status', 'explain', 'doctor', 'check', 'wait', 'journal'],
  DO: ['apply'],
  MORE: ['snapshot', 'completion'],
}

/** Of help in a pipe too, as that of a command. */
const COLUMNS = 80

/** Nothing is typed, or help is asked for and no command is named. @param asksHelp by `helpAsked` */
export function asksForCommands(args: readonly string[], asksHelp: boolean): boolean {
  const first = args.find((arg) => arg !== '--help' && arg !== '-h')
  return first === undefined || (asksHelp && first.startsWith('-'))
}

export function rootHelp(
  commands: Readonly<Record<string, Pick<Command.Cached, 'summary'>>>,
  { bold }: Palette,
  columns = COLUMNS,
): string {
  const pad = Math.max(...Object.keys(commands).map((id) => id.length))
  const groups = Object.entries(GROUPS).map(([title, ids]) => {
    const lines = ids.map((id) => {
      const says = (commands[id]?.summary ?? '').replace(/ Changes nothing\.$/, '')
      return wrapped(`  ${id.padEnd(pad)}  `, says, columns)
    })
    return `${bold(title)}\n${lines.join('')}`
  })
  const program = programName()
  return [
    wrapped('', pjson.description, columns),
    `${bold('USAGE')}\n  $ ${program} COMMAND\n`,
    `${bold('FIRST STEP')}\n  What is wrong on this node: ${program} plan\n`,
    ...groups,
    `More about one of them: ${program} plan --help\n`,
  ].join('\n')
}

// Of a command: the short one has the flags that are typed most, three examples, and where the rest is.

/** By command, the flags that are typed most; a command that is not named has few. */
const TYPED: Readonly<Record<string, readonly string[]>> = {
  apply: ['output', 'yes', 'orphans', 'stop-kubelet', 'cluster'],
  check: ['output', 'confirm', 'timeout', 'snapshot'],
  doctor: ['output', 'verbose', 'kubeconfig', 'node', 'root-dir', 'snapshot'],
  explain: ['output', 'namespace', 'snapshot'],
  journal: ['output', 'last', 'plan', 'journal', 'verbose'],
  plan: ['output', 'orphans', 'out', 'snapshot', 'cluster', 'verbose'],
  snapshot: ['output', 'cluster', 'kubeconfig', 'node', 'root-dir', 'verbose'],
  status: ['output', 'namespace', 'volume', 'watch', 'snapshot', 'verbose'],
  wait: ['for', 'pod', 'volume', 'timeout', 'output'],
}

/**
 * @param isShort with all but the most typed flags hidden, and no text that the manual has too
 * @param Help oclif's, which draws it
 */
export function commandHelp(
  command: Command.Cached,
  isShort: boolean,
  config: Interfaces.Config,
  Help: typeof CommandHelp,
  maxWidth: number,
): string {
  class Page extends Help {
    text(): string {
      const { summary, description = '' } = this.command
      const [first] = this.render(summary ?? description).split('\n')
      return `${first}\n\n${this.generate()}\n\n`
    }

    /** oclif heads a group of flags with its name and `FLAGS`: "SAFETY OVERRIDES" says as much. */
    override section(header: string, body: Parameters<CommandHelp['section']>[1]): string {
      return super.section(header.replace(/(?<=.) FLAGS$/, ''), body)
    }
  }
  const shown = (isShort ? shortened(command) : command) as Command.Loadable
  // The first line of a short one stands at the head already.
  const options = { maxWidth, hideCommandSummaryInDescription: isShort } as Interfaces.HelpOptions
  return new Page(shown, config, options).text()
}

function shortened(command: Command.Cached): Command.Cached {
  const typed = TYPED[command.id] ?? Object.keys(command.flags)
  const { summary = '', examples = [], ...rest } = command
  return {
    ...rest,
    flags: mapValues(command.flags, ({ helpGroup: _, ...flag }) => ({
      ...flag,
      // Its sentence lists the formats.
      ...(flag.name === 'output' && { helpValue: 'FORMAT', options: undefined, default: undefined }),
      summary: firstSentence(flag.summary ?? ''),
      hidden: !typed.includes(flag.name),
    })),
    args: mapValues(command.args, (arg) => ({ ...arg, description: firstSentence(arg.description ?? '') })),
    // The first line stands at the head, the rest in its section.
    description: `${summary}\nMore flags, and more about them: <%= config.bin %> ${command.id} ${ALL}`,
    examples: examples.slice(0, 3),
  }
}

/** With its full stop; a list in it stays whole. */
function firstSentence(text: string): string {
  return text.split(/(?<=\.)\s/)[0] ?? ''
}

function mapValues<T>(of: Readonly<Record<string, T>>, map: (value: T) => T): Record<string, T> {
  return Object.fromEntries(Object.entries(of).map(([key, value]) => [key, map(value)]))
}
