/** Sockets of container runtimes and CSI drivers. */
import { isAbsolute, join } from 'node:path'
import { flag, kept, keptList, keptObjects, needed, type ShapeOf, text, unneeded, word } from '../trust/shape.ts'

/** The path of the driver's own socket; undefined where no registration names it. */
export function endpointPath(rootDir: string, { endpoint }: CsiSocket): string | undefined {
  return endpoint === undefined || isAbsolute(endpoint) ? endpoint : join(rootDir, endpoint)
}

/** The path of a `unix:` endpoint (C117), or of a plain path (C5); undefined for any other scheme. */
export function unixSocketPath(endpoint: string): string | undefined {
  if (endpoint.startsWith('/')) return endpoint
  return /^unix:(?:\/\/)?(\/.*)$/.exec(endpoint)?.[1]
}

// What they answered, as a snapshot has it.

const sandbox = kept({
  uid: needed(text),
  namespace: text,
  name: text,
  /** CRI name: SANDBOX_READY, SANDBOX_NOTREADY; anything else counts as alive. */
  state: needed(text),
  /** CRI names: CONTAINER_CREATED, CONTAINER_RUNNING, CONTAINER_EXITED, CONTAINER_UNKNOWN. */
  containers: needed(keptObjects({ name: unneeded(text), state: needed(text), id: text })),
})

export interface SandboxState extends ShapeOf<typeof sandbox> {}

export const runtime = kept({
  source: needed(word<'cri' | 'none'>()),
  endpoint: text,
  /** Set when a runtime should be there and did not answer (S9). */
  error: text,
  pods: needed(keptList(sandbox)),
})

export interface RuntimeSnapshot extends ShapeOf<typeof runtime> {}

export const csiSocket = kept({
  /** Relative to the root directory if below it, otherwise absolute. */
  path: needed(text),
  driver: text,
  endpoint: text,
  versions: keptList(text),
  capabilities: keptList(text),
  /** The driver answered just now. */
  registered: needed(flag),
  error: text,
})

export interface CsiSocket extends ShapeOf<typeof csiSocket> {}
