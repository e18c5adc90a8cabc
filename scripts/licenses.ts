/**
 * Writes THIRD_PARTY_LICENSES and sbom.cdx.json from what is really bundled; with `--check` only compares. Fails where a
 * package carries no licence text.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { basename, join, sep } from 'node:path'
import pjson from '../package.json' with { type: 'json' }
import lock from '../package-lock.json' with { type: 'json' }
import { bundledFiles } from './build.ts'
import { keepCurrent } from './made-files.ts'
import { type DebianPackage, IMAGE_PACKAGES, LIBRARIES } from './package/debian-libraries.ts'

/** Something that others made, with what its licence demands to be passed on. */
interface Component {
  readonly name: string
  readonly version: string
  /** An SPDX expression. */
  readonly license: string
  /** What it is in volctl, for a reader. */
  readonly use: string
  /** A package URL. */
  readonly purl: string
  /** Full texts and notices; none: it must not be shipped. */
  readonly texts: readonly string[]
  /** SHA-512 of the package as npm has it, in base 64. */
  readonly sha512?: string
}

const TEXTS = join(import.meta.dirname, 'licenses', 'texts')
const LICENSE_FILE = /^(licen[cs]e|copying|notice|thirdpartynotice)/i
const NODE_MODULES = `${sep}node_modules${sep}`

/**
 * Texts for packages that carry no file with their licence, by name: each from the licence that package.json names and the
 * notices in the package's own files.
 */
const KEPT_HERE: Readonly<Record<string, readonly string[]>> = {
  '@bufbuild/protobuf': ['bufbuild-protobuf', 'Apache-2.0'],
}

const RULE = '='.repeat(100)
const INTRODUCTION = `volctl is licensed under the Apache License 2.0: see LICENSE. It contains what others made, named here with their
licences. Written by \`npm run licenses\` from what is really bundled; do not edit.
`

const components = await shippedComponents()
for (const { name, version, license } of components.filter(({ texts }) => texts.length === 0)) {
  console.error(`${name} ${version} (${license}) is bundled and carries no licence text: add one to KEPT_HERE`)
  process.exitCode = 1
}
const files = new Map([
  ['THIRD_PARTY_LICENSES', licenseDocument(components)],
  ['sbom.cdx.json', billOfMaterials(components)],
])
keepCurrent(files, 'licenses')

/** Every text that must be passed on, each once, and whose it is. The same components give the same text. */
function licenseDocument(components: readonly Component[]): string {
  const owners = new Map<string, Component[]>()
  for (const component of components) {
    const text = component.texts.map(tidy).join('\n\n')
    owners.set(text, [...(owners.get(text) ?? []), component])
  }
  const sections = [...owners].map(([text, of]) => [RULE, ...of.map(heading), RULE, '', text, ''].join('\n'))
  return [INTRODUCTION, ...components.map((each) => `- ${heading(each)}`), '', ...sections].join('\n')
}

function heading({ name, version, license, use }: Component): string {
  return `${name} ${version} (${license}): ${use}`
}

function tidy(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replace(/[ \t]+$/gm, '')
    .trim()
}

/**
 * What is shipped, for programs that look for known faults in it: CycloneDX 1.6. Without a time or a random number: the same
 * components give the same text.
 */
function billOfMaterials(components: readonly Component[]): string {
  const volctl = `pkg:npm/${pjson.name}@${pjson.version}`
  const bill = {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {
      component: {
        type: 'application',
        'bom-ref': volctl,
        name: pjson.name,
        version: pjson.version,
        licenses: [{ license: { id: pjson.license } }],
        purl: volctl,
      },
    },
    components: components.map(entry),
    dependencies: [{ ref: volctl, dependsOn: components.map(({ purl }) => purl) }],
  }
  return `${JSON.stringify(bill, null, 2)}\n`
}

