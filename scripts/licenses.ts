/**
 * Writes THIRD_PARTY_LICENSES and sbom.cdx.json from what is really bundled; with `--check` only compares. Fails where a
 * package carries no licence text.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { billOfMaterials } from './licenses/bill-of-materials.ts'
import { shippedComponents } from './licenses/components.ts'
import { licenseDocument } from './licenses/document.ts'

const check = process.argv.includes('--check')
const root = join(import.meta.dirname, '..')

const components = await shippedComponents()
for (const { name, version, license } of components.filter(({ texts }) => texts.length === 0)) {
  console.error(`${name} ${version} (${license}) is bundled and carries no licence text: add one to KEPT_HERE`)
  process.exitCode = 1
}
for (const [name, text] of [
  ['THIRD_PARTY_LICENSES', licenseDocument(components)],
  ['sbom.cdx.json', billOfMaterials(components)],
] as const) {
  const path = join(root, name)
  if (existsSync(path) && readFileSync(path, 'utf8') === text) continue
  if (check) {
    console.error(`${name} is not what is bundled: run npm run licenses`)
    process.exitCode = 1
  } else {
    writeFileSync(path, text)
    console.log(`wrote ${name}, ${components.length} components`)
  }
}
