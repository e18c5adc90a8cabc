/** Whose a finding is, as JSON: one of the kinds of `plan/subject.ts`. */
import { about, named } from '../trust/json-schema.ts'
import { fail, list, object, oneOf, optional, path, type Shape, schemaOf, text, withSchema } from '../trust/shape.ts'
import type { Subject } from './subject.ts'

const row = about(
  'A volume: its unique name, else its plugin and pod, else its path; in a cluster\'s plan "NODE UNIQUE-NAME", else "NODE va/NAME". The same for the same state.',
  text,
)

const fields = object({
  row: optional(row),
  pod: optional(about("UID: one pod's part of the volume; without one, the pod as a whole.", text)),
  driver: optional(about('A CSI driver.', text)),
  attachment: optional(about('A VolumeAttachment that is of no volume here.', text)),
  path: optional(about('Of no volume.', path)),
  node: optional(oneOf(true as const)),
  rows: optional(about('A volume on each of these nodes.', list(row))),
  claim: optional(about('namespace/name', text)),
  persistentVolume: optional(about('On `nodes`, to which it is attached.', text)),
  nodes: optional(list(text)),
  list: optional(about('A list of the API, by its plural name.', text)),
  api: optional(oneOf(true as const)),
})

export const subject: Shape<Subject> = named(
  'subject',
  about(
    'Whose it is.',
    withSchema(
      (value, at) => {
        const found = fields(value, at)
        return Object.keys(found).length === 0 ? fail(at, 'the subject of a finding', value) : (found as Subject)
      },
      (defs) => ({ ...schemaOf(fields, defs), minProperties: 1 }),
    ),
  ),
)
