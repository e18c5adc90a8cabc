/** What stands behind `plan` and `apply`: which argument is a pod, a volume, a plan file, or nothing that volctl takes. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { applyArguments, narrowing } from '../../src/core/cli/plan-arguments.ts'
import { BROKEN, HEALTHY } from '../helpers/captures.ts'
import { volctl } from '../helpers/run-main.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'
import { thrownBy } from '../kube/connect.ts'

const UID = 'd675c2c6-53bb-4a2f-8a77-0f1d0b2c3d4e'

describe('a name', () => {
  it.each([
    { words: [], is: {} },
    { words: ['shop/web-0'], is: { pod: ['shop/web-0'] } },
    { words: ['web-0'], is: { pod: ['web-0'] } },
    { words: ['pod/shop/web-0'], is: { pod: ['shop/web-0'] } },
    { words: ['po/web-0', UID], is: { pod: ['web-0', UID] } },
    { words: ['shop/web-0,shop/web-1'], is: { pod: ['shop/web-0', 'shop/web-1'] } },
    { words: ['web-1'], flags: { pod: ['web-0'] }, is: { pod: ['web-0', 'web-1'] } },
    { words: ['pv/data'], is: { volume: ['data'] } },
    { words: ['pvc/shop/data'], is: { volume: ['shop/data'] } },
    { words: ['pvc/data'], flags: { namespace: ['shop'] }, is: { volume: ['shop/data'] } },
    { words: ['volume/kubernetes.io/csi/d^a,b'], is: { volume: ['kubernetes.io/csi/d^a,b'] } },
    { words: ['va/csi-1'], is: { volume: ['csi-1'] } },
    { words: ['path//srv/a,b'], is: { volume: ['/srv/a,b'] } },
  ])('$words with $flags is $is', ({ words, flags = {}, is }) => {
    const { ways: _, ...found } = narrowing(words, flags)
    expect(found).toEqual(is)
    expect(applyArguments(words, flags)).toMatchObject(is)
  })

  it.each([
    { words: [''] },
    { words: [','] },
    { words: ['shop/web-0,'] },
    { words: ['a/b/c'] },
    { words: ['shop/'] },
    { words: ['pod/'] },
    { words: ['volume/'] },
    { words: ['pvc/data'] },
    { words: ['pvc/data'], flags: { namespace: ['shop', 'stage'] } },
    { words: ['driver/d'] },
    { words: ['path/srv'] },
    { words: ['node/n'] },
    { words: ['shop/web-0', 'pv/data'], says: 'pods and volumes are named at once' },
  ])(
    '$words with $flags is an error, and narrows nothing to everything',
    ({ words, flags = {}, says = 'names neither' }) => {
      for (const read of [narrowing, applyArguments]) {
        const error = thrownBy(() => read(words, flags))
        expect(error).toMatchObject({ code: 'Usage', message: expect.stringContaining(says) })
      }
    },
  )
})

describe('a plan file', () => {
  it.each(['-', 'node.plan', 'shop/web-0.json', './web-0', '../web-0', '/dev/stdin', '/srv/web-0'])(
    '%s looks like one, whether it exists or not',
    (word) => expect(applyArguments([word], {})).toEqual({ planfile: word }),
  )

  it('a file with the name of a pod is one; a directory is none', () => {
    const directory = temporaryDirectory()
    mkdirSync(join(directory, 'shop/dir'), { recursive: true })
    writeFileSync(join(directory, 'shop/web-0'), '{}')
    const before = process.cwd()
    process.chdir(directory)
    try {
      expect(applyArguments(['shop/web-0'], {})).toEqual({ planfile: 'shop/web-0' })
      expect(applyArguments(['shop/dir'], {})).toMatchObject({ pod: ['shop/dir'] })
      expect(applyArguments(['shop/web-1'], {})).toMatchObject({ pod: ['shop/web-1'] })
      expect(applyArguments(['pod/shop/web-0'], {})).toMatchObject({ pod: ['shop/web-0'] })
    } finally {
      process.chdir(before)
    }
  })

  it.each([{ words: ['node.plan', 'shop/web-0'] }, { words: ['shop/web-0', './x'] }, { words: ['a.plan', 'b.plan'] }])(
    '$words: beside it nothing else stands',
    ({ words }) =>
      expect(thrownBy(() => applyArguments(words, {}))).toMatchObject({
        code: 'Usage',
        message: expect.stringContaining('stands beside other arguments'),
      }),
  )
})

it('status of what is named shows it, though it is as it should be', async () => {
  const status = (...names: string[]) => volctl(['status', ...names, '--snapshot', HEALTHY])
  expect((await status()).stdout).not.toContain('p-csi-fs')
  expect((await status('pg/p-csi-fs')).stdout).toContain('pg/p-csi-fs')
})

describe('plan of a snapshot', () => {
  const plan = async (...args: string[]) => await volctl(['plan', ...args, '--snapshot', BROKEN])

  it.each([
    { words: ['pg/sc-a'], flags: ['--pod', 'pg/sc-a'] },
    { words: ['pvc/pg/pvc-a'], flags: ['--volume', 'pg/pvc-a'] },
  ])('$words narrows as $flags does', async ({ words, flags }) => {
    const [named, flagged, whole] = await Promise.all([plan(...words), plan(...flags), plan()])
    expect(named).toEqual(flagged)
    expect(named.status).toBe(0)
    expect(named.stdout).not.toBe(whole.stdout)
  })

  it.each([
    { word: 'pg/sc-aa', says: /volctl: pg\/sc-aa matches no pod on this node\n +Did you mean pg\/sc-a\?/ },
    { word: 'pv/pv-aa', says: /volctl: pv-aa matches no volume on this node\n +Did you mean pv-a / },
    { word: 'pv-a', says: /matches no pod on this node\n.*A volume is pv\/NAME, pvc\/NAMESPACE\/NAME/ },
  ])('$word, which nothing has: an error with the nearest name', async ({ word, says }) => {
    const { status, stdout, stderr } = await plan(word)
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
    expect(stderr).toMatch(says)
  })
})
