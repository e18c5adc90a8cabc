/** What `volctl version` prints, as others read it. */
import { about } from '../json/json-schema.ts'
import { matching, object, oneOf, type ShapeOf, text } from '../json/shape.ts'
import { VERSIONS_HERE } from '../node/versions-here.ts'

const minor = matching(/^1\.[0-9]+$/, 'a minor version')

export const versionShape = object({
  apiVersion: oneOf('volctl.io/v1'),
  kind: oneOf('Version'),
  volctl: text,
  commit: about(
    'The commit of the build; `unknown` where the source names none, with `-dirty` where files differ from it.',
    matching(/^([0-9a-f]{40}(-dirty)?|unknown)$/, 'a commit'),
  ),
  node: about('Version of the Node.js that runs volctl.', text),
  platform: about('As Node.js names it: linux.', text),
  arch: about('As Node.js names it: x64, arm64.', text),
  kubernetes: about('Versions of the kubelets that volctl was tested with.', object({ first: minor, last: minor })),
  ...VERSIONS_HERE,
})

export interface VersionDocument extends ShapeOf<typeof versionShape> {}
