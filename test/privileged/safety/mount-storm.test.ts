/** Countless mounts. What each step of an apply takes then is the reading of the table, for which it has a deadline. */
import { expect, it, vi } from 'vitest'
import { inNamespace } from '../../helpers/in-namespace.ts'
import { noMounts } from '../../helpers/namespace.ts'

// A whole node, made and repaired, on a machine that may be busy.
vi.setConfig({ testTimeout: 180_000 })

interface Storm {
  /** Seconds. */
  readonly planned: number
  readonly explained: number
  readonly applied: number
  readonly answer: unknown
  readonly copies: number
  readonly left: number
  readonly problems: unknown
}

it.skipIf(noMounts !== undefined)(
  `20,000 copies by propagation: plan and apply answer, name the place, leave it, and do the rest${noMounts === undefined ? '' : ` (${noMounts})`}`,
  async () => {
    const found = await inNamespace<Storm>(new URL('./hung.worker.ts', import.meta.url), 'storm')
    // Far above what they take, and far below what would show that something is waited for without a deadline.
    expect(found.planned).toBeLessThan(30)
    expect(found.explained).toBeLessThan(30)
    expect(found.applied).toBeLessThan(100)
    expect(found.answer).toMatchObject({ state: 'problem', known: true })
    expect(found.copies).toBeGreaterThan(20_000)
    expect(found.left).toBe(found.copies)
    expect(found).toMatchObject({ blocked: ['ForeignMount'], done: 10 })
    const place = '/pods/11111111-2222-4333-8444-000000000003/volumes/kubernetes.io~empty-dir/host'
    expect(found.problems).toContainEqual(['MountStorm', place])
  },
)
