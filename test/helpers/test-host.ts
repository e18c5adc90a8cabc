/**
 * A node that the tests make: a JSON file, named by VOLCTL_TEST_HOST, stands for the host's identity, kubelet and runtime. In the
 * tests' bundle (dist-tests/) and in tests that call volctl's functions; no shipped volctl has this file in it.
 */
import { readFileSync } from 'node:fs'
import { givePlaces, type Places } from '../../src/core/node/places.ts'
import { io } from '../../src/core/trust/run.ts'

/** No kubelet of a machine has its root directory in one of these. */
const TEMPORARY = /^(?!.*\/\.\.\/).*\/(tmp|shm)\//

/** Makes what a test calls without a run look at that node, wherever the variable is set. */
export function takeTestHost(): void {
  givePlaces(testHost)
}

/** For `main`. */
export function testHost(): Places | undefined {
  const { VOLCTL_TEST_HOST: path = '' } = io().env
  if (path === '') return undefined
  const host = JSON.parse(readFileSync(path, 'utf8')) as Places
  // A test must not look at the machine's own node, and much less change it.
  if (host.rootDir !== undefined && process.geteuid?.() === 0 && !TEMPORARY.test(host.rootDir))
    throw new Error(`VOLCTL_TEST_HOST: ${host.rootDir} is not in a temporary directory`)
  return host
}
