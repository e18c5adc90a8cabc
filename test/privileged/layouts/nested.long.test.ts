/**
 * Every test of these files once more, below a root directory that is bound over itself twice on a shared tree: each
 * mount stands in the table four times, and the first of them is seen.
 */
import { afterAll, beforeAll, describe } from 'vitest'
import { LAYOUT } from '../../helpers/machine.ts'
import type { Layout } from '../../helpers/scene/layouts.ts'

describe.each<Layout>(['nested'])('S8, O35: on the layout %s', async (layout) => {
  beforeAll(() => {
    process.env[LAYOUT] = layout
  })
  afterAll(() => {
    delete process.env[LAYOUT]
  })
  await import('../left-behind.test.ts')
  await import('../set-up/local.test.ts')
  await import('../set-up/empty-dir.test.ts')
  await import('../set-up/atomic.test.ts')
  await import('../set-up/nfs.test.ts')
  await import('../set-up/csi.test.ts')
})
