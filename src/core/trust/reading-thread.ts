import { Worker } from 'node:worker_threads'
import { kernelTextIfAny } from './kernel.ts'
import { PIECE } from './whole-lines.ts'

/** Pieces that the thread may be ahead. */
const SLOTS = 16

/** What both threads see: whether the second one has started, what it reads, and how many pieces it may write. */
const STARTED = 0
const FILE = 1
const ALLOWED = 2
const CELLS = 3

/** All that the thread runs. As text, since in one executable there is no file that a thread could load. */
const READER = `
const { readSync } = require('node:fs')
const { parentPort, workerData: { state, memory, slots, size } } = require('node:worker_threads')
Atomics.store(state, ${STARTED}, 1)
let length = size
for (let number = 0; length === size; number++) {
  let allowed = Atomics.load(state, ${ALLOWED})
  for (; allowed <= number; allowed = Atomics.load(state, ${ALLOWED})) Atomics.wait(state, ${ALLOWED}, allowed)
  const fd = Atomics.load(state, ${FILE})
  const piece = new Uint8Array(memory, (number % slots) * size, size)
  length = 0
  for (let read = -1; read !== 0 && length < size; length += read) read = readSync(fd, piece, length, size - length, null)
  parentPort.postMessage(length)
}
`

/** With less address space than the heap of a second thread reserves, V8 ends the whole process (ulimit -v, LimitAS=). */
function isSpaceLimited(): boolean {
  return !/^Max address space +unlimited /m.test(kernelTextIfAny('/proc/self/limits') ?? '')
}

/** A thread that reads one file, from where it has been read to. It takes 40 ms to start, and 9 MB. */
export class ReadingThread implements AsyncDisposable {
  readonly #state = new Int32Array(new SharedArrayBuffer(CELLS * Int32Array.BYTES_PER_ELEMENT))
  readonly #memory = new SharedArrayBuffer(SLOTS * PIECE)
  readonly #lengths: number[] = []
  readonly #worker: Worker | undefined
  #failure: Error | undefined
  #isReading = false
  #wake = (): void => {}

  /** Starts it. If no thread can be made, `hasStarted` never becomes true. */
  constructor() {
    if (isSpaceLimited()) return
    const workerData = { state: this.#state, memory: this.#memory, slots: SLOTS, size: PIECE }
    try {
      // Nothing of this process's environment or options is for it.
      this.#worker = new Worker(READER, { eval: true, workerData, env: {}, execArgv: [] })
    } catch {
      return
    }
    this.#worker.on('message', (length: number) => {
      this.#lengths.push(length)
      this.#wake()
    })
    const fail = (error: Error): void => {
      this.#failure ??= error
      this.#wake()
    }
    // After everything that it has sent.
    this.#worker.on('error', fail).on('exit', () => fail(new Error('the thread that reads it has ended')))
  }

  hasStarted(): boolean {
    return Atomics.load(this.#state, STARTED) === 1
  }

  /**
   * What is left of a file, in pieces of any content, once the thread has started. Each is overwritten once the next one is asked for.
   *
   * @param fd to be closed by the caller, after this object is disposed of
   * @throws what the file system says
   */
  async *read(fd: number): AsyncIterable<Buffer> {
    Atomics.store(this.#state, FILE, fd)
    this.#isReading = true
    for (let number = 0; this.#isReading; number++) {
      Atomics.store(this.#state, ALLOWED, number + SLOTS)
      Atomics.notify(this.#state, ALLOWED)
      const length = await this.#next()
      this.#isReading = length === PIECE
      yield Buffer.from(this.#memory, (number % SLOTS) * PIECE, length)
    }
  }

  async #next(): Promise<number> {
    for (;;) {
      const length = this.#lengths.shift()
      if (length !== undefined) return length
      if (this.#failure !== undefined) throw this.#failure
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }

  /** Afterwards it does not touch its file. */
  async [Symbol.asyncDispose](): Promise<void> {
    const ended = this.#worker?.terminate()
    if (this.#isReading) await ended
  }
}
