/**
 * A fabricated sysfs and /dev with iSCSI sessions, SCSI disks and multipath maps, and stand-ins of the programs that
 * change them: what they do to the tree is what the kernel and open-iscsi do.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import type { CommandResult } from '../../src/core/trust/programs.ts'
import { recordDisks } from '../block/recorded-disks.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'
import type { FakeHost } from './fake-host.ts'

export interface SessionOptions {
  readonly iqn: string
  /** ADDRESS:PORT of the connection, and what was asked for where that differs. */
  readonly portal: string
  readonly persistent?: string
  readonly iface?: string
}

export class FakeStorage {
  readonly sys = temporaryDirectory()
  /** Instead of what a program would do: its answer. */
  readonly answers = new Map<string, Partial<CommandResult>>()
  readonly #before = new Map<string, () => unknown>()
  #nextMinor = 16
  #nextHost = 20

  constructor(host: FakeHost) {
    host.blockTree = recordDisks(this.sys, [])
    const { deviceNumber } = host
    host.deviceNumber = (path) =>
      deviceNumber(path) ?? host.blockTree.node(host.blockTree.nameOfFile(path) ?? 'none')?.dev
    host.programs = (program, args, input) => {
      const happens = this.#before.get(program)
      this.#before.delete(program)
      happens?.()
      const answer = this.answers.get(program)
      if (answer !== undefined) return answer
      if (program === 'tee' && input === '1') this.removeDisk(basename(dirname(dirname(args[1] ?? ''))))
      if (program === 'multipath') this.#removeMap((args[1] ?? '').slice('/dev/'.length))
      if (program === 'iscsiadm' && args.includes('--logout')) return { status: this.#logOut(args) }
      return {}
    }
  }

  /** @param luns disk names by LUN */
  session(
    id: number,
    { iqn, portal, persistent, iface = 'default' }: SessionOptions,
    luns: Record<number, string>,
  ): this {
    const at = `${this.sys}/class/iscsi_host/host${id}/device/session${id}`
    this.#write(`${at}/iscsi_session/session${id}/targetname`, `${iqn}\n`)
    this.#write(`${at}/iscsi_session/session${id}/ifacename`, `${iface}\n`)
    const connection = `${at}/connection${id}:0/iscsi_connection/connection${id}:0`
    for (const [kind, value] of [
      ['', portal],
      ['persistent_', persistent ?? portal],
    ] as const) {
      const [, address = '', port = ''] = /^(.*):(\d+)$/.exec(value) ?? []
      this.#write(`${connection}/${kind}address`, `${address.replace(/^\[|\]$/g, '')}\n`)
      this.#write(`${connection}/${kind}port`, `${port}\n`)
    }
    mkdirSync(`${at}/target${id}:0:0`, { recursive: true })
    for (const [lun, disk] of Object.entries(luns)) this.lun(id, Number(lun), disk)
    return this
  }

  /** A LUN that comes to a session. */
  lun(id: number, lun: number, disk: string): this {
    const device = `${this.sys}/class/iscsi_host/host${id}/device/session${id}/target${id}:0:0/${id}:0:0:${lun}`
    mkdirSync(`${device}/block/${disk}`, { recursive: true })
    this.disk(disk, { device })
    return this
  }

  /** A LUN that is no disk. */
  tape(id: number, lun: number, dev: string, driver = 'st'): this {
    const device = `${this.sys}/class/iscsi_host/host${id}/device/session${id}/target${id}:0:0/${id}:0:0:${lun}`
    this.#write(`${device}/scsi_tape/st0/dev`, `${dev}\n`)
    symlinkSync(`/bus/scsi/drivers/${driver}`, `${device}/driver`)
    return this
  }

  /** The generic device of a disk. */
  generic(disk: string, dev: string): this {
    this.#write(`${this.sys}/block/${disk}/device/scsi_generic/sg0/dev`, `${dev}\n`)
    return this
  }

  /** @returns its "major:minor" */
  disk(name: string, { scsi = true, device = undefined as string | undefined } = {}): string {
    const dev = `8:${this.#nextMinor}`
    recordDisks(this.sys, [{ name, dev }])
    this.#nextMinor += 16
    if (device !== undefined) symlinkSync(device, `${this.sys}/block/${name}/device`)
    if (scsi) this.#write(`${this.sys}/block/${name}/device/delete`, '')
    return dev
  }

  /** A path to LUN 1 behind a Fibre Channel port, by a host of its own unless an address is given. @returns its number */
  fc(name: string, { address = `${this.#nextHost++}:0:0:1`, port = '0x50060e801049cfd1', wwid = '' } = {}): string {
    const device = `${this.sys}/devices/${address}`
    mkdirSync(device, { recursive: true })
    if (wwid !== '') this.#write(`${device}/wwid`, `${wwid}\n`)
    const target = address.split(':').slice(0, 3).join(':')
    this.#write(`${this.sys}/class/fc_transport/target${target}/port_name`, `${port}\n`)
    return this.disk(name, { device })
  }

  /** The kernel is at work on what a path of this host failed with. */
  recovering(host: number): this {
    this.#write(`${this.sys}/class/scsi_host/host${host}/state`, 'recovery\n')
    return this
  }

  partition(disk: string, name: string, dev: string): this {
    recordDisks(this.sys, [{ name, dev, disk }])
    return this
  }

  /** A device-mapper map over these disks. */
  map(name: string, slaves: readonly string[], uuid = 'mpath-3600'): string {
    const dev = `252:${name.slice('dm-'.length)}`
    recordDisks(this.sys, [{ name, dev, uuid, slaves }])
    return dev
  }

  link(directory: 'by-path' | 'by-id', link: string, name: string): this {
    mkdirSync(`${this.sys}/dev-files/disk/${directory}`, { recursive: true })
    symlinkSync(`../../${name}`, `${this.sys}/dev-files/disk/${directory}/${link}`)
    return this
  }

  /** What happens when this program is first run, before it does anything. */
  before(program: string, happens: () => unknown): void {
    this.#before.set(program, happens)
  }

  /** The session's name now is that of one to another target. */
  retarget(id: number, iqn: string): void {
    this.#write(
      `${this.sys}/class/iscsi_host/host${id}/device/session${id}/iscsi_session/session${id}/targetname`,
      `${iqn}\n`,
    )
  }

