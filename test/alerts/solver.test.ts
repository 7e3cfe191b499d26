// Goal: who holds the fill wallet is told when it loses money, when what it signed fails, and when nobody writes for
// it. Method: the solver as an operator runs it, on real nodes with real deposits and a database, under Prometheus with
// our rules; a scripted quote-api lists the work.
import { createDatabase } from '@causeway/database'
import { startTestNetwork, type TestNetwork, waitUntil } from '@causeway/localnet'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { startStandInOracles } from '../../apps/quote-api/test/settlementSupport/settlementBed.ts'
import type { OracleMode } from '../../apps/quote-api/test/settlementSupport/standInOracle.ts'
import { fillItem, manyWishes, paidOrder, paidOrders } from '../../apps/solver/test/support/paidOrders.ts'
import { type ScriptedWork, startScriptedWork } from '../../apps/solver/test/support/scriptedWork.ts'
import {
  changedConfigs,
  querySolver,
  type SolverBench,
  type SolverSettings,
  startSolver,
  startSolverBench,
} from '../../apps/solver/test/support/solverBench.ts'
import { fires, patienceMs } from '../support/firing.ts'
import { type Prometheus, startPrometheus } from '../support/prometheus.ts'

let network: TestNetwork
let bench: SolverBench

vi.setConfig({ testTimeout: 2 * patienceMs })

beforeAll(async () => {
  network = await startTestNetwork({ blockTimeSeconds: 1 })
  bench = await startSolverBench(network)
})
afterAll(async () => {
  await bench?.stop()
  await network?.stop()
})

type Watched = {
  readonly work: ScriptedWork
  readonly settings: SolverSettings
  readonly prometheus: Prometheus
}

/** A solver with a database of its own, scraped, and nothing of it that fires; gone after the test. */
async function watched(overrides: Readonly<Record<string, string>> = {}): Promise<Watched> {
  const work = await startScriptedWork()
  const settings = await bench.settings(work, overrides)
  const solver = startSolver(settings)
  await solver.ready()
  const opsUrl = /"opsUrl":"([^"]+)"/.exec(solver.output())?.[1] ?? ''
  const prometheus = await startPrometheus([{ name: 'solver', opsUrl }])
  onTestFinished(() => prometheus.stop())
  await waitUntil('it leads', async () => (await prometheus.query('solver_leads == 1')) === 2)
  // That no process of quote-api is scraped here is an alert too.
  const own = (await prometheus.alerts()).filter(({ name }) => name.startsWith('Solver'))
  expect(own).toEqual([])
  return { work, settings, prometheus }
}

const solverFile = (change: (text: string) => string) => changedConfigs('solver.local.json', change)

test('SolverLoses and SolverBudgetNearlySpent where orders pay out far more than was deposited', async () => {
  const perHour = '"lossPerHourMicroUsd": "200000000"'
  const configs = await solverFile((text) => text.replace(/"lossPerHourMicroUsd": "\d+"/, perHour))
  const { work, prometheus } = await watched({ CONFIG_DIR: configs })
  // Some dollars for 90, twice: either is within the loss of one order.
  const wish = { payments: [{ amount: 90_000_000n }] }
  for (const order of [await paidOrder(network, wish), await paidOrder(network, wish)])
    work.add(fillItem(network, order))
  await fires(prometheus, 'SolverBudgetNearlySpent')
  await fires(prometheus, 'SolverLoses', { chain: 'optimism' })
})

/** Oracles of which two must sign, under a limit that one fill of a thousandth of a dollar nears. */
async function attestedBy(...modes: readonly OracleMode[]): Promise<Watched> {
  const oracles = await startStandInOracles()
  onTestFinished(() => oracles.stop())
  oracles.set(...modes)
  const CONFIG_DIR = await solverFile((text) => {
    const file = JSON.parse(text)
    for (const policy of Object.values<object>(file.chains))
      Object.assign(policy, { unattestedMaxMicroUsd: '1100' })
    return JSON.stringify(file)
  })
  return watched({ CONFIG_DIR, ORACLES: oracles.setting, ORACLES_THRESHOLD: '2' })
}

