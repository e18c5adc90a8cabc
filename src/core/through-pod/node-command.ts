/** The command line of `volctl on`: what is its own, and what volctl on the node is called with. Pure. */
import { IN_CLUSTER } from '../api/kubeconfig/in-cluster.ts'
import { VolctlError } from '../errors/errors.ts'
import { DEFAULT_JOURNAL_DIR } from '../journal/lazy-memory.ts'
import { shellWord } from '../lang/shell-word.ts'
import { HOST_ROOT } from './pod-manifest.ts'

/** Commands that a Pod can run; all but apply only read. */
export const NODE_COMMANDS = [
  'apply',
  'check',
  'doctor',
  'explain',
  'journal',
  'plan',
  'snapshot',
  'status',
  'wait',
] as const
export type NodeCommand = (typeof NODE_COMMANDS)[number]

/**
 * Splits at the command: NODE is the first word that is no flag, COMMAND the second, and all that follows is the command's.
 *
 * @param valued own flags that take a value, with their dashes
 */
export function splitAtCommand(
  argv: readonly string[],
  valued: ReadonlySet<string>,
): { readonly own: readonly string[]; readonly command: readonly string[] } {
  let words = 0
  for (let at = 0; at < argv.length; at++) {
    const word = argv[at] ?? ''
    if (valued.has(word)) at++
    else if (!word.startsWith('-') && ++words === 2) return { own: argv.slice(0, at), command: argv.slice(at) }
  }
  return { own: argv, command: [] }
}

/** A part of a parsed command line, as oclif gives it. */
export type Token =
  | { readonly type: 'flag'; readonly flag: string; readonly input: string }
  | { readonly type: 'arg'; readonly arg: string; readonly input: string }

/** What means nothing in a Pod, and what is given instead. */
const NOT_THERE: Readonly<Record<string, string>> = {
  kubeconfig: 'Give it before the name of the node, where it is the credential of this machine; the node uses its own.',
  context: 'Give it before the name of the node, where it is of the kubeconfig of this machine; the node uses its own.',
  node: 'The name of the node stands before the command.',
  snapshot: 'A snapshot is read on this machine, without a Pod.',
  'host-root': 'It is given by volctl on.',
}

/** Flags whose value is a path that volctl opens: there it is a path of the node. */
const PATHS: ReadonlySet<string> = new Set(['journal'])

/** The same of one command. */
const NOT_OF: Readonly<Partial<Record<NodeCommand, Readonly<Record<string, string>>>>> = {
  apply: { journal: `The Pod writes to the journal of the node, ${DEFAULT_JOURNAL_DIR}.` },
  check: { out: 'Without it the gauges are printed here.' },
}

/** @throws VolctlError Usage for a flag that means nothing there */
export function requireForNode(command: NodeCommand, tokens: readonly Token[]): void {
  for (const token of tokens) {
    const hint = token.type === 'flag' ? (NOT_THERE[token.flag] ?? NOT_OF[command]?.[token.flag]) : undefined
    if (token.type === 'flag' && hint !== undefined)
      throw new VolctlError('Usage', `--${token.flag} cannot stand after the command of volctl on`, { hint })
  }
}

/**
 * What volctl in the Pod is called with.
 *
 * @param switches names of flags without a value
 * @param extra given besides, for how the answer is drawn
 * @param ownAccount the Pod has a service account that was asked for: its token is used, whatever credential the node has
 */
export function nodeCommandLine(
  command: NodeCommand,
  tokens: readonly Token[],
  switches: ReadonlySet<string>,
  extra: readonly string[],
  ownAccount: boolean,
): readonly string[] {
  const words = tokens.map((token) => {
    if (token.type === 'arg') return token.input
    if (switches.has(token.flag)) return `--${token.flag}`
    return `--${token.flag}=${PATHS.has(token.flag) ? onHost(token) : token.input}`
  })
  // The journal is a plain file of the node, for which no other namespace is entered.
  const account = ownAccount ? [`--kubeconfig=${IN_CLUSTER}`] : []
  const place = command === 'journal' ? [] : ['--host-root', HOST_ROOT, ...account]
  const journal =
    command === 'journal' && !tokens.some((token) => token.type === 'flag' && token.flag === 'journal')
      ? [`--journal=${HOST_ROOT}${DEFAULT_JOURNAL_DIR}`]
      : []
  return [command, ...place, ...journal, ...extra, ...words]
}

function onHost({ flag, input }: Token & { readonly type: 'flag' }): string {
  if (input.startsWith('/')) return `${HOST_ROOT}${input}`
  throw new VolctlError('Usage', `--${flag}: "${input}" is not an absolute path.`, {
    hint: 'Give an absolute path of the node.',
  })
}

/**
 * What the person has typed before the command, for hints of volctl in the Pod: `kubectl volctl on node7`.
 *
 * @param own flags and node, as typed
 */
export function calledOn(program: string, own: readonly string[], node: string): string {
  const typed = [program, 'on', ...own.map(shellWord)].join(' ')
  return /["\\\p{C}]/u.test(typed) || typed.length > 300 ? `${program} on ${node}` : typed
}
