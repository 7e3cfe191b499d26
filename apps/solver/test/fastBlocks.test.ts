// Goal: a chain that makes five blocks a second costs a solver no more calls than one that makes a block in two
// seconds, neither at rest nor while it waits for deposits. Method: a solver with its default cadence, told of each
// block by two real nodes, of which it reads one through a proxy that counts; first while both are slow, then while
// that one is fast. Between them lie orders whose deposits never come.
import { setTimeout as pause } from 'node:timers/promises'
import {
  blockTimes,
  countRequests,
  type FaultProxy,
  findExcess,
  makeBlocks,
  newestBlockOf,
  startFaultProxy,
  startTestNetwork,
  type TestNetwork,
  waitUntil,
} from '@causeway/localnet'
import { generatePrivateKey } from 'viem/accounts'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { fillItem, signOrder } from './support/paidOrders.ts'
import { startScriptedWork } from './support/scriptedWork.ts'
import { changedConfigs, type SolverBench, startSolver, startSolverBench } from './support/solverBench.ts'

let network: TestNetwork
let bench: SolverBench
let proxy: FaultProxy

beforeAll(async () => {
  network = await startTestNetwork({ blockTimeSeconds: 2 })
  bench = await startSolverBench(network)
  proxy = await startFaultProxy({ targetUrl: network.chains.base.url })
})
afterAll(async () => {
  await proxy?.stop()
  await bench?.stop()
  await network?.stop()
})

const quoteFile = z.looseObject({ chains: z.record(z.string(), z.looseObject({})) })

/** The quote file says of Base what its node does. */
const describing = (blockTimeMs: number) =>
  changedConfigs('quote.local.json', (text) => {
    const { chains, ...file } = quoteFile.parse(JSON.parse(text))
    return JSON.stringify({ ...file, chains: { ...chains, base: { ...chains['base'], blockTimeMs } } })
  })

/** Requests of a solver to Base, at rest and while it waits for deposits on both chains. */
async function asked(blockTimeMs: number) {
  const work = await startScriptedWork({ holds: true })
  const solver = startSolver(
    await bench.settings(work, {
      CONFIG_DIR: await describing(blockTimeMs),
      BASE_RPC_URL: proxy.url,
      POLL_INTERVAL_MS: '500',
      BASE_WS_RPC_URL: network.chains.base.url.replace('http:', 'ws:'),
      OPTIMISM_WS_RPC_URL: network.chains.optimism.url.replace('http:', 'ws:'),
    }),
  )
  await solver.ready()
  await waitUntil('it leads', () => (solver.output().match(/lease_won/g) ?? []).length >= 2)
  await pause(3_000)
  const atRest = await countRequests(proxy)
  for (const from of ['base', 'optimism'] as const) {
    const { chainId } = network.deployment[from]
    const deposits = [{ chainId, transactionId: generatePrivateKey(), onchainIndex: '0' }]
    work.add(fillItem(network, { ...(await signOrder(network, { from })), deposits }))
  }
  await pause(2_000)
  const waiting = await countRequests(proxy)
  solver.kill('SIGTERM')
  await solver.ended
  return { atRest, waiting }
}

test('F-106, F-118: five blocks a second cost a solver as much as one in two seconds', async () => {
  const slow = await asked(blockTimes.optimism)
  onTestFinished(makeBlocks(network.chains.base.url, blockTimes.base))
  const before = await newestBlockOf(proxy)
  const fast = await asked(blockTimes.base)
  expect((await newestBlockOf(proxy)) - before).toBeGreaterThan(100)
  expect(findExcess({ fast: fast.atRest, slow: slow.atRest }, 10)).toEqual([])
  expect(findExcess({ fast: fast.waiting, slow: slow.waiting }, 40)).toEqual([])
}, 240_000)
