import { isAbsolute, join, relative } from 'node:path'
import type { CsiSocket } from '../facts/actual/snapshot.ts'

/** The path in CsiSocket: relative if it is below the root directory, otherwise absolute. */
export function recordedPath(rootDir: string, path: string): string {
  const inside = relative(rootDir, path)
  return inside === '' || inside === '..' || inside.startsWith('../') || isAbsolute(inside) ? path : inside
}

/** The path of the driver's own socket; undefined where no registration names it. */
export function endpointPath(rootDir: string, { endpoint }: Pick<CsiSocket, 'endpoint'>): string | undefined {
  return endpoint === undefined || isAbsolute(endpoint) ? endpoint : join(rootDir, endpoint)
}