test('SolverUnattested where oracles answer nonsense', async () => {
  const { work, prometheus } = await attestedBy('garbage', 'garbage', 'garbage')
  work.add(fillItem(network, await paidOrder(network)))
  await fires(prometheus, 'SolverUnattested')
})

test('SolverPaymentRefused where two of three oracles refuse a fill for good', async () => {
  const { work, prometheus } = await attestedBy('refuses', 'refuses', 'honest')
  work.add(fillItem(network, await paidOrder(network)))
  await fires(prometheus, 'SolverPaymentRefused', { chain: 'optimism' })
})

test('SolverNonceWaits where no block takes what the wallet signed', async () => {
  const { node } = network.chains.optimism.chain
  // While blocks are held back, the head of the chain is no reason to have no price of gas.
  const CONFIG_DIR = await changedConfigs('quote.local.json', (text) =>
    text.replace(/"headMaxAgeMs": \d+/g, '"headMaxAgeMs": 3600000'),
  )
  const { work, settings, prometheus } = await watched({ CONFIG_DIR })
  const item = fillItem(network, await paidOrder(network))
  await node.setIntervalMining({ interval: 0 })
  await node.setAutomine(false)
  try {
    work.add(item)
    await waitUntil('it was told', () => work.reports.has(item.id))
    await querySolver(
      settings,
      `update signed_record set record = jsonb_set(record::jsonb, '{transactions,0,signedAtMs}', '1700000000000')
       where id = '${item.id}'`,
    )
    await fires(prometheus, 'SolverNonceWaits', { chain: 'optimism' })
  } finally {
    await node.setAutomine(true)
    await node.setIntervalMining({ interval: 1 })
  }
})

test('SolverTransactionsFail where the fill contract refuses what it took when it was asked', async () => {
  const { client, node } = network.chains.optimism.chain
  const address = network.deployment.optimism.fillContract
  // While blocks are held back, the head of the chain is no reason to have no price of gas.
  const configs = await changedConfigs('quote.local.json', (text) =>
    text.replace(/"headMaxAgeMs": \d+/g, '"headMaxAgeMs": 3600000'),
  )
  const { work, prometheus } = await watched({ CONFIG_DIR: configs })
  const items = (await paidOrders(network, manyWishes(8)))
    .filter(({ to }) => to === 'optimism')
    .map((order) => fillItem(network, order))
  const code = await client.getCode({ address })
  await node.setIntervalMining({ interval: 0 })
  await node.setAutomine(false)
  try {
    for (const item of items) work.add(item)
    await waitUntil(
      'all wait at the node',
      async () => (await node.getTxpoolStatus()).pending >= items.length,
    )
    // Reverts whatever it is asked.
    await node.setCode({ address, bytecode: '0x60006000fd' })
  } finally {
    await node.setAutomine(true)
    await node.setIntervalMining({ interval: 1 })
  }
  try {
    await fires(prometheus, 'SolverTransactionsFail', { chain: 'optimism' })
  } finally {
    await node.setCode({ address, bytecode: code ?? '0x' })
  }
})

test('SolverWithoutLeader where the database lets nobody be elected', async () => {
  const { settings, prometheus } = await watched()
  const database = createDatabase({ connectionString: settings.databaseUrl, poolSize: 2 })
  try {
    await database.transaction(async (tx) => {
      // Simulates a long change of a table after the database came up elsewhere; such a change has no timeout.
      await tx.query('set local idle_in_transaction_session_timeout = 0')
      await tx.query('lock table job_epoch in access exclusive mode')
      await tx.query(
        'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
      )
      await fires(prometheus, 'SolverWithoutLeader')
    })
    await waitUntil('it leads again', async () => (await prometheus.query('solver_leads == 1')) === 2, {
      patienceMs,
    })
  } finally {
    await database.close()
  }
})
