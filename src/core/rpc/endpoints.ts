import { isAbsolute, join } from 'node:path'
import type { CsiSocket } from '../facts/actual/snapshot.ts'

/** The path of the driver's own socket; undefined where no registration names it. */
export function endpointPath(rootDir: string, { endpoint }: Pick<CsiSocket, 'endpoint'>): string | undefined {
  return endpoint === undefined || isAbsolute(endpoint) ? endpoint : join(rootDir, endpoint)
}

/** The path of a `unix:` endpoint (C117), or of a plain path (C5); undefined for any other scheme. */
export function unixSocketPath(endpoint: string): string | undefined {
  if (endpoint.startsWith('/')) return endpoint
  return /^unix:(?:\/\/)?(\/.*)$/.exec(endpoint)?.[1]
}
