/** Prints what keeps this process from changing the node that another process stands for. */

import { readStandingFacts, standingObstacles } from '../../../src/core/processes/standing.ts'
import { pin } from '../../../src/core/trust/processes.ts'

using kubelet = pin(Number(process.argv[2]))
const WORDS = /chroot|(?:user|PID) namespace|mount namespace cannot be read/
const facts = readStandingFacts(kubelet, { kubelet: true, runtime: false })
console.log(JSON.stringify(standingObstacles(facts).map(({ message }) => WORDS.exec(message)?.[0])))
