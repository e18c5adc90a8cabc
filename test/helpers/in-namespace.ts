/** Runs scenarios of worker files (scenario.ts) with real mounts, each on its own machine. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { atFileEnd } from './file-end.ts'
import { onOwnMachine } from './own-machine.ts'
import { nodeProgram } from './programs.ts'
import { LAYOUT, type Reply, type Request, SERVE } from './scenario.ts'

/** Whatever hangs in a scenario ends here, with its PID namespace if it has one. */
const OUTER_DEADLINE_MS = 600_000

/**
 * Runs one scenario of a worker file and returns what it found; a scenario that throws, or a process that it leaves behind,
 * fails the test.
 *
 * @param args for the scenario
 */
export async function inNamespace<T>(worker: URL, scenario: string, args: readonly string[] = []): Promise<T> {
  const program = nodeProgram(worker, [scenario, ...args]).flat()
  const child = spawn(...onOwnMachine(program), {
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: OUTER_DEADLINE_MS,
    killSignal: 'SIGKILL',
  })
  const stdout = heard(child.stdout)
  const stderr = heard(child.stderr)
  const status = await new Promise((resolve) => child.on('close', resolve))
  if (status !== 0) throw new Error(`${scenario} exited ${String(status)}:\n${stderr()}${stdout()}`)
  return JSON.parse(stdout()) as T
}

function heard(stream: Readable): () => string {
  let text = ''
  stream.on('data', (more) => {
    text += more
  })
  return () => text
}

/**
 * The same on one machine and in one process for the scenarios of the worker file that follow each other, until one fails: for
 * scenarios that leave nothing, and change nothing but what is below their directory. Most of what such a scenario costs
 * otherwise is a Node.js that starts, and code that it runs for the first time.
 */
export async function inSameNamespace<T>(worker: URL, scenario: string, args: readonly string[] = []): Promise<T> {
  if (server?.worker.href !== worker.href) {
    await endServer()
    server = new Server(worker)
    atFileEnd(() => endServer())
  }
  try {
    return (await server.run({ scenario, args, layout: process.env[LAYOUT] })) as T
  } catch (error) {
    await endServer('SIGKILL')
    throw error
  }
}

/** One at a time: each has a machine. */
let server: Server | undefined

async function endServer(signal?: 'SIGKILL'): Promise<void> {
  const ending = server
  server = undefined
  await ending?.end(signal)
}

class Server {
  readonly worker: URL
  readonly #child: ChildProcess
  readonly #replies: AsyncIterator<string>
  #said = ''

  /** It ends with this process in any case, from whom it has its standard input. */
  constructor(worker: URL) {
    this.worker = worker
    const program = nodeProgram(worker, [SERVE]).flat()
    this.#child = spawn(...onOwnMachine(program), { stdio: ['pipe', 'pipe', 'pipe', 'pipe'] })
    const [stdin, stdout, stderr, replies] = this.#child.stdio as unknown as [Writable, Readable, Readable, Readable]
    for (const stream of [stdout, stderr])
      stream.on('data', (text) => {
        this.#said += text
      })
    stdin.on('error', () => undefined)
    this.#replies = createInterface({ input: replies })[Symbol.asyncIterator]()
  }

  async run(request: Request): Promise<unknown> {
    this.#said = ''
    const deadline = setTimeout(() => this.#child.kill('SIGKILL'), OUTER_DEADLINE_MS)
    this.#child.stdin?.write(`${JSON.stringify(request)}\n`)
    const { value: line } = await this.#replies.next()
    clearTimeout(deadline)
    const { found, error = 'it ended' } = (line === undefined ? {} : JSON.parse(line)) as Reply
    if (found !== undefined) return JSON.parse(found)
    throw new Error(`${request.scenario}: ${error}\n${this.#said}`)
  }

  /** @param signal after a failure: what the scenario has left open would keep it for ever */
  async end(signal?: 'SIGKILL'): Promise<void> {
    const { exitCode, signalCode } = this.#child
    this.#child.stdin?.end()
    if (signal !== undefined) this.#child.kill(signal)
    if (exitCode === null && signalCode === null) await once(this.#child, 'close')
  }
}
