/** What goes wrong at the API server: what is answered to which requests, instead or too late. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { StatusError } from './status.ts'
import { TRICKS, type TrickName, writeTo } from './tricks.ts'

/** A failure, the requests it affects, and how often (for ever without `times`). */
export interface Fault {
  readonly method?: string
  /** Part of the path with query. */
  readonly path?: string
  /** How many requests succeed first. */
  readonly skip?: number
  readonly times?: number
  readonly action:
    | { readonly type: 'status'; readonly status: number; readonly reason?: string; readonly retryAfter?: number }
    /** The connection ends without an answer. */
    | { readonly type: 'drop' }
    /** The same, but the request is carried out. */
    | { readonly type: 'lose' }
    /** The connection ends in the middle of the answer, after so many of its bytes. */
    | { readonly type: 'cut'; readonly bytes: number }
    /** Never answered. */
    | { readonly type: 'hang' }
    /** Carried out and answered when the faults are replaced. */
    | { readonly type: 'hold' }
    /** A process, usually the one that asks, is killed before the request is carried out, or after it; nothing is answered. */
    | { readonly type: 'kill'; readonly pid: number; readonly when: 'before' | 'after' }
    /** The next page's token has expired. */
    | { readonly type: 'expire' }
    /** HTTP 200 with another body. */
    | { readonly type: 'body'; readonly body: string }
    /** What no server of Node.js would send. */
    | { readonly type: 'trick'; readonly trick: TrickName }
}

export class Faults {
  #faults: readonly Fault[] = []
  readonly #seen = new Map<Fault, number>()
  #changed = Promise.withResolvers<void>()
  /** How many requests are held now. */
  held = 0

  set(faults: readonly Fault[]): void {
    this.#faults = faults
    this.#seen.clear()
    this.held = 0
    this.#changed.resolve()
    this.#changed = Promise.withResolvers()
  }

  /** The first that is about this request, if it is due. */
  #take({ method, url = '' }: IncomingMessage): Fault['action'] | undefined {
    const seenOf = (fault: Fault): number => this.#seen.get(fault) ?? 0
    const fault = this.#faults.find((each) => {
      const { skip = 0, times = Number.POSITIVE_INFINITY } = each
      return seenOf(each) < skip + times && (each.method ?? method) === method && url.includes(each.path ?? '')
    })
    if (fault === undefined) return undefined
    const seen = seenOf(fault)
    this.#seen.set(fault, seen + 1)
    return seen < (fault.skip ?? 0) ? undefined : fault.action
  }

  /** True: the request has been answered, or never will be. */
  async apply(request: IncomingMessage, response: ServerResponse): Promise<boolean> {
    const { socket, url = '' } = request
    const action = this.#take(request)
    /** Carries it out, and does this instead of answering. */
    const instead = (end: (body: string) => unknown): false => {
      response.end = ((body: string) => {
        end(body)
        return response
      }) as typeof response.end
      return false
    }
    switch (action?.type) {
      case undefined:
        return false
      case 'drop':
        socket.destroy()
        return true
      case 'hang':
        return true
      case 'lose':
        return instead(() => socket.destroy())
      case 'cut':
        return instead((body) => {
          const whole = Buffer.from(body)
          response.writeHead(200, { 'Content-Length': whole.length })
          response.write(whole.subarray(0, action.bytes), () => socket.destroy())
        })
      case 'hold':
        this.held++
        await this.#changed.promise
        return false
      case 'kill': {
        const kill = (): void => {
          process.kill(action.pid, 'SIGKILL')
          socket.destroy()
        }
        if (action.when === 'after') return instead(kill)
        kill()
        return true
      }
      case 'expire':
        if (!url.includes('continue=')) return false
        throw new StatusError(410, 'Expired', 'The provided continue parameter is too old')
      case 'body':
        response.end(action.body)
        return true
      case 'trick':
        TRICKS[action.trick](writeTo(socket), url).catch(() => socket.destroy())
        return true
      case 'status':
        if (action.retryAfter !== undefined) response.setHeader('Retry-After', String(action.retryAfter))
        throw new StatusError(action.status, action.reason ?? '', `made to fail with ${action.status}`)
      default:
        throw action satisfies never
    }
  }
}
