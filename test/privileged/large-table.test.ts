import { expect, it } from 'vitest'
import { inNamespace } from '../helpers/in-namespace.ts'
import { noMounts } from '../helpers/namespace.ts'

const WORKER = new URL('./large-table.worker.ts', import.meta.url)

interface Large {
  readonly mounts: number
  readonly bytes: number
  readonly same: boolean
  readonly other: string
}

it.skipIf(noMounts !== undefined)(
  `a table of some ten thousand mounts is the same, read by a second thread${noMounts === undefined ? '' : ` (${noMounts})`}`,
  async () => {
    const { mounts, bytes, ...found } = await inNamespace<Large>(WORKER, 'large')
    expect(mounts).toBe(2 ** 15)
    // Below, no thread would be needed.
    expect(bytes).toBeGreaterThan(8_000_000)
    expect(found).toEqual({ same: true, other: 'none' })
  },
)
