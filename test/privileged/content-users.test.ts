/** S12, S13: the data of a pod that is gone stays while something uses it under another name. */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { release } from 'node:os'
import { describe, expect, it } from 'vitest'
import { inSameNamespace } from '../helpers/in-namespace.ts'
import { noBlockDevices, noMounts, noRoot, noSystemCalls } from '../helpers/namespace.ts'

const WORKER = new URL('./workers/content-users.ts', import.meta.url)

interface Found {
  readonly plan: string
  readonly apply: string
  readonly message: string
  readonly unhurt: boolean
  readonly hurt: boolean
}

const noBindfs = spawnSync('bindfs', ['--version']).status === 0 ? undefined : 'there is no bindfs'

/** Without a loop device (CONFIG_EROFS_FS_BACKED_BY_FILE). */
const noErofs =
  readFileSync('/proc/filesystems', 'utf8').includes('erofs') && isFrom(6, 12)
    ? undefined
    : 'this kernel mounts no EROFS by its file'

function isFrom(major: number, minor: number): boolean {
  const [a = 0, b = 0] = release()
    .split('.')
    .map((part) => Number.parseInt(part, 10))
  return a > major || (a === major && b >= minor)
}

const cannot: Readonly<Record<string, string | undefined>> = {
  loop: noBlockDevices,
  loopFromNamespace: noBlockDevices,
  swap: noRoot,
  chroot: noSystemCalls,
  image: noSystemCalls ?? noErofs,
  imageFromNamespace: noSystemCalls ?? noErofs,
  bindfs: noBindfs,
}

const SHOWN_BY_TABLE = [
  'bind',
  'bindOfDirectory',
  'bindOfFile',
  'lower',
  'lowerData',
  'upper',
  'work',
  'lowerWithColon',
  'loop',
  'hostPath',
]

describe.skipIf(noRoot !== undefined)(
  `S12: content that is in use${noRoot === undefined ? '' : ` (${noRoot})`}`,
  () => {
    it.each<{ use: string; by: string; code?: string }>([
      { use: 'bind', by: 'the mount on /out' },
      { use: 'bindOfDirectory', by: 'the mount on /out' },
      { use: 'bindOfFile', by: 'the mount on /out-file' },
      { use: 'bindInNamespace', by: '/out in the mount namespace of sh' },
      { use: 'bindOfFileInNamespace', by: '/f in the mount namespace of sh' },
      { use: 'mountedOnInNamespace', by: '/v/sub in the mount namespace of sh' },
      { use: 'lower', by: 'lowerdir' },
      { use: 'lowerData', by: 'lowerdir' },
      { use: 'upper', by: 'the overlay on /out' },
      { use: 'work', by: 'workdir' },
      { use: 'lowerWithColon', by: 'lowerdir' },
      { use: 'lowerByLink', by: '/link/sub' },
      { use: 'lowerRelative', by: 'a path that is not absolute' },
      { use: 'lowerRelativeFromAbove', by: 'a path that is not absolute' },
      { use: 'overlayInNamespace', by: 'in the mount namespace of sh' },
      { use: 'overlayOnBindInNamespace', by: '/bound in the mount namespace of sh' },
      { use: 'overlayOnBindThatIsGone', by: 'the overlay on /out (lowerdir /bound', code: 'UsersUnknown' },
      { use: 'overlayByDescriptor', by: 'the overlay on /out (lowerdir /', code: 'UsersUnknown' },
      { use: 'namespaceByDescriptor', by: 'has a mount namespace open that no process is in', code: 'UsersUnknown' },
      { use: 'namespaceByMount', by: 'that no process is in is kept by /kept', code: 'UsersUnknown' },
      { use: 'loop', by: '/dev/loop' },
      { use: 'loopFromNamespace', by: '/dev/loop' },
      { use: 'swap', by: 'the swap file' },
      { use: 'program', by: ', map)' },
      { use: 'library', by: ', map)' },
      { use: 'read', by: ', file)' },
      { use: 'write', by: ', file)' },
      { use: 'readTooDeep', by: ', file)' },
      { use: 'cwdTooDeep', by: ', cwd)' },
      { use: 'cwd', by: ', cwd)' },
      { use: 'cwdInNamespace', by: ', cwd)' },
      { use: 'chroot', by: 'root' },
      { use: 'openInDetached', by: ', file)' },
      { use: 'directoryInDetached', by: ', file)' },
      { use: 'cwdInDetached', by: ', cwd)' },
      { use: 'cwdBelowInDetached', by: ', cwd)' },
      { use: 'libraryInDetached', by: ', map)' },
      { use: 'export', by: 'the NFS export of ' },
      { use: 'exportByLink', by: 'the NFS export of /link/sub' },
      { use: 'socket', by: 'the unix socket that is bound to /link/volctl.sock' },
      { use: 'socketByRelativePath', by: 'the unix socket that is bound to volctl.sock' },
      { use: 'socketInDetached', by: 'the unix socket that is bound to /out/volctl.sock' },
      { use: 'image', by: 'the EROFS mount on /out of /link/image' },
      { use: 'imageFromNamespace', by: 'the EROFS mount on /out of /bound/image' },
      { use: 'hostPath', by: 'the hostPath /kubelet/pods/' },
      { use: 'hostPathByLink', by: 'the hostPath /link/sub of pod default/other' },
      { use: 'bindfs', by: 'bindfs' },
    ])('$use: refused and named, and hurt where nobody asks', async ({ use, by, code = 'HeldBy' }) => {
      const why = cannot[use]
      if (why !== undefined) return console.warn(`${use} was not tried: ${why}`)
      const { message, ...found } = await inSameNamespace<Found>(WORKER, 'use', [use])
      const atPlan = SHOWN_BY_TABLE.includes(use)
      expect({ ...found, message }).toEqual({
        plan: atPlan ? 'HeldBy' : 'planned',
        apply: atPlan ? 'blocked HeldBy' : `refused ${code}`,
        message: expect.stringContaining(by),
        unhurt: true,
        hurt: true,
      })
    })
  },
)

describe.skipIf(noMounts !== undefined)(
  `S13: memory that is in use${noMounts === undefined ? '' : ` (${noMounts})`}`,
  () => {
    // What is bound keeps the memory: nothing is lost, and somebody still works on it.
    it.each([
      { use: 'bind', plan: 'HeldBy', apply: 'blocked HeldBy' },
      { use: 'bindOfDirectory', plan: 'HeldBy', apply: 'blocked HeldBy' },
      { use: 'lower', plan: 'HeldBy', apply: 'blocked HeldBy' },
      { use: 'bindInNamespace', plan: 'planned', apply: 'refused HeldBy' },
      { use: 'overlayInNamespace', plan: 'planned', apply: 'refused HeldBy' },
      { use: 'read', plan: 'planned', apply: 'failed HeldBy' },
    ])('$use: $apply', async ({ use, plan, apply }) => {
      expect(await inSameNamespace<Found>(WORKER, 'use', [use, 'memory'])).toMatchObject({
        plan,
        apply,
        unhurt: true,
      })
    })
  },
)

describe.skipIf(noMounts !== undefined)(
  `S12: content that nobody uses${noMounts === undefined ? '' : ` (${noMounts})`}`,
  () => {
    it.each(['disk', 'memory'])('goes with its pod, from %s', async (medium) => {
      const found = await inSameNamespace(WORKER, 'nobody', [medium])
      expect(found).toEqual({ states: ['done', 'done'], left: false })
    })
  },
)
