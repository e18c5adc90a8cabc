/**
 * One command of a node, run in a Pod there: made, waited for, read and deleted. Every wait has an end: the start of the Pod,
 * a log that breaks off, the deletion; the whole ends with the Pod, whose activeDeadlineSeconds a kubelet enforces even where
 * this process was killed.
 */
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { ApiError } from '../api/api-error.ts'
import type { PodClient } from '../api/kube-client.ts'
import { errorMessage, Interrupted, VolctlError } from '../errors/errors.ts'
import { ExitStatus } from '../errors/exit-status.ts'
import { formatDuration } from '../lang/duration.ts'
import { BrokenFrames, type Frame, FrameReader } from './frames.ts'
import { requireFit } from './node-fit.ts'
import { type PodChoice, podManifest, podName } from './pod-manifest.ts'
import { type PodStatus, podState } from './pod-state.ts'
import {
  createPod,
  deletePod,
  followLog,
  NotAdmitted,
  otherRuns,
  type PodKey,
  type RunPod,
  readNode,
  readPod,
  requireRights,
} from './pods-api.ts'

export interface Errand {
  readonly node: string
  /** What volctl in the Pod is called with. */
  readonly args: readonly string[]
  /** The command alone, for messages. */
  readonly command: string
  readonly version: string
  readonly locale?: string | undefined
  readonly pod: PodChoice
  /** How long it may take until volctl answers. */
  readonly startMs: number
  /** Takes the answer, piece by piece. */
  readonly out: (bytes: Buffer) => void
  readonly err: (bytes: Buffer) => void
  /** A line for the person. */
  readonly say: (line: string) => void
  /** A line for --verbose. */
  readonly log: (line: string) => void
  /** Aborted: stop. */
  readonly stop: AbortSignal
  /**
   * Given for a command that must not be cut off: after `stop`, volctl in the Pod gets SIGTERM, and its answer is waited for
   * until this is aborted, too.
   */
  readonly abandon?: AbortSignal
}

const LOOK_AGAIN_MS = 500
const DELETE_MS = 15_000
/** How often a log is asked for again that breaks off without anything new. */
const LOG_TRIES = 10
/** A connection that lasted so long was ended for its silence by what is between, not refused. */
const QUIET_MS = 5000
const LOG_PAUSE_MS = 1000
/** For a Pod that is not wanted any more, and does nothing that must be finished. */
const SHORT_GRACE_S = 5

/** What can be said before a Pod is made. @throws VolctlError */
export async function requireWay(client: PodClient, errand: Errand): Promise<void> {
  const { node, pod, stop, say, command } = errand
  const [found] = await Promise.all([readNode(client, node, stop), requireRights(client, pod.namespace, stop)])
  requireFit(node, found, command)
  for (const other of await otherRuns(client, pod.namespace, node, stop)) say(otherRunText(other, pod.namespace))
}

function otherRunText({ metadata: { name, creationTimestamp }, status = {} }: RunPod, namespace: string): string {
  const since = creationTimestamp === undefined ? '' : `, made at ${creationTimestamp}`
  return podState(status).state === 'ended'
    ? `note: the Pod ${name} of an earlier run is left${since}: kubectl -n ${namespace} delete pod ${name}`
    : `note: the Pod ${name} of another run is on this node${since}; it ends at its time limit`
}

/** @returns the exit status of the command. @throws VolctlError where it did not come to an answer */
export async function runThroughPod(client: PodClient, errand: Errand): Promise<number> {
  const { node, pod, args, version, locale, stop } = errand
  const { namespace } = pod
  const name = podName(node, randomBytes(4).toString('hex'))
  const key = { namespace, name }
  const leaving = new Leaving(client, key, errand)
  try {
    const manifest = podManifest({ ...pod, name, node, args, version, locale })
    leaving.begin()
    const made = await createPod(client, namespace, manifest, stop).catch((error: unknown) => {
      if (error instanceof NotAdmitted) leaving.nothing()
      throw error
    })
    leaving.made(made.metadata.uid)
    errand.log(`made the Pod ${namespace}/${name}`)
    await untilStarted(client, key, errand)
    return await answerOf(client, key, errand, leaving)
  } catch (error) {
    if (stop.aborted) throw interrupted(errand)
    throw error
  } finally {
    await leaving.end()
  }
}

