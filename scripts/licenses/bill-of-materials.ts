/** What is shipped, for programs that look for known faults in it: CycloneDX 1.6. */
import pjson from '../../package.json' with { type: 'json' }
import type { Component } from './components.ts'

/** Pure. Without a time or a random number: the same components give the same text. */
export function billOfMaterials(components: readonly Component[]): string {
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
