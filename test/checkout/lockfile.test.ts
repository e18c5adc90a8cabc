import { expect, it } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }
import lock from '../../package-lock.json' with { type: 'json' }

// npm compares `engines` with the Node.js that it runs under itself. It warns for each package, and leaves out optional ones
// (rolldown's binding, without which no test runs); yet all of them run under the Node.js of node_modules.
it('asks for no Node.js: after npm has written package-lock.json, take its "engines" out', () => {
  const packages: Readonly<Record<string, object>> = lock.packages
  expect(Object.keys(packages).filter((name) => 'engines' in (packages[name] ?? {}))).toEqual([])
  expect(manifest).not.toHaveProperty('engines')
})
