/** S33: what volctl writes goes into a new file of its own, never through what somebody else has put there. */
import { beforeAll, describe, expect, it } from 'vitest'
import { inNamespace } from '../../helpers/in-namespace.ts'
import { noBlockDevices, noRoot } from '../../helpers/namespace.ts'
import type { Report } from './output-files.worker.ts'

const WORKER = new URL('./output-files.worker.ts', import.meta.url)
const COMMANDS = ['snapshot', 'plan'] as const

const TRAPS = [
  "another user's link, in a directory for all",
  "another user's link to nothing, in a directory for all",
  "another user's link, in his directory",
  "another user's link to nothing, in his directory",
  "below another user's link to a directory, in a directory for all",
  "below another user's link to a directory, in his directory",
  "another user's FIFO, which he reads",
  "another user's FIFO in his directory, which he reads",
]
const HELD = "another user's plain file, which he holds open"
const HARD_LINKS = [
  "a hard link to root's file, in another user's directory",
  "a hard link to root's file, in a directory for all",
]
const DEVICES = ['a loop device', 'a link to a loop device', 'a device node of a loop device, anywhere']

const pairs = (names: readonly string[]) => COMMANDS.flatMap((command) => names.map((name) => ({ command, name })))

const REFUSED = { status: 1, ended: 'itself', said: 'one line', changed: [] }
const UNTOUCHED = { ended: 'itself', changed: [] }

describe.skipIf(noRoot !== undefined)(
  `where volctl is told to write${noRoot === undefined ? '' : ` (${noRoot})`}`,
  () => {
    let traps: Report
    let hardLinks: Report
    beforeAll(async () => {
      traps = await inNamespace<Report>(WORKER, 'traps')
      hardLinks = await inNamespace<Report>(WORKER, 'hardLinks')
    })

    it.each(pairs(TRAPS))('S33: $command writes nothing to $name', ({ command, name }) => {
      expect(traps[command][name]).toMatchObject(REFUSED)
    })

    it.each(pairs([HELD]))('S33: $command does not write into $name', ({ command, name }) => {
      expect(traps[command][name]).toMatchObject(UNTOUCHED)
      expect([0, 1]).toContain(traps[command][name]?.status)
    })

    it.each(pairs(HARD_LINKS))('S33: $command leaves what has another name alone: $name', ({ command, name }) => {
      expect(hardLinks[command][name]).toMatchObject(UNTOUCHED)
      expect([0, 1]).toContain(hardLinks[command][name]?.status)
    })

    describe.skipIf(noBlockDevices !== undefined)(
      `block devices${noBlockDevices === undefined ? '' : ` (${noBlockDevices})`}`,
      () => {
        let devices: Report
        beforeAll(async () => {
          devices = await inNamespace<Report>(WORKER, 'devices')
        })

        it.each(pairs(DEVICES))('S33: $command writes nothing into $name', ({ command, name }) => {
          expect(devices[command][name]).toMatchObject(REFUSED)
        })
      },
    )

    it('control: plain files, standard output and /dev/null are written to', async () => {
      const wrote = (kind: string) => ({ status: 0, kind, mode: '600', wrote: true })
      expect(await inNamespace(WORKER, 'good')).toEqual({
        ...Object.fromEntries(
          ['a new file', 'a file that is there', 'a new file in a directory for all'].flatMap((name) => [
            [`snapshot: ${name}`, wrote('NodeSnapshot')],
            [`plan: ${name}`, wrote('Plan')],
          ]),
        ),
        '-': { status: 0, kind: 'NodeSnapshot', stderr: '' },
        '/dev/stdout': { status: 0, kind: 'NodeSnapshot', stderr: '' },
        '/dev/null': { status: 0, kind: '', stderr: '' },
      })
    })
  },
)
