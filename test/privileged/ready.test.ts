/** What a plan calls ready, an apply does: who uses what it would take away is seen by the plan, live and from a snapshot. */
import { describe, expect, it } from 'vitest'
import { inNamespace } from '../helpers/in-namespace.ts'
import { noMounts } from '../helpers/namespace.ts'

const WORKER = new URL('./workers/ready.ts', import.meta.url)

interface Looks {
  readonly blocked: string[]
  readonly unjudged: string[]
  readonly cause?: { readonly message: string; readonly remedy: string[] }
  readonly screen: string
  readonly live: object
  readonly offline: object
}

interface Found {
  readonly pid: number
  readonly held: Looks
  readonly applied: string[]
  readonly free: Looks
  readonly after: string[]
}

const badly = (ends: readonly string[]): string[] => ends.filter((end) => /: (?:failed|refused|skipped)/.test(end))

describe.skipIf(noMounts !== undefined)(`ready for real${noMounts === undefined ? '' : ` (${noMounts})`}`, () => {
  it('S12, S21: a process in a mount is named by the plan, what follows waits for it, and the rest is done', async () => {
    const { pid, held, applied, free, after } = await inNamespace<Found>(WORKER, 'held')
    expect(held.blocked).toEqual(['UnmountVolume pv-common: HeldBy'])
    expect(held.cause?.message).toMatch(new RegExp(`^pv-common of \\S+ is in use by sh \\(pid ${pid}, cwd\\)$`))
    expect(held.screen).toContain(`is in use by sh (pid ${pid}, cwd)`)
    expect(held.screen.indexOf('Needs you')).toBeLessThan(held.screen.indexOf(`(pid ${pid}`))
    expect(held.unjudged).not.toContain('S21')
    expect(held.offline).toEqual(held.live)
    expect(applied).toContain('UnmountVolume pv-common: blocked HeldBy')
    expect(badly(applied)).toEqual([])
    expect(applied.filter((end) => end.endsWith(': done')).length).toBeGreaterThan(8)
    expect(free.blocked).toEqual([])
    expect(free.offline).toEqual(free.live)
    expect(after.every((end) => end.endsWith(': done'))).toBe(true)
  })

  it('S24, R036: mounts that somebody has copied hold back what would be taken away below them', async () => {
    const { pid, held, applied, after } = await inNamespace<Found>(WORKER, 'copied')
    expect(held.blocked).toContain('UnmountVolume pv-common: HeldBy')
    expect(held.screen).toMatch(new RegExp(`\\d volumes are in use by sh \\(pid ${pid}\\)`))
    expect(held.offline).toEqual(held.live)
    expect(badly(applied)).toEqual([])
    expect(after.every((end) => end.endsWith(': done'))).toBe(true)
  })
})