function interrupted({ abandon, node }: Errand): VolctlError {
  const hint = `What an apply has done until then: volctl on ${node} journal`
  return new Interrupted('interrupted', abandon === undefined ? {} : { hint })
}

/** Sees to it that the Pod is deleted, once. */
class Leaving {
  readonly #client: PodClient
  readonly #key: PodKey
  readonly #errand: Errand
  #uid: string | undefined
  #due = false
  #stopping: Promise<void> | undefined

  constructor(client: PodClient, key: PodKey, errand: Errand) {
    this.#client = client
    this.#key = key
    this.#errand = errand
  }

  /** From here on there may be a Pod: the answer to its creation may be lost. */
  begin(): void {
    this.#due = true
  }

  made(uid: string | undefined): void {
    this.#uid = uid
  }

  nothing(): void {
    this.#due = false
  }

  /** SIGTERM for volctl in the Pod, which ends what it has begun. */
  stop(): void {
    this.#stopping = this.#delete(undefined)
  }

  /** The Pod may end before the API server has answered: with the connection closed, the answer would be missing. */
  async end(): Promise<void> {
    await this.#stopping
    if (this.#due) await this.#delete(SHORT_GRACE_S)
  }

  async #delete(graceSeconds: number | undefined): Promise<void> {
    this.#due = false
    const { namespace, name } = this.#key
    const { say, log, pod } = this.#errand
    const about = {
      uid: this.#uid,
      signal: AbortSignal.timeout(DELETE_MS),
      ...(graceSeconds !== undefined && { graceSeconds }),
    }
    try {
      await deletePod(this.#client, this.#key, about)
      log(`deleted the Pod ${namespace}/${name}`)
    } catch (error) {
      const ends = `it ends ${formatDuration(pod.limitSeconds * 1000)} after its start`
      say(`The Pod ${name} could not be deleted: ${errorMessage(error)}`)
      say(`        ${ends}; to delete it: kubectl -n ${namespace} delete pod ${name}`)
    }
  }
}

/** @throws VolctlError PodNotStarted */
async function untilStarted(client: PodClient, key: PodKey, errand: Errand): Promise<void> {
  const { startMs, stop, node, pod, log } = errand
  const until = performance.now() + startMs
  let said = ''
  for (;;) {
    const found = await readPod(client, key, stop)
    if (found === undefined) throw new VolctlError('AnswerCutOff', `the Pod ${key.name} was deleted by somebody else`)
    const now = podState(found.status ?? {})
    if (now.state === 'running') return
    // What it printed says more than its status.
    if (now.state === 'ended') return
    const why = now.state === 'stuck' ? now.why : (now.why ?? 'the kubelet has not said anything about it')
    if (now.state === 'stuck') throw notStarted(errand, why)
    if (performance.now() >= until) throw notStarted(errand, `not within ${formatDuration(startMs)}: ${why}`)
    if (why !== said) log(`${node}: waiting for the Pod, image ${pod.image}: ${why}`)
    said = why
    await sleep(LOOK_AGAIN_MS, undefined, { signal: stop })
  }
}

function notStarted({ node, pod: { image } }: Errand, why: string): VolctlError {
  const pull = /ImagePull|ErrImage|InvalidImage|Registry/.test(why)
  return new VolctlError('PodNotStarted', `the Pod does not start on ${node}: ${why}`, {
    hint: pull
      ? `The node cannot get the image ${image}: give another with --image before the name of the node, or log in to the node.`
      : 'The kubelet of the node may have stopped; --start-timeout before the name of the node waits longer.',
  })
}

/** Reads the log until volctl's last line; again from the beginning where the connection breaks. */
async function answerOf(client: PodClient, key: PodKey, errand: Errand, leaving: Leaving): Promise<number> {
  const reader = new FrameReader()
  const signal = errand.abandon ?? errand.stop
  const stopped = (): void => leaving.stop()
  if (errand.abandon !== undefined) {
    errand.stop.addEventListener('abort', stopped, { once: true })
    if (errand.stop.aborted) stopped()
  }
  try {
    for (let tries = 0; tries < LOG_TRIES; tries++) {
      const began = performance.now()
      const read = await readLog(client, key, { reader, errand, signal })
      if (read.status !== undefined) return read.status
      if (read.advanced || performance.now() - began > QUIET_MS) tries = 0
      const status = await stateOf(client, key, signal)
      const now = podState(status ?? { phase: 'Failed', reason: 'deleted' })
      if (now.state === 'ended' && read.complete) throw cutShort(errand, reader, now.why)
      errand.log(`${read.why}; reading the log of the Pod again`)
      await sleep(LOG_PAUSE_MS, undefined, { signal })
    }
  } finally {
    errand.stop.removeEventListener('abort', stopped)
  }
  throw new VolctlError('AnswerCutOff', `the log of the Pod on ${errand.node} breaks off again and again`, {
    hint: 'Check what is between this machine and the API server, or log in to the node.',
  })
}

async function stateOf(client: PodClient, key: PodKey, signal: AbortSignal): Promise<PodStatus | undefined> {
  try {
    return (await readPod(client, key, signal))?.status ?? {}
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof ApiError) return {}
    throw error
  }
}

