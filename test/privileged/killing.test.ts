import { describe, expect, it } from 'vitest'
import { inSameNamespace } from '../helpers/in-namespace.ts'
import { noMounts } from '../helpers/namespace.ts'

const WORKER = new URL('./workers/killing.ts', import.meta.url)

describe.skipIf(noMounts !== undefined)(
  `killed between any two changes${noMounts === undefined ? '' : ` (${noMounts})`}`,
  () => {
    it('comes to the same end in the next run, lock and all, and no content has changed (R837)', async () => {
      const found = await inSameNamespace<{
        kills: number
        takenOver: boolean
        ends: [number, string, string, string][]
      }>(WORKER, 'everywhere')
      expect(found.kills).toBeGreaterThan(10)
      expect(found.takenOver).toBe(true)
      expect(found.ends).toHaveLength(1)
      const [mounts, files, tree, content] = found.ends[0] ?? []
      expect({ mounts, files, content }).toEqual({ mounts: 0, files: '', content: 'precious' })
      expect(tree).not.toMatch(/\/(pv|token|scratch)\b/)
    })
  },
)
