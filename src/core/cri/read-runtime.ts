import { realpathSync } from 'node:fs'
import { unixSocketPath } from '../grpc/unix-socket.ts'
import { defined } from '../lang/defined.ts'
import type { RuntimeSnapshot } from '../model/snapshot.ts'
import { Budget } from '../trust/bytes.ts'
import { type Answer, askRuntime } from './ask-runtime.ts'
import { sandboxStates } from './sandbox-states.ts'

export { WELL_KNOWN_RUNTIME_ENDPOINTS } from './endpoints.ts'

/** What the lists of all runtimes of a node may become; those of a thousand pods become some megabytes. */
const ANSWERS_BYTES = 128 * 1024 * 1024

export interface ReadRuntimeOptions {
  /** `unix:///…` or plain paths, the likeliest first. */
  readonly endpoints: readonly string[]
  /** Endpoints that the node is configured to use: one that does not answer is an error (S9). */
  readonly required?: readonly string[]
  /** A runtime should be there: that none answers is an error (S9). */
  readonly expected: boolean
  /** For one runtime's two calls together. */
  readonly deadlineMs: number
}

/**
 * Every pod sandbox and container that the container runtimes of this node know, all answering runtimes united
 * (C116, C117, S9).
 *
 * A runtime that is there and fails, hangs or refuses is an error beside whatever the others say, since its pods are
 * unknown; so is a stale socket, because containers outlive the runtime that started them. A socket that is missing, or
 * that speaks no CRI v1, is no runtime, and an error only where it is required, or where a runtime was expected and none
 * answered.
 */
export async function readRuntime(options: ReadRuntimeOptions): Promise<RuntimeSnapshot> {
  const { endpoints, required = [], expected, deadlineMs } = options
  const all = distinctEndpoints([...required, ...endpoints])
  const budget = new Budget(ANSWERS_BYTES)
  const answers = await Promise.all(all.map((endpoint) => askRuntime(endpoint, deadlineMs, budget)))
  const answered = answers.filter((answer) => answer.kind === 'pods')
  const failed = answers.filter((answer) => answer.kind === 'failed' || required.includes(answer.endpoint))
  const absent = expected && answered.length === 0 ? answers : []
  const error = describeErrors(failed.length > 0 ? failed : absent, expected && answered.length === 0)

  if (answered.length === 0) {
    // Which endpoint to name: the one that failed, else the one that should have been there.
    const endpoint = failed[0]?.endpoint ?? (expected ? all[0] : undefined)
    return {
      source: 'none',
      ...defined({ endpoint, error }),
      pods: [],
    }
  }
  return {
    source: 'cri',
    endpoint: answered.map((answer) => answer.endpoint).join(', '),
    ...defined({ error }),
    // Each runtime by itself: two may give one id to different sandboxes.
    pods: answered.flatMap(({ sandboxes, containers }) => sandboxStates(sandboxes, containers)),
  }
}

/** Without those that are the same socket by another path, as below /run and /var/run. */
function distinctEndpoints(endpoints: readonly string[]): readonly string[] {
  const seen = new Map<string, string>()
  for (const endpoint of endpoints) {
    const key = resolvedPath(unixSocketPath(endpoint) ?? endpoint)
    if (!seen.has(key)) seen.set(key, endpoint)
  }
  return [...seen.values()]
}

function resolvedPath(path: string): string {
  try {
    return realpathSync.native(path)
  } catch {
    return path
  }
}

const isA =
  <Kind extends Answer['kind']>(kind: Kind) =>
  (answer: Answer): answer is Extract<Answer, { kind: Kind }> =>
    answer.kind === kind

function describeErrors(answers: readonly Answer[], noneAnswered: boolean): string | undefined {
  const [absent, failed] = [answers.filter(isA('absent')), answers.filter(isA('failed'))]
  const errors = failed.map(({ endpoint, error }) => `${endpoint}: ${error}`)
  // That there is no socket is one sentence, however many places were looked at.
  if (absent.length > 1) errors.push(`no runtime is at ${absent.map(({ endpoint }) => endpoint).join(', ')}`)
  else errors.push(...absent.map(({ endpoint, error }) => `${endpoint}: ${error}`))
  if (errors.length > 0) return errors.join('; ')
  return noneAnswered ? 'no runtime endpoint is known' : undefined
}
