/** How far a Pod is, by its status. Pure. */
import { anything, integer, kept, keptList, needed, nullable, type ShapeOf, text } from '../json/shape.ts'

export const podStatus = kept({
  phase: text,
  reason: text,
  message: text,
  conditions: keptList(kept({ type: needed(text), reason: text, message: text })),
  containerStatuses: keptList(
    kept({
      state: kept({
        running: anything,
        waiting: nullable(kept({ reason: text, message: text })),
        terminated: nullable(kept({ exitCode: integer, reason: text, message: text })),
      }),
    }),
  ),
})

export interface PodStatus extends ShapeOf<typeof podStatus> {}

export type PodState =
  /** `why`: what the kubelet waits for, if it says so. */
  | { readonly state: 'starting'; readonly why?: string }
  /** It will not start unless somebody acts. */
  | { readonly state: 'stuck'; readonly why: string }
  | { readonly state: 'running' }
  | { readonly state: 'ended'; readonly why: string }

/** Reasons of a waiting container that only a person ends. A failed pull is tried again once, and then backed off from. */
const STUCK: ReadonlySet<string> = new Set([
  'ImagePullBackOff',
  'ErrImageNeverPull',
  'InvalidImageName',
  'ImageInspectError',
  'RegistryUnavailable',
  'SignatureValidationFailed',
  'CreateContainerConfigError',
  'CreateContainerError',
  'RunContainerError',
])

export function podState({ phase, reason, message, containerStatuses = [] }: PodStatus): PodState {
  const { state = {} } = containerStatuses[0] ?? {}
  const { terminated, waiting } = state
  if (terminated) {
    const { exitCode } = terminated
    const status = exitCode === undefined ? undefined : `exit status ${exitCode}`
    return { state: 'ended', why: joined(reason ?? terminated.reason, message ?? terminated.message, status) }
  }
  if (phase === 'Failed' || phase === 'Succeeded') return { state: 'ended', why: joined(reason ?? phase, message) }
  if (state.running) return { state: 'running' }
  const { reason: waits } = waiting ?? {}
  if (waits === undefined) return { state: 'starting' }
  const why = joined(waits, waiting?.message)
  return STUCK.has(waits) ? { state: 'stuck', why } : { state: 'starting', why }
}

/** In one line. */
function joined(...parts: readonly (string | undefined)[]): string {
  return parts
    .flatMap((part) => (part === undefined || part.trim() === '' ? [] : [part.trim().replaceAll(/\s+/g, ' ')]))
    .join(': ')
    .slice(0, 500)
}
