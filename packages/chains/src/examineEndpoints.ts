import { clockFindings, DomainError, type Finding, type Findings } from '@causeway/core'
import type { JsonRpcClient } from './rpc/jsonRpc.ts'
import { NodeError } from './rpc/nodeError.ts'
import { countVoices } from './rpc/tally.ts'

/**
 * Asks every endpoint of a chain for its head. Never rejects for what an endpoint does.
 * @param found takes those that are silent or behind, and a chain of which too few answer
 */
export async function examineEndpoints(client: JsonRpcClient, found: Findings): Promise<void> {
  const { chainId, electorate } = client
  await client.probeHeads()
  const health = client.health()
  const answering = new Set(
    health.flatMap(({ alias, headBlock, consecutiveFailures }) =>
      headBlock !== undefined && consecutiveFailures === 0 ? [alias] : [],
    ),
  )
  const setting = `httpRpcUrl of ${chainId}`
  const silent = health.filter(({ alias }) => !answering.has(alias))
  const behind = health.filter(({ alias, healthy }) => answering.has(alias) && !healthy)
  const voices = countVoices(electorate.voters.filter(({ alias }) => answering.has(alias)))
  const configured = countVoices(electorate.voters)
  const { threshold } = electorate
  const counted = `${voices} of ${configured} hosts answer, and ${threshold} must say the same`
  const mend = `Mend or replace it in ${variableOf(chainId)}; three hosts of different providers survive one that fails.`
  found.add(
    ...silent.map(
      ({ alias }): Finding => ({
        ...{ code: 'endpoint-silent', severity: 'degrades', setting },
        ...{ seen: `${alias} does not answer`, fix: mend },
      }),
    ),
    ...behind.map(
      ({ alias }): Finding => ({
        ...{ code: 'endpoint-behind', severity: 'degrades', setting },
        ...{ seen: `${alias} is blocks behind the others`, fix: mend },
      }),
    ),
  )
  if (voices >= threshold && silent.length === 0) return
  found.add({
    code: 'endpoints-too-few',
    severity: voices < threshold ? 'degrades' : 'note',
    setting,
    seen: voices < threshold ? `${counted}: nothing of this chain is priced or signed` : counted,
    fix: `Name more hosts in ${variableOf(chainId)}, or lower rpcThreshold in the chain file.`,
  })
}

/** @source docs/operating/configuration.md, Variables that the configuration files name */
function variableOf(chainId: string): string {
  return `${chainId.toUpperCase().replaceAll('-', '_')}_RPC_URL`
}

/** Blocks may be some seconds ahead, and a chain may pause for a minute. */
const headAheadMs = 15_000
const headBehindMs = 120_000

/**
 * Compares the clock with the newest head of all chains: one that stands still proves nothing about it.
 * @param readers of Unix seconds; what fails or tells nothing is left out
 */
export async function examineClock(
  readers: readonly (() => Promise<number | undefined>)[],
  nowMs: () => number,
  found: Findings,
): Promise<void> {
  const heads = await Promise.all(
    readers.map(async (read) => {
      try {
        const seconds = await read()
        return seconds === undefined ? [] : [nowMs() - seconds * 1_000]
      } catch (error) {
        if (error instanceof DomainError || error instanceof NodeError) return []
        throw error
      }
    }),
  )
  const offsets = heads.flat()
  if (offsets.length === 0) return
  const offsetMs = Math.min(...offsets)
  const allowedMs = offsetMs < 0 ? headAheadMs : headBehindMs
  found.add(
    ...clockFindings({ setting: 'clock', with: 'the newest block of all chains', offsetMs, allowedMs }),
  )
}
