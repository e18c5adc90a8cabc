import { readFileSync } from 'node:fs'
import { type StoredObject, typeOfKind } from './resource-types.ts'

/** Arrays of a snapshot's `api` section, and the kind of their objects. */
const SECTIONS: Readonly<Record<string, string>> = {
  node: 'Node',
  pods: 'Pod',
  persistentVolumeClaims: 'PersistentVolumeClaim',
  persistentVolumes: 'PersistentVolume',
  volumeAttachments: 'VolumeAttachment',
  csiDrivers: 'CSIDriver',
  csiNode: 'CSINode',
  configMaps: 'ConfigMap',
  secrets: 'Secret',
}

/** Reads objects from a NodeSnapshot, from its `api` section alone, from a List, or from one object. */
export function loadData(file: string): StoredObject[] {
  return objectsIn(JSON.parse(readFileSync(file, 'utf8')))
}

function objectsIn(document: unknown): StoredObject[] {
  if (Array.isArray(document)) return document.flatMap(objectsIn)
  const fields = document as Record<string, unknown>
  if (fields.kind === 'NodeSnapshot') return objectsIn(fields.api)
  if (typeof fields.kind === 'string' && Array.isArray(fields.items)) return fields.items.flatMap(objectsIn)
  if (typeof fields.kind === 'string' && typeOfKind(fields.kind)) return [fields as unknown as StoredObject]
  return Object.entries(SECTIONS).flatMap(([section, kind]) => {
    const value = fields[section] ?? []
    return (Array.isArray(value) ? value : [value]).map((object: StoredObject) => recorded({ ...object, kind }))
  })
}

/** A snapshot's digests are not part of the API's object. */
function recorded(object: StoredObject & { digests?: unknown }): StoredObject {
  const { digests: _, ...rest } = object
  return rest
}
