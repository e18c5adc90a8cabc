// Used by the build: runs one command line and writes what V8 has compiled by then.
//   node FLAGS… make-code-cache.cjs DIST ARGS…      FLAGS: SAME_BYTES of build.ts
//   node make-code-cache.cjs DIST                   only writes the header of the cache, before
//
// The order in which V8 writes hangs on a random number, and what it has dropped again on time. With FLAGS the same source
// gives the same bytes. V8 takes no cache of other flags, so the header is one that was written without them.
const { readFileSync, writeFileSync } = require('node:fs')
const { join, resolve } = require('node:path')

const [, , directory, ...args] = process.argv
/** Magic number, version of V8, length of the source, hash of the flags, checksum of what V8 starts with: four bytes each. */
const HEADER = 20
const OF_FLAGS = { from: 12, to: 16 }

const dist = resolve(directory)
const path = join(dist, 'code-cache')
const source = readFileSync(join(dist, 'volctl.cjs'), 'latin1')
const { compileBundle, loadBundle } = require(join(dist, 'load-bundle.cjs'))

if (args.length === 0) {
  writeFileSync(path, compileBundle(source).createCachedData().subarray(0, HEADER), { mode: 0o644 })
} else {
  const header = readFileSync(path)
  process.argv.splice(1, 2, join(dist, 'launch.cjs'))
  let script
  process.on('exit', () => writeFileSync(path, withHeader(script.createCachedData(), header), { mode: 0o644 }))
  script = loadBundle(source, undefined)
}

function withHeader(cache, header) {
  const other = (bytes) => Buffer.concat([bytes.subarray(0, OF_FLAGS.from), bytes.subarray(OF_FLAGS.to, HEADER)])
  if (!other(cache).equals(other(header))) throw new Error('V8 has another layout of its cache: see HEADER')
  return Buffer.concat([header, cache.subarray(HEADER)])
}
