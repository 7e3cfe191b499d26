// Goal: an operator sees trouble before users do, and is not woken for nothing. Method: a whole local network under
// load, scraped by Prometheus with our rules, everything fifteen times as fast as in them; first nothing is wrong, then
// one thing after the other really is.
import { rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Database } from '@causeway/database'
import { chainPlans, type LocalAccount } from '@causeway/localnet'
import { erc20Abi } from 'viem'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { fires as firesIn, patienceMs } from '../support/firing.ts'
import { haste, type Prometheus, startPrometheus } from '../support/prometheus.ts'
import { type SessionBed, startSessionBed } from '../support/sessionBed.ts'

/** As long as an hour is where everything is so much faster. */
const healthyMs = 3_600_000 / haste

const denyList = join(tmpdir(), `causeway-alerts-${process.pid}.txt`)
const deniedText = JSON.stringify({ version: 1, denied: { 'ethereum-vm': [`0x${'de'.repeat(20)}`] } })
let bed: SessionBed
let database: Database
let prometheus: Prometheus
let load: { stop(): Promise<Load> } | undefined

vi.setConfig({ testTimeout: patienceMs + 60_000 })

beforeAll(async () => {
  await writeFile(denyList, deniedText)
  bed = await startSessionBed({
    DENY_LIST_FILE: denyList,
    DENY_LIST_REFRESH_SECONDS: '1',
    DENY_LIST_MAX_AGE_SECONDS: '30',
  })
  database = await bed.openDatabase()
  prometheus = await startPrometheus(bed.targets)
})
afterAll(async () => {
  await load?.stop()
  await prometheus?.stop()
  await database?.close()
  await bed?.stop()
})

type Load = { readonly quotes: number; readonly attestations: number }

function userOf(index: number): LocalAccount {
  const user = bed.session.network.keys.users[index]
  if (user === undefined) throw new Error(`the network has no user ${index}`)
  return user
}

const post = async (url: string, body: object) =>
  (
    await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  ).status

function quoteOnce(): Promise<number> {
  const { tokens } = bed.session.network.deployment.base
  const { address } = userOf(0)
  return post(`${bed.url}/quote`, {
    user: address,
    recipient: address,
    amount: '60000000',
    tradeType: 'EXACT_INPUT',
    originChainId: chainPlans.base.chainId,
    destinationChainId: chainPlans.optimism.chainId,
    originCurrency: tokens.USDC,
    destinationCurrency: bed.session.network.deployment.optimism.tokens.USDC,
  })
}

/** Attests a deposit that does not exist: all three oracles look, and agree that it is absent. */
function attestOnce(): Promise<number> {
  const oracle = bed.session.services.find(({ plan }) => plan.name === 'oracle-1')
  return post(`http://127.0.0.1:${oracle?.ports['http']}/attestations/depository-deposits/v1`, {
    chainId: 'base',
    transactionId: `0x${'ab'.repeat(32)}`,
    requestPeerSignatures: true,
  })
}

function startLoad(): { stop(): Promise<Load> } {
  let isStopped = false
  let quotes = 0
  let attestations = 0
  const running = (async () => {
    while (!isStopped) {
      if ((await quoteOnce().catch(() => 0)) === 200) quotes += 1
      if ((await attestOnce().catch(() => 0)) > 0) attestations += 1
      await new Promise((resolve) => setTimeout(resolve, 250))
    }
  })()
  return {
    async stop() {
      isStopped = true
      await running
      return { quotes, attestations }
    },
  }
}

const fires = (name: string, labels: Readonly<Record<string, string>> = {}) =>
  firesIn(prometheus, name, labels)

test(
  'nothing fires under load while nothing is wrong',
  async () => {
    load = startLoad()
    const until = Date.now() + healthyMs
    while (Date.now() < until) {
      await new Promise((resolve) => setTimeout(resolve, 1_000))
      expect(await prometheus.alerts()).toEqual([])
    }
    const { quotes, attestations } = await load.stop()
    expect(quotes).toBeGreaterThan(50)
    expect(attestations).toBeGreaterThan(50)
    expect(await prometheus.query('quotes_total > 0')).toBeGreaterThan(0)
    load = startLoad()
  },
  healthyMs + 120_000,
)

describe('fires', () => {
  test('DenyListStale where the list is gone', async () => {
    await rm(denyList)
    await fires('DenyListStale', { service: 'quote-api' })
    await fires('DenyListStale', { service: 'solver' })
    await writeFile(denyList, deniedText)
  })

  test('TopUpSuspended where money comes that names nobody', async () => {
    const { chains, deployment, keys } = bed.session.network
    const { walletClient } = chains.base.chain.as(userOf(1))
    await walletClient.writeContract({
      address: deployment.base.tokens.USDC,
      abi: erc20Abi,
      functionName: 'transfer',
      args: [keys.custody.address, 1_000_000n],
    })
    await fires('TopUpSuspended')
  })

  test('SolverWithoutInventory where its wallet is emptied', async () => {
    const { chains, deployment, keys } = bed.session.network
    const { publicClient, walletClient } = chains.optimism.chain.as(keys.fillWallet)
    const token = { address: deployment.optimism.tokens.USDC, abi: erc20Abi } as const
    const balance = await publicClient.readContract({
      ...token,
      functionName: 'balanceOf',
      args: [keys.fillWallet.address],
    })
    await walletClient.writeContract({
      ...token,
      functionName: 'transfer',
      args: [userOf(1).address, balance],
    })
    await fires('SolverWithoutInventory', { chain: 'optimism', currency: 'USDC' })
  })

  test('JobStands where a job fails again and again', async () => {
    await database.query('alter table webhook_delivery rename to webhook_delivery_away')
    await fires('JobStands', { name: 'webhooks' })
    await database.query('alter table webhook_delivery_away rename to webhook_delivery')
  })

  test('LedgerBroken and LedgerHalted where the books differ by one unit', async () => {
    await database.query(`update account set credits_posted = credits_posted + 1 where kind = 'sponsor'`)
    await fires('LedgerBroken')
    await fires('LedgerHalted')
    await database.query(`update account set credits_posted = credits_posted - 1 where kind = 'sponsor'`)
  })

  test('PeerSilent and ServiceDown where an oracle is killed', async () => {
    const oracle = bed.session.services.find(({ plan }) => plan.name === 'oracle-3')
    if (oracle === undefined) throw new Error('three oracles run')
    process.kill(oracle.process.pid, 'SIGKILL')
    await fires('ServiceDown', { instance: 'oracle-3' })
    await fires('PeerSilent', { instance: 'oracle-1' })
  })

  test('ChainNotQuoted and QuotesUnavailable where a chain stands still', async () => {
    process.kill(bed.session.network.chains.optimism.pid, 'SIGSTOP')
    try {
      await fires('ChainNotQuoted', { service: 'quote-api', chain: 'optimism' })
      await fires('EndpointFailing', { chain: 'optimism' })
      await fires('OracleChainSilent', { chain: 'optimism' })
      await fires('QuotesUnavailable')
    } finally {
      process.kill(bed.session.network.chains.optimism.pid, 'SIGCONT')
    }
  })
})
