/** Block devices as Linux shows them in sysfs and /dev, made as files and links below a directory. */
import { mkdirSync, readlinkSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { type BlockTree, sysfsBlockTree } from '../../src/core/linux/block/sysfs-block-tree.ts'

export interface RecordedDevice {
  readonly name: string
  readonly dev: string
  /** Of a partition. */
  readonly disk?: string
  readonly uuid?: string
  readonly slaves?: readonly string[]
}

/**
 * Links in /sys/block and /sys/class/block, holders and slaves in both directions, as Linux 6.1 has them. Called again, it adds to
 * what is there.
 *
 * @param byId names of udev's links, and the kernel's names of their targets
 */
export function recordDisks(
  sys: string,
  devices: readonly RecordedDevice[],
  byId: Readonly<Record<string, string>> = {},
): BlockTree {
  const at = ({ name, disk }: RecordedDevice): string =>
    `${sys}/devices/${disk === undefined ? name : `${disk}/${name}`}`
  const link = (to: string, path: string): void => {
    mkdirSync(dirname(path), { recursive: true })
    symlinkSync(to, path)
  }
  for (const device of devices) {
    const { name, dev, disk, uuid } = device
    for (const directory of ['holders', 'slaves']) mkdirSync(`${at(device)}/${directory}`, { recursive: true })
    writeFileSync(`${at(device)}/dev`, `${dev}\n`)
    if (disk !== undefined) writeFileSync(`${at(device)}/partition`, '1\n')
    if (uuid !== undefined) {
      mkdirSync(`${at(device)}/dm`)
      writeFileSync(`${at(device)}/dm/uuid`, `${uuid}\n`)
    }
    if (disk === undefined) link(at(device), `${sys}/block/${name}`)
    link(at(device), `${sys}/class/block/${name}`)
    link(at(device), `${sys}/dev/block/${dev}`)
  }
  for (const device of devices) {
    for (const slave of device.slaves ?? []) {
      const below = readlinkSync(`${sys}/class/block/${slave}`)
      link(below, `${at(device)}/slaves/${slave}`)
      link(at(device), `${below}/holders/${device.name}`)
    }
  }
  const files = `${sys}/dev-files`
  for (const { name } of devices) {
    mkdirSync(files, { recursive: true })
    writeFileSync(`${files}/${name}`, '')
  }
  for (const [id, name] of Object.entries(byId)) link(`../../${name}`, `${files}/disk/by-id/${id}`)
  return sysfsBlockTree(sys, files)
}
