import {
  connectQuotingChain,
  examineClock,
  examineEndpoints,
  findContradictions,
  headSeconds,
} from '@causeway/chains'
import type { Findings } from '@causeway/core/config'
import { openReaders } from '../readers.ts'
import { openAllocator } from './allocator.ts'
import { openHub } from './hub.ts'
import { knownCode, type NetworkOptions } from './network.ts'
import { checksOf, watchedChains } from './watchedChains.ts'

/** Compares chains and hub with the configuration, for doctor, and closes what it opened. */
export async function examineNetwork(
  { files, environment }: Pick<NetworkOptions, 'files' | 'environment'>,
  nowMs: () => number,
  findings: Findings,
): Promise<void> {
  const isKnownCode = knownCode(environment)
  const hub = openHub(files.hub, isKnownCode)
  const allocator = openAllocator(files.hub, isKnownCode)
  const chains = [...files.chains.chains.values()]
  // Doctor prints findings alone.
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined, fatal: () => undefined }
  const open = openReaders(chains, hub.entries, { finalResultsKeptMax: 0, isKnownCode, log })
  // Each chain that can be read gets a second client, by which its endpoints are examined one by one.
  const connected = chains.flatMap((chain) => {
    const client = open.has(chain.id) ? connectQuotingChain(chain) : undefined
    return client === undefined ? [] : [{ chain, client }]
  })
  const examinedIds = new Set([...connected.map(({ chain }) => chain.id), files.hub.id])
  const reportTooFew = (chain: string) => {
    // `examineEndpoints` reports on the endpoints of these.
    if (examinedIds.has(chain)) return
    findings.add({
      code: 'endpoints-too-few',
      severity: 'degrades',
      setting: `httpRpcUrl of ${chain}`,
      seen: 'too few hosts answer to agree on anything: nothing of this chain is signed',
      fix: 'Mend its endpoints, or name more of them.',
    })
  }
  const checks = checksOf(watchedChains(environment, { hub, allocator }, open))
  const headReaders = connected.map((connection) => () => headSeconds(connection.chain, connection.client))
  const clients = connected.map(({ client }) => client)
  try {
    const [problems] = await Promise.all([
      findContradictions(checks, reportTooFew),
      examineEndpoints(hub.client, findings),
      ...clients.map((client) => examineEndpoints(client, findings)),
      examineClock(headReaders, nowMs, findings),
    ])
    findings.problems(problems, 'chain-contradicts')
  } finally {
    const opened = [hub, ...(allocator === undefined ? [] : [allocator]), ...open.values(), ...clients]
    await Promise.all(opened.map((connection) => connection.close()))
  }
}
