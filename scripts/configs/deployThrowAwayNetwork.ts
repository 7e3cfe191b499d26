import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { NetworkDeployment } from '../../packages/localnet/src/contracts/deployment.ts'
import { root } from './writeJson.ts'

/** Addresses of `deployNetwork` on fresh chains, which are gone again when this resolves. */
export async function deployThrowAwayNetwork(): Promise<NetworkDeployment> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [join(root, 'scripts', 'localAddresses.ts')],
    { cwd: root, maxBuffer: 4 * 1024 * 1024 },
  )
  return JSON.parse(stdout)
}
