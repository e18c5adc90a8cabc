import type { Script } from 'node:vm'
export function bundleFor(args: readonly string[]): 'volctl.cjs' | 'child.cjs'
export function loadBundle(source: string, cachedData: Buffer | undefined, name?: string): Script
