// Prints every skip with whether it is allowed, then the line that counts; fails on a failure or an unlisted skip.
import { readFileSync } from 'node:fs'

const [status, ...reports] = process.argv.slice(2)
const allowed = readFileSync(new URL('./allowed-skips.txt', import.meta.url), 'utf8')
  .split('\n')
  .map((line) => line.replace(/#.*/, '').trim())
  .filter(Boolean)

let tests = []
try {
  const files = reports.flatMap((report) => JSON.parse(readFileSync(report, 'utf8')).testResults)
  tests = files.flatMap((file) => file.assertionResults)
} catch (error) {
  console.error(`no test report: ${error.message}`)
}
const count = (...states) => tests.filter((test) => states.includes(test.status)).length
const skipped = tests.filter((test) => ['skipped', 'pending', 'todo', 'disabled'].includes(test.status))
const unlisted = skipped.filter((test) => !allowed.some((text) => test.fullName.includes(text)))
for (const test of unlisted) console.error(`skipped, and not in .ci/allowed-skips.txt: ${test.fullName}`)

console.log(`${count('passed')} passed, ${count('failed')} failed, ${skipped.length} skipped`)
process.exitCode = Number(status) || (unlisted.length > 0 || count('failed') > 0 || count('passed') === 0 ? 1 : 0)
