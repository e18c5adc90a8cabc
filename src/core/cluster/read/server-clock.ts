/**
 * The clock by which a look judges times (S28): that of the API server, as the Date header of its answers shows. Several servers may answer
 * at one address. Of clocks that differ the one that is behind counts: by it everything is younger.
 */
import type { KubeClient } from '../../kube/kube-client.ts'
import type { ClusterState } from '../model/cluster-state.ts'

/** Beyond what an answer that was long on its way explains. */
const MARGIN_MS = 60_000

export class ServerClock {
  readonly #client: Pick<KubeClient, 'clockSkewMs'>
  #began: number | undefined
  #least: number | undefined
  #most: number | undefined

  constructor(client: Pick<KubeClient, 'clockSkewMs'>) {
    this.#client = client
  }

  /** To be called after answers. */
  note(): void {
    const { clockSkewMs } = this.#client
    this.#began ??= Date.now()
    if (clockSkewMs === undefined) return
    this.#least = Math.min(this.#least ?? clockSkewMs, clockSkewMs)
    this.#most = Math.max(this.#most ?? clockSkewMs, clockSkewMs)
  }

  /** When the look began: with its first answer. */
  began(): Pick<ClusterState, 'capturedAt' | 'clockUnknown' | 'clockSpreadMs'> {
    const spread = (this.#most ?? 0) - (this.#least ?? 0)
    return {
      capturedAt: timeText((this.#began ?? Date.now()) + (this.#least ?? 0)),
      ...(this.#least === undefined && { clockUnknown: true as const }),
      ...(spread > MARGIN_MS && { clockSpreadMs: spread }),
    }
  }

  /** At this moment. */
  now(): string {
    return timeText(Date.now() + (this.#least ?? 0))
  }
}

function timeText(time: number): string {
  return new Date(time).toISOString()
}
