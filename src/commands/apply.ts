import { VolctlCommand } from '../core/volctl-command.ts'

export default class Apply extends VolctlCommand {
  async run(): Promise<void> {}
}
