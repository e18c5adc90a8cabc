/** The help that fits a screen: the flags that are typed most, three examples, and where the rest is. */
import type { Command } from '@oclif/core'

const ALL = '--help-all'

/** Of oclif: the first line stands at the head already. */
export const SHORT = { hideCommandSummaryInDescription: true } as const

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

/** The command line with the only flag of help that oclif knows, and which help that is. After `--` nothing is a flag. */
export function helpAsked(args: readonly string[]): { readonly args: string[]; readonly help?: 'short' | 'all' } {
  const end = args.indexOf('--')
  const flags = end === -1 ? args : args.slice(0, end)
  const plain = [...flags.map((arg) => (arg === ALL ? '--help' : arg)), ...args.slice(flags.length)]
  if (flags.includes(ALL)) return { args: plain, help: 'all' }
  return flags.includes('--help') || flags.includes('-h') ? { args: plain, help: 'short' } : { args: plain }
}

/** The same command, for the help alone: with all other flags hidden, and no text that the manual has too. */
export function shortened(command: Command.Cached): Command.Cached {
  const typed = TYPED[command.id] ?? Object.keys(command.flags)
  const { summary = '', examples = [], ...rest } = command
  return {
    ...rest,
    flags: mapValues(command.flags, ({ helpGroup: _, ...flag }) => ({
      ...(flag.name === 'output' ? withoutList(flag) : flag),
      summary: firstSentence(flag.summary ?? ''),
      hidden: !typed.includes(flag.name),
    })),
    args: mapValues(command.args, (arg) => ({ ...arg, description: firstSentence(arg.description ?? '') })),
    // The first line stands at the head, the rest in its section.
    description: `${summary}\nMore flags, and more about them: <%= config.bin %> ${command.id} ${ALL}`,
    examples: examples.slice(0, 3),
  }
}

/** Its sentence lists the formats. */
function withoutList<T extends object>(flag: T): T {
  return { ...flag, helpValue: 'FORMAT', options: undefined, default: undefined }
}

/** With its full stop; a list in it stays whole. */
function firstSentence(text: string): string {
  return text.split(/(?<=\.)\s/)[0] ?? ''
}

function mapValues<T>(of: Readonly<Record<string, T>>, map: (value: T) => T): Record<string, T> {
  return Object.fromEntries(Object.entries(of).map(([key, value]) => [key, map(value)]))
}
