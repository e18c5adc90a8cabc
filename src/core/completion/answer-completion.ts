/**
 * `volctl __complete KIND CURRENT WORD…`, which completion scripts ask while a person types: one value a line, and after a tab
 * what it is. Quick, and silent whatever goes wrong: nothing is changed, no program is started, nobody is asked for anything.
 */

import { join } from 'node:path'
import { ADMIN_FILES } from '../api/kubeconfig/kube-config.ts'
import { mergeKubeConfigs, type RawKubeConfig, readKubeConfigFile } from '../api/kubeconfig/kube-config-file.ts'
import { shippedRules } from '../explain/rule-book.ts'
import { callerPath } from '../trust/caller.ts'
import { environment } from '../trust/environment.ts'
import { isTerminalSafe } from '../views/terminal-safe.ts'
import { type ClusterNames, clusterSnapshotNames, liveClusterNames } from './cluster-names.ts'
import { clusterValues } from './cluster-values.ts'
import { LIVE_KINDS, type LiveKind } from './live-kinds.ts'
import { nodeValues, type Value, wordValues } from './live-values.ts'
import { liveNames, snapshotNames } from './node-names.ts'
import { type TypedFlags, typedFlags } from './typed-flags.ts'

/** From the start of the process: longer, and a person takes the terminal for stuck. */
const DEADLINE_MS = 1000
const MOST_VALUES = 2000
const ABOUT_LENGTH = 60

/**
 * @param asked what follows `__complete`
 * @param root volctl's own directory
 * @param write takes the answer, once
 */
export async function answerCompletion(
  asked: readonly string[],
  root: string,
  write: (text: string) => Promise<void>,
): Promise<void> {
  await inTime(async (signal) => answerText(await valuesFor(asked, root, signal), asked[1] ?? ''), write)
}

/** Writes what has been made by the deadline, or nothing. */
export async function inTime(
  make: (signal: AbortSignal) => Promise<string>,
  write: (text: string) => Promise<void>,
): Promise<void> {
  const remaining = Math.max(0, Math.floor(DEADLINE_MS - performance.now()))
  // What hangs is left where it is: the process ends.
  const late = setTimeout(() => process.exit(0), remaining)
  try {
    await write(await make(AbortSignal.timeout(remaining)))
  } catch {
    // No answer is one, too.
  } finally {
    clearTimeout(late)
  }
}

/** What may stand in the place of the word that is being typed. @param asked KIND CURRENT WORD… */
export async function valuesFor(
  [kind, current = '', ...words]: readonly string[],
  root: string,
  signal: AbortSignal,
): Promise<readonly Value[]> {
  if (!isLiveKind(kind)) return []
  const flags = typedFlags(words)
  if (kind === 'context') return contextNames(flags.kubeconfig).map((value) => ({ value }))
  if (kind === 'thing' && /^[A-Z]/.test(current)) return wordValues(shippedRules(root))
  if (flags.cluster) return clusterValues(kind, current, await clusterNames(flags, signal))
  const names = flags.snapshot === undefined ? await liveNames(flags, signal) : await snapshotNames(flags.snapshot)
  return nodeValues(kind, current, names)
}

/** Of a large cluster what has come in time is offered: there has to be time to write it. */
const SHARE = 0.8

async function clusterNames(flags: TypedFlags, signal: AbortSignal): Promise<ClusterNames> {
  if (flags.snapshot !== undefined) return await clusterSnapshotNames(flags.snapshot)
  const remaining = Math.max(0, Math.floor((DEADLINE_MS - performance.now()) * SHARE))
  return await liveClusterNames(flags, AbortSignal.any([signal, AbortSignal.timeout(remaining)]))
}

function isLiveKind(kind: string | undefined): kind is LiveKind {
  return LIVE_KINDS.some((each) => each === kind)
}

/**
 * Those that begin as it has been typed, each once. What would not be one line on a terminal is left out: no shell could be
 * told it.
 */
export function answerText(values: readonly Value[], current: string): string {
  const found = new Map<string, string>()
  for (const { value, about = '' } of values) {
    if (value === '' || !value.startsWith(current) || !isOneLine(value) || found.has(value)) continue
    const short = shortened(about)
    found.set(value, short === '' ? value : `${value}\t${short}`)
    if (found.size === MOST_VALUES) break
  }
  return [...found.values()].map((line) => `${line}\n`).join('')
}

function isOneLine(text: string): boolean {
  return isTerminalSafe(text) && !text.includes('\n')
}

function shortened(about: string): string {
  const text = isOneLine(about) ? about : ''
  return text.length > ABOUT_LENGTH ? `${text.slice(0, ABOUT_LENGTH - 3)}...` : text
}

/** @param kubeconfig --kubeconfig, if given; else KUBECONFIG counts, then the first of the usual places */
function contextNames(kubeconfig: string | undefined): string[] {
  const { KUBECONFIG = '', HOME = '' } = environment()
  if (kubeconfig !== undefined) return namesIn([kubeconfig])
  const listed = KUBECONFIG.split(':').filter((path) => path !== '')
  if (listed.length > 0) return namesIn(listed)
  const usual = [join(HOME, '.kube', 'config'), ...ADMIN_FILES]
  return usual.map((path) => namesIn([path])).find((names) => names.length > 0) ?? []
}

function namesIn(paths: readonly string[]): string[] {
  return mergeKubeConfigs(paths.flatMap(readable)).contexts.map(({ name }) => name)
}

function readable(path: string): RawKubeConfig[] {
  try {
    return [readKubeConfigFile(callerPath(path))]
  } catch {
    return []
  }
}
