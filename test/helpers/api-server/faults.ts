import type { IncomingMessage, ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { StatusError } from './status.ts'

/** A failure, the requests it affects, and how often (for ever without `times`). */
export interface Fault {
  readonly method?: string
  /** Part of the path with query. */
  readonly path?: string
  /** How many requests succeed first. */
  skip?: number
  times?: number
  /** How many requests are held now. */
  held?: number
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
    | { readonly type: 'delay'; readonly ms: number }
    /** Carried out and answered when the faults are replaced. */
    | { readonly type: 'hold' }
    /** A process, usually the one that asks, is killed before the request is carried out, or after it; nothing is answered. */
    | { readonly type: 'kill'; readonly pid: number; readonly when: 'before' | 'after' }
    /** The next page's token has expired. */
    | { readonly type: 'expire' }
    /** HTTP 200 with another body. */
    | { readonly type: 'body'; readonly body: string }
}

export function takeFault(faults: Fault[], request: IncomingMessage): Fault | undefined {
  const fault = faults.find(
    ({ method, path, times }) =>
      times !== 0 && (method ?? request.method) === request.method && (request.url ?? '').includes(path ?? ''),
  )
  if (fault?.skip) {
    fault.skip--
    return undefined
  }
  if (fault?.times !== undefined) fault.times--
  return fault
}

/** True: the request has been answered, or never will be. */
export async function applyFault(
  fault: Fault,
  faults: readonly Fault[],
  request: IncomingMessage,
  response: ServerResponse,
): Promise<boolean> {
  const { action } = fault
  switch (action.type) {
    case 'drop':
      request.socket.destroy()
      return true
    case 'hang':
      return true
    case 'lose':
      response.end = () => {
        request.socket.destroy()
        return response
      }
      return false
    case 'cut':
      response.end = ((body: string) => {
        const whole = Buffer.from(body)
        response.writeHead(200, { 'Content-Length': whole.length })
        response.write(whole.subarray(0, action.bytes), () => request.socket.destroy())
        return response
      }) as typeof response.end
      return false
    case 'delay':
      await sleep(action.ms)
      return false
    case 'hold':
      fault.held = (fault.held ?? 0) + 1
      while (faults.includes(fault)) await sleep(10)
      return false
    case 'kill':
      if (action.when === 'before') {
        process.kill(action.pid, 'SIGKILL')
        request.socket.destroy()
        return true
      }
      response.end = () => {
        process.kill(action.pid, 'SIGKILL')
        request.socket.destroy()
        return response
      }
      return false
    case 'expire':
      if (!new URL(request.url ?? '', 'https://x').searchParams.has('continue')) return false
      throw new StatusError(410, 'Expired', 'The provided continue parameter is too old', {})
    case 'body':
      response.writeHead(200).end(action.body)
      return true
    case 'status':
      if (action.retryAfter !== undefined) response.setHeader('Retry-After', String(action.retryAfter))
      throw new StatusError(action.status, action.reason ?? '', `made to fail with ${action.status}`)
    default:
      throw action satisfies never
  }
}
