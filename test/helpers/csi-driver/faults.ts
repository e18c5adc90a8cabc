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

/** What stands between a call and its answer: `WORD RPC`, once what was asked is done `WORD-after RPC`. */
const WORDS: Readonly<Record<string, (meeting: Meeting, argument: string) => unknown>> = {
  /** This code is answered. */
  fail: (_, code) => {
    throw new StatusError(status[code as keyof typeof status], `injected ${code}: Gerät nicht verfügbar`)
  },
  /** Nothing is, ever. */
  hang: ({ call }) => untilGivenUp(call),
  /** It is answered so many milliseconds later, or once the faults are replaced. */
  late: (_, ms) => sleep(Number(ms)),
  held: ({ over }) => over,
  /** OK is answered, and nothing was done. */
  lie: () => undefined,
  die: ({ die }) => die(),
}

interface Fault {
  readonly meet: (meeting: Meeting) => Promise<object>
  readonly rpc: string
  left: number
}

export class Faults {
  #faults: readonly Fault[] = []
  #replaced = Promise.withResolvers<void>()

  /** Replaces all: `fail NodeUnpublishVolume=INTERNAL:once`, by what stands behind `=`, and how often. */
  set(texts: readonly string[]): void {
    this.#replaced.resolve()
    this.#replaced = Promise.withResolvers()
    this.#faults = texts.map((text) => {
      const [, word = '', after, rpc = '', argument = '', limit] =
        /^(\w+)(-after)? ([A-Za-z]+)(?:=([^:]*))?(?::(once|\d+))?$/.exec(text) ?? []
      const { [word]: stands } = WORDS
      if (stands === undefined) throw new Error(`not a fault: ${text}`)
      const left = limit === 'once' ? 1 : Number(limit ?? Number.POSITIVE_INFINITY)
      const meet = async (meeting: Meeting): Promise<object> => {
        const reply = after === undefined ? {} : await meeting.work()
        await stands(meeting, argument)
        return reply
      }
      return { meet, rpc, left }
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

/** The call's resources are released when its client gives up, which may have been while the work was done. */
async function untilGivenUp(call: Cancellable): Promise<never> {
  if (!call.cancelled) await once(call, 'cancelled')
  throw new StatusError(status.CANCELLED, 'given up by the client')
}
