import { describe, expect, it } from 'vitest'
import { parseMountinfo } from '../../src/core/linux/parse-mountinfo.ts'
import { deadMounts } from '../../src/core/node/dead-mounts.ts'
import { hostPaths } from '../../src/core/node/host-paths.ts'
import { runCommand } from '../../src/core/trust/programs.ts'
import { NodeBuilder, uid } from '../helpers/node-builder.ts'

const line = (id: number, type: string, path: string) => `${id} 1 0:${id} / ${path} rw - ${type} x rw\n`

/** Each path says what its probe does. */
function command(path: string): readonly [string, ...string[]] {
  const says = path.split('/').at(-1) ?? ''
  if (says === 'hang') return ['sleep', '30']
  if (says === 'fine') return ['true']
  return ['sh', '-c', `echo "stat: cannot read: ${says.replaceAll('_', ' ')}" >&2; exit 1`]
}

/** Instead of stat(1). */
const probedBy =
  (probe: (path: string) => readonly [string, ...string[]]): typeof runCommand =>
  (_, words, deadlineMs) => {
    const [program, ...args] = probe(words.at(-1) ?? '')
    return runCommand(program, args, deadlineMs)
  }

describe('deadMounts', () => {
  it('names those that fail or do not answer, and leaves the others alone', async () => {
    const asked: string[] = []
    const table = parseMountinfo(
      line(1, 'fuse.sshfs', '/k/Transport_endpoint_is_not_connected') +
        line(2, 'nfs4', '/k/Stale_file_handle') +
        line(3, 'gpfs', '/k/hang') +
        line(4, 'kafs', '/k/fine') +
        line(5, 'fuse', '/k/Permission_denied') +
        line(6, 'tmpfs', '/k/tmp') +
        line(7, 'nfs', '/elsewhere/hang') +
        line(8, 'nfs', '/k/covered/hang') +
        line(9, 'tmpfs', '/k/covered/hang'),
    )
    const began = Date.now()
    const probe = probedBy((path) => {
      asked.push(path)
      return command(path)
    })
    const dead = await deadMounts(table, '/k', 3000, probe)
    expect(dead).toEqual([
      { path: '/k/Stale_file_handle', error: 'ESTALE' },
      { path: '/k/Transport_endpoint_is_not_connected', error: 'ENOTCONN' },
      { path: '/k/hang', error: 'Timeout' },
    ])
    expect(asked.sort()).toEqual([
      '/k/Permission_denied',
      '/k/Stale_file_handle',
      '/k/Transport_endpoint_is_not_connected',
      '/k/fine',
      '/k/hang',
    ])
    expect(Date.now() - began).toBeLessThan(60_000)
  })

  it.each([
    ['Input/output error', 'EIO'],
    ['No such device', 'ENODEV'],
    ['No such device or address', undefined],
    ['No such file or directory', undefined],
  ])('P116: "%s" shows %s', async (words, error) => {
    const table = parseMountinfo(line(1, 'nfs', '/k/v'))
    const says = (path: string) =>
      ['sh', '-c', `echo "stat: cannot read '${path}: Host is down': ${words}" >&2; exit 1`] as const
    expect(await deadMounts(table, '/k', 3000, probedBy(says))).toEqual(
      error === undefined ? [] : [{ path: '/k/v', error }],
    )
  })
})

it('S36: a path behind a mount for which no time was left is not asked', async () => {
  const node = new NodeBuilder()
  node.pod(uid(7), 'a', [{ name: 'v', hostPath: { path: '/srv/data', type: 'Directory' } }])
  const table = parseMountinfo('1 0 8:1 / / rw - ext4 a rw\n2 1 0:9 / /srv rw - nfs4 b rw\n')
  expect(await hostPaths(node.api(), table, () => false, 0)).toEqual([{ path: '/srv/data', error: 'Timeout' }])
})
