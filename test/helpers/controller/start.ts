import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { nodeProgram } from '../programs.ts'

/** What a pass did: see main.ts. */
export interface ControllerPass {
  readonly leads: boolean
  readonly did: readonly string[]
  readonly late: readonly string[]
  readonly open: number
}

const MAIN = fileURLToPath(new URL('./main.ts', import.meta.url))

/** A process that may be kube-controller-manager. Nothing happens unasked: each call is a command, and ends when it is done. */
export class Controller implements AsyncDisposable {
  readonly #child: ChildProcess
  readonly #lines: AsyncIterator<string>

  private constructor(child: ChildProcess, lines: AsyncIterator<string>) {
    this.#child = child
    this.#lines = lines
  }

  /** @param longestWaitMs how long what is in use on a node that is not ready stays attached: six minutes in a real one */
  static async start(kubeconfig: string, identity: string, longestWaitMs = 0): Promise<Controller> {
    const child = spawn(...nodeProgram(MAIN, [kubeconfig, identity, String(longestWaitMs)]), {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
    const controller = new Controller(child, lines)
    await controller.#line()
    return controller
  }

  /** @returns whether it leads */
  async renew(): Promise<boolean> {
    return ((await this.#ask('renew')) as { leads: boolean }).leads
  }

  async pass(): Promise<ControllerPass> {
    return (await this.#ask('pass')) as ControllerPass
  }

  /** Passes until there is nothing to do and nothing on the way. @returns all that it did */
  async settle(): Promise<ControllerPass> {
    const all = { leads: true, did: [] as string[], late: [] as string[], open: 0 }
    for (;;) {
      const { leads, did, late, open } = await this.pass()
      all.did.push(...did)
      all.late.push(...late)
      if (!leads || (did.length === 0 && open === 0)) return { ...all, leads }
    }
  }

  /** Begins a pass, and stops it right before its n-th change. @returns the change */
  async stopBefore(change: number): Promise<string> {
    return ((await this.#ask(`stop ${change}`)) as { before: string }).before
  }

  /** Makes the change before which it stopped, and ends the pass. */
  async goOn(): Promise<ControllerPass> {
    return (await this.#ask('go')) as ControllerPass
  }

  /** Passes all the time, until `halt`. */
  run(): void {
    this.#child.stdin?.write('run\n')
  }

  async halt(): Promise<ControllerPass> {
    return (await this.#ask('halt')) as ControllerPass
  }

  async release(): Promise<void> {
    await this.#ask('release')
  }

  freeze(): void {
    this.#child.kill('SIGSTOP')
  }

  thaw(): void {
    this.#child.kill('SIGCONT')
  }

  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const ended = once(this.#child, 'exit')
    this.#child.kill('SIGKILL')
    await ended
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.kill()
  }

  async #ask(command: string): Promise<unknown> {
    this.#child.stdin?.write(`${command}\n`)
    return JSON.parse(await this.#line())
  }

  async #line(): Promise<string> {
    const { value, done } = await this.#lines.next()
    if (done) throw new Error('the controller has ended')
    return value
  }
}