  renumber(name: string, dev: string): void {
    this.#write(`${this.sys}/block/${name}/dev`, `${dev}\n`)
  }

  /** Another disk of this name; where sessions have it stays. */
  readdress(name: string, address: string): void {
    mkdirSync(`${this.sys}/devices/${address}`, { recursive: true })
    rmSync(`${this.sys}/block/${name}/device`)
    symlinkSync(`${this.sys}/devices/${address}`, `${this.sys}/block/${name}/device`)
  }

  /** Its "major:minor". */
  devOf(name: string): string {
    return readFileSync(`${this.sys}/block/${name}/dev`, 'utf8').trim()
  }

  disks(): string[] {
    return namesIn(`${this.sys}/block`)
  }

  sessions(): string[] {
    return namesIn(`${this.sys}/class/iscsi_host`).flatMap((host) =>
      namesIn(`${this.sys}/class/iscsi_host/${host}/device`),
    )
  }

  removeDisk(name: string): void {
    this.#remove(name)
    for (const found of readdirSync(this.sys, { recursive: true, encoding: 'utf8' })) {
      if (found.endsWith(`/block/${name}`)) rmSync(dirname(dirname(`${this.sys}/${found}`)), { recursive: true })
    }
  }

  #removeMap(name: string): void {
    for (const disk of namesIn(`${this.sys}/block/${name}/slaves`)) rmSync(`${this.sys}/block/${disk}/holders/${name}`)
    this.#remove(name)
  }

  #remove(name: string): void {
    for (const path of [`dev/block/${this.devOf(name)}`, `block/${name}`, `class/block/${name}`, `devices/${name}`])
      rmSync(`${this.sys}/${path}`, { recursive: true })
  }

  /** As open-iscsi: by whole names, 21 where it knows of none. */
  #logOut(args: readonly string[]): number {
    const after = (flag: string): string | undefined => args[args.indexOf(flag) + 1]
    const iface = args.includes('-I') ? after('-I') : undefined
    const mine = recordDisks(this.sys, [])
      .iscsiSessions()
      .filter(
        (session) =>
          session.iqn === after('-T') &&
          session.portals.includes(after('-p') ?? '') &&
          (iface === undefined || session.iface === iface),
      )
    for (const { name, luns } of mine) {
      for (const disk of luns.flatMap((each) => each.disks)) this.removeDisk(disk)
      rmSync(`${this.sys}/class/iscsi_host/host${name.slice('session'.length)}`, { recursive: true })
    }
    return mine.length > 0 ? 0 : 21
  }

  #write(path: string, text: string): void {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory).sort()
  } catch {
    return []
  }
}
