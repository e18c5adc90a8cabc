import { describe, expect, it } from 'vitest'
import { inSameNamespace } from '../../helpers/in-namespace.ts'
import { noMounts } from '../../helpers/namespace.ts'

const WORKER = new URL('./atomic.worker.ts', import.meta.url)
const PUBLISHED = ['..data', 'generation']

const run = (scenario: string): Promise<unknown> => inSameNamespace(WORKER, scenario)

const TITLE = 'configMap, secret, downwardAPI and projected for real'

describe.skipIf(noMounts !== undefined)(`${TITLE}${noMounts === undefined ? '' : ` (${noMounts})`}`, () => {
  it('are made from nothing, are there, and go with their pod; no secret is said anywhere', async () => {
    const token = {
      namespace: 'default',
      serviceAccount: 'default',
      audiences: ['vault'],
      expirationSeconds: 600,
      pod: { name: 'app', uid: '00000000-0000-4000-8000-000000000001' },
    }
    expect(await run('setUp')).toEqual({
      states: ['done', 'done', 'done', 'done'],
      wrapped: ['wrapped_all', 'wrapped_conf', 'wrapped_info', 'wrapped_pass'],
      seen: [
        { bin: '640 \0\x01\x02', 'etc/a.conf': '400 1' },
        { password: '444 correct horse battery staple' },
        { labels: '644 a="y"\nb="x"' },
        {
          a: '644 correct horse battery staple',
          bin: '644 \0\x01\x02',
          'ca.pem': '644 -----BEGIN CERTIFICATE-----\nAAEC\n-----END CERTIFICATE-----\n',
          notes: '644 hello',
          token: `644 header.payload.signature ${JSON.stringify(token)}`,
        },
      ],
      machinery: PUBLISHED,
      generation: '755',
      mounted: ['', 'tmpfs', 'tmpfs', 'tmpfs'],
      after: [],
      leaks: [],
      gone: ['done'],
      left: [],
      podDir: false,
    })
  })

  it('S23: changed content is written when it is asked for', async () => {
    expect(await run('remount')).toEqual({
      planned: ['RemountVolume NotAsked', 'RemountVolume NotAsked'],
      unasked: ['blocked NotAsked', 'blocked NotAsked'],
      before: { bin: '640 \0\x01\x02', 'etc/a.conf': '400 1' },
      asked: ['done', 'done'],
      conf: { bin: '640 \0\x01\x02', 'etc/a.conf': '400 2' },
      files: ['a', 'b', 'bin', 'ca.pem', 'notes', 'token'],
      machinery: PUBLISHED,
      after: [],
    })
  })

  it('a reader sees one generation or the next, two hundred times', async () => {
    expect(await run('readers')).toEqual({ reads: true, torn: [], states: ['done'], machinery: PUBLISHED })
  })

  it('P25, S23: a refresh that fails leaves the old content', async () => {
    const message =
      'volume all: a token of service account default/default for vault could not be read: forbidden: no tokens for you'
    expect(await run('failedRefresh')).toEqual({
      states: ['failed ContentUnknown'],
      messages: [message],
      same: true,
      mounted: 1,
    })
  })

  it('a full file system leaves the old content, and nothing half-made', async () => {
    expect(await run('fullDisk')).toEqual({
      states: ['failed WriteFailed'],
      message: 'the content of DIR could not be written: its file system is full (ENOSPC)',
      seen: { password: '644 correct horse battery staple' },
      machinery: PUBLISHED,
      again: ['done'],
      files: ['big', 'password'],
    })
    expect(await run('fullDiskAtSetUp')).toEqual({ states: ['failed WriteFailed'], left: [] })
  })

  it('killed at any step and run again, they come to the same', async () => {
    const { kills, outcomes } = (await run('killed')) as { kills: number; outcomes: string[] }
    expect(kills).toBeGreaterThan(5)
    expect(outcomes).toEqual(['..data,generation', '0', 'done'])
  })

  it('killed while it writes, a generation is whole', async () => {
    expect(await run('killedWriting')).toEqual({
      found: ['1 value, 40 files'],
      again: ['done'],
      machinery: PUBLISHED,
      after: [],
    })
  })

  it('P28, P29: what a crash left is cleared away, and what is current stays', async () => {
    expect(await run('leftovers')).toEqual({
      planned: ['RemountVolume NotAsked'],
      states: ['done'],
      names: ['..data', 'password', 'the same generation'],
      after: [],
    })
  })

  it('P48: after a boot the memory is filled again', async () => {
    expect(await run('reboot')).toEqual({
      states: ['done', 'done', 'done'],
      seen: { password: '444 correct horse battery staple' },
      fsType: 'tmpfs',
      after: [],
    })
  })

  it('P31, P53: a group reads what is its own', async () => {
    expect(await run('group')).toEqual({
      states: ['done', 'done', 'done', 'done'],
      modes: { a: '644', bin: '644', 'ca.pem': '640', notes: '644', token: '640' },
      generation: '2755',
      after: [],
    })
  })

  it('P26: directories for nested mounts are made, and stay where a key has the same name', async () => {
    expect(await run('nested')).toEqual({
      states: ['done', 'done'],
      tree: ['755 a', '755 a/deep', '777 '],
      links: ['bin ..data/bin'],
    })
  })

  it('what is planted is neither followed nor written to', async () => {
    expect(await run('planted')).toEqual({
      states: ['done'],
      seen: { a: '644 2', bin: '644 \0\x01\x02' },
      outside: ['untouched', 'untouched'],
      refused: ['UnexpectedFile'],
    })
  })

  it.each([
    [
      'escaping',
      {
        planned: ['InvalidVolume', 'ContentMissing'],
        states: ['blocked InvalidVolume', 'blocked ContentMissing'],
      },
    ],
    [
      'missing',
      {
        planned: ['ContentMissing', 'ContentMissing'],
        states: ['blocked ContentMissing', 'blocked ContentMissing'],
      },
    ],
    ['optional', { planned: ['free', 'free'], states: ['done', 'done'], machinery: PUBLISHED, seen: {} }],
  ])('bad input: %s', async (kind, want) => {
    expect(await run(kind)).toEqual(want)
  })

  it('an object that goes meanwhile fails its volume, of which nothing is left', async () => {
    expect(await run('gone')).toEqual({
      codes: [
        'ContentMissing volume conf: ConfigMap default/cm does not exist',
        'ContentMissing volume pass: Secret default/s does not exist',
      ],
      left: false,
      mounts: 0,
    })
  })
})