interface ReadLog {
  /** The command's, where its end was read. */
  readonly status?: number
  /** Something new was read. */
  readonly advanced: boolean
  /** The log came to its end, and did not break off. */
  readonly complete: boolean
  readonly why: string
}

interface Reading {
  readonly reader: FrameReader
  readonly errand: Errand
  readonly signal: AbortSignal
}

async function readLog(client: PodClient, key: PodKey, { reader, errand, signal }: Reading): Promise<ReadLog> {
  let advanced = false
  reader.restart()
  try {
    for await (const piece of followLog(client, key, signal)) {
      for (const frame of reader.take(piece.toString('latin1'))) {
        advanced = true
        const status = deliver(frame, errand)
        if (status !== undefined) return { status, advanced, complete: true, why: '' }
      }
    }
    return { advanced, complete: true, why: 'the log ended early' }
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof BrokenFrames) throw cutOff(errand, error)
    // 400: the container has not begun, or never does; 404: the Pod was deleted.
    if (!(error instanceof ApiError) || error.status === 403 || error.status === 401) throw error
    return { advanced, complete: error.isAbsent || error.status === 400, why: error.message }
  }
}

/** @returns the exit status, of the last frame */
function deliver({ channel, bytes }: Frame, { out, err, version, say, pod }: Errand): number | undefined {
  if (channel === 'out') out(bytes)
  else if (channel === 'err') err(bytes)
  else if (channel === 'end') return exitStatus(bytes.toString('utf8'))
  else if (bytes.toString('utf8') !== version)
    say(`note: the image ${pod.image} has volctl ${bytes.toString('utf8')}, this is ${version}`)
  return undefined
}

function exitStatus(text: string): number {
  return /^\d{1,3}$/.test(text) ? Number(text) : ExitStatus.Failed
}

function cutOff({ node }: Errand, cause: Error): VolctlError {
  return new VolctlError('AnswerCutOff', `the answer from ${node} is not whole: ${cause.message}`, {
    cause,
    hint: 'The kubelet may have rotated the log of the Pod: run the command again, or log in to the node.',
  })
}

function cutShort({ node, pod }: Errand, { begun, foreign }: FrameReader, why: string): VolctlError {
  const printed = foreign === '' ? '' : `; it printed: ${foreign.split('\n')[0]}`
  const hint = begun
    ? `--time-limit before the name of the node says how long it may take (now ${formatDuration(pod.limitSeconds * 1000)}).`
    : `Check that the image ${pod.image} has a volctl of this version: --image before the name of the node.`
  return new VolctlError('AnswerCutOff', `the Pod on ${node} ended before volctl did: ${why}${printed}`, { hint })
}
