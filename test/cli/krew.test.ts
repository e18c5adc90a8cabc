/** krew's manifest: names, sums, and what is taken from the tarball. */
import { load } from 'js-yaml'
import { expect, it } from 'vitest'
import pjson from '../../package.json' with { type: 'json' }
import { krewManifest } from '../../scripts/package.ts'

const SUMS = { x64: 'a'.repeat(64), arm64: 'b'.repeat(64) }

interface Manifest {
  readonly spec: {
    readonly version: string
    readonly shortDescription: string
    readonly platforms: readonly {
      readonly uri: string
      readonly sha256: string
      readonly bin: string
      readonly files: readonly { readonly from: string; readonly to: string }[]
    }[]
  }
}

const manifest = load(krewManifest(pjson.version, SUMS)) as Manifest

it('is of this version, and has the fields that krew knows, the short one within its limit', () => {
  const { version, shortDescription, ...others } = manifest.spec
  expect([version, shortDescription.length <= 50]).toEqual([`v${pjson.version}`, true])
  expect(Object.keys(others).toSorted()).toEqual(['description', 'homepage', 'platforms'])
  for (const each of manifest.spec.platforms)
    expect(Object.keys(each).toSorted()).toEqual(['bin', 'files', 'selector', 'sha256', 'uri'])
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
