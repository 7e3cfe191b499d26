import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { startLocalNetwork } from '../../src/network/startLocalNetwork.ts'
import { freeChainPorts } from './freeChainPorts.ts'

const folders: string[] = []

afterAll(async () => {
  await Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true })))
})

/** The folder of a network that was started once and stopped; gone after the test file. */
export async function stoppedNetworkFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'causeway-stopped-'))
  folders.push(folder)
  const directory = join(folder, '.local')
  const network = await startLocalNetwork({ directory, ports: await freeChainPorts() })
  await network.stop()
  return directory
}
