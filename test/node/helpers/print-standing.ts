/** Prints what keeps this process from changing the node that another process stands for. */
import { readStandingFacts, standingObstacles } from '../../../src/core/node/standing.ts'

const facts = readStandingFacts(Number(process.argv[2]), { kubelet: true, runtime: false })
console.log(JSON.stringify(standingObstacles(facts).map(({ code }) => code)))
