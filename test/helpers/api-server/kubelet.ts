/**
 * The kubelet of a test's nodes: it runs what a Pod's command says, by a program that the test names, and keeps the log,
 * with both streams as one, as a container runtime does.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { EventEmitter } from 'node:events'
import type { ServerResponse } from 'node:http'
import { type StoredObject, typeOfPlural } from './resource-types.ts'
import { StatusError } from './status.ts'
import type { Store } from './store.ts'

/** What becomes of a Pod that is made. */
export type PodFate =
  /** The words of an admission plugin. */
  | { readonly fate: 'denied'; readonly message: string }
  /** It waits, for ever. */
  | { readonly fate: 'waits'; readonly reason?: string; readonly message?: string }
  | { readonly fate: 'rejected'; readonly reason: string; readonly message: string }
  /** `replace`: of the arguments, since there is no host to enter. */
  | {
      readonly fate: 'runs'
      readonly program: string
      readonly replace: readonly (readonly [from: readonly string[], to: readonly string[]])[]
      /** Connections of the log that break, after so many bytes each. */
      readonly breakLogAfter?: readonly number[]
      /** The container is killed when it has printed so many bytes, as at the end of its time. */
      readonly killAfter?: number
      /** Lines of the log that are lost, as when it is rotated. */
      readonly loseLines?: readonly number[]
    }

interface Container {
  log: Buffer
  ended: boolean
  readonly child: ChildProcess
  readonly changed: EventEmitter
}

export class TestKubelet {
  readonly #containers = new Map<string, Container>()
  readonly #store: Store
  fate: PodFate = { fate: 'waits' }
  #breaks: number[] = []

  constructor(store: Store) {
    this.#store = store
  }

  setFate(fate: PodFate): void {
    this.fate = fate
    this.#breaks = fate.fate === 'runs' ? [...(fate.breakLogAfter ?? [])] : []
  }

  admit(name: string): void {
    if (this.fate.fate === 'denied')
      throw new StatusError(403, 'Forbidden', `pods "${name}" is forbidden: ${this.fate.message}`, {
        name,
        kind: 'pods',
      })
  }

  start(pod: StoredObject): void {
    const { fate } = this
    if (fate.fate === 'waits') {
      const { reason, message } = fate
      const waiting = reason === undefined ? undefined : [{ state: { waiting: { reason, message } } }]
      this.#status(pod, { phase: 'Pending', ...(waiting && { containerStatuses: waiting }) })
    } else if (fate.fate === 'rejected') {
      this.#status(pod, { phase: 'Failed', reason: fate.reason, message: fate.message })
    } else if (fate.fate === 'runs') this.#run(pod, fate)
  }

  #run(
    pod: StoredObject,
    { program, replace, killAfter = Number.POSITIVE_INFINITY, loseLines = [] }: PodFate & { fate: 'runs' },
  ): void {
    const [container] = (pod.spec?.containers ?? []) as { command: string[]; env?: { name: string; value: string }[] }[]
    const args = replace.reduce(replaced, container?.command.slice(1) ?? [])
    const env = Object.fromEntries((container?.env ?? []).map(({ name, value }) => [name, value]))
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], env: { PATH: '/usr/bin:/bin', ...env } })
    const running: Container = { log: Buffer.alloc(0), ended: false, child, changed: new EventEmitter() }
    this.#containers.set(pod.metadata.name, running)
    this.#status(pod, { phase: 'Running', containerStatuses: [{ state: { running: {} } }] })
    let killed = false
    const print = (bytes: Buffer): void => {
      running.log = Buffer.concat([running.log, bytes])
      if (running.log.length > killAfter) {
        running.log = running.log.subarray(0, killAfter)
        killed = true
        child.kill('SIGKILL')
      }
      running.changed.emit('change')
    }
    child.stdout.on('data', print)
    child.stderr.on('data', print)
    child.on('close', (code, signal) => {
      const lines = running.log.toString().split('\n')
      if (loseLines.length > 0) running.log = Buffer.from(lines.filter((_, at) => !loseLines.includes(at)).join('\n'))
      running.ended = true
      const exitCode = code ?? (signal === 'SIGTERM' ? 143 : 137)
      const terminated = { exitCode, reason: exitCode === 0 ? 'Completed' : 'Error' }
      const why = killed
        ? { reason: 'DeadlineExceeded', message: 'Pod was active on the node longer than the specified deadline' }
        : {}
      this.#status(pod, {
        phase: exitCode === 0 ? 'Succeeded' : 'Failed',
        ...why,
        containerStatuses: [{ state: { terminated } }],
      })
      running.changed.emit('change')
    })
  }

  /** SIGTERM, and the object is gone when the container is. */
  stop(name: string): void {
    this.#containers.get(name)?.child.kill('SIGTERM')
  }

  /** As `?follow=true`: what there is, and what comes until the container ends. */
  follow(name: string, response: ServerResponse): void {
    const container = this.#containers.get(name)
    if (container === undefined)
      throw new StatusError(400, 'BadRequest', `container "volctl" in pod "${name}" is waiting to start`)
    const { loseLines = [] } = this.fate.fate === 'runs' ? this.fate : {}
    const most = this.#breaks.shift() ?? Number.POSITIVE_INFINITY
    let sent = 0
    response.writeHead(200, { 'Content-Type': 'text/plain' })
    response.flushHeaders()
    const send = (): void => {
      // A log that loses lines is read when it is whole.
      if (loseLines.length > 0 && !container.ended) return
      const end = Math.min(container.log.length, most)
      if (end > sent) response.write(container.log.subarray(sent, end))
      sent = Math.max(sent, end)
      if (sent >= most) response.socket?.end(() => response.destroy())
      else if (container.ended) response.end()
      else return
      container.changed.off('change', send)
    }
    container.changed.on('change', send)
    response.on('close', () => container.changed.off('change', send))
    send()
  }

  #status(pod: StoredObject, status: Record<string, unknown>): void {
    const type = typeOfPlural('', 'pods')
    const now = type && this.#store.get(type, pod.metadata.namespace, pod.metadata.name)
    if (now !== undefined) this.#store.update({ ...now, status })
  }
}

/** Words that follow each other, replaced by others. */
function replaced(
  words: readonly string[],
  [from, to]: readonly [from: readonly string[], to: readonly string[]],
): readonly string[] {
  const at = words.findIndex((_, index) => from.every((word, offset) => words[index + offset] === word))
  return at < 0 ? words : [...words.slice(0, at), ...to, ...words.slice(at + from.length)]
}
