/** flexVolume drivers that are installed on this node, in the directory where its kubelet looks for them (P85). */
import { accessSync, constants, readdirSync } from 'node:fs'
import { posix } from 'node:path'
import { errnoOf } from '../errors/errors.ts'
import { compareText } from '../lang/compare-text.ts'
import { defined } from '../lang/defined.ts'
import type { FlexDriver } from '../model/snapshot.ts'
import { unescapeQualifiedName } from '../names/volume-names.ts'
import { checkTrusted, NotTrusted } from '../trust/files.ts'
import type { LocatedNode } from './locate-node.ts'

const DEFAULT_DIRECTORY = '/usr/libexec/kubernetes/kubelet-plugins/volume/exec'

export function flexDrivers({ places, config, kubelet }: LocatedNode): readonly FlexDriver[] | undefined {
  // A test's host has its own drivers, or none: never this machine's.
  if (places !== undefined) return places.volumePluginDir === undefined ? [] : driversIn(places.volumePluginDir)
  const directory = config.volumePluginDir ?? DEFAULT_DIRECTORY
  return driversIn(posix.resolve(kubelet?.workingDirectory ?? '/', directory))
}

/** @returns undefined if the directory exists but cannot be read, so that the drivers are unknown */
export function driversIn(directory: string): readonly FlexDriver[] | undefined {
  let names: string[]
  try {
    names = readdirSync(directory, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
      .map((entry) => entry.name)
  } catch (error) {
    return errnoOf(error) === 'ENOENT' ? [] : undefined
  }
  return names.toSorted(compareText).map((name) => {
    // VENDOR~DRIVER/DRIVER; without a vendor the program has the directory's name.
    const program = name.slice(name.indexOf('~') + 1)
    const executable = posix.join(directory, name, program)
    const error = whyNotExecutable(executable)
    return { name: unescapeQualifiedName(name), executable, ...defined({ error }) }
  })
}

function whyNotExecutable(path: string): string | undefined {
  try {
    // The driver will be run as root: nobody else may have put it there (S33).
    if (!checkTrusted(path).isFile()) return 'it is not a file'
    accessSync(path, constants.X_OK)
    return undefined
  } catch (error) {
    return error instanceof NotTrusted ? error.why : (errnoOf(error) ?? 'cannot be read')
  }
}
