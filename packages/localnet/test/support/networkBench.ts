import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { chainKeys } from '../../src/network/chainPlan.ts'
import {
  type LocalNetwork,
  type LocalNetworkOptions,
  startLocalNetwork,
} from '../../src/network/startLocalNetwork.ts'
import { processIdentity } from '../../src/processes/processIdentity.ts'
import { freeChainPorts } from './freeChainPorts.ts'

/** A started network and the sentences it reported. */
export type ReportedNetwork = { readonly network: LocalNetwork; readonly lines: readonly string[] }

/** An empty folder for a network; gone after the test. */
export async function networkFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'causeway-network-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return join(folder, '.local')
}

/** Another folder with the same content. */
export async function copyOf(directory: string): Promise<string> {
  const copy = await networkFolder()
  await cp(directory, copy, { recursive: true })
  return copy
}

/** Starts a network on free ports and stops it after the test, unless the test did. */
export async function startNetwork(
  directory: string,
  options: Partial<LocalNetworkOptions> = {},
): Promise<ReportedNetwork> {
  const lines: string[] = []
  const report = (line: string) => lines.push(line)
  const network = await startLocalNetwork({ directory, ports: await freeChainPorts(), report, ...options })
  onTestFinished(() => network.stop())
  return { network, lines }
}

/** True when nothing runs under any of the ids. */
export async function allGone(pids: readonly number[]): Promise<boolean> {
  const identities = await Promise.all(pids.map((pid) => processIdentity(pid)))
  return identities.every((identity) => identity === undefined)
}

export function nodePids({ chains }: LocalNetwork): readonly number[] {
  return chainKeys.map((key) => chains[key].pid)
}
