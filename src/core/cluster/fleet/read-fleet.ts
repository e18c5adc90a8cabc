/**
 * Snapshots of many nodes, one after another: each becomes a ledger, and is dropped before the next is read. A file or a document that is
 * damaged is a finding, and its node counts as one without a snapshot.
 */

import { fstatSync, readdirSync, readSync, statSync } from 'node:fs'
import { Socket } from 'node:net'
import { join } from 'node:path'
import { isatty } from 'node:tty'
import { errnoOf, errorMessage, VolctlError } from '../../errors/errors.ts'
import { troubleText } from '../../files/disk-trouble.ts'
import { compareText } from '../../lang/compare-text.ts'
import { defined } from '../../lang/defined.ts'
import { parseMountinfo } from '../../mountinfo/parse-mountinfo.ts'
import { parseSnapshot, readSnapshot } from '../../snapshot/read-snapshot.ts'
import { openUnpacked } from '../../trust/unpack.ts'
import { type NodeLedger, nodeLedger } from './node-ledger.ts'
import { DocumentSplitter, type Piece } from './split-documents.ts'

/** A snapshot that could not be read. */
export interface FleetDefect {
  /** A file, or the place in the stream. */
  readonly source: string
  readonly why: string
}

export interface FleetLedger {
  /** Of each machine that claims to be a node, the newest. */
  readonly ledgers: readonly NodeLedger[]
  readonly defects: readonly FleetDefect[]
}

export interface FleetLimits {
  /** Of one document, unpacked. */
  readonly maxBytes: number
  readonly maxSnapshots: number
  /** Milliseconds that a stream may be silent, or that one document may take. */
  readonly silenceMs: number
}

const LIMITS: FleetLimits = { maxBytes: 100 * 1024 * 1024, maxSnapshots: 20_000, silenceMs: 300_000 }

/**
 * @param path a directory of snapshots, plain or gzip; "-": standard input, plain or gzip, with one document after another
 * @throws VolctlError if there is nothing at all to be read
 */
export async function readFleet(path: string, limits: Partial<FleetLimits> = {}): Promise<FleetLedger> {
  const fleet = new Fleet({ ...LIMITS, ...limits })
  if (path === '-') await fleet.readStream(0, 'standard input')
  else await fleet.readDirectory(path)
  return fleet.finish(path === '-' ? 'standard input' : path)
}

class Fleet {
  readonly #limits: FleetLimits
  readonly #newest = new Map<string, NodeLedger>()
  readonly #defects: FleetDefect[] = []
  #count = 0

  constructor(limits: FleetLimits) {
    this.#limits = limits
  }

  async readDirectory(path: string): Promise<void> {
    for (const name of namesIn(path)) {
      const file = join(path, name)
      if (this.#isFull(file)) return
      await this.#read(file, async () => {
        if (!statSync(file).isFile()) throw new Error('it is not a plain file')
        const state = await readSnapshot(file)
        return nodeLedger(state, file)
      })
    }
  }

  async readStream(fd: number, name: string): Promise<void> {
    const splitter = new DocumentSplitter(this.#limits.maxBytes)
    let number = 0
    const take = async (pieces: Iterable<Piece>): Promise<void> => {
      for (const piece of pieces) {
        const source = `document ${++number} of ${name}`
        if (this.#isFull(source)) return
        await this.#read(source, () => ledgerOf(piece, source))
      }
    }
    try {
      let began = performance.now()
      for await (const chunk of chunksOf(fd, this.#limits.silenceMs)) {
        const before = number
        await take(splitter.add(chunk))
        if (splitter.isBetween || number > before) began = performance.now()
        else if (performance.now() - began > this.#limits.silenceMs) throw new Error('a document did not end in time')
      }
    } catch (error) {
      this.#defects.push({ source: name, why: `the rest was not read: ${errorMessage(error)}` })
    }
    await take(splitter.end())
  }

  /** @throws VolctlError if there was no snapshot */
  finish(name: string): FleetLedger {
    const ledgers = [...this.#newest.values()].toSorted((a, b) => compareText(a.node, b.node))
    if (this.#count === 0) {
      const [first] = this.#defects
      const why = first?.why ?? 'no snapshot of a node is in there'
      throw new VolctlError('FileUnreadable', `--nodes ${name}: ${why}`, { hint: HOW })
    }
    return { ledgers, defects: this.#defects }
  }

  async #read(source: string, make: () => Promise<NodeLedger> | NodeLedger): Promise<void> {
    this.#count++
    try {
      this.#add(await make())
    } catch (error) {
      // The name is said beside it.
      const why = error instanceof VolctlError ? error.message.replace(`snapshot ${source}: `, '') : whyOf(error)
      this.#defects.push({ source, why })
    }
  }

  /** Two machines may claim one name: which of them is the node, only the cluster shows. */
  #add(ledger: NodeLedger): void {
    const key = [ledger.node, ledger.machineID ?? '', ledger.systemUUID ?? '', ledger.nodeUID ?? ''].join('\0')
    const before = this.#newest.get(key)
    if (before === undefined || Date.parse(ledger.capturedAt) > Date.parse(before.capturedAt))
      this.#newest.set(key, ledger)
  }

  #isFull(source: string): boolean {
    if (this.#count < this.#limits.maxSnapshots) return false
    const why = `this and what follows was not read: there are more than ${this.#limits.maxSnapshots} snapshots`
    if (this.#defects.at(-1)?.why !== why) this.#defects.push({ source, why })
    return true
  }
}

function whyOf(error: unknown): string {
  return errnoOf(error) === 'ENOENT' ? 'no such file or directory' : troubleText(error)
}

const HOW = 'Take one of each node: kubectl volctl on NODE snapshot -o DIRECTORY/NODE.json.gz'

function namesIn(path: string): string[] {
  try {
    return readdirSync(path)
      .filter((name) => !name.startsWith('.'))
      .toSorted(compareText)
  } catch (error) {
    throw new VolctlError('FileUnreadable', `--nodes ${path}: ${whyOf(error)}`, {
      hint: 'Give a directory of snapshots of nodes, or - for standard input.',
      ...defined({ cause: error }),
    })
  }
}

function ledgerOf(piece: Piece, source: string): NodeLedger {
  if (piece === 'tooLarge') throw new Error('it is too large')
  const snapshot = parseSnapshot(piece, source)
  return nodeLedger({ snapshot, mounts: parseMountinfo(snapshot.mountinfo ?? '') }, source)
}

/** A pipe, a socket or a plain file, packed or not. No more than a chunk is read before the one before it is used. */
async function* chunksOf(fd: number, silenceMs: number): AsyncGenerator<Buffer> {
  if (isatty(fd)) throw new Error('it is a terminal')
  const stats = fstatSync(fd)
  if (stats.isFile()) {
    yield* openUnpacked(piecesOfFile(fd))
    return
  }
  if (!stats.isFIFO() && !stats.isSocket()) throw new Error('it is neither a pipe nor a plain file')
  const stream = new Socket({ fd, readable: true, writable: false })
  stream.setTimeout(silenceMs, () => stream.destroy(new Error(`nothing came for ${silenceMs / 1000} s`)))
  try {
    yield* openUnpacked(stream)
  } finally {
    stream.destroy()
  }
}

const CHUNK = 256 * 1024

async function* piecesOfFile(fd: number): AsyncGenerator<Buffer> {
  for (;;) {
    const buffer = Buffer.allocUnsafe(CHUNK)
    const length = readSync(fd, buffer, 0, buffer.length, null)
    if (length === 0) return
    yield buffer.subarray(0, length)
  }
}
