/**
 * A CSI driver to test with: the Registration, Identity and Node services on unix sockets, doing the real thing with
 * loop devices, tmpfs or bind mounts. It holds its client to the CSI specification and writes down every breach.
 *
 *     node main.ts --name loop.test --root ROOT --state DIR
 *       --backend loop|tmpfs|bind   where data lives (loop: ext4 in images; block volumes as real devices)
 *       --size-mib N                size of a new volume
 *       --no-stage                  no STAGE_UNSTAGE_VOLUME
 *       --no-stage-mount            staging is noted, not mounted
 *       --no-mount                  mounts nothing at all
 *       --mount-group               VOLUME_MOUNT_GROUP
 *       --no-multi-writer           no SINGLE_NODE_MULTI_WRITER
 *       --no-expand                 no EXPAND_VOLUME
 *       --require-pod-info          publishes only with pod information
 *       --require-secret KEY=VALUE  stages, publishes and expands only with this secret
 *       --plugin-dir NAME           plugins/NAME/csi.sock
 *       --endpoint PATH             what GetInfo says, whatever is there
 *       --registration-socket NAME  below plugins_registry
 *       --no-registration           no registration socket
 *       --versions A,B              what GetInfo says
 *       --fail RPC=CODE[:once|:N]   and the other faults of faults.ts
 *
 * Prints "ready" once it listens. SIGTERM, or the end of its standard input, ends it and removes its sockets; after SIGKILL they stay, as they would.
 */
import { mkdirSync, rmSync } from 'node:fs'
import { listen, Server } from '../grpc/serve.ts'
import { readyUntilEnd } from '../start-program.ts'
import { parseOptions } from './options.ts'
import { addDriverServices, addRegistration } from './services.ts'

const options = parseOptions(process.argv.slice(2))
mkdirSync(options.stateDir, { recursive: true })

const driver = new Server()
addDriverServices(driver, options)
await listen(driver, options.socketPath)

const registration = new Server()
if (options.registrationSocketPath !== undefined) {
  addRegistration(registration, options)
  await listen(registration, options.registrationSocketPath)
}

readyUntilEnd(() => {
  rmSync(options.socketPath, { force: true })
  if (options.registrationSocketPath !== undefined) rmSync(options.registrationSocketPath, { force: true })
})
