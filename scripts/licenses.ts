/**
 * Writes THIRD_PARTY_LICENSES and sbom.cdx.json from what is really bundled; with `--check` only compares. Fails where a
 * package carries no licence text.
 */
import { billOfMaterials } from './licenses/bill-of-materials.ts'
import { shippedComponents } from './licenses/components.ts'
import { licenseDocument } from './licenses/document.ts'
import { keepCurrent } from './made-files.ts'

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
