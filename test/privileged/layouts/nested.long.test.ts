/**
 * Every test of these files once more, below a root directory that is bound over itself twice on a shared tree: each
 * mount stands in the table four times, and the first of them is seen.
 */
import { describe } from 'vitest'
import { LAYOUT } from '../../helpers/machine.ts'
import type { Layout } from '../../helpers/scene/layouts.ts'

const layout: Layout = 'nested'
// This file's process is its own.
process.env[LAYOUT] = layout

describe(`S8, O35: on the layout ${layout}`, async () => {
  await import('../set-up/local.test.ts')
  await import('../set-up/empty-dir.test.ts')
  await import('../set-up/atomic.test.ts')
  await import('../set-up/nfs.test.ts')
  await import('../set-up/csi.test.ts')
})
