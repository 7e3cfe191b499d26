import { DomainError, type HeadSubscription, type Secret } from '@causeway/core'
import { clockFindings, counted, type Finding, type Findings } from '@causeway/core/config'
import type { RegisteredChain } from '@causeway/families'
import { families } from '@causeway/families/rules'
import type { JsonRpcClient, TakenSizes } from '@causeway/rpc'
import { countVoices, NodeError, openHeadPushes, type PushEnd } from '@causeway/rpc'

/**
 * Asks every endpoint of a chain for its head, for the check of a configuration. Never rejects for what an endpoint
 * does.
 * @param findings takes endpoints that are silent, behind or take only small requests, and chains with too few hosts
 */
export async function examineEndpoints(client: JsonRpcClient, findings: Findings): Promise<void> {
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
  const answeringHosts = countVoices(electorate.voters.filter(({ alias }) => answering.has(alias)))
  const hosts = countVoices(electorate.voters)
  const { threshold } = electorate
  const answers = `${answeringHosts} of ${counted(hosts, 'host')} answer, and ${threshold} must say the same`
  const mend = `Mend or replace it in ${variableOf(chainId)}; three hosts of different providers survive one that fails.`
  findings.add(
    ...silent.map(
      ({ alias }): Finding => ({
        code: 'endpoint-silent',
        severity: 'degrades',
        setting,
        seen: `${alias} does not answer`,
        fix: mend,
      }),
    ),
    ...behind.map(
      ({ alias }): Finding => ({
        code: 'endpoint-behind',
        severity: 'degrades',
        setting,
        seen: `${alias} is blocks behind the others`,
        fix: mend,
      }),
    ),
  )
  findings.add(...sizeFindings(await client.trySizes(), setting))
  // If enough hosts answer although one is silent, the finding is only a note: few more may fail.
  if (answeringHosts >= threshold && silent.length === 0) return
  findings.add({
    code: 'endpoints-too-few',
    severity: answeringHosts < threshold ? 'degrades' : 'note',
    setting,
    seen: answeringHosts < threshold ? `${answers}: nothing of this chain is priced or signed` : answers,
    fix: `Name more hosts in ${variableOf(chainId)}, or lower rpcThreshold in the chain file.`,
  })
}

/** Notes about endpoints that limit the size of a request. @source F-85 */
function sizeFindings(sizes: readonly TakenSizes[], setting: string): readonly Finding[] {
  const note = (alias: string, limit: string): Finding => ({
    code: 'endpoint-narrow',
    severity: 'note',
    setting,
    seen: `${alias} takes ${limit}: more is asked for in parts`,
    fix: 'A plan or a provider with a higher limit needs fewer requests.',
  })
  return sizes.flatMap(({ alias, calls, logBlocks }) => [
    ...(Number.isFinite(logBlocks) ? [note(alias, `${counted(logBlocks, 'block')} per eth_getLogs`)] : []),
    ...(Number.isFinite(calls) ? [note(alias, `${counted(calls, 'call')} per request`)] : []),
  ])
}

/** A node that takes a subscription says so at once. */
const subscribedWithinMs = 5_000

const pushFailureWords: Readonly<Record<PushEnd | 'late', string>> = {
  closed: 'ended the connection before it took a subscription',
  unreachable: 'cannot be reached, or speaks no websocket there',
  silent: 'says nothing',
  refused: 'refuses a subscription to new blocks',
  flood: 'sends more than blocks can be',
  late: 'takes no subscription in time',
}

/** Subscribes to new blocks at every endpoint that `wsRpcUrl` names, as a check, and ends the subscriptions again. */
export async function examineHeadPushes(
  { id, vmType, headPushUrls = [] }: Pick<RegisteredChain, 'id' | 'vmType' | 'headPushUrls'>,
  findings: Findings,
): Promise<void> {
  const variable = variableOf(id).replace('_RPC_URL', '_WS_RPC_URL')
  const subscription = families[vmType].headSubscription
  if (subscription === undefined) return
  const ends = await Promise.all(headPushUrls.map((url) => firstPush(url, subscription)))
  for (const [index, end] of ends.entries()) {
    if (end === undefined) continue
    findings.add({
      code: 'endpoint-silent',
      severity: 'degrades',
      setting: `wsRpcUrl of ${id}`,
      seen: `entry ${index + 1} ${pushFailureWords[end]}: blocks of ${id} are noticed by the clock alone`,
      fix: `Mend or replace it in ${variable}, or unset it: without one nothing is lost but part of a second.`,
    })
  }
}

/** @returns undefined once the endpoint has taken the subscription, else why it has not */
function firstPush(url: Secret, subscription: HeadSubscription): Promise<PushEnd | 'late' | undefined> {
  return new Promise((resolve) => {
    const settle = (end: PushEnd | 'late' | undefined) => {
      clearTimeout(timer)
      pushes.close()
      resolve(end)
    }
    const timer = setTimeout(settle, subscribedWithinMs, 'late')
    const pushes = openHeadPushes({
      urls: [url],
      subscription,
      leastMs: 0,
      onHead: () => {},
      onChange: (_endpoint, end) => settle(end),
    })
  })
}

/** @source docs/operating/configuration.md, Variables that the configuration files name */
function variableOf(chainId: string): string {
  return `${chainId.toUpperCase().replaceAll('-', '_')}_RPC_URL`
}

/** A block's timestamp may lie some seconds ahead of the clock, and a chain may pause for a minute. */
const headAheadMs = 15_000
const headBehindMs = 120_000

/**
 * Compares this machine's clock with the newest head of all chains; older heads say nothing, since a chain may have
 * stopped.
 * @param readers each reads the Unix seconds of one chain's head; those that fail or know none are left out
 */
export async function examineClock(
  readers: readonly (() => Promise<number | undefined>)[],
  nowMs: () => number,
  findings: Findings,
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
  findings.add(
    ...clockFindings({ setting: 'clock', with: 'the newest block of all chains', offsetMs, allowedMs }),
  )
}
