/** Files that are made of others: their makers compare, given --check. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Finding } from './finding.ts'

const MAKERS = ['man', 'schema', 'licenses'] as const

export async function notCurrent(root: string): Promise<readonly Finding[]> {
  const found = await Promise.all(MAKERS.map(async (maker) => await told(root, maker)))
  return found.flat()
}

async function told(root: string, maker: string): Promise<readonly Finding[]> {
  const next = `npm run ${maker}`
  try {
    await promisify(execFile)(process.execPath, [join(root, 'scripts', `${maker}.ts`), '--check'], { cwd: root })
    return []
  } catch (error) {
    const { stderr = '' } = error as { readonly stderr?: string }
    const lines = stderr.split('\n').filter((line) => line.endsWith(`run ${next}`))
    // One that failed for another reason has still not shown that its files are current.
    if (lines.length === 0) return [{ what: `${next} -- --check fails`, next: `run it and see why` }]
    return lines.map((line) => ({ what: line.slice(0, line.lastIndexOf(': ')), next }))
  }
}
