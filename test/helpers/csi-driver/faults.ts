import { type EventEmitter, once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { StatusError, status } from '../grpc/serve.ts'

/** A call of gRPC. */
type Cancellable = EventEmitter & { readonly cancelled: boolean }

/** What a call meets. */
interface Meeting {
  readonly call: Cancellable
  /** Does what was asked. */
  readonly work: () => Promise<object>
  /** Ends the driver. */
  readonly die: () => Promise<never>
  /** Until the faults are replaced. */
  readonly over: Promise<void>
}

/** What can be made to go wrong with a call: `KIND RPC`, with what stands behind `=`; `:once` or `:N` after it limits how often. */
const KINDS: Readonly<Record<string, (meeting: Meeting, argument: string) => Promise<object>>> = {
  /** Answers this code, does nothing. */
  fail: async (_, code) => {
    throw injected(code)
  },
  /** Does it, then answers this code. */
  'fail-after': async ({ work }, code) => {
    await work()
    throw injected(code)
  },
  /** Does nothing, never answers. */
  hang: ({ call }) => untilGivenUp(call),
  'hang-after': async ({ call, work }) => {
    await work()
    return untilGivenUp(call)
  },
  /** Does it, answers so many milliseconds later. */
  late: async ({ work }, ms) => {
    const reply = await work()
    await sleep(Number(ms))
    return reply
  },
  /** Does it, answers once the faults are replaced. */
  held: async ({ work, over }) => {
    const reply = await work()
    await over
    return reply
  },
  /** Answers OK, does nothing. */
  lie: async () => ({}),
  'die-before': ({ die }) => die(),
  'die-after': async ({ work, die }) => {
    await work()
    return die()
  },
}

interface Fault {
  readonly meet: (meeting: Meeting) => Promise<object>
  readonly rpc: string
  left: number
}

export class Faults {
  #faults: readonly Fault[] = []
  #replaced = Promise.withResolvers<void>()

  /** Replaces all: `fail NodeUnpublishVolume=INTERNAL:once`. */
  set(texts: readonly string[]): void {
    this.#replaced.resolve()
    this.#replaced = Promise.withResolvers()
    this.#faults = texts.map((text) => {
      const [, kind = '', rpc = '', argument = '', limit] =
        /^(\S+) ([A-Za-z]+)(?:=([^:]*))?(?::(once|\d+))?$/.exec(text) ?? []
      const { [kind]: meet } = KINDS
      if (meet === undefined) throw new Error(`not a fault: ${text}`)
      const left = limit === 'once' ? 1 : Number(limit ?? Number.POSITIVE_INFINITY)
      return { meet: (meeting) => meet(meeting, argument), rpc, left }
    })
  }

  /** Runs the work of one call, or what goes wrong instead. */
  async run(rpc: string, meeting: Omit<Meeting, 'over'>): Promise<object> {
    const fault = this.#faults.find((each) => each.rpc === rpc && each.left > 0)
    if (fault === undefined) return meeting.work()
    fault.left--
    return fault.meet({ ...meeting, over: this.#replaced.promise })
  }
}

function injected(code: string): StatusError {
  return new StatusError(status[code as keyof typeof status], `injected ${code}: Gerät nicht verfügbar`)
}

/** Never answers; the call's resources are released when its client gives up, which may have been while the work was done. */
async function untilGivenUp(call: Cancellable): Promise<never> {
  if (!call.cancelled) await once(call, 'cancelled')
  throw new StatusError(status.CANCELLED, 'given up by the client')
}
