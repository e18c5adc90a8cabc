/** Countless mounts. What each step of an apply takes then is the reading of the table, which a busy machine does in seconds. */
import { expect, it } from 'vitest'
import { inNamespace } from '../../helpers/in-namespace.ts'
import { noMounts } from '../../helpers/namespace.ts'

interface Storm {
  readonly answer: unknown
  readonly copies: number
  readonly left: number
  readonly problems: unknown
}

it.skipIf(noMounts !== undefined)(
  `20,000 copies by propagation: plan and apply answer, name the place, leave it, and do the rest${noMounts === undefined ? '' : ` (${noMounts})`}`,
  async () => {
    const found = await inNamespace<Storm>(new URL('./hung.worker.ts', import.meta.url), 'storm')
    expect(found.answer).toMatchObject({ state: 'problem', known: true })
    expect(found.copies).toBeGreaterThan(20_000)
    expect(found.left).toBe(found.copies)
    expect(found).toMatchObject({ blocked: ['ForeignMount'], done: 10 })
    const place = '/pods/0e57ab18-c36f-49d1-8b24-d90f1c4a7e35/volumes/kubernetes.io~empty-dir/host'
    expect(found.problems).toContainEqual(['MountStorm', place])
  },
)
