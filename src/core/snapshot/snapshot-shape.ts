/**
 * The shape of a snapshot that the planner relies on without checking: if a part is missing or of another type, a pass would
 * stop in the middle, or take what it cannot see for absent. Other fields are kept unchecked.
 */

import { plainPath } from '../files/path-within.ts'
import { about, named } from '../json/json-schema.ts'
import {
  anything,
  count,
  fail,
  flag,
  kept,
  keptList,
  keptRecord,
  needed,
  nullable,
  number,
  object,
  oneOf,
  optional,
  type Shape,
  schemaOf,
  text,
  time,
  unneeded,
  withSchema,
} from '../json/shape.ts'
import {
  attachmentShape,
  claimShape,
  configMapShape,
  csiDriverShape,
  csiNodeShape,
  leaseShape,
  nodeShape,
  podShape,
  secretDigestShape,
  volumeShape,
} from '../model/objects.ts'
import type { ApiReadError, ApiSnapshot, Insecure, NodeSnapshot } from '../model/snapshot.ts'

/** An empty text says no more than a missing one. */
const filled: Shape<string> = withSchema(
  (value, at) => (value === '' ? fail(at, 'there', undefined) : text(value, at)),
  () => ({ type: 'string', minLength: 1 }),
)

const rootDirectory: Shape<string> = withSchema(
  (value, at) => {
    const path = filled(value, at)
    if (!path.startsWith('/')) return fail(at, 'an absolute path', value)
    return plainPath(path) === '/' ? fail(at, 'a directory of its own', value) : path
  },
  () => ({ type: 'string', pattern: '^/.' }),
)

/** Other tools write them differently; an entry that volctl does not understand makes everything unknown (`readFailures`). */
const readError = withSchema(
  (value) => value,
  (defs) => schemaOf(writtenError, defs),
) as Shape<never>

/** An entry as volctl writes it. */
const writtenError = object<ApiReadError>({
  resource: text,
  namespace: optional(text),
  name: optional(text),
  status: about('HTTP status; 0: no answer came.', count),
  reason: text,
  message: text,
})

/** A word from a list that later versions may extend. */
const word = text as Shape<never>

const insecure = oneOf<Insecure>('TlsNotVerified', 'PlainHttp')

const apiShape = kept<ApiSnapshot>({
  server: unneeded(text),
  insecure,
  credential: unneeded(text),
  user: text,
  resourceVersion: text,
  node: unneeded(nullable(named('node', nodeShape))),
  pods: needed(keptList(named('pod', podShape))),
  persistentVolumeClaims: needed(keptList(named('claim', claimShape))),
  persistentVolumes: needed(keptList(named('persistentVolume', volumeShape))),
  volumeAttachments: needed(keptList(named('volumeAttachment', attachmentShape))),
  csiDrivers: needed(keptList(named('csiDriver', csiDriverShape))),
  csiNode: unneeded(nullable(named('csiNode', csiNodeShape))),
  configMaps: needed(keptList(named('configMap', configMapShape))),
  secrets: needed(keptList(named('secret', secretDigestShape))),
  errors: needed(keptList(readError)),
  lease: leaseShape,
  leaseRenewTime: text,
  clockSkewMs: number,
  podListCheck: kept({ source: unneeded(text), problem: text, insecure }),
  mayDeleteVolumeAttachments: flag,
  elsewhere: kept({
    nodes: needed(
      keptList(
        kept({
          name: needed(text),
          attached: keptList(text),
          pods: keptList(
            kept({
              namespace: needed(text),
              name: needed(text),
              uid: needed(text),
              phase: text,
              deletionTimestamp: text,
              claims: needed(keptList(text)),
            }),
          ),
          problem: text,
        }),
      ),
    ),
    problem: text,
  }),
})

const wholeSnapshot = kept<NodeSnapshot>({
  apiVersion: needed(oneOf('volctl.io/v1')),
  kind: needed(oneOf('NodeSnapshot')),
  capturedAt: needed(time),
  nodeName: needed(filled),
  rootDir: needed(rootDirectory),
  bootID: text,
  bootTime: text,
  machineID: text,
  systemUUID: text,
  kernelVersion: text,
  userNamespace: flag,
  api: apiShape,
  mountinfo: text,
  tree: keptList(
    kept({
      path: needed(text),
      type: needed(word),
      mode: text,
      uid: number,
      gid: number,
      size: number,
      dev: number,
      ino: number,
      mtime: number,
      target: text,
      realPath: text,
      content: text,
      digest: text,
      error: text,
    }),
  ),
  runtime: kept({
    source: needed(word),
    endpoint: text,
    error: text,
    pods: needed(
      keptList(
        kept({
          uid: needed(text),
          namespace: text,
          name: text,
          state: needed(text),
          containers: needed(keptList(kept({ name: unneeded(text), state: needed(text), id: text }))),
        }),
      ),
    ),
  }),
  processes: keptList(text),
  nestedProcesses: keptList(text),
  deadMounts: keptList(kept({ path: needed(text), error: unneeded(text) })),
  staticPods: kept({
    path: text,
    readable: needed(flag),
    manifests: needed(keptList(kept({ file: needed(text), namespace: unneeded(text), name: needed(text), uid: text }))),
  }),
  kubelet: kept({
    running: needed(flag),
    mayReturn: needed(flag),
    stoppedAt: text,
    stopShownBy: word,
    nodeName: text,
    nodeNameFrom: word,
    pid: number,
    unit: text,
    args: keptList(text),
    config: keptRecord(anything),
    note: text,
  }),
  blockDevices: keptList(kept({ name: needed(text), backingFile: text, readOnly: flag })),
  csiSockets: keptList(
    kept({
      path: needed(text),
      driver: text,
      endpoint: text,
      versions: keptList(text),
      capabilities: keptList(text),
      registered: needed(flag),
      error: text,
    }),
  ),
  flexDrivers: keptList(kept({ name: needed(text), executable: unneeded(text), error: text })),
  hostPaths: keptList(kept({ path: needed(text), type: word, error: text })),
  selinux: kept({ enabled: unneeded(flag), fileLabel: text, error: text }),
  notBelieved: keptList(
    kept({ what: needed(text), why: needed(text), hint: needed(text), unknown: oneOf<true>(true) }),
  ),
  lazyMemory: kept({ path: needed(text), why: needed(text) }),
  lazilyDetached: keptList(kept({ path: needed(text), dev: unneeded(text), volume: text })),
})

export const snapshotShape = about(
  'Everything that a plan is computed from: `volctl snapshot`. Of objects of the API only the fields that volctl decides by are described. Fields may be added in any version; none is removed or changes its meaning without a word in the change log.',
  wholeSnapshot,
)
