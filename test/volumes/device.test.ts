/** A plugin with a device is known by its own file: what else asks where devices lie, and whose they are, asks the plugin. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { PLUGINS } from '../../src/core/volumes/registry.ts'

const SOURCE = join(import.meta.dirname, '../../src')
/** The plugin itself, the steps of its own, and the rules between these. */
const OWN = /^core\/(?:volumes|apply\/release)\/|^core\/rules\/(?:luns|machine-facts)\.ts$/

it('nobody else knows the names of iSCSI and FC', () => {
  const knows = (file: string): boolean =>
    /\/volumes\/(?:iscsi|fc)\.ts'|'kubernetes\.io\/(?:iscsi|fc)'/.test(readFileSync(join(SOURCE, file), 'utf8'))
  expect(globSync('**/*.ts', { cwd: SOURCE }).filter((file) => !OWN.test(file) && knows(file))).toEqual([])
})

describe.each(PLUGINS.flatMap(({ name, device }) => (device === undefined ? [] : { name, device })))(
  '$name',
  ({ device }) => {
    it('no other plugin has global directories below its own', () => {
      const bases = PLUGINS.flatMap((plugin) => plugin.device?.base ?? [])
      expect(bases.filter((base) => base.startsWith(device.base))).toEqual([device.base])
    })

    it('a map directory is no global mount', () => {
      const { base, maps } = device
      if (maps === undefined || !maps.base.startsWith(`${base}/`)) return
      const levels = Array.from({ length: maps.depth }, (_, level) => `d${level}`)
      expect([maps.base.slice(base.length + 1), ...levels].join('/')).not.toMatch(device.globals)
    })
  },
)
