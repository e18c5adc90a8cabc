/** The commands' metadata as oclif's manifest holds it: what the bundle inlines and the manual pages print. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Command, Interfaces } from '@oclif/core'
import { cacheCommand } from '../node_modules/@oclif/core/lib/util/cache-command.js'
import pjson from '../package.json' with { type: 'json' }
import { makeMessages } from './proto.ts'

const commandsDir = join(import.meta.dirname, '..', 'src', 'commands')

export async function commandManifest(): Promise<Interfaces.Manifest> {
  makeMessages()
  const commands: Record<string, Command.Cached> = {}
  const files = readdirSync(commandsDir)
    .filter((file) => file.endsWith('.ts'))
    .toSorted()
  for (const file of files) {
    const id = file.replace(/\.ts$/, '')
    const { default: command } = (await import(join(commandsDir, file))) as { default: Command.Class }
    commands[id] = { ...(await cacheCommand(command)), id, pluginName: pjson.name, pluginType: 'core' }
  }
  return { commands, version: pjson.version }
}
