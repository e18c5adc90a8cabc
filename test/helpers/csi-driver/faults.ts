import { type EventEmitter, once } from 'node:events'
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { StatusError, status } from '../grpc/serve.ts'

/**
 * What can be made to go wrong, by RPC; `:once` or `:N` after it limits how often.
 *
 *     fail RPC=CODE        answer CODE, do nothing
 *     fail-after RPC=CODE  do it, then answer CODE
 *     hang RPC             do nothing, never answer
 *     hang-after RPC       do it, never answer
 *     late RPC=MS          do it, answer MS milliseconds later
 *     lie RPC              answer OK, do nothing
 *     die-before RPC       the process kills itself, nothing done
 *     die-after RPC        the process kills itself once it is done
 */
export const FAULT_KINDS = [
  'fail',
  'fail-after',
  'hang',
  'hang-after',
  'late',
  'lie',
  'die-before',
  'die-after',
] as const
export type FaultKind = (typeof FAULT_KINDS)[number]

export interface FaultSpec {
  readonly kind: FaultKind
  readonly rpc: string
  /** The code or the milliseconds. */
  readonly argument: string
  /** How often the fault occurs; absent: always. */
  readonly times?: number
}

/** A call of gRPC. */
type Cancellable = EventEmitter & { readonly cancelled: boolean }

interface Fault extends FaultSpec {
  readonly used: number
}

/** Reads `fail NodeUnpublishVolume=INTERNAL:once`. */
export function parseFault(text: string): FaultSpec {
  const match = /^(\S+) ([A-Za-z]+)(?:=([^:]*))?(?::(once|\d+))?$/.exec(text)
  const [, kind, rpc, argument = '', limit] = match ?? []
  const known = FAULT_KINDS.find((name) => name === kind)
  if (known === undefined || rpc === undefined) throw new Error(`not a fault: ${text}`)
  if (known.startsWith('fail') && statusCode(argument) === undefined) throw new Error(`not a gRPC code: ${argument}`)
  return { kind: known, rpc, argument, ...(limit !== undefined && { times: limit === 'once' ? 1 : Number(limit) }) }
}

/** Faults live in a file, so that a test can change them while the driver runs, and `:once` outlives a restart. */
export class Faults {
  readonly #file: string

  constructor(stateDir: string) {
    this.#file = join(stateDir, 'faults.json')
  }

  read(): readonly Fault[] {
    try {
      return JSON.parse(readFileSync(this.#file, 'utf8'))
    } catch {
      return []
    }
  }

  set(specs: readonly FaultSpec[]): void {
    this.#write(specs.map((spec) => ({ ...spec, used: 0 })))
  }

  /** Sets the faults of the command line, unless they are already set: then their counts go on. */
  seed(specs: readonly FaultSpec[]): void {
    const bare = this.read().map(({ used: _, ...spec }) => spec)
    if (specs.length > 0 && JSON.stringify(bare) !== JSON.stringify(specs)) this.set(specs)
  }

  /** Runs the work of one call, or what goes wrong instead. */
  async run(rpc: string, call: Cancellable, work: () => Promise<object>): Promise<object> {
    const fault = this.#take(rpc)
    switch (fault?.kind) {
      case undefined:
        return work()
      case 'fail':
        throw injected(fault)
      case 'fail-after':
        await work()
        throw injected(fault)
      case 'hang':
        return untilGivenUp(call)
      case 'hang-after':
        await work()
        return untilGivenUp(call)
      case 'late': {
        const reply = await work()
        await sleep(Number(fault.argument))
        return reply
      }
      case 'lie':
        return {}
      case 'die-before':
        return die()
      case 'die-after':
        await work()
        return die()
    }
  }

  #take(rpc: string): Fault | undefined {
    const faults = this.read()
    const fault = faults.find((one) => one.rpc === rpc && (one.times === undefined || one.used < one.times))
    if (fault?.times !== undefined) {
      this.#write(faults.map((one) => (one === fault ? { ...one, used: one.used + 1 } : one)))
    }
    return fault
  }

  #write(faults: readonly Fault[]): void {
    writeFileSync(`${this.#file}.tmp`, JSON.stringify(faults))
    renameSync(`${this.#file}.tmp`, this.#file)
  }
}

function statusCode(name: string): status | undefined {
  const code = (status as unknown as Record<string, unknown>)[name]
  return typeof code === 'number' ? code : undefined
}

function injected({ argument }: Fault): StatusError {
  return new StatusError(statusCode(argument) ?? status.UNKNOWN, `injected ${argument}: Gerät nicht verfügbar`)
}

/** Never answers; the call's resources are released when its client gives up, which may have been while the work was done. */
async function untilGivenUp(call: Cancellable): Promise<never> {
  if (!call.cancelled) await once(call, 'cancelled')
  throw new StatusError(status.CANCELLED, 'given up by the client')
}

function die(): Promise<never> {
  process.kill(process.pid, 'SIGKILL')
  return new Promise(() => {})
}
