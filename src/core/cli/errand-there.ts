/** What `volctl on` fetches from a node as a whole, before it is shown or written here: a plan, a snapshot. */
import type { PodClient } from '../api/kube-client.ts'
import { VolctlError } from '../errors/errors.ts'
import { ExitStatus } from '../errors/exit-status.ts'
import { ShapeError } from '../json/shape.ts'
import type { Plan, PlanOptions } from '../plan/plan.ts'
import { wholePlan } from '../plan/whole-plan.ts'
import { PLAN_FILE_LIMITS } from '../plan-file/plan-file-limits.ts'
import { nodeCommandLine } from '../through-pod/node-command.ts'
import { type Errand, runThroughPod } from '../through-pod/run-through-pod.ts'
import { Gathered } from '../trust/bytes.ts'
import { parseJson } from '../trust/parse-json.ts'
import type { CommandThere } from './command-there.ts'
import { planFlags, planOptions } from './plan-flags.ts'

/** Held before it is written to a file as a whole. */
const MAX_SNAPSHOT = 1 << 30

/** A way to the node. */
export interface WayThere {
  readonly client: PodClient
  readonly base: Omit<Errand, 'args' | 'out'>
  /** What a hint of volctl there begins with. */
  readonly called: string
}

/** Has the Pod the token of a service account that was asked for? */
export function hasAccount({ base }: WayThere): boolean {
  return base.pod.serviceAccount !== undefined
}

/** The node's answer; without a plan it gave none, and has said why. */
export interface PlanThere {
  readonly status: number
  readonly plan?: Plan
  /** What the plan was made with, by the flags that were typed. */
  readonly options: PlanOptions
}

/** The plan of the node as data. @throws VolctlError where no Pod could run, or its answer is no plan */
export async function planThere(way: WayThere, there: CommandThere, version: string): Promise<PlanThere> {
  const own = new Set([...Object.keys(planFlags), 'root-dir', 'runtime-endpoint', 'detailed-exitcode'])
  const tokens = there.tokens.filter((token) => token.type === 'flag' && own.has(token.flag))
  const { status, bytes } = await gather(
    way,
    nodeCommandLine('plan', tokens, there.switches, ['--output=json'], hasAccount(way)),
    PLAN_FILE_LIMITS.maxBytes,
  )
  const options = planOptions(there.flags as Parameters<typeof planOptions>[0], version)
  return { status, options, ...(bytes.length > 0 && { plan: planFromNode(bytes, way.base.node) }) }
}

/**
 * The node's snapshot, as JSON.
 *
 * @returns undefined and the status, where the command failed there and has said why
 * @throws VolctlError where no Pod could run, or its answer is too long
 */
export async function snapshotThere(
  way: WayThere,
  there: CommandThere,
): Promise<{ readonly status: number; readonly bytes?: Buffer }> {
  const tokens = there.tokens.filter((token) => token.type !== 'flag' || token.flag !== 'output')
  const words = nodeCommandLine('snapshot', tokens, there.switches, [], hasAccount(way))
  const { status, bytes } = await gather(way, words, MAX_SNAPSHOT)
  return { status, ...(status === ExitStatus.Ok && { bytes }) }
}

/** @param most bytes that are held at once @throws VolctlError AnswerCutOff for an answer that is longer */
async function gather(
  { client, base, called }: WayThere,
  words: readonly string[],
  most: number,
): Promise<{ readonly status: number; readonly bytes: Buffer }> {
  const answer = new Gathered()
  const out = (piece: Buffer): void => {
    answer.add(piece)
    if (answer.length > most) throw new VolctlError('AnswerCutOff', `the answer is longer than ${most} bytes`)
  }
  const args = ['__framed', `--called-as=${called}`, '--', ...words]
  const status = await runThroughPod(client, { ...base, args, out })
  return { status, bytes: answer.all() }
}

/** @throws VolctlError AnswerCutOff for anything that is no plan */
function planFromNode(bytes: Buffer, node: string): Plan {
  try {
    return wholePlan(parseJson(bytes, PLAN_FILE_LIMITS), '')
  } catch (cause) {
    const why = cause instanceof ShapeError ? cause.message : 'not JSON'
    throw new VolctlError('AnswerCutOff', `the answer from ${node} is no plan: ${why}`, {
      cause,
      hint: 'Check that the image has a volctl of this version: --image before the name of the node.',
    })
  }
}