function entry({ name, version, license, use, purl, sha512 }: Component): object {
  return {
    type: use.startsWith('runtime') ? 'platform' : 'library',
    'bom-ref': purl,
    name,
    version,
    description: use,
    ...(sha512 && { hashes: [{ alg: 'SHA-512', content: Buffer.from(sha512, 'base64').toString('hex') }] }),
    licenses: [{ expression: license }],
    purl,
  }
}

/** All that is shipped, in the order of their names. */
async function shippedComponents(): Promise<readonly Component[]> {
  const roots = new Set((await bundledFiles()).map(packageRoot).filter((root) => root !== undefined))
  return [...[...roots].map(fromNpm), nodeRuntime(), ...debianLibraries(), ...imagePackages()].toSorted((a, b) =>
    a.purl < b.purl ? -1 : 1,
  )
}

/** The package whose file that is; undefined: the file is volctl's own. */
function packageRoot(file: string): string | undefined {
  const at = file.lastIndexOf(NODE_MODULES)
  if (at === -1) return undefined
  const [scope = '', name = ''] = file.slice(at + NODE_MODULES.length).split(sep)
  return file.slice(0, at + NODE_MODULES.length) + (scope.startsWith('@') ? join(scope, name) : scope)
}

function fromNpm(root: string): Component {
  const { name = basename(root), version = '', license = '' } = packageJson(root)
  const sha512 = integrity(name, version)
  return {
    name,
    version,
    license,
    use: 'bundled',
    purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
    texts: licenseTexts(root, name),
    ...(sha512 && { sha512 }),
  }
}

function packageJson(root: string): { readonly name?: string; readonly version?: string; readonly license?: string } {
  return JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
}

function licenseTexts(root: string, name: string): readonly string[] {
  const files = readdirSync(root).filter((file) => LICENSE_FILE.test(file) && !/\.[cm]?[jt]s$/.test(file))
  const paths = files.toSorted().map((file) => join(root, file))
  return paths.length > 0 ? paths.map((path) => readFileSync(path, 'utf8')) : (KEPT_HERE[name] ?? []).map(kept)
}

function integrity(name: string, version: string): string | undefined {
  const packages = Object.entries(lock.packages) as [string, { version?: string; integrity?: string }][]
  const found = packages.find(([path, entry]) => path.endsWith(`node_modules/${name}`) && entry.version === version)
  return found?.[1].integrity?.replace(/^sha512-/, '')
}

/** In the executable, and beside the npm package. */
function nodeRuntime(): Component {
  const root = join(import.meta.dirname, '..', 'node_modules', `node-linux-${process.arch}`)
  const { version = process.versions.node } = packageJson(root)
  return {
    name: 'node',
    version,
    license: 'MIT',
    use: 'runtime, in the executable; its file names the parts that it consists of',
    purl: `pkg:generic/node@${version}`,
    texts: [readFileSync(join(root, 'LICENSE'), 'utf8')],
  }
}

/** Beside the executable, in the packages, the tarball and the image. */
function debianLibraries(): readonly Component[] {
  const texts = ['gcc-runtime', 'GPL-3.0'].map(kept)
  return LIBRARIES.map((library) => ({
    ...fromDebian(library, `${library.file}, beside the executable in the tarball`),
    license: 'GPL-3.0-or-later WITH GCC-exception-3.1',
    texts,
  }))
}

/** In the image alone. Debian's copyright file of each, and the licences that it refers to. */
function imagePackages(): readonly Component[] {
  return IMAGE_PACKAGES.map((each) => ({
    ...fromDebian(each, 'in the image'),
    license: each.license,
    texts: [each.name, ...['LGPL-2.1', 'GPL-2.0'].filter((name) => each.license.startsWith(name))].map(kept),
  }))
}

function fromDebian({ name, version, source }: DebianPackage, where: string): Omit<Component, 'license' | 'texts'> {
  const use = `${where}; its source is Debian's ${source} ${version}`
  return { name, version, use, purl: `pkg:deb/debian/${name}@${version}` }
}

function kept(name: string): string {
  return readFileSync(join(TEXTS, `${name}.txt`), 'utf8')
}
