/**
 * What is wrong with a snapshot's shape, in one line, or undefined. Not a full schema: only what the planner relies on
 * without looking, so that a damaged file gives a message and not a crash.
 */
import { plainPath } from '../path-within.ts'
import { shapeDefect } from './snapshot-shape.ts'

type Fields = Readonly<Record<string, unknown>>

const TEXTS = ['capturedAt', 'nodeName', 'rootDir'] as const
const OPTIONAL_TEXTS = ['mountinfo', 'bootID', 'bootTime', 'machineID', 'systemUUID', 'kernelVersion'] as const
const LISTS = [
  'tree',
  'processes',
  'deadMounts',
  'blockDevices',
  'csiSockets',
  'flexDrivers',
  'lazilyDetached',
  'notBelieved',
  'hostPaths',
] as const
const OBJECTS = ['api', 'runtime', 'staticPods', 'kubelet'] as const
const API_LISTS = [
  'pods',
  'persistentVolumeClaims',
  'persistentVolumes',
  'volumeAttachments',
  'csiDrivers',
  'configMaps',
  'secrets',
  'errors',
] as const

export function snapshotDefect(document: object): string | undefined {
  const fields = document as Fields
  for (const name of TEXTS) {
    if (typeof fields[name] !== 'string' || fields[name] === '') return `${name} is missing`
  }
  if (!String(fields.rootDir).startsWith('/')) return 'rootDir is no absolute path'
  if (plainPath(String(fields.rootDir)) === '/') return 'rootDir is no directory of its own'
  for (const name of OPTIONAL_TEXTS)
    if (fields[name] !== undefined && typeof fields[name] !== 'string') return `${name} is no text`
  for (const name of LISTS) if (fields[name] !== undefined && !Array.isArray(fields[name])) return `${name} is no list`
  for (const name of OBJECTS) if (fields[name] !== undefined && !isObject(fields[name])) return `${name} is no object`
  return (
    treeDefect(fields.tree) ??
    apiDefect(fields.api) ??
    listDefect(fields, 'runtime', 'pods') ??
    listDefect(fields, 'staticPods', 'manifests') ??
    shapeDefect(document)
  )
}

/** Of an entry, what is read without another look. */
const ENTRY_TEXTS = ['target', 'content', 'error'] as const

function treeDefect(tree: unknown): string | undefined {
  const entries = (tree ?? []) as readonly unknown[]
  const wrong = entries.findIndex(
    (entry) => !isObject(entry) || typeof entry.path !== 'string' || typeof entry.type !== 'string',
  )
  if (wrong !== -1) return `tree[${wrong}] has no path or no type`
  for (const [index, entry] of (entries as readonly Fields[]).entries()) {
    const field = ENTRY_TEXTS.find((name) => entry[name] !== undefined && typeof entry[name] !== 'string')
    if (field !== undefined) return `tree[${index}].${field} is no text`
  }
  return undefined
}

function apiDefect(api: unknown): string | undefined {
  if (api === undefined) return undefined
  for (const name of API_LISTS) {
    const list = (api as Fields)[name]
    if (!Array.isArray(list)) return `api.${name} is missing`
    if (name === 'errors') {
      const odd = list.findIndex((error) => typeof error !== 'string' && !isObject(error))
      if (odd !== -1) return `api.errors[${odd}] tells nothing`
      continue
    }
    const wrong = list.findIndex(
      (object) => !isObject(object) || !isObject(object.metadata) || typeof object.metadata.name !== 'string',
    )
    if (wrong !== -1) return `api.${name}[${wrong}] has no metadata.name`
  }
  const podWithoutSpec = ((api as Fields).pods as readonly Fields[]).findIndex((pod) => !isObject(pod.spec))
  return podWithoutSpec === -1 ? undefined : `api.pods[${podWithoutSpec}] has no spec`
}

function listDefect(fields: Fields, section: string, list: string): string | undefined {
  const value = fields[section]
  return value === undefined || Array.isArray((value as Fields)[list]) ? undefined : `${section}.${list} is missing`
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
