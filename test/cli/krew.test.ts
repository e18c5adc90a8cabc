/** krew's manifest by the rules of its validation and of its index: fields, names, sums, and paths that stay in the plugin's folder. */
import { Ajv } from 'ajv'
import { load } from 'js-yaml'
import { expect, it } from 'vitest'
import pjson from '../../package.json' with { type: 'json' }
import { krewManifest } from '../../scripts/package.ts'

const SUMS = { x64: 'a'.repeat(64), arm64: 'b'.repeat(64) }

const text = { type: 'string', minLength: 1 }
/** In the folder of the plugin. */
const inside = { type: 'string', pattern: '^(?!/)(?!.*\\.\\./).+$' }

function closed(properties: Record<string, object>, optional: readonly string[] = []): object {
  const required = Object.keys(properties).filter((name) => !optional.includes(name))
  return { type: 'object', additionalProperties: false, properties, required }
}

const SCHEMA = closed({
  apiVersion: { const: 'krew.googlecontainertools.github.com/v1alpha2' },
  kind: { const: 'Plugin' },
  metadata: closed({ name: { const: 'volctl' } }),
  spec: closed(
    {
      // A semantic version with the v.
      version: { type: 'string', pattern: '^v\\d+\\.\\d+\\.\\d+(-[0-9A-Za-z.-]+)?$' },
      homepage: { type: 'string', pattern: '^https://' },
      // The index takes no more than 50 characters.
      shortDescription: { type: 'string', pattern: '^[^\\n]{1,50}$' },
      description: text,
      caveats: text,
      platforms: {
        type: 'array',
        minItems: 1,
        items: closed({
          selector: closed({
            matchLabels: closed({
              os: { enum: ['linux', 'darwin', 'windows'] },
              arch: { enum: ['amd64', 'arm64', 'arm'] },
            }),
          }),
          uri: { type: 'string', pattern: '^https://.*\\.(tar\\.gz|zip)$' },
          sha256: { type: 'string', pattern: '^[a-f0-9]{64}$' },
          bin: inside,
          files: { type: 'array', minItems: 1, items: closed({ from: inside, to: inside }) },
        }),
      },
    },
    ['caveats'],
  ),
})

interface Manifest {
  readonly spec: {
    readonly version: string
    readonly platforms: readonly {
      readonly uri: string
      readonly sha256: string
      readonly bin: string
      readonly files: readonly { readonly from: string; readonly to: string }[]
    }[]
  }
}

const manifest = load(krewManifest(pjson.version, SUMS)) as Manifest

it('has the fields that krew knows, and no other', () => {
  const validate = new Ajv({ strict: false }).compile(SCHEMA)
  validate(manifest)
  expect(validate.errors ?? []).toEqual([])
  expect(manifest.spec.version).toBe(`v${pjson.version}`)
})

it('names the tarball of each machine, with its sum and the executable in it', () => {
  const folders = ['x64', 'arm64'].map((arch) => `volctl-${pjson.version}-linux-${arch}`)
  expect(manifest.spec.platforms.map(({ uri, sha256 }) => [uri.split('/').at(-1), sha256])).toEqual([
    [`${folders[0]}.tar.gz`, SUMS.x64],
    [`${folders[1]}.tar.gz`, SUMS.arm64],
  ])
  for (const [index, { bin, files }] of manifest.spec.platforms.entries()) {
    expect(files.map(({ from, to }) => `${to}/${from.split('/').at(-1)}`)).toContain(bin)
    expect(files.every(({ from }) => from.startsWith(`${folders[index]}/`))).toBe(true)
  }
})

it.each(['', 'SHA256_X64', 'A'.repeat(64)])('refuses "%s" as a sum', (sum) => {
  expect(() => krewManifest(pjson.version, { ...SUMS, x64: sum })).toThrow('not a SHA-256')
})
