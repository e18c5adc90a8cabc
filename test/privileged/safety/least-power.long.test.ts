import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { NEEDED_CAPABILITIES } from '../../../src/core/processes/capabilities.ts'
import { inNamespace } from '../../helpers/in-namespace.ts'
import { noMounts } from '../../helpers/namespace.ts'

const WORKER = new URL('./least-power.worker.ts', import.meta.url)
const names = NEEDED_CAPABILITIES.map(({ name }) => name)

const noSetpriv = spawnSync('setpriv', ['--version']).status === 0 ? undefined : 'there is no setpriv(1) here'
const cannot = noMounts ?? noSetpriv

describe.skipIf(cannot !== undefined)(`least power${cannot === undefined ? '' : ` (${cannot})`}`, () => {
  it('apply refuses without any one of its capabilities, names it, changes nothing, and needs no other', async () => {
    const found = await inNamespace<{ none: string }>(WORKER, 'capabilities')
    expect(found).toMatchObject({
      refused: Object.fromEntries(names.map((name) => [name, { status: 1, names: [name] }])),
      unchanged: true,
      enough: { status: 0, left: 0 },
    })
    expect(found.none).toMatch(
      /^volctl: apply runs as root but lacks CAP_CHOWN, .*CAP_SYS_ADMIN\n {8}Run apply with all of .*\n$/,
    )
  })

  it('plan, explain and snapshot need nothing but the right to read, and nothing to write to', async () => {
    // What cannot be seen then cannot be seen by root either: some machines guard their first process.
    const explained = { states: ['operation', 'operation', 'blocked'], alike: 1 }
    expect(await inNamespace(WORKER, 'reading')).toEqual({
      explained,
      operations: 14,
      reader: true,
      readOnly: true,
      snapshot: { status: 0, stderr: '', bytes: true },
    })
  })
})
