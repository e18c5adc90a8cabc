import type { Script } from 'node:vm'
export function loadBundle(source: string, cachedData: Buffer | undefined): Script
