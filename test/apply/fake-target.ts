/** Stand-ins of open-iscsi, util-linux and SCSI hosts over a fabricated sysfs, for volumes that are brought up. */
import { basename, dirname } from 'node:path'
import type { CommandResult } from '../../src/core/trust/programs.ts'
import type { FakeHost } from './fake-host.ts'
import type { FakeStorage } from './fake-storage.ts'

interface Portal {
  readonly iqn: string
  /** Of the session that a log-in makes, and of its SCSI host. */
  readonly id: number
  /** ADDRESS:PORT of its connection, where that is not the portal. */
  readonly address?: string
  /** Disk names by LUN; each comes when its host is told to look for it. */
  readonly luns: Readonly<Record<number, string>>
  /** Does udev link the disks. */
  readonly linked?: boolean
}

export class FakeTarget {
  /** Instead of what a program would do: by a part of its command line. */
  readonly answers = new Map<string, Partial<CommandResult>>()
  /** What happens when any SCSI host looks for everything. */
  onRescan: () => void = () => {}
  /** What blkid says. */
  fsType = 'ext4'
  readonly #portals = new Map<string, Portal>()
  readonly #host: FakeHost
  readonly #storage: FakeStorage

  constructor(host: FakeHost, storage: FakeStorage) {
    this.#host = host
    this.#storage = storage
    const others = host.programs
    host.programs = (program, args, input) =>
      this.#answer([program, ...args].join(' ')) ?? this.#run(program, args, input) ?? others(program, args, input)
  }

  portal(portal: string, what: Portal): this {
    this.#portals.set(portal, what)
    return this
  }

  #answer(line: string): Partial<CommandResult> | undefined {
    for (const [part, answer] of this.answers) if (line.includes(part)) return answer
    return undefined
  }

  #run(program: string, args: readonly string[], input = ''): Partial<CommandResult> | undefined {
    if (program === 'iscsiadm') return this.#iscsiadm(args)
    if (program === 'tee' && args[1]?.endsWith('/scan')) return this.#scan(basename(dirname(args[1])), input)
    if (program === 'stat') return { stdout: `${this.#statOf(args.at(-1) ?? '')}\n` }
    if (program === 'readlink') return { stdout: `${args.at(-1)}\n` }
    if (program === 'blkid') return { stdout: `TYPE=${this.fsType}\n` }
    if (program === 'mount') return this.#mount(args)
    return undefined
  }

  #iscsiadm(args: readonly string[]): Partial<CommandResult> | undefined {
    if (args.includes('show')) return { stdout: IFACE }
    if (!args.includes('--login')) return undefined
    const after = (flag: string): string => args[args.indexOf(flag) + 1] ?? ''
    const found = this.#portals.get(after('-p'))
    if (found === undefined || found.iqn !== after('-T')) return { status: 8, stderr: 'iscsiadm: could not log in\n' }
    this.#storage.session(found.id, { iqn: found.iqn, portal: found.address ?? after('-p'), iface: after('-I') }, {})
    return {}
  }

  #scan(host: string, what: string): Partial<CommandResult> {
    if (what === '- - -') this.onRescan()
    const [, , lun = ''] = what.split(' ')
    for (const [portal, { iqn, id, luns, address, linked = true }] of this.#portals) {
      const disk = luns[Number(lun)]
      if (`host${id}` !== host || disk === undefined || this.#storage.disks().includes(disk)) continue
      this.#storage.lun(id, Number(lun), disk)
      const name = `ip-${(address ?? portal).replaceAll(/[[\]]/g, '')}-iscsi-${iqn}-lun-${lun}`
      const isTaken = this.#host.blockTree.links('by-path').some(({ link }) => link === name)
      if (linked && !isTaken) this.#storage.link('by-path', name, disk)
    }
    return {}
  }

  #statOf(path: string): string {
    const [major = '', minor = ''] = this.#storage.devOf(basename(path)).split(':')
    return `61b0 ${Number(major).toString(16)} ${Number(minor).toString(16)} ${path}`
  }

  #mount(args: readonly string[]): Partial<CommandResult> {
    const [source = '', target = ''] = args.slice(-2)
    if (args.some((each) => each.includes('remount'))) return {}
    const below = this.#host.mounts.findLast(({ path }) => path === source)
    const dev = below?.dev ?? this.#storage.devOf(basename(source))
    this.#host.mount(target, { dev, fsType: below?.fsType ?? args[1] ?? '', source: below?.source ?? source })
    return {}
  }
}

const IFACE = [
  '# BEGIN RECORD 2.1.8',
  'iface.iscsi_ifacename = default',
  'iface.net_ifacename = <empty>',
  'iface.transport_name = tcp',
  'iface.mtu = 0',
  '# END RECORD',
  '',
].join('\n')
