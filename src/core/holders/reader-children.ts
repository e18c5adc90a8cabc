/** Children that read what processes use (process-reader.ts), each for one question after another: half of what one costs is its start. */
import { PassThrough } from 'node:stream'
import { type CommandResult, runCommand } from '../trust/programs.ts'
import type { ProcessRequest } from './process-messages.ts'

/** Timers take no more; each question has its own deadline. */
const NO_DEADLINE_MS = 2 ** 31 - 1

/** What a kept child has said is kept, too (OUTPUT_LIMIT of programs.ts): it ends long before. */
const MOST_SAID = 1 << 20

export class ReaderChild {
  readonly #input = new PassThrough()
  readonly #kill = new AbortController()
  readonly #ended: Promise<CommandResult>
  #pid: number | undefined
  #said = 0
  #isOver = false
  #take: (text: string) => void = () => this.#kill.abort()

  /** @param command see ProcessReader */
  constructor([program = '', ...args]: readonly string[]) {
    const onOutput = (text: string): void => {
      this.#said += text.length
      this.#take(text)
    }
    const onStart = (pid: number): void => {
      this.#pid = pid
    }
    const { signal } = this.#kill
    this.#ended = runCommand(program, args, NO_DEADLINE_MS, this.#input, { onStart, onOutput, signal })
    const over = (): void => {
      this.#isOver = true
    }
    this.#ended.then(over, over)
  }

  /**
   * @param take gets the answer piece by piece; returns whether it is whole
   * @param signal kills the child
   * @returns undefined: the answer is whole, and the child waits for the next question; else how it ended
   * @throws VolctlError where it could not be started
   */
  async ask(
    request: ProcessRequest,
    take: (text: string) => boolean,
    signal: AbortSignal,
  ): Promise<CommandResult | undefined> {
    const giveUp = (): void => this.#kill.abort()
    const answered = new Promise<undefined>((resolve) => {
      this.#take = (text) => take(text) && resolve(undefined)
    })
    signal.addEventListener('abort', giveUp)
    if (signal.aborted) giveUp()
    this.#input.write(`${JSON.stringify(request)}\n`)
    try {
      return await Promise.race([answered, this.#ended])
    } finally {
      signal.removeEventListener('abort', giveUp)
      // Whatever it says without a question belongs to none.
      this.#take = giveUp
    }
  }

  /** Undefined: it has ended, or never began. */
  get pid(): number | undefined {
    return this.#isOver ? undefined : this.#pid
  }

  /** For another question. */
  get isFit(): boolean {
    return !this.#isOver && !this.#kill.signal.aborted && this.#said < MOST_SAID
  }

  end(): void {
    this.#input.end()
  }
}

/** Those that wait for a question: as many as looks were made at once. */
export class ReaderChildren implements Disposable {
  readonly #command: readonly string[]
  readonly #all: ReaderChild[] = []
  readonly #idle: ReaderChild[] = []
  #isEnded = false

  constructor(command: readonly string[]) {
    this.#command = command
  }

  take(): ReaderChild {
    const child = this.#idle.pop()
    if (child !== undefined) return child.isFit ? child : this.take()
    return this.#start()
  }

  /** Has one start beside what is done before it is asked. */
  prepare(): void {
    this.#idle.push(this.#start())
  }

  #start(): ReaderChild {
    const started = new ReaderChild(this.#command)
    this.#all.push(started)
    return started
  }

  /** Is that process one of them? Like volctl itself, it is in nobody's way. */
  has(pid: number): boolean {
    return this.#all.some((each) => each.pid === pid)
  }

  /** @param child whose last answer was whole */
  giveBack(child: ReaderChild): void {
    if (!this.#isEnded && child.isFit) this.#idle.push(child)
    else child.end()
  }

  [Symbol.dispose](): void {
    this.#isEnded = true
    for (const child of this.#idle.splice(0)) child.end()
  }
}
